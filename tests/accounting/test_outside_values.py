"""What a distribution of one's own reads without a parser: texts are values, or are told."""
# ruff: noqa: E501 (a row of a table is a line)

import re
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from outside import declared

from sssjob import registry
from sssjob.cli import sssjob
from sssjob.records.layout import NO_WALL

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
EXAMPLES = re.findall(
    r"```python\n(.*?)```", PAGE.read_text().partition("## Add a format")[2], re.DOTALL
)
PACKAGE = "numbers_of_others"
FIELDS = """
import re
from sssjob.records.cuts import Lines
from sssjob.records.folding import Fold, Folding
from sssjob.records.layout import Layout, NoRunKey, Record, alone, mapping
from sssjob.records.record import DELIVERED, JOB, Field

NAMES = ("kind", "id", "value", "more")


def record(line, text):
    return Record(line, NAMES, (text.split("|") + [""] * 3)[:4])


def layout(field, how=""):
    return Layout(
        type="Ours", cut=Lines(has_parts=True), reader=alone(record),
        rows=mapping([Field("id", JOB, "Id"), field]), run=NoRunKey("there are no times"),
        folding=Folding(
            part=lambda record: "step" if record.fields[0] == "step" else "",
            key=lambda record: record.fields[1],
            goes_on=lambda job: True, follows=lambda part, job: True,
            are_jobs=lambda lines: [line.startswith(b"job|") for line in lines],
            folds=(Fold("value", how),) if how else (), alone="a step without its job",
        ),
    )
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    """What installs modules as formats, and gives a directory to work in."""
    (tmp_path / "site" / PACKAGE).mkdir(parents=True)
    (tmp_path / "site" / PACKAGE / "__init__.py").write_text("")
    (tmp_path / "here").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.chdir(tmp_path / "here")

    def install(**modules):
        for name, text in modules.items():
            (tmp_path / "site" / PACKAGE / f"{name}.py").write_text(text)
        formats = {f"kestrel-{name}": f"{PACKAGE}.{name}" for name in modules}
        declared(tmp_path / "site", {registry.FORMATS: formats}, name="numbers")
        return tmp_path / "here"

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def run(*words):
    done = CliRunner().invoke(sssjob, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def converted(here, lines, name="kestrel-ours"):
    """What lines become, and what is said; what comes of it is a valid document."""
    (here / "log").write_text("\n".join(lines) + "\n")
    done = run("convert", "--from", name, "--tz", "UTC", "-o", "jobs.xml", "log")
    jobs = (here / "jobs.xml").read_text()
    if jobs:
        checked = run("validate", "jobs.xml")
        assert "error:" not in checked.stderr + checked.stdout, (jobs, checked.output)
    return jobs, done.stderr


# fmt: off
ALONE = {
    # property, its place, and text  what becomes of it                    what is said
    ("Processors", "DELIVERED", "4"):   ("<Processors>4</Processors>",        ""),
    ("Processors", "DELIVERED", "x"):   ("",                                  "error: "),
    ("Processors", "DELIVERED", "-4"):  ('name="value">-4</Extension>',       "'-4' is not "),
    ("Processors", "DELIVERED", "1.5"): ("",                                  "'1.5' is not a whole number"),
    ("NodeCount", "DELIVERED", "x"):    ('name="value">x</Extension>',        "'x' is not "),
    ("Duration", "DELIVERED", "60.5"):  ("<Duration>61</Duration>",           "no number of processors"),
    ("Duration", "DELIVERED", "0:01:00"): ("<Duration>60</Duration>",         "no number of processors"),
    ("Duration", "DELIVERED", "soon"):  ("",                                  "error: "),
    ("CpuDuration", "JOB", "1e3"):      ("<CpuDuration>1000</CpuDuration>",   ""),
    ("CpuDuration", "JOB", "x"):        ('name="value">x</Extension>',        "'x' is not "),
    ("SuspendDuration", "JOB", "7.6"):  ("<SuspendDuration>8</SuspendDuration>", ""),
    ("ExitCode", "JOB", "-1"):          ("<ExitCode>-1</ExitCode>",           ""),
    ("ExitCode", "JOB", "killed"):      ('name="value">killed</Extension>',   "'killed' is not "),
    ("Charge", "JOB", "-1.50"):         ("<Charge>-1.5</Charge>",             ""),
    ("Charge", "JOB", "free"):          ('name="value">free</Extension>',     "'free' is not "),
    ("Memory", "DELIVERED", "1e3"):     ("<Memory>1000</Memory>",             ""),
    ("Memory", "DELIVERED", "5GB"):     ('name="value">5GB</Extension>',      "'5GB' is not "),
    ("Interactive", "JOB", "True"):     ("<Interactive>true</Interactive>",   ""),
    ("Interactive", "JOB", "maybe"):    ('name="value">maybe</Extension>',    "'maybe' is not "),
    ("StartTime", "JOB", "1970-01-01T00:01:00"): ("<StartTime>60</StartTime>", ""),
    ("StartTime", "JOB", "noon"):       ("",                                  "error: "),
    ("SubmitTime", "JOB", "noon"):      ('name="value">noon</Extension>',     "'noon' is not "),
    ("Node", "DELIVERED", "n1"):        ("<Node>n1</Node>",                   ""),
    ("Node", "DELIVERED", "n1, n2"):    ('<Node aggregation="List">n1,n2</Node>', ""),
    ("Node", "DELIVERED", "n[1-2,4]"):  ('<Node aggregation="Range">n[1-2,4]</Node>', ""),
    ("Node", "DELIVERED", "n[1-2],m1"): ('name="value">n[1-2],m1</Extension>', "'n[1-2],m1' is not "),
    ("Feature", "REQUESTED", "ib,ssd"): ('<Feature aggregation="List">ib,ssd</Feature>', ""),
    ("User", "DELIVERED", "a,b"):       ("<User>a,b</User>",                  ""),
}
# fmt: on


@pytest.mark.parametrize("what, becomes", ALONE.items(), ids=[" ".join(what) for what in ALONE])
def test_a_text_without_a_parser_is_read_by_the_type_of_its_property(what, becomes, site):
    element, place, text = what
    (wanted, said) = becomes
    field = f'Field("value", {place}, "{element}")'.replace("REQUESTED", '"Requested"')
    here = site(ours=f"{FIELDS}\nLAYOUT = layout({field})\n")
    jobs, told = converted(here, [f"job|7|{text}"])
    assert wanted in jobs
    assert bool(jobs) == bool(wanted)
    assert said in told
    assert ("error:" in told or "warning:" in told) == bool(said)


# fmt: off
FOLDS = {
    # how, and texts of the parts and of the job        what becomes of them
    ("sum", "1", "2"):                                    "3",
    ("sum", "1e3", "1"):                                  "1001",
    ("sum", "0.0000001", "0"):                            "0.0000001",
    ("sum", "100000000000000000.05", "1e30", "-1e30"):    "100000000000000000.05",
    ("sum", "-0", "0"):                                   "0",
    ("sum", "-1e99", "1e99", "1e-9"):                     "0.000000001",
    ("max", "1e3", "1"):                                  "1000",
    ("max", "-0.0", "-1"):                                "0",
    ("max", "007", "1"):                                  "7",
    ("first", "", "b", "a"):                              "b",
    ("last", "b", "a", ""):                               "a",
    ("sum", "123456789012345678", "0.123456"):            "123456789012345678.123456",
    ("set", "n2,n1", "n1"):                               "n2,n1",
    ("set", "n1", "n2", "n1"):                            "n1,n2",
    ("set", " n1 ,,n1", "n2"):                            "n1,n2",
    ("set", "n[1,3]", "n[1,3]"):                          "n[1,3]",
}
# fmt: on


@pytest.mark.parametrize("case, wanted", FOLDS.items(), ids=[" ".join(case) for case in FOLDS])
def test_folded_texts_are_written_as_one_would_write_them(case, wanted, site):
    how, *parts, own = case
    field = 'Field("value", JOB, "Extension", attributes={"type": "Ours", "name": "value"})'
    here = site(ours=f'{FIELDS}\nLAYOUT = layout({field}, "{how}")\n')
    lines = [*(f"step|7|{part}" for part in parts), f"job|7|{own}"]
    jobs, told = converted(here, lines)
    found = re.findall(r'name="value">(.*?)<', jobs)
    assert [text.rstrip("0").rstrip(".") if "." in text else text for text in found] == [wanted]
    assert "warning" not in told


ODD = ("x", "+3", "9" * 19, "1e999", "1,5")


@pytest.mark.parametrize("how", ["sum", "max"])
@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(
    "lines", [["step|7|{}", "job|7|1"], ["step|7|1", "job|7|{}"]], ids=["of a part", "of the job"]
)
@pytest.mark.parametrize("element", ["CpuDuration", "Extension", "Name"])
def test_a_text_that_is_no_number_is_told_of_a_sum_whatever_it_becomes(
    how, odd, lines, element, site
):
    attributes = ', attributes={"type": "Ours", "name": "value"}' * (element == "Extension")
    here = site(
        ours=f'{FIELDS}\nLAYOUT = layout(Field("value", JOB, "{element}"{attributes}), "{how}")\n'
    )
    jobs, told = converted(here, [line.format(odd) for line in lines])
    assert f"{odd!r} is not a number" in told
    assert f'name="value">{odd}</Extension>' in jobs
    assert jobs.count(f">{odd}<") == 1


def test_a_set_of_nodes_is_written_as_ours_are(site):
    here = site(ours=f'{FIELDS}\nLAYOUT = layout(Field("value", DELIVERED, "Node"), "set")\n')
    jobs, _ = converted(here, ["step|7|n2,n1", "job|7|n1", "job|8|n1"])
    assert re.findall(r"<Node.*?</Node>", jobs) == [
        '<Node aggregation="List">n2,n1</Node>',
        "<Node>n1</Node>",
    ]


def test_a_row_may_take_a_text_as_it_stands_by_a_function_of_its_own(site):
    here = site(
        ours=f'{FIELDS}\nLAYOUT = layout(Field("value", DELIVERED, "Memory", lambda text: text.removesuffix("MB")))\n'
    )
    assert "<Memory>5</Memory>" in converted(here, ["job|7|5MB"])[0]


# fmt: off
PRINTED = [
    # example of the page  lines                                            what becomes of them, and what is said
    ("table",  ["id,user,start,end,cpus", "1,amy,0,60,x"],                   [],                              "1 bad|bad 1"),
    ("table",  ["id,user,start,end,cpus", "3,cy,1700000000,1700000060,-4"],  ["cpus\">-4</Extension>"],       "'-4' is not "),
    ("table",  ["id,user,start,end,cpus", "3,cy,1700000000,1700000060,4"],   ["<Processors>4</Processors>"],  "converted 1"),
    ("folded", ["step 1 cpu=x", "job 1 cpu=1"],                              ["<CpuDuration>1</CpuDuration>"], "neither a job nor a step"),
    ("folded", ["step 1 cpu=5", "job 1 cpu=1"],                              ["<CpuDuration>6</CpuDuration>"], "converted 1 (and 1 step)"),
    ("first",  ["ours-1 amy", "ours-2"],                                     ["<User>amy</User>"],            "no user"),
]
# fmt: on


@pytest.mark.parametrize("name, lines, wanted, said", PRINTED)
def test_examples_of_the_page_make_valid_documents_of_odd_records(name, lines, wanted, said, site):
    first, table, folded = (text for text in EXAMPLES if "LAYOUT" in text)
    here = site(first=first, table=table, folded=folded)
    jobs, told = converted(here, lines, f"kestrel-{name}")
    assert all(each in jobs for each in wanted)
    assert re.search(said.replace("(", r"\(").replace(")", r"\)"), told)


HEADED = next(text for text in EXAMPLES if "HeaderTable" in text)
# The second example of the page, with a state as its log prints it, and what was said of it.
WITH_STATE = HEADED.replace('"cpus")', '"cpus", "state")').replace(
    '            Field("cpus",', """            Field("state", JOB, "State", state),
            Field("cpus",""",
).replace("\n\ndef record(", """

STATES = {"Q": "Idle", "H": "Hold", "R": "running", "S": "SUSPENDED", "C": "Completed"}


def state(text):
    return STATES.get(text)


def record(""", 1)  # fmt: skip


# decision 1207
@pytest.mark.parametrize("to", ["sss", "jsonl", "sss-lines"])
@pytest.mark.parametrize("state, missed", [
    ("Q", False), ("H", False), ("R", False), ("S", False), ("C", True), ("", True), ("?", True),
])  # fmt: skip
def test_a_wall_time_is_missed_of_jobs_only_that_have_ended(site, to, state, missed):
    assert "state" in WITH_STATE
    here = site(live=WITH_STATE)
    (here / "log").write_text(f"id,user,start,end,cpus,state\n7,amy,,,4,{state}\n")
    done = run("convert", "--from", "kestrel-live", "--to", to, "log")
    assert (done.exit_code, "converted 1," in done.stderr) == (0, True)
    assert (NO_WALL in done.stderr) == missed
