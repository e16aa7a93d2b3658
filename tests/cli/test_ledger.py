"""The commands of ``sssjob ledger``."""

import gzip
import itertools
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("duckdb")

from sssjob import store
from sssjob.cli import sssjob
from sssjob.ledger import ledger

RECORDS = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"
HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS\n"


@pytest.fixture
def run():
    return lambda *words: CliRunner().invoke(sssjob, ["ledger", *map(str, words)])


@pytest.fixture
def ingest(run, usage, tmp_path):
    """Puts records into the ledger, each time by another file."""

    def ingest(*records):
        file = tmp_path / f"sacct-{len(list(tmp_path.iterdir()))}"
        file.write_text(HEADER + "".join(f"{each}\n" for each in records))
        return run("ingest", usage, file), file

    return ingest


@pytest.fixture
def usage(tmp_path):
    return tmp_path / "usage"


@pytest.mark.parametrize("by", ["user", "project,day", "state,month,hour", "day,user,day"])
@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_a_report_is_that_over_the_records(run, usage, by, form):
    run("ingest", usage, RECORDS)
    found = run("report", "--book", "end", form, "--by", by, usage)
    wanted = CliRunner().invoke(sssjob, ["report", form, "--by", by, str(RECORDS)])
    if form == "--json":
        told = json.loads(found.stdout)
        assert sum(told.pop("answered").values()) == 2  # files: one of a month, one of open runs
        assert told == json.loads(wanted.stdout)
    else:
        assert found.stdout == wanted.stdout
    assert found.exit_code == wanted.exit_code == 0


def test_a_window_that_ends_before_it_begins_is_refused(run, usage, ingest):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    found = run("report", "--since", "2026-12", "--until", "2026-01", usage)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "--since 2026-12 is after --until 2026-01" in found.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_records_documents_and_stores_are_taken_in(run, usage, tmp_path, workers):
    document, records = tmp_path / "jobs.sss", tmp_path / "sacct"
    document.write_text("<Jobs><Job><Id>a</Id></Job><Job><Id>b</Id></Job></Jobs>")
    records.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>d</Id><User>bob</User></Job>")
    found = run("ingest", "--workers", workers, usage, document, records, tmp_path / "jobs.db")
    assert found.stderr.splitlines()[-1] == "new 4, replaced 0, unchanged 0, bad 0"
    told = json.loads(run("report", "--json", usage).stdout)
    assert {row["user"]: row["jobs"] for row in told["rows"]} == {"amy": 1, "bob": 1, None: 2}


def test_a_file_that_was_read_is_not_read_again_unless_it_is_wanted(run, usage, tmp_path):
    file = tmp_path / "sacct"
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    run("ingest", usage, file)
    known = {"new": 0, "replaced": 0, "unchanged": 0, "bad": 0, "unread": 0, "known": 1}
    assert json.loads(run("ingest", "--json", usage, file).stdout) == known
    again = json.loads(run("ingest", "--again", "--json", usage, file).stdout)
    assert (again["unchanged"], again["known"]) == (1, 0)
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|6|4|4\n")
    assert json.loads(run("ingest", "--json", usage, file).stdout)["replaced"] == 1


def test_a_bad_record_is_told_with_its_line_and_the_others_are_kept(ingest):
    found, file = ingest("x|c|amy|COMPLETED|1|2|5|3|4", "8|c|amy|COMPLETED|1|2|5|3|4")
    assert f"{file}:2: error: 'x' is no job id" in found.stderr
    assert (found.exit_code, "new 1" in found.stderr) == (1, True)


def test_a_file_that_is_not_there_costs_itself(run, usage, tmp_path):
    file = tmp_path / "sacct"
    file.write_text(HEADER + "7|c|amy|COMPLETED|1|2|5|3|4\n")
    found = run("ingest", usage, tmp_path / "nothing", file)
    assert (found.exit_code, "new 1" in found.stderr) == (2, True)
    assert f"{tmp_path / 'nothing'}: No such file or directory" in found.stderr


@pytest.mark.parametrize("text", ["<Job><Id>7</Id>\n", "<html><p/></html>\n", ""])
@pytest.mark.parametrize("workers", [1, 2])
def test_what_cannot_be_read_is_told_each_time(run, usage, tmp_path, text, workers):
    file = tmp_path / "broken.xml"
    file.write_text(text)
    first = run("ingest", "--workers", workers, usage, file)
    assert first.exit_code == 2
    again = run("ingest", "--workers", workers, usage, file)
    assert (again.exit_code, again.stderr) == (2, first.stderr)


