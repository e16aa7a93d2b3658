"""sssjob convert by several processes, and of logs that grow, rotate and are read again."""

import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from draws import examples, singly
from hypothesis import given
from hypothesis import strategies as st

from sssjob.accounting.writers import TARGETS
from sssjob.cli import sssjob
from sssjob.document import guesses, sources
from sssjob.records import parts, state
from sssjob.verbs import convert as verb

pytestmark = pytest.mark.usefixtures("ready_workers")

DATA = Path(__file__).parent.parent / "data"
SACCT = DATA / "slurm" / "24.11" / "all-steps-epoch.txt"
SGE = DATA / "accounting" / "sge" / "8.1.9.txt"
PBS = DATA / "accounting" / "pbs" / "quirks" / "torque.txt"


def convert(*arguments):
    return CliRunner().invoke(sssjob, ["convert", *map(str, arguments)])


@pytest.mark.parametrize("form", ["sss-lines", "sss"])
@pytest.mark.parametrize(("name", "path"), [("slurm", SACCT), ("sge", SGE), ("pbs", PBS)])
def test_several_processes_write_the_same(name, path, form, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", 4000)
    monkeypatch.setattr(sources, "_SMALL", 0)
    one = convert("--from", name, "--to", form, path, path)
    several = convert("--from", name, "--to", form, "--workers", "2", path, path)
    assert several.stdout_bytes == one.stdout_bytes
    assert several.stderr == one.stderr
    assert (several.exit_code, one.exit_code) == (0, 0)


@pytest.mark.parametrize("command", ["convert", "report"])
@pytest.mark.parametrize("size", [500, 2000, 9000])
def test_slave_tasks_far_from_their_job_are_told_of_it_by_several_processes(
    command, size, monkeypatch, tmp_path
):
    """In most parts all find their job; some are held over many parts, and one job never comes."""
    monkeypatch.setattr(parts, "SIZE", size)
    monkeypatch.setattr(sources, "_SMALL", 0)
    of_job, job = (DATA / "accounting/sge/quirks/slaves.txt").read_text().splitlines()[:2]
    plain = SGE.read_text().splitlines()[-1]
    lines = [*[plain] * 40, of_job, *[plain] * 40, job, *[plain] * 40, of_job, job, of_job, plain]
    log = tmp_path / "accounting"
    log.write_text("\n".join([*lines, ""]))
    given_ = [command, "--from", "sge", log, log]
    one, several = (
        CliRunner().invoke(sssjob, [*map(str, given_), "--workers", jobs]) for jobs in ("1", "2")
    )
    assert "slave task whose job does not follow" in one.stderr or command == "report"
    assert several.stdout == one.stdout
    assert several.stderr == one.stderr
    assert (several.exit_code, one.exit_code) == (0, 0)


DOCUMENTS = (
    "<Job><Id>1</Id><EndTime>1700000000</EndTime></Job>\n",
    "<Job><Id>2</Id><Name>two\nlines</Name></Job>\n",
    "<JobGroup><Id>g</Id><JobDefaults><Account>chem</Account></JobDefaults>"
    "<Job><Id>3</Id></Job><Job><Id>4</Id><EndTime>1700000000</EndTime></Job></JobGroup>\n",
    "<Job><Id>5</Job>\n", "<Jobs>\n<Job><Id>6</Id></Job>\n</Jobs>\n", "<TaskGroup/>\n", "text\n",
)  # fmt: skip


@pytest.mark.parametrize("ended", [(), ("--ended-only",)], ids=["all", "ended"])
@pytest.mark.parametrize("form", ["sss-lines", "sss"])
def test_several_processes_convert_documents_to_the_same(form, ended, tmp_path, monkeypatch):
    monkeypatch.setattr(guesses, "SIZE", 300)
    chance = Random(4)
    whole, mixed, packed = (tmp_path / name for name in ("whole.sss", "mixed.sss", "packed.gz"))
    ends = count(1700000000)  # each is another run

    def some(texts, number):
        chosen = (chance.choice(texts) for _ in range(number))
        return "".join(text.replace("1700000000", str(next(ends))) for text in chosen)

    whole.write_text(some(DOCUMENTS[:3], 200))
    mixed.write_text(some(DOCUMENTS, 100))
    packed.write_bytes(gzip.compress(whole.read_bytes()))
    given_ = ["--from", "sss", "--to", form, *ended, whole, mixed, packed]
    one, several = (tmp_path / name for name in ("one.json", "several.json"))
    first = convert(*given_, "--counts-json", one)
    second = convert(*given_, "--counts-json", several, "--workers", "2")
    assert first.stdout.count("<Id>1</Id>") > 50
    assert second.stdout_bytes == first.stdout_bytes
    assert second.stderr == first.stderr
    assert (second.exit_code, first.exit_code) == (2, 2)  # documents that cannot be read
    assert json.loads(several.read_text()) == json.loads(one.read_text())


def test_compressed_records_and_all_cores(tmp_path):
    packed = tmp_path / "accounting.gz"
    packed.write_bytes(gzip.compress(SGE.read_bytes()))
    found = convert("--from", "sge", "--workers", "0", packed)
    assert found.stdout == convert("--from", "sge", SGE).stdout


def test_bad_records_are_listed_with_their_places(tmp_path):
    wrong = DATA / "accounting" / "pbs" / "quirks" / "wrong.txt"
    for more in ((), ("--workers", "2")):
        counts = tmp_path / "counts.json"
        result = convert("--from", "pbs", "--counts-json", counts, *more, wrong)
        assert result.exit_code == 1
        found = json.loads(counts.read_text())
        assert found["records"] == found["jobs"] + sum(found["skipped"].values()) + len(
            found["bad"]
        )
        assert found["bad"][0]["line"] == 2
        assert found["bad"][0]["file"] == str(wrong)
        assert found["bad_count"] == len(found["bad"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--from", "slurm", "--workers", "2", "--blah", "b", "-"], "--blah cannot be",
                     id="joined"),
        pytest.param(["--from", "slurm", "--state", "s", "-o", "x", "--to", "parquet", "a"],
                     "--to parquet: a table ends with", id="one table"),
        pytest.param(["--from", "slurm", "--state", "s", "-"], "--output FILE", id="no output"),
        pytest.param(["--from", "slurm", "--state", "s", "-o", "x", "--to", "apel-sync", "a"],
                     "--to apel-sync: a sum that was written", id="sums"),
        pytest.param(["--from", "slurm", "--state", "s", "--output-dir", "d", "a"],
                     "--output-dir: each job has a file", id="a file for each"),
        pytest.param(["--from", "slurm", "--workers", "2", "missing"],
                     "No such file", id="missing"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_ends_with_2_and_a_reason(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = convert(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


class Log:
    """A log that grows, the documents made of it, and what they should be."""

    def __init__(self, directory, name, data):
        self.directory, self.name, self.data = directory, name, data
        self.path = directory / "log"
        self.path.write_bytes(b"")
        self.output = directory / "jobs.sss"

    def grow(self, size):
        with self.path.open("ab") as stream:
            stream.write(self.data[:size])
        self.data = self.data[size:]

    def run(self, *more):
        return convert("--from", self.name, "--state", self.directory / "state",
                       "-o", self.output, *more, self.path)  # fmt: skip


def grown(directory, name, data, sizes, between=lambda log: None):
    log = Log(directory, name, data)
    for size in sizes:
        log.grow(size)
        result = log.run()
        assert result.exit_code == 0, result.stderr
        between(log)
    return log


def test_only_what_is_new_is_converted_and_the_last_record_waits_for_its_end(tmp_path):
    data = PBS.read_bytes()
    log = grown(tmp_path, "pbs", data, [500, 300, 5000])
    assert log.output.read_bytes() == convert("--from", "pbs", PBS).stdout_bytes


@examples(25)
@given(
    st.sampled_from([("sge", SGE), ("slurm", SACCT)]), st.lists(st.integers(0, 9000), max_size=5)
)
def test_a_log_read_in_any_pieces_gives_the_documents_of_the_whole(tmp_path_factory, log, sizes):
    name, path = log
    data = path.read_bytes()
    found = grown(tmp_path_factory.mktemp("log"), name, data, sizes)
    found.grow(len(data))
    found.run()
    rotated = found.path.with_suffix(".1")
    found.path.rename(rotated)  # so that what waited for more is read
    found.path.write_bytes(b"")
    assert found.run().exit_code == 0
    assert found.output.read_bytes() == convert("--from", name, path).stdout_bytes


def _on_one_line(jobs):
    return json.dumps({"jobs": jobs, "meta": {}}) + "\n"


def _a_job_on_each_line(jobs):
    inner = ",\n".join(map(json.dumps, jobs))
    return f'{{"errors": [], "jobs": [{inner}], "meta": {{}}}}\n'


def _indented(jobs):
    return json.dumps({"meta": {}, "jobs": jobs}, indent=1) + "\n"


@pytest.mark.parametrize("later", [_on_one_line, _a_job_on_each_line, _indented])
@pytest.mark.parametrize("form", [_on_one_line, _a_job_on_each_line, _indented])
def test_documents_of_json_that_are_appended_are_read_behind_each_other(form, later, tmp_path):
    """What is behind the end of a document is another, and no job of the one before."""
    log = Log(tmp_path, "slurm-json", b"")
    for write, ids in ((form, (1, 2)), (later, (3, 4)), (later, (5, 6))):
        with log.path.open("a") as stream:
            stream.write(write([{"job_id": id, "name": "x", "state": "FAILED"} for id in ids]))
        result = log.run()
        assert result.exit_code == 0, result.stderr
        assert result.stderr == "converted 2, skipped 0, bad 0\n"
    whole = convert("--from", "slurm-json", log.path)
    assert whole.stdout.count("<Job>") == 6
    assert log.output.read_bytes() == whole.stdout_bytes


def test_a_log_that_was_rotated_is_read_to_its_end_first(tmp_path):
    first, second = PBS.read_bytes(), PBS.read_bytes().replace(b".srv", b".new")
    log = Log(tmp_path, "pbs", first)
    log.grow(700)
    log.run()
    log.grow(9999)
    log.path.rename(tmp_path / "log.1")
    log.path.write_bytes(second)
    result = log.run()
    log.path.write_bytes(second)  # a copy with the same bytes changes nothing
    assert result.stderr.count("warning") == 0
    ids = [line.split("</Id>")[0] for line in log.output.read_text().splitlines()]
    assert [id.partition("<Id>")[2] for id in ids] == [
        "10.srv", "11.srv", "12.srv", "13-4.srv", "10.new", "11.new", "12.new", "13-4.new",
    ]  # fmt: skip


def test_a_log_that_was_cut_off_or_is_gone_is_told_with_what_was_expected(tmp_path):
    log = grown(tmp_path, "pbs", PBS.read_bytes(), [9999])
    log.path.write_bytes(PBS.read_bytes()[:600].replace(b"amy", b"bob"))
    anew = log.run()
    assert "was written anew" in anew.stderr
    assert "no file beside it goes on from line 5, up to which it was read" in anew.stderr
    log.path.unlink()
    other = tmp_path / "other"
    other.write_bytes(b"")
    other.rename(log.path)
    gone = log.run()
    assert "the log before it is gone" in gone.stderr
    assert (anew.exit_code, gone.exit_code, log.run().exit_code) == (1, 1, 0)


def test_a_log_that_is_gone_before_anything_was_read_of_it_is_told(tmp_path):
    """It was empty when it was known, and may have grown since."""
    log = Log(tmp_path, "pbs", b"")
    assert log.run().exit_code == 0
    other = tmp_path / "other"
    other.write_bytes(PBS.read_bytes())
    other.rename(log.path)
    told = log.run()
    assert "the log before it is gone" in told.stderr
    assert (told.exit_code, log.run().exit_code) == (1, 0)


class Rotating(Log):
    """A log of PBS as an operator rotates it, and the ids that were written to it."""

    def __init__(self, directory):
        super().__init__(directory, "pbs", b"")
        self.written, self.clock, self.turns = [], 0, 0

    def write(self, count):
        ids = [f"{len(self.written) + more}.srv" for more in range(count)]
        with self.path.open("a") as stream:
            for id in ids:
                stream.write(f"11/20/2026 14:29:34;E;{id};user=amy start=1700000100 "
                             "end=1700000700 exec_host=n1/0\n")  # fmt: skip
        self.written += ids
        self._age(self.path)

    def _age(self, path):
        self.clock += 1
        os.utime(path, (self.clock, self.clock))

    def _older(self):
        """The numbered logs make room, as logrotate does it."""
        for number in range(99, 0, -1):
            for packed in ("", ".gz"):
                name = f"log.{number}{packed}"
                if (self.directory / name).exists():
                    (self.directory / name).rename(self.directory / f"log.{number + 1}{packed}")

    def numbered(self):
        self._older()
        self.path.rename(self.directory / "log.1")
        self.path.touch()

    def dated(self):
        self.turns += 1
        self.path.rename(self.directory / f"log-{20261100 + self.turns}")
        self.path.touch()

    def emptied(self):
        self._older()
        shutil.copy(self.path, self.directory / "log.1")
        self._age(self.directory / "log.1")
        os.truncate(self.path, 0)

    def packed(self):
        """Whatever is rotated is compressed, as another file."""
        for each in self.directory.glob("log[.-]*[0-9]"):
            packed = each.with_name(f"{each.name}.gz")
            time_of = each.stat().st_mtime  # it has its name and its time, as of gzip
            with (
                packed.open("wb") as raw,
                gzip.GzipFile(each.name, "wb", 9, raw, time_of) as stream,
            ):
                stream.write(each.read_bytes())
            shutil.copystat(each, packed)
            each.unlink()

    def copied(self):
        """To another disk and back: each file has another inode, and its time."""
        for each in self.directory.glob("log*"):
            again = self.directory / "again"
            shutil.copy2(each, again)
            again.replace(each)

    def kept(self):
        """A copy of what there is, while the log goes on."""
        self.turns += 1
        shutil.copy2(self.path, self.directory / f"log-{20261100 + self.turns}")

    def ids(self):
        return re.findall("<Id>([^<]*)</Id>", self.output.read_text())


OPERATIONS = (
    "write", "numbered", "dated", "emptied", "packed", "copied", "kept", "run", "run", "killed",
)  # fmt: skip


@examples(60)
@given(st.lists(st.sampled_from(OPERATIONS), max_size=14), st.integers(0, 12))
def test_a_log_rotated_in_any_way_and_run_killed_anywhere_loses_and_doubles_nothing(
    tmp_path_factory, operations, step
):
    log = Rotating(tmp_path_factory.mktemp("log"))
    log.write(1)
    for at, operation in enumerate(["killed", *operations, "run"], 2):  # when its state is there
        if operation == "write":
            log.write(3)
        elif operation == "run":
            result = log.run()
            assert (result.exit_code, "warning" in result.stderr) == (0, False), result.stderr
        elif operation == "killed":
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(parts, "SIZE", 100)
                patch.setattr(verb, "COMMIT", 1)
                die_at(step + at, patch)
                log.run()
        else:
            getattr(log, operation)()
    assert sorted(log.ids()) == sorted(log.written)


def test_what_was_rotated_before_a_log_was_read_is_told_and_never_read(tmp_path):
    log = Rotating(tmp_path)
    for rotate in (log.numbered, log.packed, log.numbered):
        log.write(1)
        rotate()
    log.write(1)
    (tmp_path / "log.9.Z").write_bytes(b"\x1f\x9d\x90")
    result = log.run()
    assert "what stands in log.2.gz, log.1, log.9.Z is not read" in result.stderr
    assert result.exit_code == 0
    (tmp_path / "log.9.Z").rename(tmp_path / "log.10.Z")
    log.numbered()
    log.packed()
    log.write(1)
    assert "warning" not in log.run().stderr
    assert log.ids() == log.written[-2:]


def test_a_copy_that_is_kept_of_a_log_before_it_is_read_for_the_first_time_is_not_missed(tmp_path):
    log = Rotating(tmp_path)
    log.write(2)
    log.kept()
    for _ in range(2):
        assert "warning" not in log.run().stderr
    assert log.ids() == log.written


@pytest.mark.parametrize("runs", [1, 2])
def test_a_file_beside_a_log_that_holds_nothing_is_not_missed(runs, tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    (tmp_path / "log.1").touch()
    for _ in range(runs):
        assert "warning" not in log.run().stderr
    assert log.ids() == log.written


def test_a_rotated_log_that_cannot_be_read_is_told_once(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    (tmp_path / "log.1.Z").write_bytes(b"\x1f\x9d\x90")
    told = log.run()
    assert "log.1.Z: cannot be read, and its records may be missing" in told.stderr
    assert (told.exit_code, log.run().exit_code) == (1, 0)


def test_a_rotated_log_of_which_the_end_is_missing_is_refused_until_it_is_whole(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    log.write(2)
    log.numbered()
    log.write(1)
    log.packed()
    packed = tmp_path / "log.1.gz"
    whole = packed.read_bytes()
    packed.write_bytes(whole[:-9])
    result = log.run()
    assert result.exit_code == 2
    assert "log.1.gz: error: the compressed data ends before its end" in result.stderr
    packed.write_bytes(whole)
    assert log.run().exit_code == 0
    assert log.ids() == log.written


def test_a_log_that_is_compressed_just_now_is_read_as_it_was(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    log.write(2)
    log.numbered()
    (tmp_path / "log.1.gz").write_bytes(gzip.compress((tmp_path / "log.1").read_bytes())[:20])
    assert log.run().exit_code == 0
    (tmp_path / "log.1").unlink()
    log.path.touch()
    assert log.ids() == log.written


def test_a_compressed_log_of_the_same_name_that_is_whole_is_read_as_well(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    for _ in range(2):
        log.write(1)
        log.path.rename(tmp_path / "log.1")
        if not (tmp_path / "log.1.gz").exists():
            log.packed()
    log.write(1)
    assert log.run().exit_code == 0
    assert log.ids() == log.written


def test_a_copy_that_is_kept_of_a_log_that_goes_on_is_never_read_again(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    log.kept()
    for _ in range(4):
        assert log.run().exit_code == 0
        log.write(1)
    assert log.run().exit_code == 0
    assert log.ids() == log.written


def test_files_beside_a_log_with_other_names_are_no_logs_that_were_rotated(tmp_path):
    log = Rotating(tmp_path)
    log.write(1)
    log.run()
    for name in ("log.state", "log.sss", "log2", "log.lock", "catalog.1", "log~"):
        (tmp_path / name).write_text("no record\n")
    result = log.run()
    assert result.stderr == "converted 0, skipped 0, bad 0\n"


def test_a_link_that_leads_to_the_log_of_the_day_is_followed_with_the_end_of_the_day_before(
    tmp_path,
):
    log = Rotating(tmp_path)
    log.path.unlink()
    log.path.symlink_to("day-1")
    log.write(1)
    log.run()
    log.write(1)
    log.path.unlink()
    log.path.symlink_to("day-2")
    log.write(1)
    assert log.run().exit_code == 0
    assert log.ids() == log.written


def test_a_state_of_a_former_version_goes_on(tmp_path):
    log = Rotating(tmp_path)
    log.write(2)
    log.run()
    path = tmp_path / "state"
    data = json.loads(path.read_text())
    [entry] = data.pop("logs")
    former = {key: entry[key] for key in ("device", "inode", "place", "mark")}
    (tmp_path / "log.3").write_text("11/20/2026 14:29:34;E;7.old;user=amy start=1 end=2\n")
    path.write_text(json.dumps({**data, "version": 1, "logs": {str(log.path): former}}))
    log.write(1)
    log.numbered()
    log.write(1)
    result = log.run()
    assert "log.4 is not read" in result.stderr
    assert log.ids() == log.written


def test_an_output_that_was_taken_away_is_begun_anew(tmp_path):
    log = Log(tmp_path, "pbs", PBS.read_bytes())
    log.grow(600)
    log.run()
    log.output.rename(tmp_path / "taken")
    log.grow(9999)
    log.run()
    both = (tmp_path / "taken").read_bytes() + log.output.read_bytes()
    assert both == convert("--from", "pbs", PBS).stdout_bytes


class Killed(Exception):
    """The end of a run, at a place where anything may end it."""


def die_at(step, patch):
    """End a run at a step of those that change what stays."""
    steps = iter(range(100))

    def dying(real):
        def call(*arguments, **named):
            if next(steps) == step:
                raise Killed
            return real(*arguments, **named)

        return call

    patch.setattr(os, "fsync", dying(os.fsync))
    patch.setattr(state.LogsState, "save", dying(state.LogsState.save))
    patch.setattr(state.LogsState, "keep", dying(state.LogsState.keep))
    patch.setattr(parts, "convert", dying(parts.convert))
    patch.setattr(Path, "replace", dying(Path.replace))


@pytest.mark.parametrize("step", range(16))
@pytest.mark.parametrize("size", [1 << 19, 2000])
def test_a_run_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path, step, size, monkeypatch):
    monkeypatch.setattr(parts, "SIZE", size)
    monkeypatch.setattr(verb, "COMMIT", 1)
    log = Log(tmp_path, "sge", SGE.read_bytes())
    log.grow(3000)
    log.run()
    log.grow(9999)
    with monkeypatch.context() as patch:
        die_at(step, patch)
        log.run()
    assert log.run().exit_code == 0
    assert log.output.read_bytes() == convert("--from", "sge", SGE).stdout_bytes


KILLS = int(os.environ.get("SSSJOB_KILLS", "3"))


def test_a_process_that_is_killed_loses_nothing_and_doubles_nothing(tmp_path):
    chance = Random(os.environ.get("SSSJOB_SEED", "1"))
    whole = b"".join(
        b"11/20/2026 14:29:34;E;%d.srv;user=amy start=1700000100 end=1700000700\n" % number
        for number in range(60_000)
    )
    log, output = tmp_path / "log", tmp_path / "all.sss"
    program = (
        "from sssjob.records import parts; from sssjob.cli import sssjob; "
        "from sssjob.verbs import convert; "
        "parts.SIZE, convert.COMMIT = 1 << 16, 2; sssjob()"
    )
    command = (
        sys.executable, "-c", program, "convert", "--from", "pbs", "--state",
        str(tmp_path / "state"), "-o", str(output), str(log),
    )  # fmt: skip
    begun = time.monotonic()
    log.write_bytes(whole[: len(whole) // 9])
    subprocess.run(command, check=True, capture_output=True)
    usual = time.monotonic() - begun
    for kill in range(1, KILLS + 1):
        log.write_bytes(whole[: len(whole) * (KILLS + kill) // (2 * KILLS)])
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0, 2 * usual))
            process.kill()
    subprocess.run(command, check=True, capture_output=True)
    found = output.read_text().splitlines()
    ids = [re.search("<Id>([^<]*)</Id>", line)[1] for line in found]
    assert ids == [f"{number}.srv" for number in range(60_000)]


def test_a_full_disk_leaves_what_was_committed_and_is_told_with_the_name_of_the_file(tmp_path):
    data = PBS.read_bytes()
    log = grown(tmp_path, "pbs", data, [len(data) // 2])
    before = log.output.read_bytes()
    log.grow(len(data))
    program = (
        "import resource, sys; from sssjob.cli import sssjob; limit = int(sys.argv.pop(1)); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY)); sssjob()"
    )
    command = (
        sys.executable, "-c", program, str(len(before) + 100), "convert", "--from", "pbs",
        "--state", str(tmp_path / "state"), "-o", str(log.output), str(log.path),
    )  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 2
    assert f"{log.output}: File too large" in result.stderr
    assert log.output.read_bytes() == before
    assert log.run().exit_code == 0
    assert log.output.read_bytes() == convert("--from", "pbs", PBS).stdout_bytes


def test_two_runs_do_not_write_one_file_at_once(tmp_path):
    log = Log(tmp_path, "pbs", PBS.read_bytes())
    with state.LogsState.read(tmp_path / "state").appending(log.output):
        result = log.run()
    assert result.exit_code == 2
    assert "another run is writing" in result.stderr


@pytest.mark.parametrize("text", [
    "", "{}", "[]", '{"version": 9}', '{"version": 1, "logs": []}', "[" * 100_000,
    '{"version": 2, "logs": [], "watched": [], "output": [1e400, 5]}',
    '{"version": 2, "logs": [], "watched": [], "output": [Infinity, 5]}',
])  # fmt: skip
def test_a_file_that_is_no_state_is_refused(tmp_path, text):
    log = Log(tmp_path, "pbs", PBS.read_bytes())
    (tmp_path / "state").write_text(text)
    result = log.run()
    assert result.exit_code == 2
    assert "is no state file" in result.stderr


def test_what_is_new_is_appended_to_a_regular_file_only(tmp_path):
    log, device = tmp_path / "log", tmp_path / "fifo"
    log.write_bytes(b"")
    os.mkfifo(device)
    result = convert("--from", "pbs", "--state", tmp_path / "state", "-o", device, log)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{device} is no regular file" in result.stderr
    assert not (tmp_path / "state").exists()


def test_a_compressed_log_does_not_grow(tmp_path):
    log = Log(tmp_path, "pbs", gzip.compress(b"x"))
    log.grow(99)
    result = log.run()
    assert result.exit_code == 2
    assert "is compressed" in result.stderr


def test_small_files_are_read_many_at_once_and_say_what_each_would(tmp_path):
    chance = Random(5)
    lines = [*PBS.read_bytes().splitlines(keepends=True), *(
        f"11/20/2026 14:29:34;E;{id}.srv;user=a ctime=1 start=1700000000 end=1700000600\n".encode()
        for id in range(900)
    )]  # fmt: skip
    paths = [tmp_path / f"{number:03}" for number in range(130)]
    for path in paths:
        path.write_bytes(b"".join(chance.choices(lines, k=5)))
    paths[9].write_bytes(b"odd\n" + paths[9].read_bytes())
    paths[40].write_bytes(gzip.compress(paths[40].read_bytes()))  # which may hold very much
    paths[70].write_bytes(paths[70].read_bytes() * 500)
    for more in ((), ("--to", "sss"), ("--ended-only",)):
        one = convert("--from", "pbs", *more, *paths)
        several = convert("--from", "pbs", "--workers", "2", *more, *paths)
        assert one.stdout.count("<Job>") > 100
        assert several.stdout_bytes == one.stdout_bytes
        assert several.stderr == one.stderr
        assert (several.exit_code, one.exit_code) == (1, 1)


@pytest.mark.parametrize("wrong", ["missing", "log of the server"])
def test_a_small_file_that_cannot_be_read_ends_the_run_in_its_turn(wrong, tmp_path):
    paths = [tmp_path / f"{number:03}" for number in range(130)]
    for path in paths:
        path.write_bytes(PBS.read_bytes())
    if wrong == "missing":
        paths[60].unlink()
    else:
        paths[60].write_text("11/20/2026 14:29:34;0100;PBS_Server;Svr;srv;text\n")
    one = convert("--from", "pbs", *paths)
    several = convert("--from", "pbs", "--workers", "2", *paths)
    assert several.stdout_bytes == one.stdout_bytes
    assert several.stderr == one.stderr
    assert (several.exit_code, one.exit_code) == (2, 2)


def test_a_run_in_a_small_file_that_was_read_before_counts_once(tmp_path):
    paths = [tmp_path / f"{number:03}" for number in range(120)]
    for number, path in enumerate(paths):
        path.write_bytes(PBS.read_bytes() if number in (3, 4, 80) else b"")
    for command in ("convert", "report"):
        one, several = (
            CliRunner().invoke(sssjob, [command, "--from", "pbs", *more, *map(str, paths)])
            for more in ((), ("--workers", "2"))
        )
        assert "read before" in one.stderr
        assert several.stdout_bytes == one.stdout_bytes
        assert several.stderr == one.stderr


@pytest.mark.parametrize("target", [*TARGETS, "lrmsinfo"])
def test_other_targets_are_what_one_process_writes(target, tmp_path, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_795_000_000)
    monkeypatch.setattr(parts, "SIZE", 8000)
    monkeypatch.setattr(sources, "_SMALL", 0)
    path = tmp_path / "accounting"
    record = (
        "11/20/2026 14:29:34;E;{0}.srv;user=amy queue=q ctime=1700000000 start=1700000100 "
        "exec_host=n1/0 end=17000{1} resources_used.walltime=00:10:00 "
        "resources_used.cput=00:01:00\n"
    )
    rows = [record.format(number, 10_000 + number % 7) for number in range(400)]
    path.write_text("".join([*rows, "half a line\n", *rows[:10]]))
    made = {}
    for jobs in ("1", "2"):
        lost = tmp_path / f"lost-{jobs}"
        told = ("--site", "X", "--submit-host", "ce", "--losses", lost, "--benchmark", "HS23=11.4")
        if target == "lrmsinfo":
            lost.write_bytes(b"")
            told = ()
        found = convert("--from", "pbs", "--to", target, "--workers", jobs, *told, path)
        made[jobs] = found, lost.read_bytes()
    (one, lost), (two, others) = made["1"], made["2"]
    assert one.stdout_bytes
    assert (one.stdout_bytes, one.exit_code, lost) == (two.stdout_bytes, two.exit_code, others)
    assert sorted(one.stderr.splitlines()) == sorted(two.stderr.splitlines())
    assert "converted 400, skipped 10 (read before 10), bad 1" in two.stderr


OTHERS = [
    ("condor", "condor/condor_history.long"), ("condor", "condor/condor_history.json"),
    ("condor", "condor/condor_history.xml"), ("condor", "records/condor/lines.jsonl"),
    ("condor", "records/condor/apel.text"), ("slurm-json", "records/slurm-json/newer.json"),
    ("slurm-json", "slurm/24.11/sacct.json.gz"), ("apel", "records/apel/individual.txt"),
    ("ur", "records/ur/plain.xml"), ("car", "records/car/records.xml"),
    ("swf", "records/swf/log.txt"), ("sss", "records/sss/odd.xml"),
]  # fmt: skip


# The other targets are made of the same parts as one of these.
TO = ("sss-lines", "sss", "jsonl", "parquet", "ur", "apel", "apel-summary")


def same_of_several(name, path, to, monkeypatch):
    monkeypatch.setattr("time.time", lambda: 1_795_000_000)
    monkeypatch.setattr(parts, "SIZE", 700)
    monkeypatch.setattr(parts, "PIECES", 2)
    monkeypatch.setattr(sources, "_SMALL", 0)
    told = () if to.startswith("sss") else ("--site", "X")
    one, several = (
        convert("--from", name, "--to", to, *told, "--workers", jobs, DATA / path, DATA / path)
        for jobs in ("1", "2")
    )
    assert several.stdout_bytes == one.stdout_bytes
    assert sorted(several.stderr.splitlines()) == sorted(one.stderr.splitlines())
    assert several.exit_code == one.exit_code


@pytest.mark.parametrize(("name", "path"), OTHERS, ids=[path for _, path in OTHERS])
def test_several_processes_write_the_same_documents_of_json_and_xml(name, path, monkeypatch):
    same_of_several(name, path, "sss-lines", monkeypatch)


@singly(source=OTHERS, to=TO[1:])
def test_several_processes_write_the_same_of_json_and_xml(source, to, monkeypatch):
    same_of_several(*source, to, monkeypatch)


def test_several_processes_write_files_of_jobs(tmp_path):
    for jobs in ("1", "2"):
        given_ = ["--from", "slurm", "--output-dir", tmp_path / jobs, "--workers", jobs, SACCT]
        assert convert(*given_).exit_code == 0
    written = [{each.name: each.read_bytes() for each in (tmp_path / jobs).iterdir()}
               for jobs in ("1", "2")]  # fmt: skip
    assert len(written[0]) == 51
    assert written[0] == written[1]


PBS_LINE = (
    "11/20/2026 14:29:34;E;{0}.srv;user=amy start=1700000100 end=1700000700 "
    "resources_used.walltime=00:10:00 resources_used.cput=00:01:00\n"
)
TAIL = b"</urf:UsageRecords>\n"
CREATED = re.compile(rb' urf:createTime="[^"]*"')  # of usage records, by the clock


@pytest.mark.parametrize("target", ["sss", "sss-lines", "jsonl", "apel", "ur", "car"])
def test_what_can_be_appended_to_grows(target, tmp_path):
    log, output, state_file = tmp_path / "log", tmp_path / "out", tmp_path / "state"
    for number in range(3):
        with log.open("a") as stream:
            stream.write(PBS_LINE.format(number))
        told = ("--to", target, "--site", "X", "--state", state_file, "-o", output)
        if target.startswith("sss"):
            told = (*told[:2], *told[4:])
        assert convert("--from", "pbs", *told, log).exit_code == 0
        whole = convert("--from", "pbs", *told[:-4], log)
        assert CREATED.sub(b"", output.read_bytes()) == CREATED.sub(b"", whole.stdout_bytes)
        with output.open("ab") as stream:  # as a run leaves it that is killed
            stream.write(b"<JobUsageRec")


def test_a_document_that_another_run_made_is_not_appended_to(tmp_path):
    log, output, state_file = tmp_path / "log", tmp_path / "out", tmp_path / "state"
    log.write_bytes(PBS.read_bytes())
    assert convert("--from", "pbs", "--to", "ur", "-o", output, log).exit_code == 0
    before = output.read_bytes()
    result = convert("--from", "pbs", "--to", "ur", "--state", state_file, "-o", output, log)
    assert (result.exit_code, output.read_bytes()) == (2, before)
    assert "was not written by --state" in result.stderr


def test_an_output_that_is_not_as_the_last_run_left_it_is_told(tmp_path):
    log, output, state_file = tmp_path / "log", tmp_path / "out", tmp_path / "state"
    log.write_bytes(PBS.read_bytes())
    words = ("--from", "pbs", "--to", "jsonl", "--state", state_file, "-o", output, log)
    first = convert(*words).stderr
    assert "warning: " not in convert(*words).stderr
    os.truncate(output, 0)
    result = convert(*words)
    assert (result.exit_code, output.read_bytes()) == (1, b"")
    assert f"warning: {output}: is shorter than the last run left it" in result.stderr
    output.write_text("kept\n")
    state_file.unlink()
    result = convert(*words)
    assert (result.exit_code, output.read_text()[:5]) == (0, "kept\n")
    assert f"warning: {output} was not written by --state {state_file}" in result.stderr
    assert result.stderr.endswith(first)


@pytest.mark.parametrize("target", ["sss", "sss-lines", "jsonl", "apel", "ur", "car"])
def test_nothing_is_appended_to_half_a_record(target, tmp_path):
    log, output, state_file = tmp_path / "log", tmp_path / "out", tmp_path / "state"
    log.write_text(PBS_LINE.format(1) + PBS_LINE.format(2))
    told = ("--site", "X") * (not target.startswith("sss"))
    words = ("--from", "pbs", "--to", target, *told, "--state", state_file, "-o", output, log)
    assert convert(*words).exit_code == 0
    whole, state = output.read_bytes(), state_file.read_bytes()
    log.write_text(PBS_LINE.format(1) + PBS_LINE.format(2) + PBS_LINE.format(3))
    tail = {"sss": b"</Jobs>\n", "ur": TAIL, "car": TAIL}.get(target, b"")
    end = b"%%\n" if target == "apel" else b"\n"
    records = whole.removesuffix(tail)
    last = records.rindex(end, 0, -len(end)) + len(end)  # where the last record begins
    for at in (len(records) - 1, (last + len(records)) // 2, last + 3, last):
        output.write_bytes(whole[:at])
        state_file.write_bytes(state)
        result = convert(*words)
        if at == last and not tail:  # whole records are gone, and more can stand behind the others
            assert result.exit_code == 1
            assert f"warning: {output}: is shorter than the last run left it" in result.stderr
            assert output.read_bytes().startswith(whole[:at] + whole[last : last + 1])
            assert b"3.srv" in output.read_bytes()
        else:
            assert (result.exit_code, output.read_bytes()) == (2, whole[:at]), at
            assert f"{output} is shorter than the last run left it" in result.stderr
            assert state_file.read_bytes() == state
    output.write_bytes(b"x" * 9 + whole)  # changed in its place: its end is not where it was
    assert convert(*words).exit_code == 2
    other = tmp_path / "other"
    other.write_bytes(whole[: last + 3])
    os.replace(other, output)
    result = convert(*words)
    assert (result.exit_code, output.read_bytes()) == (2, whole[: last + 3])
    assert f"{output} was not written by --state" in result.stderr
    state_file.write_bytes(state)
    output.unlink()  # or moved away: a new file is begun, whatever its inode
    result = convert(*words)
    assert (result.exit_code, str(output) in result.stderr) == (0, False), result.stderr
    assert convert("--from", "pbs", "--to", target, *told, log).stdout_bytes.endswith(
        CREATED.sub(b"", output.read_bytes())[-40:]
    )


@pytest.mark.parametrize("target", ["ur", "sss"])
def test_a_source_that_cannot_be_read_leaves_the_document_whole(target, tmp_path):
    log, output, state_file = tmp_path / "log", tmp_path / "out", tmp_path / "state"
    log.write_bytes(PBS.read_bytes())
    words = ("--from", "pbs", "--to", target, "--state", state_file, "-o", output, log)
    assert convert(*words).exit_code == 0
    before = output.read_bytes()
    assert convert(*words, tmp_path / "missing").exit_code == 2
    assert output.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "path"),
    [("condor", "condor/condor_history.long"), ("condor", "records/condor/lines.jsonl"),
     ("condor", "records/condor/apel.text"), ("condor", "condor/condor_history.json"),
     ("apel", "records/apel/individual.txt"), ("swf", "records/swf/log.txt")],
)  # fmt: skip
def test_other_logs_that_grow_become_what_the_whole_becomes(name, path, tmp_path):
    data = (DATA / path).read_bytes()
    log = Log(tmp_path, name, data)
    for size in (*[max(len(data) // 7, 1)] * 8, len(data)):
        log.grow(size)
        assert log.run().exit_code in (0, 1)
    log.path.rename(tmp_path / "log.1")  # so that what waited for more is read
    log.path.write_bytes(b"")
    log.run()
    assert log.output.read_bytes() == convert("--from", name, DATA / path).stdout_bytes
