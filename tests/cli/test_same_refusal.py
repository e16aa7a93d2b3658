"""The same bytes are refused with the same code, place and exit code by every command."""

import re

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob

COMMANDS = (
    "validate @", "query //Id @", "show @", "report @", "canon @", "explain @",
    "convert --from sss @ -o -", "store import jobs.db @", "translate @ --from sss --to sbatch",
    "features job --dry-run @", "graph @", "layout @", "alternatives @", "diff @ @",
    "match @ --offers offers.json", "deliver @ --from slurm --record records.txt",
    "submit --to slurm --dry-run @", "condor ad @", "place @ --offers offers.json",
)  # fmt: skip
_UTF8 = '<?xml version="1.0" encoding="UTF-8"?>\n'
_DATA = "<Data>\n<Job><Id>7</Id></Job>\n</Data>\n"
_UTF16 = "\ufeff<Job> <Id>1</Id><?pi x?> </Job>\r\n".encode("utf-16-le")
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
    "to be mended in an earlier line": "<Job>\n<Id>1\n<Id>\n<User>amy</User>\n</Job>",
    "of a document a line": "<Job><Id>1</Id></Job>\n<Job><Id>2</Id></Job>\n<Job><Id>3<Id></Job>\n",
    "in the first tag": '<Job"s>\n<Job><Id>1</Id></Job>\n</Jobs>',
    "a vertical tab between two": "<Job><Id>1</Id></Job>\v<Job><Id>2</Id></Job>",
    "a form feed between two lines": "<Job><Id>1</Id></Job>\n\f\n<Job><Id>2</Id></Job>",
    "a form feed inside of another": "<Jobs><Job><Id>1</Id></Job>\f<Job><Id>2</Id></Job></Jobs>",
    "a vertical tab behind one": "<Job><Id>1</Id></Job>\v",
    "a form feed before one": "\f<Job><Id>1</Id></Job>",
    "two byte order marks": "\ufeff\ufeff<Job><Id>1</Id></Job>",
    "open around one": "<Data><Job><Id>7</Id></Job>",
    "open around two": "<A>\n<Data>\n<Job><Id>7</Id></Job>\n<Job><Id>8</Id></Job>\n</Data> <b/> ",
    "a bare & between two": "<Data>\n<Job><Id>7</Id></Job>\n& <Job><Id>8</Id></Job></Data>",
    "a bare & right before one": "<Data>\n<Job><Id>7</Id></Job>\nx &<Job><Id>8</Id></Job></Data>",
    "an open reference before one": "<Data>\n<Job><Id>7</Id></Job>&#x <Job/></Data>",
    "a tag without its end before one": "<Data>\n<Job><Id>7</Id></Job><a b= <Job/></Data>",
    "a < before one": "<Data>\n<Job><Id>7</Id></Job>< <Job><Id>8</Id></Job></Data>",
    "a mark of UTF-32 alone": b"\xff\xfe\0\0",
    "UTF-32 cut in a character": f"\ufeff{_DATA}".encode("utf-32-le")[:-1],
    "UTF-32 of high bytes first, cut": f"\ufeff{_DATA}".encode("utf-32-be")[:-3],
    "UTF-16 cut in a character": f"\ufeff{_DATA}".encode("utf-16-le")[:-1],
    "UTF-32 cut in a tag": f"\ufeff{_DATA}".encode("utf-32-le")[:-20],
    "UTF-16 that declares UTF-8": f"{_UTF8}<Job><Id>1</Foo></Job>".encode("utf-16"),
    "UTF-16 without a mark that declares UTF-8": f"{_UTF8}<Job>1 & 2</Job>".encode("utf-16-le"),
    "UTF-16 without a mark": "<Job><Id>1</Id></Job>".encode("utf-16-le"),
    "UTF-16 of high bytes first, without a mark": "<Job><Id>1</Id></Job>".encode("utf-16-be"),
    "UTF-8 that declares UTF-16": '<?xml version="1.0" encoding="UTF-16"?>\n<Job><Id>1</Id></Job>',
    "UTF-16 without a byte in a tag": _UTF16[:11] + _UTF16[12:],
    "no Shift_JIS": b'<?xml version="1.0" encoding="Shift_JIS"?>\n<D><Job><Id>\xfd</Id></Job></D>',
    "a name that cannot be, beside one": '<D><Job><Id>1</Id></Job><M :a="1">x</M\n></D>\n',
    "to be mended in two ways": "<Job>\n<Requested><Memory>1</Memory><Disk>1</Disk>\n</Job>",
    "to be mended in two lines": "<Job>\n<Id>1<Id>\n<Memory units=”GB”>2</Memory>\n</Job>",
}
_TOLD = re.compile(r"^(\S+?)(?::(\d+))?(?::(\d+))?: error: .*\[(E-[A-Z]+)\]$", re.MULTILINE)


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_each_command_tells_the_same_code_and_place_and_ends_alike(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = data if isinstance(data, bytes) else data.encode()
    (tmp_path / "bad.xml").write_bytes(data)
    (tmp_path / "offers.json").write_text('{"offers": []}')
    (tmp_path / "records.txt").write_text("JobID|State\n1|COMPLETED\n")
    told, codes = {}, {}
    for command in COMMANDS:
        words = command.replace("@", "bad.xml").split()
        result = CliRunner().invoke(sssjob, words)
        # Of bytes: that a job before them cannot be run, as ads say, is another matter.
        found = [each.groups() for each in _TOLD.finditer(result.stderr)]
        told[command] = [each for each in found if each[-1] != "E-MISSING"]
        assert told[command], (command, result.stderr)
        codes[command] = result.exit_code
    first = told["query //Id @"][0]
    repaired = CliRunner().invoke(sssjob, ["repair", "bad.xml"])
    if repaired.exit_code:  # else it is what others refuse that was put right
        assert repaired.exit_code == 2
        assert first in [each.groups() for each in _TOLD.finditer(repaired.stderr)]
    # It was read, and is not valid: to validate, that is an answer.
    is_answer = first[3] == "E-UNKNOWN"
    assert codes.pop("validate @") == (1 if is_answer else 2)
    assert set(codes.values()) == {2}
    assert first in told.pop("validate @"), told  # and its other causes, decision 680
    assert {found[0] for found in told.values()} == {first}


_ATTRIBUTE = '<Id a="1" a="2">1</Id>'  # the parser goes on behind such a fault
_BEHIND = "\n<!-- a--b -->\n"
TWO_FAULTS = {
    "behind the document": (f"<Job>{_ATTRIBUTE}</Job>{_BEHIND}<Job/>", (1, 21)),
    "behind a wrapper": (f"<D>\n<Job>{_ATTRIBUTE}</Job>\n</D>{_BEHIND}", (2, 21)),
    "in the same job object": (f"<Job>{_ATTRIBUTE}{_BEHIND}</Job>\n", (1, 21)),
    "far behind the document": (f"<Job>{_ATTRIBUTE}</Job>{' ' * 400000}{_BEHIND}", (1, 21)),
    "an end tag of another element": (f"<Job>\n{_ATTRIBUTE}\n<Foo></Bar></Job>\n", (2, 16)),
    "an element that is open at the end": (f"<Job>\n{_ATTRIBUTE}\n<Foo>\n", (2, 16)),
    "a value without quotes": (f"<Job>\n{_ATTRIBUTE}\n<Foo x=1></Foo></Job>\n", (2, 16)),
}  # fmt: skip
_WHOLE = ("query /Job @", "query --xpath 3.1 /Job @", "query --xpath 2.0 //Id @")


@pytest.mark.parametrize("data, place", TWO_FAULTS.values(), ids=TWO_FAULTS)
def test_of_two_faults_each_command_tells_the_first_at_its_place_and_in_its_words(
    data, place, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.xml").write_text(data)
    (tmp_path / "offers.json").write_text('{"offers": []}')
    (tmp_path / "records.txt").write_text("JobID|State\n1|COMPLETED\n")
    line, column = place
    said = f"bad.xml:{line}:{column}: error: Attribute a redefined [E-XML]"
    first = {}
    for command in (*COMMANDS, *_WHOLE, "repair @"):
        words = command.replace("@", "bad.xml").split()
        errors = CliRunner().invoke(sssjob, words).stderr.splitlines()
        first[command] = next((each for each in errors if ": error: " in each), "")
    assert first == dict.fromkeys(first, said)


def test_each_command_takes_as_many_levels_as_the_parser_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inside, names = "x", [f"<{'A' * (1 + level % 3)}>" for level in range(254)]
    for name in names:
        inside = f"{name}{inside}</{name[1:]}"
    (tmp_path / "deep.xml").write_text(
        f'<Job awarenessPolicy="Ignore"><Id>1</Id><Executable>/bin/true</Executable>{inside}</Job>'
    )
    (tmp_path / "offers.json").write_text('[{"id": "n1", "Processors": 4}]')
    (tmp_path / "records.txt").write_text("JobID|State|NCPUS\n1|COMPLETED|1\n")
    for command in COMMANDS:
        result = CliRunner().invoke(sssjob, command.replace("@", "deep.xml").split())
        assert result.exit_code in (0, 1), (command, result.output)
        assert not result.exception or isinstance(result.exception, SystemExit), command
        assert "error" not in result.stderr, result.stderr


TAKEN = {
    "UCS-4, of high bytes first": ("UCS-4", "utf-32-be"),
    "UCS-4, of low bytes first": ("UCS-4", "utf-32-le"),
    "UCS-4, by its long name": ("ISO-10646-UCS-4", "utf-32-be"),
    "UTF-32 without a mark": ("UTF-32BE", "utf-32-be"),
    "UTF-32 with a mark": ("UTF-32", "utf-32"),
    "UTF-16 without a mark": ("UTF-16LE", "utf-16-le"),
    "bytes of no encoding that is told": ("", "utf-32-be"),
}
STATEFUL = {"UTF-7": "ascii", "HZ": "hz", "ISO-2022-JP": "iso2022_jp"}


def _run(words, data, tmp_path):
    job = "<Job><Id>1</Id><Executable>/bin/x</Executable></Job>"
    (tmp_path / "job.xml").write_bytes(data(job))
    (tmp_path / "offers.json").write_text('{"offers": []}')
    (tmp_path / "records.txt").write_text("JobID|State\n1|COMPLETED\n")
    return CliRunner().invoke(sssjob, words)


@pytest.mark.parametrize("name, codec", TAKEN.values(), ids=TAKEN)
def test_each_command_takes_the_same_encodings(name, codec, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    head = f'<?xml version="1.0" encoding="{name}"?>\n' if name else ""
    for command in COMMANDS:
        words = command.replace("@", "job.xml").split()
        result = _run(words, lambda job: f"{head}{job}".encode(codec), tmp_path)
        assert not _TOLD.findall(result.stderr), (command, result.stderr)
        assert result.exception is None or isinstance(result.exception, SystemExit), command


@pytest.mark.parametrize("name, codec", STATEFUL.items())
def test_only_a_command_that_writes_a_document_again_refuses_encodings_with_states(
    name, codec, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    head = f'<?xml version="1.0" encoding="{name}"?>\n'
    refusing = set()
    for command in COMMANDS:
        words = command.replace("@", "job.xml").split()
        result = _run(words, lambda job: f"{head}{job}".encode(codec), tmp_path)
        if _TOLD.findall(result.stderr):
            refusing.add(command.split()[0])
            assert f"not known in {name}: write the document in UTF-8" in result.stderr
    assert refusing == {"deliver"}
