"""sssjob store: job objects in and out of a store, from the prompt."""

# ruff: noqa: E501 (documents)
import json
import sys

import pytest
from click.testing import CliRunner
from records import DATA

from sssjob import store
from sssjob.cli import sssjob
from sssjob.document import loads

ONE, TWO = "<Job><Id>1</Id><State>Idle</State></Job>", "<Job><Id>2</Id></Job>"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "jobs.db")


def run(*arguments, input=None):
    return CliRunner().invoke(sssjob, ["store", *map(str, arguments)], input=input)


@pytest.fixture
def filled(path):
    assert run("import", path, "-", "--by", "amy", input=f"{ONE}\n{TWO}\n").exit_code == 0
    return path


def test_init_makes_an_empty_store_and_leaves_one_that_is_there(path):
    assert json.loads(run("init", path, "--json").stdout) == {"store": path, "documents": 0}
    run("import", path, "-", input=ONE)
    assert "1 documents" in run("init", path).stderr


OPEN = "<Job><Id>1</Id><State>Running</State><StartTime>100</StartTime></Job>"
ENDED = "<Job><Id>1</Id><StartTime>100</StartTime><EndTime>200</EndTime></Job>"
WAITS = "<Job><Id>1</Id><State>Idle</State></Job>"
RAN = (
    "<Job><Id>1</Id><StartTime>100</StartTime><Delivered><Duration>{}</Duration></Delivered></Job>"
)
ASKED = "<SubmitTime>90</SubmitTime>"


@pytest.mark.parametrize(
    ("first", "then", "counts"),
    [
        pytest.param([OPEN, ENDED], [OPEN, ENDED], (0, 0, 2), id="the same again"),
        pytest.param([ENDED], [OPEN], (0, 0, 1), id="the open one later"),
        pytest.param([OPEN], [ENDED], (0, 1, 0), id="it ended"),
        pytest.param([WAITS, ENDED], [WAITS, ENDED], (0, 0, 2), id="waited when it was known"),
        pytest.param([ENDED], [WAITS], (0, 0, 1), id="waits, whichever run it is of"),
        pytest.param([ENDED], [OPEN.replace("100", "300")], (1, 0, 0), id="another run"),
        pytest.param([RAN.format(9)], [RAN.format(8)], (0, 0, 1), id="ran less"),
        pytest.param([RAN.format(8)], [RAN.format(9)], (0, 1, 0), id="ran longer"),
        pytest.param([RAN.format(9)], [OPEN], (0, 1, 0), id="does not tell how long"),
        pytest.param(
            [ENDED.replace("<Start", f"{ASKED}<Start")],
            [WAITS.replace("<State", f"{ASKED}<State")],
            (0, 0, 1),
            id="waited, of it",
        ),
        pytest.param(
            [OPEN.replace("<Start", f"{ASKED}<Start")],
            [WAITS.replace("<State", f"{ASKED}<State")],
            (0, 0, 1),
            id="waited, of one",
        ),
    ],
)
def test_a_version_does_not_replace_one_that_tells_more_of_its_run(path, first, then, counts):
    run("import", path, "-", input="\n".join(first))
    found = json.loads(run("import", path, "--json", "-", input="\n".join(then)).stdout)
    assert (found["new"], found["changed"], found["unchanged"]) == counts


def test_a_former_version_that_tells_more_of_a_run_that_goes_on_counts_again(path, tmp_path):
    """Stores of earlier versions have the one that came later, whatever it tells."""
    log = tmp_path / "log"
    log.write_text(f"{COLUMNS}c|7|RUNNING|1|100|Unknown|72\nc|7|RUNNING|1|100|Unknown|36\n")
    run("import", path, log)
    with store.open(path) as jobs, jobs.change() as change:
        [kept] = jobs.documents()
        change.put(loads(kept.document.replace(b"72", b"36")))
    run("import", path, log)
    with store.open(path) as jobs:
        assert [b">72<" in each.document for each in jobs.documents()] == [True]


