"""The conformance kit: jobs of every kind are run at a site, and what they found is judged.

Strategy. A prolog that is right for one job may be wrong for a task of an array, or for a job on
two nodes. So a job of each kind is submitted as a user, and runs a small program that writes down
what it finds. What the batch system itself says inside the job is the measure: it comes by another
way than what the prolog asked. What no job can show, a controller that hangs, a full disk, a
umask, is tried with our prolog in a directory of its own, for a job that does not exist.

A directory is left behind when it stands a minute after the batch system says that the job is no
longer on the node, however long that takes. What is not decided in the time that was given is ``not
known``. # decision 765
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from sssjob import atomic, host_name, registry
from sssjob import directory_handles as handles
from sssjob import directory_trees as trees
from sssjob.features import files
from sssjob.features.batch.call import Invocation
from sssjob.features.batch.directories import user_number
from sssjob.integers import whole

HOLDS, WRONG, ELSEWHERE, UNKNOWN = "holds", "wrong", "not here", "not known"
PROBE, WORK = "@PROBE@", "@WORK@"  # in the words of a case
KEYS = ("job_id", "allocated_cpu", "max_rss_bytes", "wall_limit_secs")
_PAUSE = 0.2  # seconds between two looks for reports
_ASKING = (1.0, 10.0)  # seconds between two questions whether a job has ended: at first, at most
_ANSWER = 10.0  # seconds in which these are answered
_EPILOG = 60.0  # seconds that an epilog has from when its job is said to have ended
_LONGEST = 1 << 16  # bytes of a report
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_JOB = "999999999"  # of a job that does not exist
_GIVEN = 2  # its processors
_ROOM = 1 << 18  # bytes of the file system that is full
_PROBE = """\
#!/bin/sh
umask 022
place={place}
out=$(mktemp "$place/.XXXXXXXX") || exit 1
{{
for name in JOBFEATURES MACHINEFEATURES JOBSTATUS {variables}; do
    eval "echo \\"env $name \\$$name\\""
done
for file in "$JOBFEATURES"/*; do [ -f "$file" ] && echo "job ${{file##*/}} $(head -c 4096 "$file")"; done
for file in "$MACHINEFEATURES"/*; do [ -f "$file" ] && echo "machine ${{file##*/}} $(head -c 4096 "$file")"; done
[ -f "$JOBFEATURES/.unknown" ] && echo "env unlearned $(tr '\\n' ' ' <"$JOBFEATURES/.unknown")"
echo "env node $(uname -n)"; echo "env user $(id -u)"
[ -n "$JOBSTATUS" ] && (echo 1 >"$JOBSTATUS/used_CPU") && echo "env status written"
for name in JOBFEATURES MACHINEFEATURES; do
    eval "into=\\$$name/forged"
    [ "$into" != /forged ] && (echo 1 >"$into") && rm -f "$into" && echo "env forged_$name"
done
}} >"$out" 2>/dev/null
mv "$out" "$place/report${{out##*/}}"
"""  # noqa: E501  (a script)


@dataclass(frozen=True, slots=True)
class JobCase:
    """A kind of job: the command that submits it, and what it has to find.

    ``script`` is its standard input. ``reports`` is how many programs report, ``walls`` are their
    limits of elapsed time in seconds (None: there must be none). ``apart`` is what differs between
    reports: a key, or "" where nothing need. ``absent`` says why the system has no such job.
    """

    words: tuple[str, ...] = ()
    script: str = ""
    reports: int = 1
    walls: tuple[int | None, ...] = ()
    apart: str = ""
    is_whole: bool = False
    absent: str = ""


class SiteTests:
    """A batch system's side of the kit; each has a class of its own in its folder.

    ``variables`` are those of a job that say what it has, ``commands`` what a prolog asks.
    ``command_words`` is how many words name the command that submits, before its options;
    ``is_told`` whether a prolog is told of processors without asking. ``node`` is the variable of a
    job that names its node, "" where that has the name of the host.
    """

    variables: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    command_words: int = 1
    is_told: bool = True
    node: str = ""

    def cases(self) -> Mapping[str, JobCase]:
        """A job of each kind."""
        raise NotImplementedError

    def truth(self, said: Mapping[str, str]) -> Mapping[str, str]:
        """What the system says inside a job, by key; "" is that the key must be absent."""
        raise NotImplementedError

    def prolog(self, job: str, processors: int) -> Mapping[str, str]:
        """The variables of a prolog for a job with so many processors; they tell no limit."""
        raise NotImplementedError

    def arguments(self, job: str, processors: int) -> Sequence[str]:
        """The arguments of such a prolog."""
        return ()


@dataclass(frozen=True, slots=True)
class SiteTestReport:
    """What one program found: what the system says, and the values of both directories."""

    said: Mapping[str, str] = field(default_factory=dict)
    job: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> SiteTestReport:
        """Of the lines that the program wrote."""
        found: dict[str, dict[str, str]] = {"env": {}, "job": {}, "machine": {}}
        for line in text.splitlines():
            kind, _, rest = line.partition(" ")
            name, _, value = rest.partition(" ")
            if kind in found and name:
                found[kind][name] = value.strip()
        return cls(found["env"], found["job"], found["machine"])


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What came of a case: ``holds``, ``wrong``, ``not here`` or ``not known``, and why."""

    case: str
    outcome: str
    why: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteTestSettings:
    """Where and as whom jobs run: ``work`` is a directory that the nodes share.

    ``user`` is "" for this one; ``more`` are words for single cases, ``seconds`` how long all may
    take together.
    """

    work: Path
    user: str = ""
    seconds: float = 300.0
    more: Mapping[str, Sequence[str]] = field(default_factory=dict)


