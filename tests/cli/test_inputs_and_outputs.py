"""All commands x kinds of input x forms of output, in one table.

Every command that reads jobs is given the same two jobs as each kind of input, and prints each of
its forms. What is no input at all is told by what it is, by every one of them.
"""
# ruff: noqa: E501 (a row of a table is a line)

import gzip
import json
import re
import shutil
import sqlite3
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_tree import commands

from sssjob import jobs, store
from sssjob.cli import sssjob
from sssjob.ledger import columns, ledger

JOB = (
    "<Job><Id>{0}</Id><User>amy</User><Executable>/bin/true</Executable><State>Completed</State><Queue>q</Queue>"
    "<Requested><Processors>1</Processors><Duration>60</Duration></Requested><Delivered><Processors>1</Processors></Delivered>"
    "<SubmitTime>1795003200</SubmitTime><StartTime>1795003202</StartTime><EndTime>1795003204</EndTime><Duration>2</Duration></Job>"
)
JOBS = f"{JOB.format(7)}\n{JOB.format(8)}\n"
# The same two as records.
SACCT = (
    "JobID|User|State|Partition|ReqCPUS|AllocCPUS|Submit|Start|End|ElapsedRaw|TimelimitRaw|Cluster\n"
    "7|amy|COMPLETED|q|1|1|2026-11-18T12:00:00|2026-11-18T12:00:02|2026-11-18T12:00:04|2|1|c\n"
    "8|amy|COMPLETED|q|1|1|2026-11-18T12:00:00|2026-11-18T12:00:02|2026-11-18T12:00:04|2|1|c\n"
)
ALL = {"document", "compressed", "directory", "store", "records", "standard input", "ledger"}
ASKED = ALL - {"ledger"}  # which has what jobs used, and not all that they asked for
ONE = {"document"}  # of which it writes a new version
PLACES = {"document", "directory", "store"}