RECORDS = [
    ("slurm", "slurm/24.11/all-steps-epoch.txt"), ("pbs", "accounting/pbs/quirks/odd.txt"),
    ("sge", "accounting/sge/8.1.9.txt"), ("lsf", "accounting/lsf/quirks/texts.txt"),
    ("condor", "records/condor/lines.jsonl"), ("slurm-json", "records/slurm-json/newer.json"),
    ("car", "records/car/records.xml"), ("apel", "records/apel/individual.txt"),
]  # fmt: skip


@pytest.mark.parametrize("more", [(), ("--workers", "2")], ids=["one", "two"])
@pytest.mark.parametrize(("name", "file"), RECORDS, ids=[name for name, _ in RECORDS])
def test_records_are_kept_as_what_convert_makes_of_them(name, file, more, tmp_path):
    log, file_ = DATA / file, str(tmp_path / "made.sss")
    made = CliRunner().invoke(sssjob, ["convert", "--from", name, "-o", file_, str(log)])
    run("import", tmp_path / "piped.db", file_)
    found = run("import", "--from", name, *more, tmp_path / "kept.db", log)
    assert found.exit_code == made.exit_code
    kept, piped = (run("export", tmp_path / f"{name}.db").stdout for name in ("kept", "piped"))
    assert kept.startswith("<Job>")
    assert sorted(kept.splitlines()) == sorted(piped.splitlines())
    again = json.loads(run("import", "--json", "--from", name, tmp_path / "kept.db", log).stdout)
    assert (again["new"], again["changed"]) == (0, 0)


COLUMNS = "Cluster|JobID|State|Submit|Start|End|ElapsedRaw\n"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_of_records_of_a_run_the_store_has_the_one_that_a_report_counts(workers, tmp_path):
    """Also where both are there again, in any order, or one of them was cut."""
    early, late = (f"{COLUMNS}c|7|COMPLETED|100|200|300|{wall}\n" for wall in (90, 95))
    names = {name: tmp_path / name for name in ("early", "late", "cut")}
    for name, text in zip(names, (early, late, early.removesuffix("0\n")), strict=True):
        names[name].write_text(text)
    path, more = tmp_path / "s.db", ("--from", "slurm", "--workers", workers)
    for logs, counts in (("early late", (1, 1, 0)), ("early late", (0, 0, 2)),
                         ("late early", (0, 0, 2)), ("late cut", (0, 0, 1))):  # fmt: skip
        files = [names[name] for name in logs.split()]
        found = json.loads(run("import", "--json", *more, path, *files).stdout)
        assert (found["new"], found["changed"], found["unchanged"]) == counts
        assert "<Duration>95</Duration>" in run("export", path).stdout


def test_what_is_wrong_with_records_is_told_with_its_line(path):
    table = "JobID|State|End\n1|COMPLETED|1700000000\n2\n"
    found = run("import", "--from", "slurm", path, "-", input=table)
    assert found.exit_code == 1
    assert "<stdin>:3: error: 1 field where the header has 3" in found.stderr
    assert "new 1, changed 0, unchanged 0, bad 1" in found.stderr


def test_a_listing_without_jobs_is_kept_as_nothing(path):
    found = run("import", "--from", "slurm", path, "-", input="JobID|State|End\n")
    assert (found.exit_code, "new 0, changed 0, unchanged 0, bad 0" in found.stderr) == (0, True)


@pytest.mark.parametrize("words", ["--tz UTC --from sss", "--columns JobID", "--delimiter ;"])
def test_options_for_records_need_records_and_those_for_a_table_its_format(path, words):
    found = run("import", *words.split(), path, "-", input=ONE)
    assert (found.exit_code, "--from" in found.stderr) == (2, True)


