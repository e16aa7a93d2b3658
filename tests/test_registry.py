"""What there must be for every batch system and format, and what other distributions add."""

import gzip
import importlib
import io
import json
import re
import runpy
import subprocess
import sys
import tomllib
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import meanings
import pytest
from meanings import lacks_meanings
from records import DATA, as_line, converted, counts
from records import told as outcomes_of
from waiting import HANG

from sssjob import collect, registry, systems
from sssjob.cli.names import SystemName
from sssjob.errors import UnusableInput
from sssjob.features.batch.call import Invocation
from sssjob.records import FORMATS, find, formats, read_records
from sssjob.records.builders import OBJECTS, TEXTS
from sssjob.records.layout import NoRunKey, RunKey
from sssjob.records.record import Converted, Options
from sssjob.records.runs import SeenRuns
from sssjob.submission.control import control, manager
from sssjob.translate import read, recognise, translator
from sssjob.verbs import status

ROOT = Path(__file__).parent.parent
TABLE = DATA / "formats.toml"
TOLD = tomllib.loads(TABLE.read_text(encoding="utf-8"))
UNKNOWN = tomllib.loads((DATA / "unknown.toml").read_text(encoding="utf-8"))
PAGES = ("formats.md", "logs.md", "accounting.md")
# What a sentence may stand instead of: a record of that kind cannot be.
INSTEAD = {"no_limit": "unlimited", "absent": "unspoken"}


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def content(name):
    data = (DATA / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


def limits(format_name, text):
    """The requested durations of the job that a record becomes; None where it becomes none."""
    found = converted(format_name, text.encode())
    if len(found) != 1:
        return None
    return [item.text for item in found[0].requested.all("Duration")]


def lacks_records(name, told):
    """Records that a real system printed, or the reason why there are none."""
    files = told.get("printed", ())
    if not files and not told.get("by_hand"):
        yield f"{name}: no records that a real system printed: printed and by, or by_hand: why"
    if files and not told.get("by"):
        yield f"{name}: by: which version and command printed its records"
    for file in files:
        if not (DATA / file).is_file() or not counts(name, content(file)).converted:
            yield f"{name}: printed: tests/data/{file} has no record that becomes a job"


def lacks_quirks(name, told):
    """Odd records, and beside them what must become of each."""
    files = [file for pattern in told.get("quirks", ()) for file in DATA.glob(pattern)]
    if not files:
        yield f"{name}: quirks: no file of odd records, such as tests/data/records/{name}/odd.txt"
    for file in files:
        if not file.with_suffix(".outcomes").is_file():
            yield f"{name}: {file.relative_to(ROOT)}: no {file.stem}.outcomes beside it"


def lacks_row(name, told):
    """A row about its records, where they are written by hand."""
    rows = (DATA / "records/README.md").read_text(encoding="utf-8")
    if (DATA / "records" / name).is_dir() and f"\n| {name} | " not in rows:
        yield f"{name}: no row | {name} | in tests/data/records/README.md"


def lacks_limits(name, told):
    """A record without a limit and one that does not speak of it: neither has a Duration."""
    for case, instead in INSTEAD.items():
        if case not in told and instead not in told:
            yield f"{name}: {case}: no such record, and no sentence in {instead} why"
        elif case in told and (found := limits(name, told[case])) != []:
            yield f"{name}: {case}: {found or 'no job'} where a job without a limit is expected"
    if "limit" in told and not limits(name, told["limit"]):
        yield f"{name}: limit: no requested Duration"
    if "no_limit" in told and "limit" not in told:
        yield f"{name}: limit: no record that has one, to compare with"


def contents(told):
    """What its files of records hold."""
    patterns = (*told.get("printed", ()), *told.get("quirks", ()))
    files = [file for pattern in patterns for file in sorted(DATA.glob(pattern))]
    return [content(str(file.relative_to(DATA))) for file in files]


def lacks_wall_time(name, told):
    """A record of a run that becomes a job with a delivered Duration, which reports add up."""
    logs = contents(told)
    jobs = (job for log in logs for job in converted(name, log))
    if logs and "no_wall" not in told and not any(job.delivered.all("Duration") for job in jobs):
        yield f"{name}: no record delivers a Duration: where it is not told, ask clock.passed"


def lacks_run(name, told):
    """What tells runs apart, so that a record that is given twice counts once; or why not."""
    run = find(name).load().run
    if isinstance(run, NoRunKey):
        if not run.reason:
            yield f"{name}: run: NoRunKey without the reason why nothing tells runs apart"
    elif told and not any(map(counts_once, repeat(name), contents(told))):
        yield (f"{name}: run: each record that is given twice counts twice: its table gives no "
               "SubmitTime, StartTime or EndTime; or NoRunKey why")  # fmt: skip


def counts_once(name, log):
    """Whether a job of a log is left out when the log is given once more."""
    seen = SeenRuns()
    first, second = (
        [*read_records(find(name), io.BytesIO(log), Options(), OBJECTS, seen)] for _ in "12"
    )
    return len(jobs_of(second)) < len(jobs_of(first))


def jobs_of(outcomes):
    return [each for each in outcomes if isinstance(each, Converted)]


def lacks_page(name, told):
    """A heading of its own, or a row."""
    shown = re.compile(rf"^(#|\|).*`(?:--from )?{re.escape(name)}`", re.MULTILINE)
    if not any(shown.search(page(file)) for file in PAGES):
        yield f"{name}: no heading or row with `{name}` in docs/{', docs/'.join(PAGES)}"


def lacks_help_of_queue(name, row):
    """What its commands print, and a row that says which these are."""
    if row.queue and not any((DATA / "lcginfo").glob(f"{name}*/*")):
        yield f"{name}: no file in tests/data/lcginfo/{name} with what its commands print"
    if row.queue and f"| `{name}` |" not in page("lcginfo.md"):
        yield f"{name}: no row `{name}` in docs/lcginfo.md"


def lacks_help_of_script(name, row):
    """What a site has to know."""
    if row.script and f"- **{row.title}**" not in page("features-sites.md"):
        yield f"{name}: no item **{row.title}** in docs/features-sites.md"


def lacks_help_of_status(name, row):
    """Odd outputs of each format, and a row that says how the system is asked."""
    for each in row.status.formats if row.status else ():
        if each.name not in TOLD and not any((DATA / "status" / each.name).glob("*.outcomes")):
            yield f"{name}: no file with its outcomes in tests/data/status/{each.name}"
        if f"`{each.name}`" not in page("status.md"):
            yield f"{name}: no `{each.name}` in docs/status.md"
    if row.status and f"| `{name}` |" not in page("status.md"):
        yield f"{name}: no row `{name}` in docs/status.md"


def lacks_target_page(name, row):
    """A row that says what it is, and whether it is written and read."""
    told = f"| {'yes' if row.writes else 'no'} | {'yes' if row.reads else 'no'} |"
    shown = rf"^\| `{re.escape(name)}` \| .+ {re.escape(told)}$"
    if not re.search(shown, page("translate.md"), re.MULTILINE):
        yield f"{name}: no row `{name}` with {told} in docs/translate.md"


def lacks_sample(name, row):
    """A text as a user writes it, which is recognised and becomes the job that everybody has."""
    files = list((DATA / "translate").glob(f"{name}.*"))
    if not files:
        yield f"{name}: no tests/data/translate/{name}.*"
    for file in files:
        yield from lacks_job(name, file.read_bytes())


def lacks_job(name, data):
    if (taken := recognise(data)) != name:
        yield f"{name}: its sample is taken for {taken}"
    found = list(read(data, name))
    jobs = [each.job for each in found if each.job is not None]
    told = [(job.get("Name"), job.get("Executable")) for job in jobs]
    if told != [("sample", "/bin/date")] or any(each.findings for each in found):
        yield f"{name}: its sample is read as {told}, with {[each.findings for each in found]}"


def lacks_modules(home):
    """What makes a folder a package, and a system."""
    if any(home.rglob("*.py")):
        folders = {home, *(path.parent for path in home.rglob("*.py"))}
        needed = [home / "system.py", *(folder / "__init__.py" for folder in sorted(folders))]
        yield from (
            f"{home.name}: no {path.relative_to(home)}" for path in needed if not path.is_file()
        )


def lacks_word_of_unknown(name, told):
    """What becomes of a record with a state or a key that nobody knows: it is told, or kept."""
    for thing in ("state", "key"):
        if f"{thing}less" in told:
            continue
        if thing not in told:
            yield f"{name}: {thing}: no record with an unknown one, and no reason in {thing}less"
            continue
        *record, sign = told[thing]
        text = record[0] if len(record) == 1 else _replaced(*record)
        assert sign in text or thing == "state", f"{name}: {sign} is not in its record"
        if not any(sign in line for line in said_of(name, text)):
            yield f"{name}: {thing}: an unknown one ({sign}) vanishes: see sssjob/records/unread.py"


def _replaced(file, old, new):
    text = (DATA / file).read_text(encoding="utf-8")
    assert old in text, f"{file} has no {old}"
    return text.replace(old, new)


def said_of(name, text):
    """What becomes of records, of the accounting or of live jobs, as lines."""
    if name in registry.formats():
        return list(outcomes_of(name, text.encode()))
    stream = io.BytesIO(text.encode())
    return [*map(as_line, status.outcomes(stream, status.formats(name), Options(), OBJECTS))]


# What a wing has, and why a system has it not: a line of its page says so, too.
PARTS = ("formats", "queue", "status", "script", "targets", "control", "inside", "notices",
         "cluster")  # fmt: skip
_SIGNALS = "it tells a job of its end by signals only, which ``features watch`` hands on"
WITHOUT_PART = {
    ("condor", "script"): "its hooks are what its startd and starter call (systems/condor/hooks)",
    (
        "flux",
        "queue",
    ): "no Flux runs here; what a queue of it may take is the policy of its scheduler",
    ("flux", "cluster"): "dask-jobqueue has none that starts workers by it",
    ("lsf", "queue"): "as its status, and its limits are those of queues and hosts together",
    **{(name, "notices"): _SIGNALS for name in ("flux", "gridengine", "lsf", "pbs")},
    ("lsf", "status"): "no LSF runs here; forms of times and sizes of bjobs differ by site",
}
PAGES_OF_PARTS = {
    "queue": "lcginfo.md", "status": "status.md", "notices": "features-payloads.md",
}  # fmt: skip


def lacks_part(name, row):
    """A part that a wing has, or the reason why it has none, on the page about it as well."""
    for part in PARTS:
        told = (name, part) in WITHOUT_PART
        if getattr(row, part):
            if told:
                yield f"{name}: it has {part}: take it out of WITHOUT_PART"
        elif not told:
            yield f"{name}: no {part}, and no reason in WITHOUT_PART"
        elif (file := PAGES_OF_PARTS.get(part)) and row.title not in page(file):
            yield f"{name}: docs/{file} does not say why {row.title} is not there"


OF_TARGETS = [lacks_target_page, lacks_sample]
OF_FORMATS = [lacks_records, lacks_quirks, lacks_row, lacks_limits, lacks_wall_time, lacks_run,
              lacks_page]  # fmt: skip
OF_SYSTEMS = [lacks_help_of_queue, lacks_help_of_status, lacks_help_of_script, lacks_meanings,
              lacks_part]  # fmt: skip


@pytest.mark.parametrize("guard", OF_FORMATS)
@pytest.mark.parametrize("name", registry.formats())
def test_a_format_has_what_every_format_must_have(name, guard):
    if name not in TOLD:
        pytest.fail(f"{name}: no table [{name}] in tests/data/formats.toml, which says more")
    found = "\n".join(guard(name, TOLD[name]))
    assert not found, found


@pytest.mark.parametrize("name", sorted({*registry.formats(), *registry.all_status_formats()}))
def test_no_format_lets_an_unknown_state_or_key_vanish(name):
    if name not in UNKNOWN:
        pytest.fail(f"{name}: no table [{name}] in tests/data/unknown.toml, which says more")
    found = "\n".join(lacks_word_of_unknown(name, UNKNOWN[name]))
    assert not found, found


def test_what_lets_a_key_vanish_is_told():
    record = "JobID|State\n7|COMPLETED\n"
    assert list(lacks_word_of_unknown("slurm", {"key": [f"{record}Zebra", "Zebra"]}))[:1] == [
        "slurm: state: no record with an unknown one, and no reason in stateless"
    ]
    quiet = {"stateless": "why", "key": ["ClusterId = 7\nProcId = 0\nZebra = 1\n", "Zebra"]}
    assert list(lacks_word_of_unknown("condor", quiet)) == [
        "condor: key: an unknown one (Zebra) vanishes: see sssjob/records/unread.py"
    ]


@pytest.mark.parametrize("guard", OF_SYSTEMS)
@pytest.mark.parametrize("name", registry.systems())
def test_a_system_has_what_every_system_must_have(name, guard):
    found = "\n".join(guard(name, registry.systems()[name]))
    assert not found, found


def test_a_folder_of_a_system_has_the_modules_by_which_it_is_found():
    home = Path(systems.__file__).parent
    missing = [
        told for folder in home.iterdir() if folder.is_dir() for told in lacks_modules(folder)
    ]
    assert not missing, "\n".join(missing)


def test_a_folder_that_declares_no_system_yet_hinders_no_test(tmp_path, monkeypatch):
    (folder := tmp_path / "zorn").mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.setattr(systems, "__path__", [*systems.__path__, str(tmp_path)])
    registry.systems.cache_clear()
    try:
        assert "zorn" not in registry.systems()
        (folder / "system.py").write_text("import no_such_module")
        importlib.invalidate_caches()
        registry.systems.cache_clear()
        with pytest.raises(ModuleNotFoundError, match="no_such_module"):
            registry.systems()
    finally:
        registry.systems.cache_clear()


def test_a_folder_without_the_modules_by_which_it_is_found_is_told(tmp_path):
    (folder := tmp_path / "made-up/accounting").mkdir(parents=True)
    (folder / "table.py").touch()
    assert list(lacks_modules(tmp_path / "made-up")) == [
        "made-up: no system.py", "made-up: no __init__.py", "made-up: no accounting/__init__.py",
    ]  # fmt: skip


@pytest.mark.parametrize("guard", OF_TARGETS)
@pytest.mark.parametrize("name", registry.targets())
def test_a_target_has_what_every_target_must_have(name, guard):
    found = "\n".join(guard(name, registry.targets()[name]))
    assert not found, found


def test_a_target_without_page_and_sample_is_told():
    row = registry.Target("made-up", "x:y", "a target that somebody began", reads=False)
    assert [*lacks_target_page(row.name, row), *lacks_sample(row.name, row)] == [
        "made-up: no row `made-up` with | yes | no | in docs/translate.md",
        "made-up: no tests/data/translate/made-up.*",
    ]
    assert list(lacks_job("sbatch", b"#!/bin/sh\n#PBS -N other\nexec /bin/date\n")) == [
        "sbatch: its sample is taken for pbs",
        "sbatch: its sample is read as [('', '#script')], with [()]",
    ]


def test_every_table_is_about_a_format():
    odd = TOLD.keys() ^ registry.formats().keys()
    assert not odd, f"tests/data/formats.toml: a format without a table, or the reverse: {odd}"


MODULE = '''
"""A format of another distribution: an id on each line, behind a sign of its own."""

from sssjob.records.cuts import Lines
from sssjob.records.layout import Layout, NoRecord, Record, alone, mapping
from sssjob.records.record import JOB, Field


def record(line, text):
    id = text.removeprefix("our-id ").strip()
    if not id:
        raise NoRecord("no id")
    return Record(line, ("id",), [id])


def recognises(head):
    return "lines that begin with our-id" if head.startswith(b"our-id ") else ""


LAYOUT = Layout(
    type="Ours", cut=Lines(), reader=alone(record), rows=mapping([Field("id", JOB, "Id")]),
    recognises=recognises,
)
'''

SYSTEM = '''
"""A batch system of another distribution: records, a queue, a prolog, and what is installed."""

from sssjob.features.batch.allocation import Allocation
from sssjob.features.batch.call import Script
from sssjob.features.batch.scripts import Scripts
from sssjob.lcginfo.reader import QueueReader
from sssjob.lcginfo.snapshot import QueuedJob
from sssjob.registry import Format, Queue, System

SYSTEM = System(
    "theirs", "Their system",
    formats=(Format("their-log", "our_format", "a log of theirs"),),
    queue=Queue("our_system:State", ask=(("their-queue",),)),
    script="our_system:Side",
    installation="our_system:Installed",
    ended="our_system:ended",
)


class State(QueueReader):
    def take(self, text):
        self.add_slots(4, 3)
        self.jobs += [QueuedJob("q", "g", "running", jobid=id) for id in text.split()]


class Side(Script):
    def allocation(self, answers, *, asking):
        return Allocation("7", node=self.environment.get("NODE", ""))


class Installed(Scripts):
    command = "their-queue"

    def configuration(self, at):
        yield f"before: {at.place('prolog')}"


def ended(ids, environment, seconds):
    yield "their-records", b"".join(b"our-id %s\\n" % id.encode() for id in ids)
'''


@pytest.fixture
def distribution(tmp_path, monkeypatch):
    """An installed distribution with a format, and with two that cannot be used."""
    (tmp_path / "our_format.py").write_text(MODULE)
    info = tmp_path / "our_formats-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: our-formats\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[{registry.FORMATS}]\nours = our_format\nlost = no_such_module\nempty = json\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("our_format", None)
    sys.modules.pop("our_system", None)


@pytest.fixture
def with_system(distribution):
    """The same with a batch system."""
    (distribution / "our_system.py").write_text(SYSTEM)
    (distribution / "our_formats-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{registry.SYSTEMS}]\ntheirs = our_system:SYSTEM\n"
    )
    return distribution


WORDS = [(row.name, word) for row in registry.systems().values() for word in (row.name, *row.also)]


@pytest.mark.parametrize("name, word", WORDS, ids=lambda text: text)
def test_any_word_for_a_system_is_taken_wherever_one_can_be_named(name, word):
    row = registry.systems()[name]
    assert registry.system(word) is row
    assert find(word).name in {word, row.formats[0].name}
    if row.targets:
        targets = {target.name for target in row.targets}
        assert translator(word).name == (word if word in targets else row.targets[0].name)
    if row.control:
        assert control(word).system == name
    if row.status:
        assert status.formats(word) == row.status.formats
    if row.script:
        assert SystemName("script", "own").convert(word, None, None) == name


def test_words_for_systems_are_distinct():
    words = [word for _, word in WORDS]
    assert len(words) == len(set(words))


def test_letter_case_of_a_word_does_not_count():
    assert registry.called("Slurm") is registry.called("slurm")
    assert registry.called("SGE") is registry.called("gridengine")


@pytest.mark.parametrize("word", ["", "pbs-2", "p.b.s", "slurm-", "flux core"])
def test_what_is_nearly_a_word_is_none(word):
    assert registry.called(word) is None
    with pytest.raises(UnusableInput):
        registry.system(word)


@pytest.mark.parametrize(
    "text, name",
    [("SLURM", "slurm"), ("Grid Engine", "gridengine"), ("OpenPBS", "pbs"), ("PBS Pro", "pbs"),
     ("HTCondor", "condor"), ("Maui", "")],
)  # fmt: skip
def test_a_resource_manager_type_means_a_system_whatever_signs_it_has(text, name):
    assert manager(text) == name


def test_a_format_of_another_distribution_has_a_name_and_both_builders(distribution):
    found = find("ours")
    assert found.description == "added by our-formats"
    (outcome,) = read_records(found, io.BytesIO(b"our-id 7\n"), Options(), OBJECTS)
    assert isinstance(outcome, Converted)
    assert outcome.job.id == "7"
    (text,) = read_records(found, io.BytesIO(b"our-id 7\n"), Options(), TEXTS)
    assert text.job == "<Job><Id>7</Id></Job>"


def test_a_name_of_ours_stays_ours_and_the_other_is_warned_of(distribution):
    with open(distribution / "our_formats-1.0.dist-info" / "entry_points.txt", "a") as points:
        points.write("slurm = our_format\n")
    told = "the format slurm, added by our-formats: there is another one of that name"
    with pytest.warns(UserWarning, match=told):
        listed = formats()
    for found in (find("slurm"), listed["slurm"]):
        assert found.module == "sssjob.systems.slurm.accounting.sacct"


@pytest.mark.parametrize(
    "name, reason",
    [
        ("lost", "the format lost cannot be loaded: No module named 'no_such_module'"),
        ("empty", "the format empty has no LAYOUT"),
        ("nothing", "'nothing' is no known record format; known: .*ours"),
    ],
)
def test_what_cannot_be_used_is_refused_with_a_reason(distribution, name, reason):
    with pytest.raises(UnusableInput, match=reason):
        find(name).load()


def convert(data, directory, *arguments):
    return sssjob(directory, "convert", *arguments, "-", data=data)


def sssjob(directory, *arguments, data=""):
    command = [sys.executable, "-m", "sssjob", *arguments]
    environment = {"PYTHONPATH": str(directory), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        command, input=data, capture_output=True, text=True, env=environment, check=False
    )


def test_a_record_of_another_distribution_that_is_given_twice_counts_once(distribution):
    """Nobody has to ask for it: a time of the job tells it from other runs."""
    timed = MODULE.replace('("id",), [id]', '("id", "start"), id.split()').replace(
        'Field("id", JOB, "Id")', 'Field("id", JOB, "Id"), Field("start", JOB, "StartTime")'
    )
    (distribution / "our_format.py").write_text(timed)
    log = b"our-id 7 1700000000\nour-id 7 1700000900\n"
    assert counts_once("ours", log)
    done = convert((log + log).decode(), distribution, "--from", "ours")
    assert "converted 2, skipped 2 (read before 2), bad 0" in done.stderr


@pytest.mark.parametrize("run, message", [
    pytest.param(NoRunKey(""), "sss: run: NoRunKey without the reason why nothing tells runs "
                 "apart", id="no reason"),
    pytest.param(RunKey(), "sss: run: each record that is given twice counts twice: its table "
                 "gives no SubmitTime, StartTime or EndTime; or NoRunKey why", id="no times"),
])  # fmt: skip
def test_a_format_whose_records_count_twice_is_told(monkeypatch, run, message):
    layout = replace(find("sss").load(), run=run)
    monkeypatch.setattr(registry.Format, "load", lambda row: layout)
    assert [*lacks_run("sss", {"quirks": ["records/sss/odd.xml"]})] == [message]


def test_the_command_converts_it_by_name_and_recognises_it(distribution):
    (distribution / "our_formats-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{registry.FORMATS}]\nours = our_format\n"
    )
    named = convert("our-id 7\nour-id \n", distribution, "--from", "ours")
    assert named.returncode == 1
    assert named.stdout == "<Job><Id>7</Id></Job>\n"
    assert named.stderr.splitlines()[0] == "<stdin>:2: error: no id"
    seen = convert("our-id 7\n", distribution, "--from", "auto")
    assert seen.returncode == 0
    assert seen.stderr.startswith(
        "<stdin>:1: notice: recognised as ours by lines that begin with our-id\n"
    )


def test_it_is_read_by_several_processes_and_as_it_grows(distribution):
    log, output = distribution / "log", distribution / "jobs"
    log.write_text("our-id 7\nour-id 8\n")
    more = ["--workers", "2", str(log)]
    done = sssjob(distribution, "convert", "--from", "ours", "--to", "sss-lines", *more)
    assert done.stdout == "<Job><Id>7</Id></Job>\n<Job><Id>8</Id></Job>\n"
    state = ["--state", str(distribution / "state"), "-o", str(output), str(log)]
    for _ in range(2):
        done = sssjob(distribution, "convert", "--from", "ours", "--to", "sss-lines", *state)
        assert done.returncode == 0, done.stderr
    with log.open("a") as stream:
        stream.write("our-id 9\n")
    sssjob(distribution, "convert", "--from", "ours", "--to", "sss-lines", *state)
    assert [line[9] for line in output.read_text().splitlines()] == ["7", "8", "9"]


def test_a_broken_format_of_others_does_not_hinder_auto(distribution):
    records = io.BytesIO(b"our-id 7\n")
    outcomes = list(read_records(find("auto"), records, Options(), OBJECTS))
    assert outcomes[-1].job.id == "7"


def test_a_system_of_another_distribution_has_its_formats_and_ours_stay(with_system):
    assert [name for name in registry.all_systems() if name not in registry.systems()] == ["theirs"]
    assert registry.all_systems()["slurm"] is registry.systems()["slurm"]
    named = convert("our-id 7\nour-id \n", with_system, "--from", "their-log")
    assert named.stdout == "<Job><Id>7</Id></Job>\n"
    assert named.stderr.splitlines()[0] == "<stdin>:2: error: no id"
    seen = convert("our-id 7\n", with_system, "--from", "auto")
    assert seen.returncode == 0
    sign = "recognised as their-log by lines that begin with our-id"
    assert seen.stderr.startswith(f"<stdin>:1: notice: {sign}\n")


def test_a_system_of_another_distribution_is_installed_collected_and_delivered(
    with_system, tmp_path
):
    done = sssjob(with_system, "features", "install", "--for", "theirs", "--json")
    found = json.loads(done.stdout)
    assert found["configuration"] == ["before: /usr/libexec/sssjob/theirs/prolog"]
    assert "features prolog --for theirs" in found["scripts"]["prolog"]
    asked = collect.ask("theirs", ["7"], {}, seconds=HANG)
    assert [record.job.id for record in asked.records["7"]] == ["7"]
    (document := tmp_path / "7.xml").write_text("<Job><Id>7</Id></Job>")
    records = ("--from", "their-log", "--record", "-")
    done = sssjob(with_system, "deliver", document, *records, data="our-id 7\n")
    assert (done.returncode, done.stdout) == (0, "<Job><Id>7</Id></Job>")


@pytest.mark.parametrize("text, reason", [
    pytest.param("import no_such_module", "ModuleNotFoundError: No module named", id="import"),
    pytest.param("SYSTEM = (", "SyntaxError: '(' was never closed", id="syntax"),
    pytest.param("SYSTEM = nothing", "NameError: name 'nothing' is not", id="name"),
    pytest.param("raise RuntimeError('licence')", "RuntimeError: licence", id="raised"),
    pytest.param("from json import dumps as SYSTEM", "it is no System", id="another thing"),
])  # fmt: skip
def test_a_system_of_another_distribution_that_is_broken_is_told(with_system, text, reason):
    (with_system / "our_system.py").write_text(text)
    told = f"sssjob: warning: the system theirs, added by our-formats: {reason}"
    records = "12/08/2023 00:00:00;E;7.srv;user=amy start=1702000000 end=1702000100\n"
    done = convert(records, with_system, "--from", "auto")
    assert (done.returncode, done.stdout[:16]) == (0, "<Job><Id>7.srv</")
    assert told in done.stderr
    done = convert(records, with_system, "--from", "nothing")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)