# fmt: off
TABLE = {
    # command            what it is given (@ is the input)               kinds       forms of its output
    "validate":         ("validate @",                                   ALL,        "- --json --jsonl --format=sarif"),
    "show":             ("show @",                                       ALL,        "- --json --jsonl --to=sss --to=sss-lines"),
    "query":            ("query //Job/Id @",                             ALL,        "- --json --jsonl --csv"),
    "diff":             ("diff @ @",                                     ALL - {"standard input"}, "- --json --jsonl"),
    "canon":            ("canon @",                                      ALL,        "-"),
    "repair":           ("repair @",                                     {"document", "compressed", "standard input"}, "- --json --output=F"),
    "transform":        ("transform to-3.1.0 @",                         ALL,        "- --output=F"),
    "store import":     ("store import NEW @",                           ASKED,      "- --json"),
    "translate":        ("translate --to sbatch --output-dir OUT @",     ASKED - {"records"}, "-"),
    "submit":           ("submit --to slurm --dry-run --select 7 @",     {"document", "store"}, "- --json --jsonl"),
    "convert":          ("convert @",                                    ALL,        "- --to=sss --to=jsonl --to=parquet --to=ur --to=car --to=apel --to=lrmsinfo --output=F"),
    "deliver":          ("deliver --in-place --record RECORDS @",        PLACES,     "- --json"),
    "report":           ("report @",                                     ALL,        "- --json --csv --plot --svg=F"),
    "audit":            ("audit --against RECORDS @",                    ALL,        "- --json"),
    "explain":          ("explain @",                                    ASKED,      "- --json --jsonl"),
    "match":            ("match --offers OFFERS @",                      ASKED,      "- --json --jsonl"),
    "alternatives":     ("alternatives @",                               ASKED,      "- --json --jsonl"),
    "place":            ("place --no-solver --select 7 --offers OFFERS @", ASKED,      "- --json --jsonl --svg=F --output=F"),
    "layout":           ("layout @",                                     ASKED,      "- --json --jsonl"),
    "graph":            ("graph @",                                      ASKED,      "- --json --jsonl --dot --svg=F --output=F"),
    "profile":          ("profile @",                                    ALL,        "- --json --jsonl"),
    "features job":     ("features job --dry-run --select 7 @", ASKED,      "- --json --explain"),
    "ledger ingest":    ("ledger ingest NEW @",                          ALL,        "- --json"),
    "lcginfo backtest": ("lcginfo backtest --slots 1 @",                 ALL,        "- --json --plot --svg=F"),
    "lcginfo lrms":     ("lcginfo lrms @",                               ALL,        "-"),
    "condor ad":        ("condor ad @",                                  ASKED,      "- --format=json"),
}
# Commands that read no jobs that a user names.
OTHERS = {
    "status": "what batch systems print", "send": "messages that are ready", "serve": "messages over the network",
    "browse": "it serves until it is stopped; what it takes is asked in tests of verbs/browse",
    "request": "what an action wants", "conformance": "the cases of the standard", "demo": "the examples",
    "examples": "the examples", "completion": "nothing", "schema": "nothing", "config show": "the file of defaults",
    "cancel": "documents with the Ids of a batch system, asked in tests of submission", "hold": "as cancel", "release": "as cancel",
    **dict.fromkeys(("store init", "store export", "store query", "store log", "store delete", "store stats", "store check",
                     "store compact", "store settings", "store upgrade"), "a store only"),
    **dict.fromkeys(("ledger init", "ledger report", "ledger show", "ledger sql", "ledger query", "ledger audit", "ledger export", "ledger check", "ledger repair", "ledger compact"), "a ledger only"),
    **dict.fromkeys(("features machine", "features live", "features set", "features expire", "features agent", "features sweep", "features prove", "features sample", "features watch", "features discover", "features show", "features left",
                     "features status", "features pilots", "features install", "features prolog", "features epilog", "features collect",
                     "features submit", "features serve"), "directories of features, or what a batch system says"),
    **dict.fromkeys(("condor job", "condor features", "condor eval", "condor why", "condor queue", "condor fold", "condor cron", "condor config", "condor check",
                     "condor simulate", "condor fetch-work", "condor reply-fetch", "condor evict-claim", "condor prepare-job",
                     "condor update-job-info", "condor job-exit"), "ads, or a directory of documents"),
    **dict.fromkeys(("lcginfo jobs", "lcginfo caps", "lcginfo check", "lcginfo estimate", "lcginfo run"), "what batch systems print"),
}
WRONG = {
    "a PDF":               (b"%PDF-1.7\n",                                                    "this is a PDF document"),
    "a picture":           (b"\x89PNG\r\n\x1a\n",                                             "this is a picture"),
    "a log of a server":   (b"[2026-11-23T02:00:00.123] slurmctld version 22.05.8 started\n", "this is a log of a server"),
    "a foreign database":  (None,                                                             "a database of"),
}
# fmt: on
FORMS = {"--json", "--jsonl", "--csv", "--svg", "--dot"}
SILENT = {
    "validate",
    "diff",
    "profile",
    "store import",
    "translate",
    "submit",
    "deliver",
    "repair",
    "ledger ingest",
}


def cells():
    for name, (words, kinds, forms) in TABLE.items():
        for kind in sorted(kinds):
            for form in forms.split():
                yield pytest.param(name, words, kind, form, id=f"{name}: {kind}, {form}")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory with the two jobs in each kind of input, which no test writes to."""
    place = tmp_path_factory.mktemp("made")
    (place / "jobs.xml").write_text(JOBS)
    (place / "jobs.xml.gz").write_bytes(gzip.compress(JOBS.encode()))
    (place / "dir").mkdir()
    (place / "dir" / "jobs.xml").write_text(JOBS)
    (place / "sacct.txt").write_text(SACCT)
    (place / "offers").write_text('[{"id": "n", "Processors": 4, "Duration": 3600}]')
    with store.open(place / "jobs.db", create=True) as stored:
        stored.load(JOBS.encode())
    kept = ledger.create(place / "usage")
    kept.add([columns.row(job) for job in jobs(place / "jobs.xml")])
    return place


@pytest.fixture
def given(made, tmp_path):
    """Where the two jobs are, by the kind of the input."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    names = {"document": "jobs.xml", "compressed": "jobs.xml.gz", "directory": "dir",
             "store": "jobs.db", "records": "sacct.txt", "ledger": "usage"}  # fmt: skip
    return {"standard input": "-", **{kind: str(tmp_path / name) for kind, name in names.items()}}


