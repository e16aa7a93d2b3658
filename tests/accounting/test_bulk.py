"""Regular lines read as columns become what they become line by line, message for message."""

import io
from collections import Counter
from dataclasses import replace
from random import Random

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("numpy")
pytest.importorskip("pyarrow")

from sssjob.accounting.document_rows import DocumentRowsBuilder
from sssjob.accounting.table import TableBuilder, TableRow
from sssjob.accounting.writers import TARGETS
from sssjob.accounting.writers.writer import LossCounts, WriterOptions, WrittenJob
from sssjob.errors import UnusableInput
from sssjob.records import find, parts, plan, read_records, regular
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.cutting import Part
from sssjob.records.record import Converted, ConvertedTogether, Noted, Options
from sssjob.records.runs import SeenRuns
from sssjob.records.texts import BulkColumn

SACCT = {
    "JobID": ["%d", "%d", "%d_3", "%d_[1-4]", "%d+1", "4_x", "7"],
    "JobIDRaw": ["%d", "%d", "1%d", ""],
    "Cluster": ["alpha", "alpha", "a&b", "<beta>", ""],
    "Partition": ["main", "qui&ck", "main,quick", ""],
    "Account": ["physics", "ch<em", "a b"],
    "User": ["amy", "b&b", "zoë", ""],
    "Submit": ["2026-11-20T10:%02d:00", "2026-10-25T02:%02d:00", "17634%05d", "Unknown"],
    "Eligible": ["2026-11-20T10:%02d:30", "2026-03-29T02:%02d:00", "Unknown"],
    "Start": ["2026-11-20T11:%02d:01", "2026-11-20T11:%02d:60", "Unknown", "None", "0"],
    "End": ["2026-11-21T10:%02d:02", "2026-10-25T02:%02d:30", "Unknown", "2026-11-20T24:%02d:00"],
    "Elapsed": ["00:%02d:00", "1-00:%02d:59", "%02d:30.500", "99:%02d:61", "INVALID"],
    "ExitCode": ["0:0", "1:0", "0:9", "x"],
    "State": ["COMPLETED", "COMPLETED", "FAILED", "CANCELLED by 7", "RUNNING", "PENDING", "ODD"],
    "NNodes": ["1", "2", "0", "1K"],
    "NCPUS": ["4", "8", "%d", "abc"],
    "ReqCPUS": ["4", "8"],
    "ReqMem": ["1000M", "4Gc", "2Gn", "0", "16?"],
    "ReqTRES": ["billing=4,cpu=4,mem=1G,node=1", "cpu=2,gres/gpu:a100=2", "cpu"],
    "AllocTRES": ["cpu=4,mem=1G,node=1", "cpu=8,energy=12,gres/gpu=2", ""],
    "Timelimit": ["01:%02d:00", "1-00:00:00", "UNLIMITED", "Partition_Limit"],
    "NodeList": ["n%d", "n[1-3]", "n1,n2", "None assigned", "n[3-1]", "n&1,<n>"],
    "TotalCPU": ["00:%02d:00", "00:01.500", "", "?"],
    "MaxRSS": ["%dK", "1.5M", "", "0"],
    "AveRSS": ["%dK", "", "x"],
    "Site": ["one", "", "<&>"],
    "JobName": ["run", "Météo_%d-☃", "a&b", "two words", "a\u00a0b", "\u2028x\x85"],
}  # fmt: skip
# What makes a line no regular one, or a regular line no record.
ODD = (
    "\n",
    "|",
    "\r",
    "\r\n",
    "\t",
    "\x00",
    "\x7f",
    "é",
    "\ufffe",
    "\ud800",
    "\n7|x|",
    "\n\n",
    "|\n",
    "JobID",
)
PARTED = "ur", "apel", "jsonl"  # targets whose records are made of parts