def declared_with_a_name(distribution):
    """Declare their format to be told by a name, which is asked for before marks of ours."""
    system = distribution / "our_system.py"
    system.write_text(
        SYSTEM.replace("import Format, ", "import Format, Sign, ").replace(
            'of theirs"),)', 'of theirs", Sign.NAME),)'
        )
    )


def test_a_format_of_another_distribution_is_asked_as_early_as_its_sign(with_system):
    head = b"our-id 7\n"
    record = b'"JOB_FINISH" "10.1" 1700000000 7\n'  # as LSF's are marked
    module = with_system / "our_format.py"
    module.write_text(MODULE.replace('head.startswith(b"our-id ")', "b' 7' in head"))
    for data, expected in ((head, "their-log"), (record, "lsf")):
        seen = convert(data.decode(), with_system, "--from", "auto")
        assert f"notice: recognised as {expected} by " in seen.stderr
    declared_with_a_name(with_system)
    seen = convert(record.decode(), with_system, "--from", "auto")
    assert "notice: recognised as their-log by " in seen.stderr


def test_a_wrong_kind_of_file_is_told_by_a_format_of_another_distribution(distribution):
    mistaken = 'def mistaken(head):\n    return "an index" if head.startswith(b"our-index") else ""'
    module = MODULE.replace("recognises=recognises,", "recognises=recognises, mistaken=mistaken,")
    before, declared = module.split("LAYOUT =")
    (distribution / "our_format.py").write_text(f"{before}{mistaken}\n\n\nLAYOUT ={declared}")
    seen = convert("our-index\n", distribution, "--from", "auto")
    assert seen.stderr.splitlines()[-1] == "sssjob: error: <stdin>:1: an index"


