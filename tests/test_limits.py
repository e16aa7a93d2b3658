"""The page of limits says what the constants say, and each name on it is one."""

import io
import re
from importlib import import_module
from pathlib import Path

import pytest

from sssjob import records
from sssjob.check.sources import check_source
from sssjob.classads.errors import BadAd
from sssjob.classads.forms import read as read_ads
from sssjob.classads.parser import expression
from sssjob.cli.condor.shared import Ads
from sssjob.document import read
from sssjob.document.document import Document
from sssjob.document.reader import batches, documents
from sssjob.document.slices import slices
from sssjob.errors import InvalidValue, UnreadableDocument, UnusableInput
from sssjob.lcginfo.lrmsinfo import read as read_listing
from sssjob.query import compile
from sssjob.records.record import Bad, Noted, Skipped
from sssjob.settings import BadToml, toml
from sssjob.translate import read as read_scripts

PAGE = (Path(__file__).parents[1] / "docs/limits.md").read_text("utf-8")
ROWS = re.findall(r"^\| ([^|]+) \| ([^|]+) \| `([\w.]+)` \|$", PAGE, re.MULTILINE)
UNITS = {"": 1, "s": 1, "Ki": 1 << 10, "Mi": 1 << 20, "KiB": 1 << 10, "MiB": 1 << 20}


