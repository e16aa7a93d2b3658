"""Of a broken document each command says the same, in one line (decision 1030)."""

import json
import re

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

JOB = "<Job><Id>1</Id><Duration>60</Duration><Executable>/bin/date</Executable></Job>"
READING = {
    "show": ["show"],
    "query": ["query", "//Job/Id"],
    "canon": ["canon"],
    "convert": ["convert", "--to", "sss-lines"],
    "translate": ["translate", "--to", "sbatch"],
    "report": ["report"],
}
BROKEN = {
    "a tag": "<Job",
    "a tag further on": "<Job><Id>1</Id><Executable",
    "a CDATA section": JOB.replace("/bin/date", "<![CDATA[abc"),
    "a CDATA section of lines": "<Job><Id>1</Id><Name><![CDATA[a\nb\nc</Name></Job>",
    "a comment": "<Job><Id>1</Id><!-- a\nb",
    "an instruction": "<Job><Id>1</Id><?x a\nb",
    "a document type": "<!DOCTYPE Job [",
    "a declaration alone": '<?xml version="1.0"?>',
    "a comment alone": "<!-- x -->",
    "an instruction alone": "<?a b?>",
    "a page": "<html>\n<body>a<br>b</body></html>",
    "an element": "<Job><Id>1</Id><Requested><Processors>2</Processors></Job>",
    "no mark, little": JOB.encode("utf-16-le"),
    "no mark, big": JOB.encode("utf-16-be"),
    "EBCDIC": f'<?xml version="1.0" encoding="cp500"?>{JOB}'.encode("cp500"),
    "empty": "",
    "blank": " \n\n",
    "a mark alone": b"\xef\xbb\xbf",
}
ERROR = re.compile(r"job\.xml:(?:(\d+):)?(?:(\d+):)? error: (.*) \[(E-[A-Z]+)\]")


def said(command, data, path):
    (path / "job.xml").write_bytes(data if isinstance(data, bytes) else data.encode())
    done = CliRunner().invoke(sssjob, [*command, "job.xml"])
    assert done.exit_code == 2
    return done.stderr


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_all_say_what_validate_says_at_its_place(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.xml").write_bytes(data if isinstance(data, bytes) else data.encode())
    listed = CliRunner().invoke(sssjob, ["validate", "--jsonl", "job.xml"]).stdout.splitlines()
    [first, *_] = [each for each in map(json.loads, listed) if each["severity"] == "error"]
    told = {}
    for name, command in READING.items():
        lines = [
            line for line in said(command, data, tmp_path).splitlines() if "notice: " not in line
        ]
        found = ERROR.fullmatch(lines[0])
        assert found is not None, (name, lines)
        line, column, told[name], code = found.groups()
        assert (line and int(line), column and int(column), code) == (
            first["line"], first["column"], first["code"],
        ), name  # fmt: skip
    assert len(set(told.values())) == 1, told
    # What validate knows beside is where in the document it is, and what to write.
    assert told["show"].partition("; ")[0] in first["message"]