def test_records_and_other_stores_are_recognised(path, tmp_path):
    records = tmp_path / "sacct.txt"
    records.write_text("JobID|User|State\n7|amy|COMPLETED\n8|amy|COMPLETED\n")
    found = run("import", path, records, "--json")
    assert json.loads(found.stdout) == {"new": 2, "changed": 0, "unchanged": 0, "bad": 0}
    assert "recognised as slurm" in found.stderr
    other = tmp_path / "other.db"
    assert json.loads(run("import", other, path, "--json").stdout)["new"] == 2
    # A store into itself changes nothing.
    assert json.loads(run("import", path, path, "--json").stdout)["unchanged"] == 2


def test_import_counts_and_ends_with_1_when_some_were_bad(path):
    result = run("import", path, "-", "--json", input=f"{ONE}\n<Job/>\n{TWO}")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {"new": 2, "changed": 0, "unchanged": 0, "bad": 1}
    assert result.stderr.startswith("<stdin>:2: error: a Job without an Id")


@pytest.mark.parametrize("processes", [1, 2])
def test_files_go_in_and_out_with_the_job_that_names_them(path, tmp_path, processes):
    message = tmp_path / "message.xml"
    message.write_text(
        "<Data><Job><Id>6</Id><Name>a # b</Name><Executable>#None</Executable></Job>\n"
        "<JobGroup><Id>7</Id><Job><Id>8</Id><Executable>#Script</Executable></Job></JobGroup><File id='Script'>ls</File></Data>"
    )
    result = run("import", path, message, "--workers", processes)
    assert result.exit_code == 0
    told, counts = result.stderr.splitlines()
    assert told.startswith(f"{message}:1: warning: no File with the id None was found beside Job 6")
    assert counts == "new 2, changed 0, unchanged 0, bad 0"
    assert run("export", path, "7").stdout == (
        "<Data><JobGroup><Id>7</Id><Job><Id>8</Id><Executable>#Script</Executable></Job></JobGroup>"
        '<File id="Script">ls</File></Data>\n'
    )
    assert json.loads(run("export", path, "7", "--json").stdout)["files"] == {"Script": "ls"}


def test_one_document_of_two_files_of_one_id_names_them_apart(path):
    job = "<Data><Job><Id>{}</Id><Executable>#a</Executable></Job><File id='a'>{}</File></Data>"
    run("import", path, "-", input="".join((job.format(1, "x"), job.format(2, "y"))))
    assert run("export", path, "--to", "sss").stdout.splitlines()[1:] == [
        "<Jobs>",
        "<Job><Id>1</Id><Executable>#a</Executable></Job>", '<File id="a">x</File>',
        "<Job><Id>2</Id><Executable>#a-2</Executable></Job>", '<File id="a-2">y</File>',
        "</Jobs>",
    ]  # fmt: skip


def test_import_reads_directories(path, tmp_path):
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "a.xml").write_text(ONE)
    (folder / "b.sss").write_text(TWO)
    assert run("import", path, folder).stderr == "new 2, changed 0, unchanged 0, bad 0\n"


def test_a_file_that_is_not_there_ends_with_2(path):
    result = run("import", path, "nowhere.xml")
    assert result.exit_code == 2
    assert "nowhere.xml: No such file" in result.stderr


def test_export_gives_the_very_bytes_back(filled):
    assert run("export", filled).stdout == f"{ONE}\n{TWO}\n"
    wrapped = run("export", filled, "--to", "sss").stdout
    assert wrapped == f'<?xml version="1.0" encoding="UTF-8"?>\n<Jobs>\n{ONE}\n{TWO}\n</Jobs>\n'


def test_export_as_json_has_the_document_and_its_history(filled):
    first = json.loads(run("export", filled, "--json").stdout.splitlines()[0])
    assert (first["id"], first["document"], first["by"]) == ("1", ONE, "amy")