NODE_CASES = ("controller hangs", "full disk", "umask")


def names(system: str) -> tuple[str, ...]:
    """The cases of a system, in order."""
    return (*_side(system).cases(), *NODE_CASES)


def prove(system: str, cases: Sequence[str], settings: SiteTestSettings) -> Iterator[CaseOutcome]:
    """Run jobs of these kinds, all at once, and judge what they found; then try the node's cases.

    Raises ``Unprotected``, ``OSError`` where nothing can be written, or ``LookupError`` for a user
    who is not known.
    """
    side = _side(system)
    known = side.cases()
    end = time.monotonic() + settings.seconds
    with _place(settings) as place:
        running = {
            name: _TestJob(name, known[name], side, place, settings, system)
            for name in cases if name in known
        }  # fmt: skip
        try:
            for name, each in running.items():
                yield CaseOutcome(name, *each.judged(end))
        finally:
            for each in running.values():
                each.stop()
    for name in cases:
        if name in NODE_CASES:
            yield CaseOutcome(name, *_on_node(name, system, side))


def _side(system: str) -> SiteTests:
    made: SiteTests = registry.system(system).load("site_tests")()
    return made


@contextmanager
def _place(settings: SiteTestSettings) -> Iterator[Path]:
    """A directory for this run that others can enter and nobody else can write.

    Raises ``Unprotected`` where others could lead us elsewhere: root gives directories away here.
    """
    handles.check(settings.work)
    place = Path(tempfile.mkdtemp(prefix="sssjob-proof-", dir=settings.work))
    try:
        place.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class _TestJob:
    """A job of one kind, submitted, and what it reports."""

    def __init__(
        self, name: str, case: JobCase, side: SiteTests, place: Path, settings: SiteTestSettings,
        system: str,
    ) -> None:  # fmt: skip
        self.case, self.side, self.system = case, side, system
        self.process: subprocess.Popen[str] | None = None
        if case.absent:
            return
        self.folder = place / name.replace(" ", "-")
        self.folder.mkdir(mode=0o755)
        probe = self.folder / "probe"
        text = _PROBE.format(
            place=shlex.quote(str(self.folder)), variables=" ".join(side.variables)
        )
        atomic.put(self.folder, probe.name, text.encode(), 0o755)
        self.folder.chmod(0o755)
        user = settings.user if os.geteuid() == 0 else ""
        if user:
            os.chown(self.folder, user_number(user), -1)
        head, tail = case.words[: side.command_words], case.words[side.command_words :]
        words = [*head, *settings.more.get(name, ()), *tail]
        process = subprocess.Popen(
            [*(("runuser", "-u", user, "--") if user else ()), *self._filled(words)],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            errors="replace", start_new_session=True, cwd="/",
        )  # fmt: skip
        self.process = process
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(self._filled([case.script])[0])

    def _filled(self, words: Sequence[str]) -> list[str]:
        place = str(self.folder)
        return [each.replace(PROBE, f"{place}/probe").replace(WORK, place) for each in words]

    def stop(self) -> None:
        """End what submits, if it still waits."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def judged(self, end: float) -> tuple[str, tuple[str, ...]]:
        """The outcome, when all have reported, or nobody will."""
        if self.process is None:
            return ELSEWHERE, (self.case.absent,)
        while len(reports := self._reports()) < self.case.reports:
            if self.process.poll():
                said = self.process.stderr.read(4096) if self.process.stderr else ""
                return ELSEWHERE, ((said.strip().splitlines() or ["it is refused"])[-1],)
            if time.monotonic() > end:
                return UNKNOWN, (
                    f"{len(reports)} of {self.case.reports} programs reported in time",
                )
            time.sleep(_PAUSE)
        wrong, unknown = [*self._wrong(reports)], []
        places = {
            place: report.said.get(self.side.node) or host_name.own()
            for report in reports
            if (place := report.said.get("JOBFEATURES", ""))
        }
        for place, node in places.items():
            left = self._left(place, node, end)
            if left == WRONG:
                wrong.append(f"{place} is still there, but the job has ended")
            elif left == UNKNOWN:
                why = f"{self.system} did not say in time that the job has ended"
                unknown.append(f"{place} is still there: {why}")
        outcome = WRONG if wrong else UNKNOWN if unknown else HOLDS
        return outcome, tuple(dict.fromkeys((*wrong, *unknown)))

    def _reports(self) -> list[SiteTestReport]:
        found = []
        for name in sorted(os.listdir(self.folder)):
            if not name.startswith("report"):
                continue
            with suppress(OSError):
                handle = os.open(self.folder / name, _READ)
                with open(handle, "rb") as file:
                    text = file.read(_LONGEST).decode("utf-8", "replace")
                found.append(SiteTestReport.of(text))
        return found

    def _wrong(self, reports: Sequence[SiteTestReport]) -> Iterator[str]:
        for report in reports:
            yield from self._wrong_in(report)
        if self.case.walls:
            walls = sorted(report.job.get("wall_limit_secs", "") for report in reports)
            wanted = sorted("" if each is None else str(each) for each in self.case.walls)
            if walls != wanted:
                yield f"wall_limit_secs is {_shown(walls)}, not {_shown(wanted)}"
        if self.case.apart:
            name = self.case.apart
            seen = {report.said.get(name) or report.job.get(name, "") for report in reports}
            if len(seen) != len(reports):
                yield f"{len(reports)} programs have {len(seen)} different {name}"

    def _wrong_in(self, report: SiteTestReport) -> Iterator[str]:
        for name in ("JOBFEATURES", "MACHINEFEATURES"):
            if not report.said.get(name):
                yield f"${name} is not set"
        for key, value in self.side.truth(report.said).items():
            if value != report.job.get(key, ""):
                yield f"{key} is {report.job.get(key, '-')}, but {value or '-'} by the system"
        given, total = (
            whole(text) for text in (report.job.get("allocated_cpu", ""),
                                     report.machine.get("total_cpu", ""))
        )  # fmt: skip
        if given is None or total is None:
            yield "allocated_cpu or total_cpu is not known"
        elif given > total or (self.case.is_whole and given != total):
            yield f"allocated_cpu is {given} of a total_cpu of {total}"
        if report.said.get("unlearned"):
            yield f"the prolog could not learn {report.said['unlearned']}"
        if not report.said.get("JOBSTATUS"):
            yield "$JOBSTATUS is not set"
        elif report.said.get("status") != "written":
            yield "the job cannot write its $JOBSTATUS"
        for name in ("JOBFEATURES", "MACHINEFEATURES"):
            if f"forged_{name}" in report.said and report.said.get("user") != "0":
                yield f"the job can write its ${name}"

    def _left(self, place: str, node: str, end: float) -> str:
        """Whether a directory goes with its job, where it is on this node.

        Who asks later whether it is there sees what an epilog left. A batch system may say that a
        job has ended while its epilog still runs, as Slurm does with RunInJob, so that this one has
        some time from then on. Another directory of that name is of another run.
        """
        pause, asking = _ASKING[0], time.monotonic() + _ASKING[0]
        ended: float | None = None
        first = _which(place)
        while (seen := _which(place)) is not None:
            if seen != first:
                first, ended = seen, None
            if ended is not None and time.monotonic() > ended + _EPILOG:
                return WRONG
            if time.monotonic() > end:
                return UNKNOWN
            if ended is None and time.monotonic() > asking:
                call = Invocation(self.system, (), {**os.environ}, _ANSWER)
                present = call.present(node, [])
                has_ended = present is not None and Path(place).parent.name not in present
                if has_ended:
                    ended = time.monotonic()
                pause = min(2 * pause, _ASKING[1])
                asking = time.monotonic() + pause
            time.sleep(_PAUSE)
        return HOLDS


def _which(place: str) -> tuple[int, int] | None:
    """Which directory it is; None if it is not there."""
    try:
        found = os.stat(place)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _shown(values: Sequence[str]) -> str:
    return ", ".join(each or "-" for each in values)


def _on_node(name: str, system: str, side: SiteTests) -> tuple[str, tuple[str, ...]]:
    """A case that is tried with our prolog on this node."""
    try:
        return _NODE[name](system, side)
    except (OSError, subprocess.SubprocessError) as error:
        return ELSEWHERE, (str(error),)


@contextmanager
def _own() -> Iterator[Path]:
    """A directory in which nobody else can write, nor above it."""
    place = Path(
        tempfile.mkdtemp(prefix="sssjob-proof-", dir="/run" if os.geteuid() == 0 else None)
    )
    try:
        place.chmod(0o755)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _prolog(
    place: Path, system: str, side: SiteTests, answer: str, umask: int = 0o022, seconds: float = 1.0
) -> subprocess.CompletedProcess[bytes]:
    """Run our prolog for a job that does not exist; ``answer`` is what the system's commands do."""
    (place / "bin").mkdir()
    for name in side.commands:
        atomic.put(place / "bin", name, f"#!/bin/sh\n{answer}\n".encode(), 0o755)
    environment = {
        "PATH": f"{place}/bin:/usr/bin:/bin", "LANG": "C.UTF-8", **side.prolog(_JOB, _GIVEN),
    }  # fmt: skip
    words = [sys.executable, "-m", "sssjob", "features", "prolog", "--for", system]
    words += ["--root", str(place / "mjf"), "--seconds", str(seconds)]
    return subprocess.run(
        [*words, "--", *side.arguments(_JOB, _GIVEN)], env=environment,
        capture_output=True, check=False, timeout=60, umask=umask, cwd="/",
    )  # fmt: skip


