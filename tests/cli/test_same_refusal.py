"""The same bytes are refused with the same code, place and exit code by every command."""

import re

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

COMMANDS = (
    "validate @", "query //Id @", "show @", "report @", "canon @", "explain @",
    "convert --from sss @ -o -", "store import jobs.db @",
)  # fmt: skip
REFUSED = {
    "an end tag of another element": "<Job><Id>1</Id></Job><Job><Id>2</Job>",
    "in a line that has signs of several bytes": "<Job>\n<Id>é</Id>\n<User>ü</Usr></Job>",
    "open at the end": "<Job>\n<Id>1</Id>\n",
    "no UTF-8": b"<Job>\n <User>\xc3\xa9<b>\xe9</b></User></Job>",
    "a document type": "\n <!DOCTYPE Job>\n<Job/>",
    "a document type behind a document": "<Job><Id>1</Id></Job>\n <!DOCTYPE Job>\n<Job/>",
    "a bare &": "<Job><Id>1 & 2</Id></Job>",
    "a < in a value": '<Job><Id>1</Id><A b="<"/></Job>',
    "a namespace of others": '<Job xmlns="urn:x"><Id>1</Id></Job>',
    "nothing": "",
}
_TOLD = re.compile(r"^(\S+?)(?::(\d+))?(?::(\d+))?: error: .*\[(E-[A-Z]+)\]$", re.MULTILINE)


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_each_command_tells_the_same_code_and_place_and_ends_alike(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = data if isinstance(data, bytes) else data.encode()
    (tmp_path / "bad.xml").write_bytes(data)
    told, codes = {}, {}
    for command in COMMANDS:
        words = command.replace("@", "bad.xml").split()
        result = CliRunner().invoke(sssjob, words)
        first = _TOLD.search(result.stderr)
        assert first, (command, result.stderr)
        codes[command], told[command] = result.exit_code, first.groups()
    # It was read, and is not valid: to validate, that is an answer.
    is_answer = first[4] == "E-UNKNOWN"
    assert codes.pop("validate @") == (1 if is_answer else 2)
    assert set(codes.values()) == {2}
    assert len(set(told.values())) == 1, told