def test_export_gives_one_version_of_one_job(filled):
    run("import", filled, "-", input=ONE.replace("Idle", "Running"))
    assert run("export", filled, "1").stdout == ONE.replace("Idle", "Running") + "\n"
    assert run("export", filled, "1", "--version", "1").stdout == f"{ONE}\n"
    missing = run("export", filled, "1", "3", "--version", "2")
    assert missing.exit_code == 1
    assert "no version 2 of 3" in missing.stderr


def test_an_export_that_is_cut_by_damage_writes_the_rest(filled):
    with store.open(filled) as jobs:
        jobs.engine.fetch("UPDATE document SET data = ? WHERE id = '1'", (b"gone",))
    result = run("export", filled)
    assert (result.exit_code, result.stdout) == (1, f"{TWO}\n")
    assert "Job 1, version 1, is damaged" in result.stderr
    check = run("check", filled, "--json")
    assert check.exit_code == 1
    assert json.loads(check.stdout)["id"] == "1"


def test_parquet_has_a_row_for_each_job_with_its_defaults(path, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    group = "<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults><Job><Id>3</Id></Job></JobGroup>"
    run("import", path, "-", input=f"{ONE}\n{group}")
    assert run("export", path, "--to", "parquet", "-o", tmp_path / "t").exit_code == 0
    table = parquet.read_table(tmp_path / "t")
    assert table.select(["document", "place", "id", "user"]).to_pylist() == [
        {"document": 1, "place": 0, "id": "1", "user": None},
        {"document": 2, "place": 1, "id": "3", "user": "amy"},
    ]
    assert table.schema.field("requested_memory_bytes").metadata[b"path"] == b"Requested/Memory"


def test_parquet_says_where_a_column_does_not_tell_all(path, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    odd = f"<Job><Id>7</Id><Name>{'x' * 500}</Name><Charge>soon</Charge></Job>"
    strange = (
        "<JobGroup><Id>g</Id><Site><Job><Id>8</Id></Job></Site><Job><Id>9</Id></Job></JobGroup>"
    )
    run("import", path, "-", input=f"{ONE}\n{odd}\n{strange}")
    assert run("export", path, "--to", "parquet", "-o", tmp_path / "t").exit_code == 0
    table = parquet.read_table(tmp_path / "t")
    told = dict(
        zip(*(table.column(name).to_pylist() for name in ("id", "incomplete")), strict=True)
    )
    assert (told["1"], told["7"], told["9"][-1]) == ([], ["Name", "Charge"], "*")
    assert table.column_names[-1] == "incomplete"


def test_parquet_without_its_library_says_what_to_install(filled, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "sssjob.store.parquet", raising=False)
    monkeypatch.delattr(store, "parquet", raising=False)
    result = run("export", filled, "--to", "parquet", "-o", "t")
    assert result.exit_code == 2
    assert "pip install 'sssjob[parquet]'" in result.stderr


def test_delete_hides_and_undo_shows(filled):
    assert run("delete", filled, "1", "--by", "bob", "--reason", "a test").exit_code == 0
    assert run("export", filled).stdout == f"{TWO}\n"
    again = run("delete", filled, "1", "2", "--json")
    assert again.exit_code == 1
    assert json.loads(again.stdout) == {"done": ["2"], "missed": ["1"]}
    run("delete", filled, "--undo", "1")
    assert run("export", filled).stdout == f"{ONE}\n"


def test_what_is_deleted_stays_so_where_its_id_is_taken(path):
    """An import may bring one Id twice; of a command that shows a job again it is asked."""
    group = "<JobGroup><Id>g</Id><Job><Id>1</Id></Job></JobGroup>"
    run("import", path, "-", input=ONE)
    run("delete", path, "1")
    run("import", path, "-", input=group)
    taken = run("delete", path, "--undo", "1", "--json")
    assert (taken.exit_code, json.loads(taken.stdout)) == (1, {"done": [], "missed": ["1"]})
    assert taken.stderr.endswith("Job 1 is there already, in JobGroup g\n")
    assert run("delete", path, "g").exit_code == 0
    assert run("delete", path, "--undo", "1").exit_code == 0
    refused = run("delete", path, "--undo", "g")
    assert (refused.exit_code, "Job 1 is there already, in Job 1" in refused.stderr) == (1, True)


def test_an_id_means_the_last_run_of_those_that_are_there(path):
    job = "<Job><Id>9</Id><StartTime>{}</StartTime></Job>\n"
    first, second = (job.format(start) for start in (1000, 5000))
    run("import", path, "-", input=first + second)
    for shown, left in ((second, [first]), (first, [])):
        assert run("export", path, "9").stdout == shown
        assert run("delete", path, "9").exit_code == 0
        assert run("export", path).stdout.splitlines(keepends=True) == left
    gone = run("export", path, "9")
    assert (gone.exit_code, gone.stdout) == (1, "")
    assert gone.stderr.endswith("no job object 9 that is not deleted\n")
    assert run("delete", path, "9").exit_code == 1
    assert run("export", path, "9", "--deleted").stdout == second
    assert run("export", path, "9", "--version", "1").stdout == second
    for shown in (second, first + second):
        assert run("delete", path, "--undo", "9").exit_code == 0
        assert run("export", path).stdout == shown
    assert run("delete", path, "--undo", "9").exit_code == 1


def test_log_tells_who_did_what_and_why(filled):
    run("delete", filled, "1", "--by", "bob", "--reason", "a test")
    lines = run("log", filled).stdout.splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [
        "Job 1 version 1 by amy from <stdin>",
        "Job 2 version 1 by amy from <stdin>",
        "Job 1 version 2 deleted by bob (a test)",
    ]
    [event] = map(json.loads, run("log", filled, "--by", "bob", "--json").stdout.splitlines())
    assert (event["id"], event["version"], event["deleted"]) == ("1", 2, True)
    assert len(run("log", filled, "1").stdout.splitlines()) == 2
    assert run("log", filled, "--since", "2999-01-01").exit_code == 1
    assert run("log", filled, "--since", "soon").exit_code == 2


def test_stats_are_for_people_and_for_programs(filled):
    assert "jobs          2" in run("stats", filled).stdout
    assert json.loads(run("stats", filled, "--json").stdout)["by_state"] == {"": 1, "Idle": 1}


def test_compact_and_upgrade_say_what_they_did(filled):
    assert set(json.loads(run("compact", filled, "--json").stdout)) == {"before", "after"}
    assert json.loads(run("upgrade", filled, "--json").stdout) == {"upgraded": False}


@pytest.mark.parametrize("command", ["export", "log", "stats", "check", "compact", "upgrade"])
def test_a_store_that_is_not_there_ends_with_2_and_is_not_made(command, path, tmp_path):
    result = run(command, path)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"sssjob: error: {path}: no such store")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", ["export", "log", "stats", "check"])
def test_a_store_of_another_version_is_refused_with_advice(command, filled):
    with store.open(filled) as jobs:
        for column in ("begins", "said"):
            jobs.engine.fetch(f"ALTER TABLE ledger DROP COLUMN {column}")
        jobs.engine.fetch("UPDATE setting SET value = '0' WHERE name = 'version'")
    result = run(command, filled)
    assert result.exit_code == 2
    assert "sssjob store upgrade" in result.stderr
    assert run("upgrade", filled).stderr == "upgraded\n"
    assert run(command, filled).exit_code == 0


def test_a_locked_store_is_told(filled):
    with store.open(filled) as jobs, jobs.change() as change:
        change.put(b"<Job><Id>3</Id></Job>")
        result = run("--patience", "0.05", "delete", filled, "1")
    assert result.exit_code == 2
    assert "locked by another process for more than 0.05 seconds" in result.stderr


@pytest.mark.parametrize(
    "command",
    ["init", "import", "export", "query", "log", "delete", "stats", "check", "compact", "upgrade"],
)
def test_every_command_has_help_with_examples(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "sssjob " in result.stdout
    assert "Exit code" in result.stdout