def _hangs(system: str, side: SiteTests) -> tuple[str, tuple[str, ...]]:
    with _own() as place:
        started = time.monotonic()
        _prolog(place, system, side, "exec sleep 30")
        took = time.monotonic() - started
        found, unlearned = _texts(place), _unlearned(place)
    wrong = []
    if took > 20:
        wrong.append(f"the prolog took {took:.0f} s")
    wanted = str(_GIVEN) if side.is_told else "-"
    if found.get("allocated_cpu", "-") != wanted:
        wrong.append(f"allocated_cpu is {found.get('allocated_cpu', '-')}, not {wanted}")
    wrong += [f"{key} is guessed: {found[key]}" for key in KEYS[2:] if key in found]
    if found and "wall_limit_secs" not in unlearned:
        wrong.append("the job is not told that its limit of elapsed time is not known")
    return (WRONG if wrong else HOLDS), tuple(wrong)


def _masked(system: str, side: SiteTests) -> tuple[str, tuple[str, ...]]:
    with _own() as place:
        _prolog(place, system, side, "exit 1", umask=0o077)
        job = place / "mjf" / _JOB / "jobfeatures"
        wrong = [
            f"{each} has mode {each.stat().st_mode & 0o777:04o}"
            for each, mode in ((place / "mjf", 0o755), (job.parent, 0o755), (job, 0o755),
                               (job / "job_id", 0o644))
            if each.stat().st_mode & 0o777 != mode
        ]  # fmt: skip
    return (WRONG if wrong else HOLDS), tuple(wrong)