SGE = {
    "qname": ["main.q", "main.q", "gpu&.q", "#x", "a:b"],
    "hostname": ["n%d", "n1", "n1.site"],
    "group": ["physics", "ch<em"],
    "owner": ["amy", "b&b", "zoë"],
    "job_name": ["run", "Météo_%d", "a:b", "two words"],
    "job_number": ["%d", "%d", "7", "x"],
    "account": ["sge", "sge", "a:b", "acct"],
    "priority": ["0", "-5", "x"],
    "submission_time": ["1700000%03d", "1700000%03d000", "0", "17"],
    "start_time": ["1700001%03d", "1700001%03d000", "0", "x"],
    "end_time": ["1700002%03d", "1700002%03d123", "0", "1700000000", "01700000000"],
    "failed": ["0", "0", "100", "37", "x"],
    "exit_status": ["0", "0", "137", "1", "x"],
    "ru_wallclock": ["%d", "%d", "12.5", "x"],
    "ru_utime": ["1.5"],
    "ru_stime": ["0.5", "x"],
    "ru_maxrss": ["%d000.000000", "17952.5", "0", "-1", "1e3", "x"],
    **{f"ru{at}": ["0"] for at in range(14)},
    "project": ["NONE", "p&1", "proj%d"],
    "department": ["defaultdepartment", "NONE", "physics"],
    "granted_pe": ["NONE", "NONE", "mpi", "mpi"],
    "slots": ["1", "4", "0", "x"],
    "task_number": ["0", "0", "%d", "3"],
    "cpu": ["%d.531250", "0.000000", "1e2", "-1", "x"],
    "mem": ["1.25"],
    "io": ["0.000031", "1.5", "0.0", "x"],
    "category": ["-u amy -l h_rt=%d00,h_vmem=2G", "NONE", "-l gpu=1 -pe mpi 4", "-l a=b:c", "x",
                 "-U b -l h_rt=60 -soft -l h_vmem=1k -hard -l mem_free=3M -pe mpi 2-8"],
    "iow": ["0.000000", "x"],
    "pe_taskid": ["NONE", "NONE", "NONE", "1.n%d", "x"],
    "maxvmem": ["%d48576.000000", "0", "512.5", "x"],
    "arid": ["0", "7"],
    "ar_submission_time": ["0", "x"],
    "job_class": ["NONE", "gpu=1"],
    "qdel_info": ["NONE", "amy@n1"],
    "maxrss": ["%d0240", "0", "x"],
    "maxpss": ["1402893000"],
    "submit_host": ["login", "NONE"],
    "cwd": ["/home/amy", "NONE", "/a:b"],
    "submit_cmd": ["qsub run", "qsub -v A=a:b run"],
    "wallclock": ["%d.123", "12", "x"],
    "ioops": ["12", "x"],
    "bound_cores": ["NONE", "0,1"],
}  # fmt: skip
SGE_SIZES = (43, 45, 45, 46, 52, 53, 54, 55)


def some_sacct(chance):
    """Some columns of sacct, and what separates them; the first line names them."""
    names = [name for name in SACCT if name == "JobID" or chance.random() < 0.7]
    return {name: SACCT[name] for name in names}, "|", True


def some_sge(chance):
    """The columns of some version of Grid Engine."""
    return dict([*SGE.items()][: chance.choice(SGE_SIZES)]), ":", False


FORMATS = {"slurm": some_sacct, "sge": some_sge}
IDS = ("JobID", "JobIDRaw")  # which tell records apart; a slave task has that of its job


def log(chance, columns, delimiter, has_header):
    """A log: mostly of the first texts of each column, and in some places odd ones."""
    names = [*columns]
    usual = {name: columns[name][: chance.choice((1, 2, len(columns[name])))] for name in names}
    lines = [delimiter.join(names)] if has_header else []
    numbers = [chance.randrange(60) for _ in range(chance.choice((1, 60)))]
    for at in range(chance.randrange(3, 60)):
        texts = []
        for name in names:
            some = columns[name] if chance.random() < 0.02 else usual[name]
            text = chance.choice(some)
            number = (
                at if name in IDS else at // 2 if name == "job_number" else chance.choice(numbers)
            )
            texts.append(text % number if "%" in text else text)
        lines.append(delimiter.join(texts))
    for _ in range(chance.choice((0, 0, 1, 4))):
        place = chance.randrange(len(lines))
        cut = chance.randrange(len(lines[place]) + 1)
        lines[place] = lines[place][:cut] + chance.choice(ODD) + lines[place][cut:]
    if chance.random() < 0.2:
        lines.insert(chance.randrange(len(lines)), lines[0])
    return "\n".join(lines).encode("utf-8", "surrogatepass") + chance.choice((b"\n", b""))