def call(words, name, tmp_path, *more):
    places = {
        "@": name, "OFFERS": str(tmp_path / "offers"), "NEW": str(tmp_path / "new.db"),
        "RECORDS": str(tmp_path / "sacct.txt"), "OUT": str(tmp_path / "out"),
    }  # fmt: skip
    given = [places.get(word, word) for word in words.split()]
    return CliRunner().invoke(sssjob, [*given, *more], input=JOBS if name == "-" else None)


def test_every_command_is_in_the_table_or_reads_no_jobs():
    there = {" ".join(words) for words, _ in commands(sssjob)}
    missing = sorted(there - {*TABLE, *OTHERS})
    assert not missing, f"{missing}: no row in TABLE, and no place in OTHERS"
    assert there == {*TABLE, *OTHERS}


@pytest.mark.parametrize("name", TABLE)
def test_every_form_of_a_command_is_in_the_table(name):
    found = dict((" ".join(words), command) for words, command in commands(sssjob))[name]
    options = {each for p in found.params if isinstance(p, click.Option) for each in p.opts}
    assert options & FORMS == {each.partition("=")[0] for each in TABLE[name][2].split()} & FORMS


@pytest.mark.parametrize("name, words, kind, form", [*cells()])
def test_a_command_takes_an_input_and_prints_a_form(given, tmp_path, name, words, kind, form):
    file = tmp_path / "F"
    more = () if form == "-" else (form.replace("=F", f"={file}"),)
    result = call(words, given[kind], tmp_path, *more)
    assert result.exit_code == (1 if name == "profile" else 0), result.output
    printed = file.read_bytes() if form.endswith("=F") else result.stdout_bytes
    if form == "--json" and name not in ("show", "submit"):
        json.loads(printed if name in ("validate", "query", "diff") else printed.split(b"\n{")[0])
    elif form == "--jsonl":
        assert all(map(json.loads, printed.splitlines()))
    elif form == "--svg=F":
        assert b"<svg" in printed
    elif form == "-" and name not in SILENT:
        assert printed.strip()


RECORDS = sorted(name for name, (_, kinds, _) in TABLE.items() if "records" in kinds)
TIMED = ("show @", "query //Job/StartTime @", "canon @", "transform to-3.1.0 @", "convert @")
STARTED = {"UTC": "1795003202", "Asia/Tokyo": "1794970802"}  # of the records, by their zone


@pytest.mark.parametrize("zone", STARTED)
@pytest.mark.parametrize("words", TIMED)
def test_a_time_of_records_is_the_same_for_every_command(given, tmp_path, words, zone, monkeypatch):
    config = tmp_path / "config.toml"
    config.write_text(f'zone = "{zone}"\n')
    monkeypatch.setenv("SSSJOB_CONFIG", str(config))
    printed = call(words, given["records"], tmp_path).stdout
    assert [text for text in STARTED.values() if text in printed] == [STARTED[zone]]


@pytest.mark.parametrize("name", RECORDS)
def test_the_zone_of_a_file_of_defaults_is_heeded_by_every_command(
    given, tmp_path, name, monkeypatch
):
    config = tmp_path / "config.toml"
    config.write_text('zone = "Asia/Tokyo"\n')
    monkeypatch.setenv("SSSJOB_CONFIG", str(config))
    result = call(TABLE[name][0], given["records"], tmp_path)
    assert "without a zone" not in result.stderr