def test_a_torn_file_is_told_and_the_rest_is_reported(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4", "8|c|bob|RUNNING|1|2|Unknown|3|4")
    (torn,) = usage.glob("usage/1970-01/*.parquet")
    torn.write_bytes(b"PAR1")
    found = run("report", "--json", usage)
    assert f"{torn}: is torn: 4 bytes" in found.stderr
    users = [row["user"] for row in json.loads(found.stdout)["rows"]]
    assert (found.exit_code, users) == (2, ["bob"])


def test_an_older_state_can_be_asked(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    ingest("8|c|amy|COMPLETED|1|2|5|3|4")
    counts = [
        json.loads(run("report", "--json", *words, usage).stdout)["total"]["jobs"]
        for words in ([], ["--as-of", "1"], ["--as-of", "0"])
    ]
    assert counts == [2, 1, 0]


@pytest.mark.parametrize("words", [["ingest"], ["report"], ["check"]], ids=" ".join)
def test_a_name_that_is_no_utf_8_is_refused_at_once(run, usage, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    place = os.fsdecode(b"lg\xff")
    found = run(*words, place, *([str(usage)] if words == ["ingest"] else []))
    assert (found.exit_code, "a ledger needs a name in UTF-8" in found.stderr) == (2, True)
    assert not os.path.lexists(place)


def test_what_is_no_ledger_is_refused(run, tmp_path):
    found = run("report", tmp_path)
    assert (found.exit_code, "is no ledger: sssjob ledger init makes one" in found.stderr) == (
        2,
        True,
    )


def test_a_run_is_shown_with_where_it_was_read(run, ingest, usage):
    _, file = ingest("7|c|amy|COMPLETED|1|2|5|3|4", "7|d|\x1b[31mbob|COMPLETED|1|2|5|3|4")
    found = run("show", usage, "7", "8")
    assert (found.exit_code, found.stdout.count("wall_seconds")) == (0, 2)
    assert f"source             {file}\nline               2\n\nid " in found.stdout
    assert "\x1b" not in found.stdout
    told = [json.loads(line) for line in run("show", "--json", usage, "7").stdout.splitlines()]
    assert [(each["machine"], each["line"]) for each in told] == [("c", 2), ("d", 3)]
    assert run("show", usage, "8").exit_code == 1


def test_a_question_is_answered_as_csv_and_as_json(run, ingest, usage):
    ingest("7|c|=amy|COMPLETED|1|2|5|3|4")
    words = (
        'SELECT "user", wall_seconds AS w, NULL AS n, ended, [1.5] AS l, 2::HUGEINT AS h FROM runs'
    )
    found = run("sql", usage, words)
    assert found.stdout == "user,w,n,ended,l,h\n'=amy,3,,1970-01-01 00:00:05,[1.5],2\n"
    assert run("sql", "--raw", usage, words).stdout.splitlines()[1].startswith("=amy,")
    told = json.loads(run("sql", "--json", usage, words).stdout)
    ended = "1970-01-01 00:00:05"
    assert told == {"user": "=amy", "w": 3, "n": None, "ended": ended, "l": [1.5], "h": 2}
    assert run("sql", usage, "SELECT * FROM usage WHERE false").exit_code == 1


@pytest.mark.parametrize("query, why", [
    ("DELETE FROM usage", "one SELECT is expected, found DELETE"),
    ("SELECT * FROM read_text('/etc/passwd')", "SQL: Permission Error"),
    ("SELECT nothing", "SQL: Binder Error"),
])  # fmt: skip
def test_a_question_that_changes_or_reads_more_is_refused(run, ingest, usage, query, why):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    found = run("sql", usage, query)
    assert (found.exit_code, why in found.stderr, found.stdout) == (2, True, "")


def test_a_question_that_takes_too_long_ends(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    found = run("sql", "--seconds", "0.1", usage, "SELECT count(*) FROM range(10000000000)")
    assert (found.exit_code, "more than 0.1 seconds for a question" in found.stderr) == (2, True)


def test_damage_is_told_and_files_become_few(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    ingest("8|c|amy|COMPLETED|1|2|5|3|4")
    assert run("check", usage).stderr == f"{usage}: whole, 2 runs\n"
    assert json.loads(run("compact", "--json", usage).stdout) == {
        "before": 2,
        "after": 1,
        "removed": 0,
    }
    assert "2 files of" in run("check", usage).stderr
    said = run("compact", "--forget", "0", usage).stderr
    assert said.endswith("1 files before, 1 now, 0 removed\n")  # they are not a day old
    file = usage / ledger.opened(usage).manifest().files[0].path
    file.write_bytes(b"")
    found = run("check", "--json", usage)
    assert json.loads(found.stdout)["file"] == str(file)
    assert (found.exit_code, found.stderr) == (
        1,
        f"{usage}: 1 faults, 2 runs, files left behind 2\n",
    )
    assert run("sql", usage, "SELECT 1").exit_code == run("compact", usage).exit_code == 2


@pytest.mark.parametrize("form", ["csv", "parquet", "sqlite", "duckdb"])
def test_an_export_is_a_file_that_appears_whole(run, ingest, usage, tmp_path, form):
    ingest("7|c|=1+1|COMPLETED|1|2|5|3|4")
    found = run("export", "--to", form, "-o", tmp_path / "runs", usage)
    assert (found.exit_code, found.stdout, found.stderr) == (0, "", f"{usage}: 1 runs\n")
    kept = (tmp_path / "runs").read_bytes()
    assert kept
    (file,) = ledger.opened(usage).manifest().files
    (usage / file.path).write_bytes(b"")
    found = run("export", "--to", form, "-o", tmp_path / "runs", usage)
    assert (found.exit_code, "is torn" in found.stderr) == (2, True)
    assert (tmp_path / "runs").read_bytes() == kept
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_export_to_standard_output_is_csv(run, ingest, usage):
    ingest("7|c|=1+1|COMPLETED|1|2|5|3|4")
    assert "'=1+1" in run("export", usage).stdout
    assert ",=1+1," in run("export", "--raw", usage).stdout
    found = run("export", "--raw", "--to", "sqlite", usage)
    assert (found.exit_code, "--raw is for --to csv" in found.stderr) == (2, True)


def test_an_empty_ledger_is_exported_as_such(run, usage):
    run("init", usage)
    found = run("export", usage)
    assert (found.exit_code, len(found.stdout.splitlines())) == (1, 1)


def test_what_is_left_out_by_a_repair_is_said_and_comes_back_with_its_log(run, ingest, usage):
    _, log = ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    (file,) = ledger.opened(usage).manifest().files
    (usage / file.path).write_bytes(b"")
    found = run("repair", usage)
    assert found.exit_code == 1
    assert "is not what was written; 1 row was in it" in found.stdout
    assert found.stderr == f"{usage}: 1 runs left out, 0 runs\n"
    assert "new 1" in run("ingest", usage, log).stderr
    found = run("repair", usage)
    assert (found.exit_code, found.stderr) == (0, f"{usage}: whole, 1 runs\n")


def test_percentiles_stand_beside_the_sums_in_every_form(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|1|7201|7205|4|3", "8|c|amy|FAILED|1|Unknown|9|0|0")
    words = ("report", "--percentiles", "50,99.90", "--of", "wait", usage)
    names, row = (line.split(",")[-3:] for line in run(*words, "--csv").stdout.splitlines())
    assert (names, row) == (["wait_p50", "wait_p99.9", "wait_not_stated"], ["7200", "7200", "1"])
    told = json.loads(run(*words, "--json").stdout)
    wanted = {"wait": {"p50": 7200, "p99.9": 7200, "not_stated": 1}}
    assert [each["percentiles"] for each in (*told["rows"], told["total"])] == [wanted, wanted]
    headings, amy = run(*words).stdout.splitlines()
    assert headings.endswith("wait h p50  wait h p99.9  wait h not stated")
    assert amy.split()[-3:] == ["2.00", "2.00", "1"]


def test_groups_that_a_limit_cuts_off_have_no_percentiles_and_the_total_has(run, ingest, usage):
    ingest("7|c|amy|COMPLETED|0|9|99|90|3", "8|c|bob|COMPLETED|0|5|9|4|1")
    words = ("report", "--percentiles", "100", "--of", "processors", "--limit", "1", usage)
    last = [line.split()[-1] for line in run(*words).stdout.splitlines()]
    assert last == ["p100", "3.00", "-", "3.00"]
    told = json.loads(run(*words, "--json").stdout)
    assert ("percentiles" in told["others"], "percentiles" in told["total"]) == (False, True)


@pytest.mark.parametrize("by", ["user", "month"])
def test_an_empty_ledger_has_no_percentiles(run, usage, by):
    run("init", usage)
    found = run("report", "--percentiles", "50", "--of", "wall", "--by", by, "--json", usage)
    wanted = {"wall": {"p50": None, "not_stated": 0}}
    assert (found.exit_code, json.loads(found.stdout)["total"]["percentiles"]) == (1, wanted)


@pytest.mark.parametrize("words, why", [
    (["--percentiles", "101"], "'101' is not a percentile: 0 to 100, with at most 3 decimals"),
    (["--percentiles", "50,x"], "'x' is not a percentile"),
    (["--percentiles", "0.0001"], "'0.0001' is not a percentile"),
    (["--percentiles", ","], "--percentiles needs numbers, such as"),
    (["--percentiles", ",".join(map(str, range(21)))], "'21' is not 1 to 20 percentiles"),
    (["--percentiles", "50", "--of", "waits"], "'waits' is not one of wait, wall,"),
    (["--of", "wait"], "--of needs --histograms, or numbers, such as --percentiles 50,90,99"),
    (["--histograms", "--of", "waits"], "'waits' is not one of wait, wall,"),
    (["--histograms", "--svg", "-"], "--svg draws one histogram: name it, such as --of wait"),
])  # fmt: skip
def test_percentiles_and_histograms_that_are_none_are_refused(run, usage, words, why):
    run("init", usage)
    found = run("report", *words, usage)
    assert (found.exit_code, why in found.stderr) == (2, True), found.stderr


@pytest.fixture
def waits(ingest):
    """Jobs of amy that waited 0, 70 and an unknown number of seconds, and one of bob."""
    ingest(
        "7|c|amy|COMPLETED|1|1|5|4|3", "8|c|amy|COMPLETED|1|71|75|4|3",
        "9|c|amy|FAILED|1|Unknown|9|0|0", "10|c|bob|COMPLETED|1|72|75|3|1",
    )  # fmt: skip


def test_histograms_stand_below_the_table_without_parts_that_nobody_is_in(run, usage, waits):
    lines = run("report", "--histograms", "--of", "wait", usage).stdout.splitlines()
    assert [line.split() for line in lines[-5:]] == [
        ["jobs", "by", "wait,", "from:"],
        ["user", "00:00:00", "00:00:01", "00:00:10", "00:01:00", "not", "stated"],
        ["amy", "1", "0", "0", "1", "1"],
        ["bob", "0", "0", "0", "1", "0"],
        ["(total)", "1", "0", "0", "2", "1"],
    ]


def test_histograms_are_columns_of_csv_and_objects_of_json_also_of_what_a_limit_cut_off(
    run, usage, waits
):
    words = ("report", "--histograms", "--of", "wait", "--limit", "1", usage)
    names, row = (line.split(",")[13:18] for line in run(*words, "--csv").stdout.splitlines())
    assert names == ["wait_from_0", "wait_from_1", "wait_from_10", "wait_from_60", "wait_from_300"]
    assert row == ["1", "0", "0", "1", "0"]
    told = json.loads(run(*words, "--json").stdout)
    parts = [
        each["histograms"]["wait"] for each in (told["rows"][0], told["others"], told["total"])
    ]
    assert [each["parts"][3] for each in parts] == [
        {"from": 60, "to": 300, "jobs": jobs} for jobs in (1, 1, 2)
    ]
    assert [each["parts"][-1]["to"] for each in parts] == [None] * 3
    assert [each["not_stated"] for each in parts] == [1, 0, 1]


def test_jobs_that_do_not_state_a_number_are_one_column_beside_percentiles(run, usage, waits):
    words = ("report", "--histograms", "--percentiles", "50", "--of", "wait", "--csv", usage)
    assert run(*words).stdout.splitlines()[0].split(",").count("wait_not_stated") == 1


def test_histograms_are_drawn(run, usage, waits, tmp_path):
    words = ("report", "--histograms", "--of", "wait", "--csv", "--plot")
    found = run(*words, "--svg", tmp_path / "waits.svg", usage)
    assert found.stderr.splitlines()[0] == "jobs by wait"
    assert found.stderr.splitlines()[-1].split()[-1] == "2"
    drawn = (tmp_path / "waits.svg").read_text()
    assert "<title>Jobs by wait and user</title>" in drawn
    assert "00:01:00, bob: 1" in drawn


def test_an_empty_ledger_has_empty_histograms(run, usage, tmp_path):
    run("init", usage)
    words = ("report", "--histograms", "--of", "wall", "--svg", tmp_path / "empty.svg", usage)
    found = run(*words, "--json")
    told = json.loads(found.stdout)["total"]["histograms"]["wall"]
    assert (found.exit_code, {each["jobs"] for each in told["parts"]}) == (1, {0})
    assert "</svg>" in (tmp_path / "empty.svg").read_text()


def test_a_damaged_manifest_is_told_and_repaired(run, ingest, usage):
    _, first = ingest("7|c|amy|COMPLETED|1|2|5|3|4")
    _, second = ingest("8|c|amy|COMPLETED|1|2|5|3|4")
    torn = max(usage.glob("manifests/*.json"))
    torn.write_bytes(b"{}")
    assert run("report", usage).exit_code == 2
    found = run("repair", usage)
    assert (found.exit_code, found.stdout) == (
        1,
        f"{torn}: is torn or was changed: it is not what was written; what its commit added is left"
        " out, unless a later one has it\n",
    )
    assert found.stderr == f"{usage}: repaired, 1 runs\n"
    assert "new 1" in run("ingest", usage, first, second).stderr
    assert (run("check", usage).exit_code, run("repair", usage).exit_code) == (0, 0)


WRONG = {1: ("before it starts", 1000, 900), 3: ("more than ten years", 1000, 400_000_000)}
RIGHT = {2: (1000, 1000), 4: (1000, 316_000_000)}
JOB = "<Job><Id>{}</Id><StartTime>{}</StartTime><EndTime>{}</EndTime></Job>"


@pytest.mark.parametrize("form", ["records", "parts", "documents", "store"])
def test_jobs_of_which_a_time_is_wrong_are_named(run, ingest, usage, tmp_path, form):
    """By their lines, where they have some: each kind once, and all of them if that is wished."""
    times = {**{number: span[1:] for number, span in WRONG.items()}, **RIGHT}
    rows = [
        f"{n}|c|amy|COMPLETED|900|{b}|{e}|{max(e - b, 0)}|4" for n, (b, e) in sorted(times.items())
    ]
    documents = tmp_path / "jobs.sss"
    documents.write_text("\n".join(JOB.format(n, *span) for n, span in sorted(times.items())))
    if form in ("records", "parts"):
        log = ingest()[1]
        log.write_text(HEADER + "\n".join([*rows, ""]))
        found = run("ingest", "--workers", 1 + (form == "parts"), usage, log)
        places = {n: f"{log}:{n + 1}: warning: " for n in times}
    elif form == "documents":
        found = run("ingest", usage, documents)
        places = {n: f"{documents}:{n}: warning: " for n in times}
    else:
        kept = tmp_path / "jobs.db"
        with store.open(str(kept), create=True) as jobs:
            jobs.load(documents.read_bytes())
        found = run("ingest", usage, kept)
        places = {n: f"{kept}: warning: Job {n}: " for n in times}
    assert found.exit_code == 0
    told = {
        n: [line for line in found.stderr.splitlines() if at in line] for n, at in places.items()
    }
    assert all(len(told[n]) == 1 and text in told[n][0] for n, (text, *_) in WRONG.items()), found
    assert not any(told[n] for n in RIGHT)


@pytest.mark.parametrize(
    "asked",
    ["count(//Job)", "sum(//Job/EndTime)", "count(//Job[User]) = 0", "//Job[EndTime > 5]/Id"],
)  # fmt: skip
def test_a_query_has_the_answers_of_one_document_of_all_runs(run, ingest, usage, tmp_path, asked):
    ingest(*(f"{n}|c|amy|COMPLETED|1|2|{n}|3|4" for n in range(3, 9)))
    one = tmp_path / "one.sss"
    found = CliRunner().invoke(sssjob, ["query", "--xml", "//Job", str(usage)])
    one.write_text(f"<Jobs>{found.stdout}</Jobs>")
    wanted, told = (
        CliRunner().invoke(sssjob, ["query", asked, str(source)]) for source in (one, usage)
    )
    assert told.stdout
    assert (told.stdout, told.exit_code) == (wanted.stdout, wanted.exit_code)


@pytest.mark.parametrize("version", ["1.0", "3.1"])
@pytest.mark.parametrize(
    "asked", ["/Job/Id", "/Job[1]/Id", "/Job[EndTime > 5][1]/Id", "//Job[last()]/Id", "/*/Id",
              "/node()[1]/Id", "//Job[/Job/EndTime > 5]/Id", "//Id[/Job/State = 'Completed']",
              "/Job[1]/Id | /Job/EndTime", "(//Job)[1]/Id", "//Job[EndTime > 5]/Id"],
)  # fmt: skip
def test_a_path_finds_in_each_run_what_it_finds_in_its_document(
    run, ingest, usage, tmp_path, asked, version
):
    ingest(*(f"{n}|c|amy|COMPLETED|1|2|{n}|3|4" for n in range(3, 9)))
    each = tmp_path / "each.sss"
    each.write_text(CliRunner().invoke(sssjob, ["query", "--xml", "//Job", str(usage)]).stdout)
    wanted, told = (
        CliRunner().invoke(sssjob, ["query", "--xpath", version, asked, str(source)])
        for source in (each, usage)
    )
    assert told.stdout
    assert (told.stdout, told.exit_code) == (wanted.stdout, wanted.exit_code)


@pytest.mark.parametrize(
    "asked", ["count(//Job)", "count(/*)", "count(/Job)", "sum(/Job/EndTime) div count(/Job/Id)",
              "sum(//Job[ancestor::*]/EndTime)", "count(/)", "string(/Job/Id)", "/Job/Id = 4",
              "count(//Job[Id = 4]) = 1", "concat('n', count(//Job[EndTime > 4]))",
              "//Job/Id = count(//Job)", "boolean(/Job[Id = 5])",
              "0 - sum(//Job/Delivered/Duration)"],
)  # fmt: skip
def test_a_value_is_of_all_runs_or_of_each_as_in_a_store(run, ingest, usage, tmp_path, asked):
    ingest(*(f"{n}|c|amy|COMPLETED|1|2|{n}|3|4" for n in range(3, 9)))
    each, kept = tmp_path / "each.sss", tmp_path / "jobs.db"
    each.write_text(CliRunner().invoke(sssjob, ["query", "--xml", "//Job", str(usage)]).stdout)
    CliRunner().invoke(sssjob, ["store", "import", str(kept), str(each)])
    wanted, told = (
        CliRunner().invoke(sssjob, ["query", asked, str(source)]) for source in (kept, usage)
    )
    assert told.stdout
    assert (told.stdout, told.exit_code) == (wanted.stdout, wanted.exit_code)


HEAD = "JobID|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS"
WHOLE = (
    f"{HEAD}\n6|c|amy|chem|COMPLETED|90|100|160|60|2\n7|c|amy|chem|COMPLETED|100|160|260|100|16\n"
)
STEPS = """\
JobID|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|TotalCPU|MaxRSS
7|c|amy|chem|COMPLETED|100|160|260|100|16|03:30|
7.batch|c|||COMPLETED|160|160|260|100|16|00:30|10K
7.0|c|||COMPLETED|170|170|260|90|16|03:00|2000K
"""
CUT = {
    "an amount": (WHOLE, WHOLE[:-2]),
    "with an earlier record": (
        WHOLE,
        f"{HEAD}\n5|c|amy|chem|COMPLETED|80|100|150|50|1\n{WHOLE[-49:-2]}",
    ),
    "a record that is bad then": (WHOLE, WHOLE[:-20]),
    "a step": (STEPS, STEPS[:-3]),
    "a step that is bad then": (STEPS, STEPS[:-20]),
    "the id of a step": (STEPS, STEPS[:-47]),
    "the name of a step": (STEPS, STEPS[: STEPS.index("tch")]),
}
RUNNING = f"{HEAD}\n7|c|amy|chem|RUNNING|100|160|Unknown|50|16\n"
# Which cut, in which order it is told, by how many workers.
TOLD = [
    *itertools.product(CUT, ["whole cut", "cut whole"], [""]),
    *itertools.product(
        ["an amount", "a step that is bad then"],
        ["whole cut cut", "cut whole cut", "cut open", "open cut", "cut open whole"],
        [""],
    ),
    *itertools.product(["a step that is bad then"], ["whole cut", "cut whole"], ["--workers 2"]),
]


@pytest.mark.parametrize("cut, order, workers", TOLD)
def test_a_record_that_may_be_cut_counts_only_where_no_whole_one_was_read(
    tmp_path, monkeypatch, cut, order, workers
):
    """A whole one that tells as much: that of a run that went on gives way to one that ended."""
    whole, cut = CUT[cut]
    workers = workers.split()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "whole").write_text(whole)
    (tmp_path / "cut").write_text(cut)
    (tmp_path / "open").write_text(RUNNING)
    files = order.split()

    def used(*sources, words=("report",)):
        result = CliRunner().invoke(sssjob, [*words, "--by", "user", "--csv", *sources])
        return result.stdout.splitlines()

    wanted = used(*dict.fromkeys(files))
    if "whole" in files and "\n5|" not in cut:
        assert wanted == used("whole")
    for number, each in enumerate(files):
        CliRunner().invoke(sssjob, ["ledger", "ingest", *workers, "nights", each])
        name = tmp_path / f"again{number}"  # the same file again would not be read
        name.write_bytes((tmp_path / each).read_bytes())
        CliRunner().invoke(sssjob, ["store", "import", *workers, "kept.db", name.name])
    CliRunner().invoke(sssjob, ["ledger", "ingest", *workers, "once", *dict.fromkeys(files)])
    booked = ("ledger", "report", "--book", "end")
    assert used("nights", words=booked) == used("once", words=booked) == wanted
    assert used("kept.db") == wanted
    audited = CliRunner().invoke(sssjob, ["audit", "--json", "--against", "whole", *files])
    assert "whole" not in files or json.loads(audited.stdout)["total"]["changed"] == 0


ADS = """\
ClusterId = 5
GlobalJobId = "s#5.0#1795184872"
JobCurrentStartDate = 1795184876
CompletionDate = 1795184877
JobStatus = 4
Owner = "amy"
ProcId = 0
RemoteWallClockTime = 1.0
"""


@pytest.mark.parametrize("order", ["whole cut", "cut whole"])
def test_an_ad_that_was_cut_before_its_ProcId_is_of_the_job_that_its_GlobalJobId_tells(
    tmp_path, monkeypatch, order
):
    monkeypatch.chdir(tmp_path)
    second = ADS.replace("5.0", "5.2").replace("ProcId = 0", "ProcId = 2")
    (tmp_path / "whole").write_text(f"{ADS}\n{second}")
    (tmp_path / "cut").write_text(f"{ADS}\n{second[: second.index('ProcId') - 1]}")
    for each in order.split():
        CliRunner().invoke(sssjob, ["store", "import", "--from", "condor", "kept.db", each])
        CliRunner().invoke(sssjob, ["ledger", "ingest", "--from", "condor", "nights", each])
    for command in ("report kept.db", "ledger report --book end nights",
                    f"report --from condor {order}"):  # fmt: skip
        told = CliRunner().invoke(sssjob, [*command.split(), "--by", "user", "--csv"])
        assert told.stdout.splitlines()[1].split(",")[:3] == ["amy", "2", "2"]


@pytest.mark.parametrize("format_", ["slurm", "auto"])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_cannot_be_read_costs_itself_alone(tmp_path, monkeypatch, workers, format_):
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        (tmp_path / f"good{number}").write_text(f"{HEAD}\n{number}{WHOLE.splitlines()[1][1:]}\n")
    (tmp_path / "headless").write_text(f"{WHOLE.splitlines()[1]}\n")
    (tmp_path / "torn.gz").write_bytes(gzip.compress(WHOLE.encode())[:60])
    sources = ["torn.gz", "good1", "headless", "missing", "good2"]
    told = CliRunner().invoke(
        sssjob, ["ledger", "ingest", "--from", format_, "--workers", workers, "usage", *sources]
    )
    assert told.exit_code == 2
    for name in ("torn.gz", "headless", "missing"):
        assert sum(line.startswith(f"{name}:") for line in told.stderr.splitlines()) == 1
    assert "new 2, replaced 0" in told.stderr
    again = CliRunner().invoke(sssjob, ["ledger", "ingest", "--from", format_, "usage", *sources])
    assert again.stderr.count("headless") == 1, "what could not be read is no known input"