def outcomes(read):
    """What becomes of each record, those that came together one by one, and what is said.

    Documents keep their order, and messages stand before those beside them (decision 264).
    """
    found = []
    try:
        for item in read():
            if isinstance(item, ConvertedTogether):
                found += [Converted(*each) for each in zip(item.lines, item.jobs, strict=True)]
            else:
                found.append(item)
    except UnusableInput as error:
        found.append(str(error))
    # That times are taken for UTC is said where a batch begins, whatever its size.
    said = [
        replace(item, line=0) if item.assumes_utc else item
        for item in found
        if isinstance(item, Noted)
    ]
    rest = [
        item._replace(job=plain(item.job)) if isinstance(item, Converted) else item
        for item in found
        if not isinstance(item, Noted)
    ]
    return rest, sorted(map(str, said))


def plain(job):
    """What became of a record, as values that compare."""
    if isinstance(job, TableRow):
        return job.batch.slice(job.at, 1).to_pylist()
    if isinstance(job, WrittenJob):
        lost = Counter()
        for kinds in job.lost:
            lost.update(dict(kinds))
        return job.text, lost, str(job.error)
    return job


def builders():
    """The builders, with those of the ledger where it is installed."""
    writers = [TARGETS[name].writer(io.BytesIO(), WriterOptions(), LossCounts()) for name in PARTED]
    found = [OBJECTS, TEXTS, DocumentRowsBuilder(), TableBuilder()]
    found += [writer.builder() for writer in writers]
    try:
        from sssjob.ledger.building import RowsBuilder
    except ImportError:
        return found
    return [*found, RowsBuilder()]


@pytest.fixture
def road(monkeypatch):
    """The road as columns, opened and closed; runs of few lines are taken."""
    monkeypatch.setattr(regular, "LEAST", 3)
    yield regular.ROAD
    regular.ROAD.reset()


def on_both(road, read):
    """What becomes of it as columns, and line by line."""
    road.open()
    columns = outcomes(read)
    road.open(is_open=False)
    return columns, outcomes(read)


BUILDERS = range(len(builders()))


@pytest.mark.parametrize("builder", BUILDERS, ids=[type(each).__name__ for each in builders()])
@pytest.mark.parametrize("format_", FORMATS)
@examples(25)
@given(seed=st.integers(0, 1 << 40))
def test_columns_become_what_lines_do(road_of, format_, builder, seed):
    chance = Random(seed)
    data = log(chance, *FORMATS[format_](chance))
    zone = chance.choice(("", "Europe/Berlin"))
    options = Options(zone=zone, ended_only=chance.random() < 0.3, steps=chance.random() < 0.5)
    times = chance.choice((1, 2))
    used = builders()[builder]

    def read():
        seen = SeenRuns() if times == 2 else None
        for _ in range(times):
            yield from read_records(find(format_), io.BytesIO(data), options, used, seen)

    columns, lines = on_both(road_of, read)
    assert columns == lines