def constant(name):
    """What a dotted name below sssjob stands for."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            found = import_module(".".join(["sssjob", *parts[:count]]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            found = found() if isinstance(found, type) else found
            found = getattr(found, part)
        return found
    raise LookupError(name)


def amount(text):
    number, unit = re.fullmatch(r"([\d ]*\d) ?([A-Za-z]*)", text).groups()
    return int(number.replace(" ", "")) * UNITS[unit]


def test_the_page_has_rows():
    assert len(ROWS) > 40


@pytest.mark.parametrize("limit, name", [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_a_row_says_what_the_constant_says(limit, name):
    assert amount(limit) == constant(name)


def test_so_many_levels_of_elements_are_read():
    def nested(levels):
        return ("<Job>" + "<a>" * (levels - 1) + "</a>" * (levels - 1) + "</Job>").encode()

    for levels, is_read in ((256, True), (257, False)):
        codes = [each.code for each in check_source(nested(levels))]
        assert ("E-LIMIT" not in codes) is is_read


DOCUMENT = b"<Job><Id>1</Id></Job>"


def test_no_document_type_is_read():
    with pytest.raises(UnreadableDocument):
        list(read(b"<!DOCTYPE Job [<!ENTITY a 'b'>]><Job>&a;</Job>"))


HELD = b"<Jobs>" + b"<Job><Id>1</Id><!-- a job as short as can be --></Job>" * 2000 + b"</Jobs>"
WHOLE = {
    "documents": lambda: list(documents(HELD)),
    "a document of the library": lambda: Document.read(HELD),
    "XPath 1.0": lambda: list(compile("count(//Job)").run(HELD)),
    "XPath 1.0 that finds": lambda: list(compile("//Job[preceding::Nothing]").run(HELD)),
    "XPath 2.0": lambda: list(compile("reverse(//Job)[1]", version="2.0").run(HELD)),
    "XPath 3.1": lambda: list(compile("reverse(//Job)[1]", version="3.1").run(HELD)),
}  # fmt: skip
STREAMED = {
    "job objects": lambda: list(read(HELD)),
    "slices": lambda: list(slices(HELD)),
    "batches": lambda: list(batches(HELD)),
    "validate": lambda: [each for each in check_source(HELD) if each.code == "E-LIMIT"] or [1],
    "XPath 1.0": lambda: list(compile("//Job/Id").run(HELD)),
    "XPath 2.0": lambda: list(compile("//Job/upper-case(Id)", version="2.0").run(HELD)),
}


@pytest.mark.parametrize("road", WHOLE.values(), ids=WHOLE)
def test_what_is_held_whole_is_bound_and_another_limit_can_be_set(road, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    with pytest.raises(UnreadableDocument, match=r"more than 1 MiB.*SSSJOB_HELD_MIB") as told:
        road()
    assert told.value.finding.code == "E-LIMIT"
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1000")
    road()


@pytest.mark.parametrize("road", STREAMED.values(), ids=STREAMED)
def test_what_is_read_job_by_job_is_not_bound_as_a_whole(road, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    assert road()


def test_documents_behind_one_that_is_too_large_to_hold_are_read(monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    told = []
    found = compile("count(//Job)").run(HELD + b"\n" + DOCUMENT, on_error=told.append)
    assert [each.value for each in found] == [1]
    assert [each.finding.code for each in told] == ["E-LIMIT"]


@pytest.mark.parametrize("broken", [b"<Job><Id>1</Job>", b"<Jobs><Job><Id></Job></Jobs>"])
def test_a_document_behind_a_broken_one_is_held_no_further_than_any_other(broken, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "1")
    job = b"<Job><Note>" + b"x" * 1000 + b"</Note></Job>"
    stream = io.BytesIO(broken + b"\n<Jobs>" + job * 8000 + b"</Jobs>")
    told = []
    assert not list(documents(stream, on_error=told.append))
    assert [each.finding.code for each in told][-1] == "E-LIMIT"
    assert "SSSJOB_HELD_MIB" in str(told[-1])
    assert stream.tell() < 3 << 20


@pytest.mark.parametrize("said", ["", "much", "0", "-1"])
def test_a_limit_that_is_no_number_is_refused(said, monkeypatch):
    monkeypatch.setenv("SSSJOB_HELD_MIB", said)
    with pytest.raises(InvalidValue, match="a number of MiB in SSSJOB_HELD_MIB"):
        list(documents(HELD))


@pytest.mark.parametrize("expression, is_answered", [
    ("//Job/@*", True), ("//Job[1]/Id", True), ("count(//node())", True), ("//node()", False),
])  # fmt: skip
def test_what_a_query_finds_in_a_large_document_is_bound_with_it(
    expression, is_answered, monkeypatch
):
    monkeypatch.setenv("SSSJOB_HELD_MIB", "2")  # the tree takes 1, what is found as much
    query = compile(expression)
    if is_answered:
        list(query.run(HELD, whole=True))
    else:
        with pytest.raises(UnreadableDocument, match="more than 2 MiB"):
            list(query.run(HELD, whole=True))


def converted(format, text):
    """How many jobs are made of records."""
    found = records.jobs(format, io.BytesIO(text.encode()))
    return sum(not isinstance(each, Bad | Skipped | Noted) for each in found)


@pytest.mark.parametrize("size, is_read", [(1 << 19, True), (3 << 20, False)])
def test_a_line_of_records_is_bound(size, is_read):
    line = f"11/21/2026 10:00:00;E;1.s;user=amy jobname={'x' * size} start=1 end=2 Exit_status=0\n"
    assert converted("pbs", line) == is_read


def test_a_line_of_sacct_is_as_long_as_it_is():
    assert converted("slurm", f"JobID|State|User|JobName\n1|COMPLETED|amy|{'x' * (3 << 20)}\n") == 1


@pytest.mark.parametrize("count, is_read", [(100_000, True), (100_001, False)])
def test_attributes_of_an_ad_are_bound_for_commands_of_condor(count, is_read):
    ad = b"".join(b"a%d = 1\n" % number for number in range(count))
    bad = []
    found = list(read_ads(io.BytesIO(ad), on_error=bad.append))
    assert len(bad) == (not is_read)
    assert [len(each) for each in found] == [100_000]


@pytest.mark.parametrize("size, is_read", [((1 << 20) - 2, True), (1 << 20, False)])
def test_characters_of_an_expression_are_bound(size, is_read):
    text = f'"{"x" * size}"'
    if is_read:
        expression(text)
    else:
        with pytest.raises(BadAd):
            expression(text)


class Endless(io.RawIOBase):
    """A stream that gives the same bytes for ever."""

    def __init__(self, what):
        self.what = what

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = self.what * len(buffer)
        return len(buffer)


@pytest.mark.parametrize("what, said", [(b"\0", "no line end in 4 MiB"), (b"\n", "no ad in 4 MiB")])
def test_ads_without_end_are_given_up(what, said, monkeypatch):
    monkeypatch.setattr("sssjob.classads.forms.ENDLESS", 4 << 20)
    monkeypatch.setattr("sssjob.classads.forms.BLANKS", 4 << 20)
    with pytest.raises(BadAd, match=said):
        list(read_ads(io.BufferedReader(Endless(what)), on_error=lambda _: None))


def test_a_file_of_ads_without_end_is_named(monkeypatch, capsys):
    monkeypatch.setattr("sssjob.classads.forms.ENDLESS", 4 << 20)
    ads = Ads()
    assert not list(ads.read(("/dev/zero",)))
    assert ads.unread == 1
    assert "/dev/zero: error: no line end in 4 MiB" in capsys.readouterr().err


def test_a_listing_of_jobs_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr("sssjob.records.lines.ENDLESS", 4 << 20)
    with pytest.raises(UnusableInput, match="no line end in 4 MiB"):
        read_listing(io.BufferedReader(Endless(b"\0")), lambda _: None)


@pytest.mark.parametrize("from_, line", [("sbatch", "#SBATCH -n 1\n"), ("condor", "# one\n")])
@pytest.mark.parametrize("is_read", [True, False])
def test_bytes_of_a_script_are_bound(from_, line, is_read):
    begin, end = ("#!/bin/sh\n", "") if from_ == "sbatch" else ("", "executable = a\nqueue\n")
    size = (16 << 20) - len(begin + line + end) + (not is_read)
    data = f"{begin}{line}#{'x' * (size - 2)}\n{end}".encode()
    found = [each.code for reading in read_scripts(data, from_) for each in reading.findings]
    assert ("E-LIMIT" not in found) == is_read


def test_advice_is_given_on_so_many_options_of_a_script():
    letters = "abcdfghjkl"
    names = [f"--time{one}{other}" for one in letters for other in letters]
    names += [f"--times{one}" for one in letters]
    script = "#!/bin/sh\n" + "".join(f"#SBATCH {name}\n" for name in [*names, *names])
    [found] = read_scripts(script.encode(), "sbatch")
    assert sum("did you mean --time?" in each.message for each in found.findings) == 200


LONG = ".".join("a" * 101)


@pytest.mark.parametrize("text, is_read", [
    (".".join("a" * 100) + " = 1", True), (".".join("a" * 101) + " = 1", False),
    ("[" + ".".join(["'a.b'"] * 101) + "]", False), (f"b = {{{'.'.join('a' * 101)} = 1}}", False),
    (f'b = """\n{LONG}\n[{LONG}]"""', True), (f"b = '''\n{LONG}\n'''", True),
    (f'b = """\\"""\n{LONG}\n"""""', True), (f'b = """c"""\n{LONG} = 1', False),
    (f'b = "\\"" # """\n{LONG} = 1', False), (f"b = ['\"\"\"', 1]\n{LONG} = 1 # \"\"\"", False),
    (f"b = [\"{'.'.join('a' * 101)}\"]", True), ("b = " + "[" * 5000, False),
])  # fmt: skip
def test_parts_of_a_key_are_bound(text, is_read):
    if is_read:
        assert toml(text)
    else:
        with pytest.raises(BadToml, match=r"parts|nested"):
            toml(text)


def test_bits_are_bound_in_what_an_expression_gives_and_not_on_the_way():
    squares = "fold-left(1 to 15, 3, function($a, $b) { $a * $a })"
    assert [each.text for each in compile(f"{squares} > 5", version="3.1").run(DOCUMENT)] == [
        "true"
    ]
    with pytest.raises(UnreadableDocument, match="bits of a number"):
        list(compile(squares, version="3.1").run(DOCUMENT))