def test_the_queue_of_a_system_of_another_distribution_is_read(with_system):
    (with_system / "queue.txt").write_text("7 8\n")
    options = ["--from", "theirs", "--now", "2026-11-20T15:00:00Z"]
    done = sssjob(with_system, "lcginfo", "lrms", *options, str(with_system / "queue.txt"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == ["nactive     4", "nfree       3"]
    assert done.stdout.count("'queue': 'q'") == 2


def test_a_prolog_asks_a_system_of_another_distribution(with_system, safe_path):
    assert Invocation("theirs", (), {"NODE": "n1"}).allocation().node == "n1"
    root = str(safe_path / "mjf")
    named = sssjob(with_system, "features", "prolog", "--for", "theirs", "--root", root)
    assert f"JOBFEATURES={root}/7/jobfeatures" in named.stdout.splitlines(), named.stderr
    lost = sssjob(with_system, "features", "prolog", "--for", "lost", "--root", root)
    assert lost.returncode == 2
    assert "'lost' is not one of" in lost.stderr


MADE_UP = registry.Format("made-up", "sssjob.formats.blah", "a format that somebody began")


@pytest.mark.parametrize(
    "guard, told, message",
    [
        pytest.param(lacks_records, {}, "made-up: no records that a real system printed: printed "
                     "and by, or by_hand: why", id="no records"),
        pytest.param(lacks_records, {"printed": ["records/blah/log.txt"]}, "made-up: by: which "
                     "version and command printed its records", id="printed by whom"),
        pytest.param(lacks_records, {"printed": ["records/README.md"], "by": "x"}, "made-up: "
                     "printed: tests/data/records/README.md has no record that becomes a job",
                     id="no job"),
        pytest.param(lacks_quirks, {}, "made-up: quirks: no file of odd records, such as "
                     "tests/data/records/made-up/odd.txt", id="no quirks"),
        pytest.param(lacks_quirks, {"quirks": ["records/README.md"]}, "made-up: "
                     "tests/data/records/README.md: no README.outcomes beside it", id="alone"),
        pytest.param(lacks_limits, {"unspoken": "why"}, "made-up: no_limit: no such record, and no "
                     "sentence in unlimited why", id="no limit"),
        pytest.param(lacks_limits, {"unlimited": "why"}, "made-up: absent: no such record, and no "
                     "sentence in unspoken why", id="absent"),
        pytest.param(lacks_limits, {"unlimited": "why", "absent": "nothing"}, "made-up: absent: no "
                     "job where a job without a limit is expected", id="no record"),
        pytest.param(lacks_page, {}, "made-up: no heading or row with `made-up` in "
                     "docs/formats.md, docs/logs.md, docs/accounting.md", id="no page"),
    ],
)  # fmt: skip
def test_a_guard_says_what_was_forgotten_and_where_it_belongs(monkeypatch, guard, told, message):
    monkeypatch.setitem(FORMATS, MADE_UP.name, MADE_UP)
    assert list(guard(MADE_UP.name, told)) == [message]


def test_records_that_no_row_tells_of_are_told(monkeypatch, tmp_path):
    (tmp_path / "records/made-up").mkdir(parents=True)
    (tmp_path / "records/README.md").write_text("| directory | what is in it |\n")
    monkeypatch.setitem(globals(), "DATA", tmp_path)
    told = "made-up: no row | made-up | in tests/data/records/README.md"
    assert list(lacks_row("made-up", {})) == [told]


def test_a_table_that_is_missing_stops_no_test_before_it_is_told(monkeypatch):
    monkeypatch.setattr(tomllib, "loads", lambda text: {})
    assert runpy.run_path(meanings.__file__)["SUBJECTS"].keys() == meanings.SUBJECTS.keys()


def test_a_record_with_a_limit_that_is_missing_is_told():
    told = {key: text for key, text in TOLD["flux"].items() if key != "limit"}
    assert list(lacks_limits("flux", told)) == [
        "flux: limit: no record that has one, to compare with"
    ]


def test_a_limit_that_is_taken_for_another_is_told(monkeypatch):
    told = {**TOLD["slurm"], "no_limit": TOLD["slurm"]["limit"], "limit": TOLD["slurm"]["absent"]}
    assert list(lacks_limits("slurm", told)) == [
        "slurm: no_limit: ['3600'] where a job without a limit is expected",
        "slurm: limit: no requested Duration",
    ]


def test_a_system_without_data_and_pages_is_told():
    row = registry.System("made-up", "Made up", queue=registry.Queue("x:y", ()), script="x:z")
    assert [*lacks_help_of_queue(row.name, row), *lacks_help_of_script(row.name, row)] == [
        "made-up: no file in tests/data/lcginfo/made-up with what its commands print",
        "made-up: no row `made-up` in docs/lcginfo.md",
        "made-up: no item **Made up** in docs/features-sites.md",
    ]


def test_a_system_without_a_part_of_a_wing_is_told(monkeypatch):
    row = registry.System(
        "made-up", "Made up", formats=(MADE_UP,), script="x:z", control="x:c", inside=1,
        notices="x:n", cluster=registry.Cluster("x", "X"),
        targets=(registry.Target("made-script", "x:w", "scripts"),),
    )  # fmt: skip
    monkeypatch.setitem(WITHOUT_PART, (row.name, "script"), "why")
    monkeypatch.setitem(WITHOUT_PART, (row.name, "status"), "why")
    assert list(lacks_part(row.name, row)) == [
        "made-up: no queue, and no reason in WITHOUT_PART",
        "made-up: docs/status.md does not say why Made up is not there",
        "made-up: it has script: take it out of WITHOUT_PART",
    ]


def test_a_system_whose_limits_are_compared_nowhere_is_told():
    row = registry.System(
        "made-up", "Made up", formats=(MADE_UP,), queue=registry.Queue("x:y", ()), script="x:z",
        targets=(registry.Target("made-script", "x:w", "scripts"),),
    )  # fmt: skip
    where = "in tests/meanings.py, and no reason in WITHOUT"
    roads = ("accounting made-up", "features", "queue", "translate made-script")
    assert list(lacks_meanings(row.name, row)) == [
        f"made-up: no limit {where}", f"made-up: no size {where}",
        *(f"made-up: no road {road!r} {where}" for road in roads),
    ]  # fmt: skip


@pytest.mark.parametrize("name", registry.formats())
def test_a_run_is_told_apart_by_columns_that_the_format_has(name):
    layout = registry.formats()[name].load()
    if isinstance(run := layout.run, RunKey):
        known = {*layout.known.columns, *layout.known.worked_out} if layout.known else set()
        assert {*run.times} <= {"", *known}
