"""Shapes of logs that a distribution of one's own declares, as docs/formats.md shows them."""
# ruff: noqa: E501 (a row of a table is a line)

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from outside import declared

from sssjob import registry
from sssjob.cli import sssjob

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
SECTION = PAGE.read_text().partition("## Add a format")[2]
TABLE, FOLDED = (
    text for text in re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)
    if "HeaderTable" in text or "Folding" in text
)  # fmt: skip
PACKAGE = "shapes_of_others"
# What says of no place where it can be cut.
MESSAGES = """
from dataclasses import replace
from sssjob.formats.apel import LAYOUT as OURS, messages
from sssjob.records.cuts import of_lines

LAYOUT = replace(OURS, cut=of_lines(messages))
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """The distribution, as if it were installed, and a directory to work in."""
    site, here = tmp_path / "site", tmp_path / "here"
    (site / PACKAGE).mkdir(parents=True)
    here.mkdir()
    modules = {"__init__": "", "table": TABLE, "folded": FOLDED, "messages": MESSAGES}
    for name, text in modules.items():
        (site / PACKAGE / f"{name}.py").write_text(text)
    formats = {
        "kite-table": f"{PACKAGE}.table",
        "kite-log": f"{PACKAGE}.folded",
        "kite-messages": f"{PACKAGE}.messages",
    }
    declared(site, {registry.FORMATS: formats}, name="shapes")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(here)
    yield here
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def convert(*words, stdin=None):
    done = CliRunner().invoke(sssjob, ["convert", "--tz", "UTC", *words], input=stdin)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.stdout, done.stderr.splitlines()[-1]


def rows(numbers, user="amy"):
    """Records of the table, in the order of its first header."""
    return [f"{at},{user},{1700000000 + at},{1700000060 + at},4" for at in numbers]


HEADER, OTHER = "id,user,start,end,cpus", '\ufeffend,id,"user",start'
# Two files that were put together, the second with other columns, a line that is none, and a comma.
BOTH = [
    HEADER, *rows(range(1, 30)), "30,amy", "", '31,"x, y",1700000031,1700000091,4',
    OTHER, *(f"{1700000060 + at},{at},bob,{1700000000 + at}" for at in range(40, 60)),
    *['1700000200,70,"bob,1700000100'], HEADER, *rows([80]),
]  # fmt: skip
STEPS = [
    "step 1 cpu=5", "job 1 cpu=1", "step 1 cpu=7", "", "job 2 cpu=2", "kite", "step 9 cpu=1",
    *(line for at in range(10, 40) for line in (f"job {at} cpu=1", f"step {at} cpu=2")),
    "job 40 cpu=1",
]  # fmt: skip
# fmt: off
LOGS = {
    # what it is                    format        lines  how many jobs stay behind, as more may come
    "a table":                      ("kite-table", BOTH,  0, "converted 51, skipped 0, bad 2"),
    "a log of several lines a job": ("kite-log",   STEPS, 1, "converted 33 (and 32 steps), skipped 1 (a step without its job 1), bad 1"),
}
# fmt: on


@pytest.mark.parametrize("name, lines, behind, counts", LOGS.values(), ids=LOGS)
def test_a_shape_of_others_is_recognised_cut_and_taken_up_as_ours_are(
    name, lines, behind, counts, installed, monkeypatch
):
    log = installed / "log"
    log.write_text("\n".join(lines) + "\n")
    told = convert("--from", name, "log")
    assert told[1] == counts
    assert convert("log") == told
    assert convert("-", stdin=log.read_text()) == told
    monkeypatch.setattr("sssjob.records.parts.SIZE", 200)
    assert convert("--workers", "2", "log") == told


@pytest.mark.parametrize("step", [1, 7])
@pytest.mark.parametrize("name, lines, behind, counts", LOGS.values(), ids=LOGS)
def test_a_log_of_others_that_grows_is_taken_up_where_it_was_left(
    name, lines, behind, counts, step, installed
):
    log = installed / "log"
    log.write_text("\n".join(lines) + "\n")
    whole = convert("--from", name, "log")[0].splitlines()
    log.unlink()
    for begin in range(0, len(lines), step):
        with log.open("a") as stream:
            stream.writelines(f"{line}\n" for line in lines[begin : begin + step])
        convert("--from", name, "--state", "state", "--output", "jobs.xml", "log")
    assert (installed / "jobs.xml").read_text().splitlines() == whole[: len(whole) - behind]


def jobs(name, text):
    done, counts = convert("--from", name, "-", stdin=text)
    return re.findall(r"<Id>(\w+)</Id>", done), counts


def test_columns_of_a_table_are_told_by_its_header_whatever_their_order():
    found, _ = convert("--from", "kite-table", "-", stdin=f"{OTHER}\n70,7,bob,10\n")
    assert found == (
        "<Job><Id>7</Id><EndTime>70</EndTime><StartTime>10</StartTime>"
        "<Delivered><Duration>60</Duration><User>bob</User></Delivered></Job>\n"
    )


# fmt: off
WRONG = {
    # what stands there            the lines                                 what is said of it
    "no header":                  (rows([1]),                                "1: no header line with the columns id, start, end"),
    "blank lines, and no header": (["", *rows([1])],                         "2: no header line"),
    "a name twice":               ([f"{HEADER},id", *rows([1])],             "1: no header line"),
    "too few fields":             ([HEADER, "1,amy"],                        "2: error: 2 fields where there are 5 columns"),
    "a quote without its end":    ([HEADER, '1,"amy,0,60,4'],                "2: error: its fields cannot be told apart: a quote that is not closed"),
}
# fmt: on


@pytest.mark.parametrize("lines, said", WRONG.values(), ids=WRONG)
@pytest.mark.parametrize(
    "road", [[], ["--workers", "2"], ["--state", "state", "--output", "jobs.xml"]], ids=str
)
def test_what_is_wrong_with_a_table_is_told_on_each_road(lines, said, road, installed):
    (installed / "log").write_text("\n".join(lines) + "\n")
    done = CliRunner().invoke(sssjob, ["convert", "--from", "kite-table", *road, "log"])
    assert said in done.stderr
    assert done.exit_code == (2 if "no header" in said else 1)


def test_columns_of_a_table_without_a_header_may_be_named():
    named = ["--from", "kite-table", "--columns", "id,user,start,end", "--delimiter", ";"]
    found, counts = convert(*named, "-", stdin='7;"x; y";0;60\n8;bob;0;60\n')
    assert counts == "converted 2, skipped 0, bad 0"
    assert "<User>x; y</User>" in found


@pytest.mark.parametrize("delimiter", [";;", '"'])
def test_a_delimiter_of_a_table_is_one_character(delimiter):
    words = ["convert", "--from", "kite-table", "--delimiter", delimiter, "-"]
    done = CliRunner().invoke(sssjob, words, input=f"{HEADER}\n")
    assert done.exit_code == 2
    assert "is no character that separates the fields of a table" in done.stderr


def test_what_cannot_be_cut_does_not_grow_and_is_not_called_a_document(installed):
    (installed / "log").write_text("APEL-individual-job-message: v0.3\nLocalJobId: 7\n%%\n")
    words = [
        "convert",
        "--from",
        "kite-messages",
        "--state",
        "state",
        "--output",
        "jobs.xml",
        "log",
    ]
    done = CliRunner().invoke(sssjob, words)
    assert done.exit_code == 2
    assert "records of kite-messages say nowhere where they can be cut" in done.stderr


TIMES = {
    "seconds": ("1700000000", "1700000060"),
    "ISO 8601": ("2023-11-14T22:13:20", "2023-11-14T22:14:20"),
    "ISO 8601 with a zone": ("2023-11-14T23:13:20+01:00", "2023-11-14T22:14:20Z"),
}


@pytest.mark.parametrize("start, end", TIMES.values(), ids=TIMES)
def test_the_wall_time_follows_from_times_however_they_are_printed(start, end):
    done, _ = convert("--from", "kite-table", "-", stdin=f"{HEADER}\n1,amy,{start},{end},4\n")
    found = [
        re.findall(f"<{name}>(.*?)</{name}>", done) for name in ("StartTime", "EndTime", "Duration")
    ]
    assert found == [["1700000000"], ["1700000060"], ["60"]]