@pytest.mark.parametrize("name", RECORDS)
def test_a_notice_names_no_option_that_the_command_has_not(given, tmp_path, name):
    result = call(TABLE[name][0], given["records"], tmp_path)
    found = dict((" ".join(words), command) for words, command in commands(sssjob))[name]
    has = any("--tz" in each.opts for each in found.params)
    told = [line for line in result.stderr.splitlines() if "without a zone" in line]
    assert all(("--tz" in line) is has for line in told)


@pytest.mark.parametrize("what", WRONG)
@pytest.mark.parametrize("name", sorted(TABLE))
def test_what_holds_no_jobs_is_told_by_what_it_is(given, tmp_path, name, what):
    content, said = WRONG[what]
    path = tmp_path / "wrong"
    if content is None:
        sqlite3.connect(path).execute("CREATE TABLE t (x)").connection.close()
    else:
        path.write_bytes(content)
    result = call(TABLE[name][0], str(path), tmp_path)
    assert result.exit_code in (1, 2)
    # What a command does not catch is said by what calls it.
    told = str(result.exception) if result.exit_code == 1 and not result.stderr else result.stderr
    assert said in told
    assert told.count(str(path)) == 1


@pytest.mark.parametrize("name", sorted(name for name in TABLE if "ledger" not in TABLE[name][1]))
def test_what_a_ledger_does_not_have_is_told_once(given, tmp_path, name):
    result = call(TABLE[name][0], given["ledger"], tmp_path)
    assert result.exit_code == 2
    assert "is a ledger" in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout


HEADER = SACCT.partition("\n")[0]
# fmt: off
SOURCES = {
    # what a source is                what is in it                          exit code
    "one bad record":                (f"{SACCT}9|amy\n",                     1),
    "more bad records than are told": (SACCT + "9|amy\n" * 21,               1),
    "nothing but a bad record":      (f"{HEADER}\n9|amy\n",                  1),
    "a broken document":             ("<Job><Id>7</Id>\n",                   2),
    "a bad record and a broken document": (None,                             2),
    "no job":                        ("<Jobs/>\n",                           1),
    "a document about something else": ("<html><p/></html>\n",              2),  # decision 1178
    "no record":                     (f"{HEADER}\n",                         1),
    "nothing at all":                ("",                                    2),
}
# Commands that differ, and how: the table in docs/command-line.md says so.
WRITES_DOCUMENTS = {what: 2 for what, (content, _) in SOURCES.items() if (content or "").startswith(HEADER)}
TAKES_NONE = {"no job": 0, "no record": 0}
FOREIGN = "a document about something else"
OF_ONE_JOB = {"one bad record": 0, "more bad records than are told": 0, "nothing but a bad record": 2, "no job": 2, "no record": 2}
DIFFER = {
    "diff":                          {"nothing but a bad record": 2, "no job": 2, "no record": 2},
    "features job":                  OF_ONE_JOB,
    "submit":                        WRITES_DOCUMENTS,
    "deliver":                       WRITES_DOCUMENTS,
    "repair":                        {**WRITES_DOCUMENTS, "no job": 0, FOREIGN: 0},
    "profile":                       TAKES_NONE,
    "lcginfo lrms":                  TAKES_NONE,  # there is no job, and that is the state
    "query":                         {FOREIGN: 1},
    "validate":                      {**TAKES_NONE, FOREIGN: 1},
    "transform":                     TAKES_NONE,
    **dict.fromkeys(("convert", "store import", "ledger ingest"), TAKES_NONE),
}
# fmt: on


@pytest.mark.parametrize("name", sorted(TABLE))
def test_a_bad_record_ends_every_command_with_1_and_what_cannot_be_read_with_2(
    given, tmp_path, name
):
    ended = {}
    for what, (content, _) in SOURCES.items():
        source = tmp_path / what
        if content is None:
            source.mkdir()
            (source / "records").write_text(f"{SACCT}10|amy\n")
            (source / "broken.xml").write_text("<Job><Id>10</Id>\n")
        else:
            source.write_text(content)
        result = call(TABLE[name][0], str(source), tmp_path)
        assert isinstance(result.exception, SystemExit | None), what
        ended[what] = result.exit_code
    expected = {what: code for what, (_, code) in SOURCES.items()}
    assert ended == {**expected, **DIFFER.get(name, {})}