@pytest.fixture(scope="module")
def road_of():
    """The same for all examples of a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regular, "LEAST", 3)
        yield regular.ROAD
    regular.ROAD.reset()


def usual(format_):
    """A log of the first texts of all columns, with nothing odd in it."""
    columns, delimiter, has_header = {
        "slurm": (SACCT, "|", True), "sge": (dict([*SGE.items()][:45]), ":", False)
    }[format_]  # fmt: skip
    texts = {name: columns[name][:1] for name in columns}
    return log(Random(7), texts, delimiter, has_header)


@pytest.mark.parametrize("format_", FORMATS)
def test_regular_lines_do_go_as_columns(road, monkeypatch, format_):
    """Else all of the above would compare one road with itself."""
    data = usual(format_)
    taken = []
    jobs = plan.Plan.jobs

    def counted(self, columns, *more):
        if isinstance(columns[0], BulkColumn):
            taken.append(len(columns[0]))
        return jobs(self, columns, *more)

    monkeypatch.setattr(plan.Plan, "jobs", counted)
    columns, lines = on_both(
        road, lambda: read_records(find(format_), io.BytesIO(data), Options(), TEXTS)
    )
    assert columns == lines
    assert sum(taken) > 30


@pytest.mark.parametrize("places", [(9,), (9, 20), (5, 6, 30)])
@pytest.mark.parametrize("format_", FORMATS)
def test_an_odd_line_parts_those_before_it_from_those_behind(road, format_, places):
    lines = usual(format_).splitlines(keepends=True)
    for place in reversed(places):
        lines.insert(place, b"7 \xc3\xa9\n")
    columns, by_lines = on_both(
        road, lambda: read_records(find(format_), io.BytesIO(b"".join(lines)), Options(), TEXTS)
    )
    assert columns == by_lines
    assert len(columns[0]) > 30


@pytest.mark.parametrize("few", [1, 40])
def test_markup_in_a_text_is_escaped(road, few):
    """In columns whose texts repeat, and in those where none does."""
    names = ("JobID", "JobIDRaw", "Cluster", "User", "State", "Submit", "Start", "End", "JobName")
    rows = (
        (at, at, "a&<b>", f"u&{at % few}", "COMPLETED", f"2026-11-20T10:00:{at % few:02}",
         f"2026-11-20T10:01:{at % few:02}", f"2026-11-20T10:02:{at % few:02}", f"<x>{at % few}")
        for at in range(40)
    )  # fmt: skip
    data = "".join("|".join(map(str, row)) + "\n" for row in (names, *rows)).encode()
    columns, lines = on_both(
        road, lambda: read_records(find("slurm"), io.BytesIO(data), Options(), TEXTS)
    )
    assert columns == lines


@pytest.mark.parametrize("format_", FORMATS)
def test_parts_of_many_processes_are_read_as_columns_too(road, format_):
    data = usual(format_)
    road.open()
    found = parts.convert(format_, Part(data, 1, Options()))
    road.open(is_open=False)
    assert found == parts.convert(format_, Part(data, 1, Options()))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_ledger_has_the_same_rows_however_they_were_read(road, tmp_path, processes, monkeypatch):
    pytest.importorskip("duckdb")
    from sssjob.document.sources import NamedSource
    from sssjob.ledger import ledger
    from sssjob.ledger.building import RowTable
    from sssjob.verbs.ledger import Ingestion

    path = tmp_path / "sacct.txt"
    names = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS"
    times = "2026-11-20T10:00:{0:02}|2026-11-20T10:01:{0:02}|2026-11-20T10:02:{0:02}|60|4"
    rows = (f"{at}|c|{'amy' if at % 3 else 'bob'}|COMPLETED|{times.format(at)}" for at in range(60))
    path.write_text("\n".join((names, *rows, "")))
    tables = []
    made = RowTable.table
    monkeypatch.setattr(
        RowTable, "table", lambda self, *told: tables.append(self) or made(self, *told)
    )
    found = []
    for is_open in (True, False):
        road.open(is_open=is_open)
        kept = ledger.create(tmp_path / f"ledger-{is_open}")
        work = Ingestion(kept, lambda error: pytest.fail(str(error)), processes=processes)
        work.take([NamedSource(str(path), path)], "slurm")
        work.commit()
        with kept.connected() as connection:
            text = "SELECT * EXCLUDE (file, row) FROM live ORDER BY line"
            found.append(connection.execute(text).fetchall())
    assert found[0] == found[1] != []
    assert sum(map(len, tables)) > 50


def test_without_the_libraries_lines_are_read_one_by_one():
    road = regular.Road(1 << 21, ("numpy", "no_such_module_of_any_name"))
    assert not road.is_open(1 << 30)


def test_what_is_small_imports_nothing():
    road = regular.Road(1 << 21, ("numpy", "pyarrow", "_not_imported_yet"))
    assert not road.is_open(1 << 20)