def _full(system: str, side: SiteTests) -> tuple[str, tuple[str, ...]]:
    with _own() as place:
        room = place / "mjf"
        room.mkdir()
        folder = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            trees.mount(folder, room.name, f"size={_ROOM},mode=0755")
        except OSError as error:
            os.close(folder)
            return ELSEWHERE, (f"nothing can be mounted: {error.strerror}",)
        try:
            _fill(room / "full")
            ended = _prolog(place, system, side, "exit 1")
            left = sorted(
                each for each in os.listdir(room) if each not in ("full", "machinefeatures")
            )
            found = _texts(place)
        finally:
            trees.unmount(folder, room.name)
            os.close(folder)
    wrong = [f"{each} is left" for each in left if not found]
    if ended.returncode not in (0, 1, 2):
        wrong.append(f"the prolog ended with {ended.returncode}")
    if found and found.get("allocated_cpu", "-") != (str(_GIVEN) if side.is_told else "-"):
        wrong.append("some keys are there, others are not")
    return (WRONG if wrong else HOLDS), tuple(wrong)


def _fill(file: Path) -> None:
    """Write until nothing fits any more."""
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            while True:
                os.write(handle, bytes(4096))
    finally:
        os.close(handle)


def _texts(place: Path) -> dict[str, str]:
    try:
        return files.texts(place / "mjf" / _JOB / "jobfeatures")[0]
    except OSError:
        return {}


def _unlearned(place: Path) -> list[str]:
    try:
        with handles.opened(place / "mjf" / _JOB / "jobfeatures") as folder:
            return files.unlearned(folder)
    except OSError:
        return []


_NODE: Mapping[str, Callable[[str, SiteTests], tuple[str, tuple[str, ...]]]] = {
    "controller hangs": _hangs, "full disk": _full, "umask": _masked,
}  # fmt: skip