# fmt: off
PAGE = {
    # how the row of the page begins                 commands whose exit code is this, for what
    "1 for a document about something else":         lambda differ: differ.get(FOREIGN) == 1,
    "0 for such a document":                         lambda differ: differ.get(FOREIGN) == 0,
    "2 also when one of the two has no job":         lambda differ: differ.get("no job") == 2 and differ.get("one bad record") is None,
    "0 also for a document or a file of records":    lambda differ: differ.get("no job") == 0,
}
# fmt: on


@pytest.mark.parametrize("row, is_of", PAGE.items(), ids=PAGE)
def test_the_page_names_the_commands_whose_exit_code_differs(row, is_of):
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    [commands] = re.findall(rf"^\| (.*) \| {re.escape(row)}", page, re.MULTILINE)
    assert set(re.findall("`([^`]+)`", commands)) == {
        name for name, differ in DIFFER.items() if is_of(differ)
    }


HOW = {"--from", "--tz", "--columns", "--delimiter"}
# fmt: off
WITHOUT = {
    # command            options that it has not       why
    "query":            {"--delimiter"},               # its --columns are those that it prints
    "lcginfo lrms":     {"--columns", "--delimiter"},  # a state is no table
    "lcginfo backtest": HOW,                           # the file of defaults names the zone
    "translate":        {"--tz", "--columns", "--delimiter"},  # its --from names a kind of script
}
# fmt: on


@pytest.mark.parametrize("name", RECORDS)
def test_every_command_that_reads_records_has_the_options_of_records(name):
    found = dict((" ".join(words), command) for words, command in commands(sssjob))[name]
    options = {each for p in found.params if isinstance(p, click.Option) for each in p.opts}
    assert HOW - options == WITHOUT.get(name, set())


PLAIN = SACCT.partition("\n")[2].replace("|", ";")  # which nothing tells from other tables


@pytest.mark.parametrize("name", [name for name in RECORDS if name not in WITHOUT])
def test_records_without_a_header_are_read_by_what_the_options_say(given, tmp_path, name):
    source = tmp_path / "plain"
    source.write_text(PLAIN)
    columns = HEADER.replace("|", ",")
    how = ["--from", "slurm", "--columns", columns, "--delimiter", ";", "--tz", "Asia/Tokyo"]
    result = call(TABLE[name][0], str(source), tmp_path, *how)
    assert result.exit_code == (1 if name == "profile" else 0), result.output
    assert f"{source}:1: notice: recognised" not in result.stderr
    times = [text for text in STARTED.values() if text in result.stdout]
    assert times in ([], [STARTED["Asia/Tokyo"]])
    assert times or name not in ("show", "canon", "transform", "convert")


def test_a_query_reads_records_as_the_options_say(given, tmp_path):
    asked = "query --from sacct --tz Asia/Tokyo //Job/StartTime @"
    result = call(asked, given["records"], tmp_path)
    assert result.stdout.split() == [STARTED["Asia/Tokyo"]] * 2
    assert not result.stderr


@pytest.mark.parametrize("name", ["show", "validate", "report", "convert", "audit"])
def test_columns_without_a_format_and_a_format_that_is_not_known_end_the_command(
    given, tmp_path, name
):
    words = TABLE[name][0]
    alone = (["--columns", "JobID"], "--columns and --delimiter need --from")
    for how, said in (
        *([alone] if name != "convert" else ()),  # which looks up what records are anyway
        (["--from", "pbs", "--columns", "JobID"], "are for tables of sacct: records of pbs say"),
        (["--from", "condor", "--delimiter", "|"], "are for tables of sacct: records of condor"),
        (["--from", "slrm"], "'slrm' is no known record format"),
    ):
        result = call(words, given["records"], tmp_path, *how)
        assert result.exit_code == 2
        assert said in result.stderr
