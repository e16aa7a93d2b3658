"""The scripts that a batch system calls, and the lines of its configuration that name them.

A script never fails, however it goes: a Prolog of Slurm that fails drains the node, one of Grid
Engine stops the queue. It hands on only the variables that are needed, because some systems give
a prolog the environment of the job's user. # decision 85
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from sssjob import atomic, registry
from sssjob import directory_handles as handles
from sssjob.errors import InvalidValue
from sssjob.features.batch import client as client_of_agent
from sssjob.features.batch.directories import VARIABLES

PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_RUN = "#!"  # how a script begins that is run, and not read by something else
SITE = ".site"  # behind the name of a program of the site whose place ours takes
_BY = "# Written by: sssjob features install"
OWNER = handles.ROOT  # of what a batch system runs as root
_TRIES = 3  # to run an epilog that is ended by a signal, each in the time that it has
_LAST, _TERMINATED = 2, 143  # the last exit code of a command of ours, and that of SIGTERM
_STAYING = (  # decision 766
    "# Slurm (RunInJob) ends a job that completes for long once more, and this with it.\n"
    "trap '' TERM\n"
)
_LEAVING = "trap - TERM"  # what the site had is ended as before
_OWN = "own=0\n"  # how what the site had before has ended


class Scripts:
    """A batch system's side of its scripts; each has a class of its own in its folder.

    ``handed`` are the variables that they hand on, which the system sets and no user can;
    ``settled`` those that have the value which they have where ``install`` runs. ``node`` is the
    name of the node as a word of the shell, and ``arguments`` what the system gives a script as
    arguments, handed on as they are. ``job`` are lines of the shell that put the id of the job,
    as the system writes it, into $job; the log has "-" for none. ``prolog`` and ``epilog`` are file
    names, with what the system calls such a script.
    ``command`` is one of its commands: where that is, the others are looked for.
    """

    command: str
    handed: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()
    job: str = "job=\n"
    node: str = '"$(uname -n)"'
    arguments: str = ""
    prolog: tuple[str, str] = ("prolog", "prolog")
    epilog: tuple[str, str] = ("epilog", "epilog")

    def more(self, at: Installation) -> dict[str, str]:
        """The text of each further script, by its file name."""
        return {}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The lines that name the scripts, and where they belong."""
        raise NotImplementedError

    def live(self) -> Mapping[str, Sequence[str]]:
        """The commands that print the configuration as it is now, by what they print."""
        return {}

    def files(self) -> Mapping[str, ConfigFile]:
        """The files that hold the configuration as it is now, by what they hold."""
        return {}

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """What of the configuration as it is now concerns our scripts; nothing if it is not known.

        ``answers`` lack what no command printed, and files of directories that are not there; a
        file that is not there is "".
        """
        return []


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file that a batch system reads, or runs as root: what its mode has, and must not have."""

    path: str
    needs: int = 0o444
    forbids: int = 0o022

    def fault(self) -> str:
        """Why it is not used, or can be changed by others; "" if it is well, or not there."""
        if fault := handles.fault(os.path.dirname(self.path)):
            return fault
        try:
            status = os.lstat(self.path)
        except FileNotFoundError:
            return ""
        except OSError as error:
            return error.strerror or str(error)
        mode = stat.S_IMODE(status.st_mode)
        if fault := handles.file_fault(status, self.forbids, (OWNER,)):
            right = f"chmod {(mode | self.needs) & ~self.forbids:o}"
            if status.st_uid not in (0, OWNER):
                right = f"chown root, {right}" if mode & self.forbids else "chown root"
            return f"it {fault}: {right if stat.S_ISREG(status.st_mode) else 'put a copy there'}"
        if self.needs & ~mode:
            return f"its mode {mode:04o} keeps it from being used: chmod {mode | self.needs:o}"
        return ""


def _faults(path: str) -> Iterator[tuple[str, str]]:
    """Why others can change what is called by a path or a pattern of paths, or nobody can run it.

    Each with the place that has the fault.
    """
    if set(path).isdisjoint("*?["):
        found = ConfigFile(path, 0o500).fault() if os.path.lexists(path) else "it is not there"
        if found:
            yield path, found
        return
    above = os.path.dirname(path)
    while not set(above).isdisjoint("*?["):  # whose directories come and go
        above = os.path.dirname(above)
    if found := handles.fault(above):
        yield path, found
        return
    for each in sorted(glob.glob(path)):
        if found := ConfigFile(each, 0o500).fault():
            yield each, found


@dataclass(frozen=True, slots=True)
class LiveSetting:
    """A setting of the batch system: what it is now ("" is none), and what it has to be.

    ``own`` is a program of the site that has its place now, and that ``script`` can call first;
    ``trouble`` says why that cannot be.
    """

    name: str
    found: str
    wanted: str
    script: str = ""
    own: str = ""
    trouble: str = ""

    @property
    def is_good(self) -> bool:
        """Whether nothing is to be done."""
        return self.found == self.wanted and not self.trouble


@dataclass(frozen=True, slots=True)
class Installation:
    """What a site installs: scripts of a ``system`` in a ``directory``.

    ``program`` is how our command is called. ``root`` is where the directories of jobs are; %n in
    it is the name of the node. ``options`` go to the prolog, ``jobs`` to both: the directory of
    documents. ``path`` is where commands of the system are looked for before the usual directories.
    ``seconds`` is the most that a script may take, ``log`` where it says what is wrong. ``agent``
    is the socket of a resident process that runs the commands, "" is none. ``own`` are programs of
    the site that our scripts call first, by the name of the script.
    """

    system: str
    directory: str
    program: Sequence[str]
    root: str = "/run/mjf"
    jobs: str = ""
    options: Sequence[str] = ()
    path: str = ""
    seconds: int = 30
    log: str = "/var/log/sssjob-features.log"
    agent: str = ""
    own: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for path in filter(
            None, (self.directory, self.root, self.jobs, self.path, self.log, self.agent)
        ):
            if not os.path.isabs(path) or "\n" in path:
                raise InvalidValue(path, "an absolute path, as a daemon needs it")

    def check(self) -> None:
        """Raise ``Unprotected`` where others could lead root elsewhere, as far as it is here.

        Raises ``InvalidValue`` for commands of the batch system that others could exchange, and for
        a log that is here and that no script would write.
        """
        before, node, _ = self.root.partition("%n")
        handles.check(os.path.dirname(before) if node else self.root)
        if self.jobs:
            handles.check(self.jobs)
        if self.agent:
            handles.check(os.path.dirname(self.agent))
        if self.path and (fault := handles.fault(self.path, links=True)):
            wanted = f"a directory of commands that only root can change: {fault}"
            raise InvalidValue(self.path, wanted)
        handles.check(os.path.dirname(self.log), logs=True)
        with suppress(OSError):  # it is not there yet
            if self.log != os.devnull and not stat.S_ISREG(os.lstat(self.log).st_mode):
                raise InvalidValue(self.log, "a log: a file, no directory, link, pipe or device")

    def uncalled(self) -> Iterator[LiveSetting]:
        """Each script that the batch system calls in its place, and that is not there to be run."""
        copies = self.side.files()
        as_root = (self.side.prolog[0], self.side.epilog[0])
        for name in self.scripts():
            path = self.place(name)
            if name in copies:  # what is called stands elsewhere
                continue
            if not os.path.lexists(path):
                fault = "it is not there: write it with --to"
            else:
                fault = ConfigFile(path, 0o500 if name in as_root else 0o555).fault()
            if fault:
                yield LiveSetting(path, "", "a script", name, trouble=fault)

    def unsafe(self) -> Iterator[LiveSetting]:
        """Programs of the site that our scripts call as root, and that cannot be, or that are open.

        Of a pattern these are all that it stands for, and its directory, into which others could
        put one more. Programs with words behind them are not looked at.
        """
        for name in (self.side.prolog[0], self.side.epilog[0]):
            path = self.own.get(name, "")
            if not os.path.isabs(path) or " " in path:
                continue
            for place, fault in _faults(path):
                yield LiveSetting(place, "called first", "", name, trouble=fault)

    def gone(self) -> dict[str, str]:
        """Programs of the site that our scripts called first, and that it has taken away.

        No patterns, which may stand for none, nor what is in a directory that is not there: that
        may be one that is not mounted.
        """
        return {
            name: path
            for name, path in self.own.items()
            if os.path.isabs(path) and set(path).isdisjoint(" *?[") and not os.path.lexists(path)
            if os.path.isdir(os.path.dirname(path))
        }

    def missing(self) -> Iterator[str]:
        """Which directories are not here that our scripts need and do not make, and why."""
        needed = [(os.path.dirname(self.log), "nothing is logged")]
        if self.jobs:  # one that is missing may be one that is not mounted: nobody makes it
            needed.append((self.jobs, "epilogs fold nothing and keep the directories of each job"))
        for place, why in needed:
            if not os.path.isdir(place):
                yield f"{place}: there is no such directory here; where it is missing, {why}"

    def exchangeable(self) -> str:
        """How others could exchange what our scripts run as root, "" if they could not."""
        ours = (
            os.path.dirname(self.program[0]), sys.prefix, sys.base_prefix,
            str(Path(__file__).parents[2]),
        )  # fmt: skip
        for place in filter(os.path.isabs, ours):
            if fault := handles.fault(place, links=True):
                return f"{fault}: who can change it would be root before every job"
        return ""

    @property
    def side(self) -> Scripts:
        """What is the system's own."""
        made: Scripts = registry.system(self.system).load("installation")()
        return made

    def scripts(self) -> dict[str, str]:
        """The text of each script, by its file name."""
        (before, prolog), (after, epilog) = self.side.prolog, self.side.epilog
        found = {
            before: self._script(prolog, "makes", "prolog"),
            after: self._script(epilog, "takes away", "epilog"),
            **self.side.more(self),
        }
        return {name: self._merged(name, text) for name, text in found.items()}

    def _merged(self, name: str, text: str) -> str:
        """A script that calls what the site had before, and ends as that did if it fails."""
        own = self.own.get(name)
        if not own:
            return text
        first, rest = text.split("\n", 1)
        if _OWN in text:
            first, rest = text.split(_OWN, 1)
        # An epilog of ours takes the directories away in any case.
        is_last = name == self.side.epilog[0]
        ending = "own=$?" if is_last else "exit $?"
        call = f'({_LEAVING}; exec "$each" "$@")' if is_last else '"$each" "$@"'
        lines = (
            "# What the site had here before. A pattern stands for several programs, or for none.\n"
            f"{_OWN}for each in {own}; do case $each in *[*?[]*) continue;; esac; "
            f"{call} || {ending}; done\n"
        )
        if _OWN in text:
            return f"{first}{lines}{rest}"
        return f"{first}\n{lines}{rest.removesuffix('exit 0' + chr(10))}exit $own\n"

    def configuration(self) -> Iterator[str]:
        """The lines that name the scripts, and where they belong."""
        yield from self.side.configuration(self)
        if self.agent:
            yield "# a service that runs as root, started before the batch system"
            yield shlex.join([*self.program, "features", "agent", "--socket", self.agent])
        if self.jobs:
            yield "# crontab, where accounting records are: they are complete some seconds later"
            yield f"* * * * *  {shlex.join(self._collect())}"

    def place(self, script: str) -> str:
        """Where a script is."""
        return str(Path(self.directory) / script)

    def _collect(self) -> list[str]:
        words = [
            *self.program,
            "features",
            "collect",
            "--for",
            self.system,
            "--documents",
            self.jobs,
        ]
        asked = registry.system(self.system).ended
        return words if asked else [*words, "--record", "FILE"]

    def _script(self, name: str, what: str, command: str) -> str:
        # A prolog that is ended is not to begin again, nor to go on: its job may have ended
        # meanwhile. What is of the script's own process group is killed with it.
        again = command == "epilog"
        timed = self._timed if again else self._timed.replace("timeout", "timeout --foreground", 1)
        body = (
            f"\n{self.side.job}"
            f'export {client_of_agent.JOB}="$job"\n'
            f"log={shlex.quote(self.log)}\n"
            '{ [ ! -e "$log" ] || [ -f "$log" ]; } && [ ! -L "$log" ] && '
            '(: >>"$log") 2>/dev/null || log=/dev/null\n'
            f"for try in {' '.join(map(str, range(_TRIES if again else 1)))}; do\n"
            f"{timed} \\\n"
            f'    {self._words(command, self.root_word())} --log "$log"{self._given} '
            '>/dev/null 2>>"$log" </dev/null\n'
            "code=$?\n"
            f"[ $code -le {_LAST} ] && break\n"
            f'echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) {command} {self.system} ${{job:--}}: '
            'it was ended: exit code $code" >>"$log"\n'
            f"[ $code -eq {_TERMINATED} ] || break\n"
            "done\n"
            "exit $own\n"
        )
        path = shlex.quote(":".join(filter(None, (self.path, PATH))))
        return (
            f"{self.head(name, what)}"
            "# Whatever happens, the job must not suffer: this ends with 0, and in time.\n"
            f"{_STAYING if again else ''}"
            f"{_OWN}"
            "# Some systems give root the environment of the user, and some shells take functions\n"
            "# from it: before this exec no name of a program is looked for.\n"
            f'exec /usr/bin/env -i PATH={path} LANG=C.UTF-8 own="$own" \\\n'
            f"    {self._handed()} \\\n"
            f'    /bin/sh -c {shlex.quote(body)} "$0" "$@"\n'
        )

    def _handed(self) -> str:
        words = [f'{name}="${name}"' for name in self.side.handed]
        values = {name: os.environ.get(name, "") for name in self.side.settled}
        words += [f"{name}={shlex.quote(value)}" for name, value in values.items() if value]
        return " \\\n    ".join(words)

    def head(self, name: str, what: str) -> str:
        """How a script begins: what it is, and what wrote it."""
        return (
            "#!/bin/sh\n"
            f"# {name}: {what} $JOBFEATURES, $MACHINEFEATURES and $JOBSTATUS of a job.\n"
            f"{_BY} --for {self.system}\n"
        )

    def root_word(self) -> str:
        """The root as a word of the shell."""
        parts = [shlex.quote(part) if part else "" for part in self.root.split("%n")]
        return self.side.node.join(parts)

    def call(self, command: str, root: str) -> str:
        """The lines that call a command of ours, with the variables of the system and no others."""
        return (
            f'{self._timed} env -i PATH="$PATH" LANG=C.UTF-8 \\\n'
            f"    {self._handed()} \\\n"
            f"    {self._words(command, root)}{self._given}"
        )

    @property
    def _timed(self) -> str:
        return f"timeout -k 2 {self.seconds}"

    @property
    def _given(self) -> str:
        return f" -- {self.side.arguments}" if self.side.arguments else ""

    def _words(self, command: str, root: str) -> str:
        """A command of ours with its options, through the agent where there is one."""
        client = [sys.executable, "-IS", client_of_agent.__file__, self.agent]
        words = [*(client if self.agent else ()), *self.program]
        words += ["features", command, "--for", self.system]
        more = [f"--seconds={max(1, self.seconds // 3)}"]
        more += [f"--documents={self.jobs}"] if self.jobs else []
        more += self.options if command == "prolog" else []
        return f"{shlex.join(words)} --root {root} {shlex.join(more)}"


@dataclass(frozen=True, slots=True)
class QueuePrograms:
    """The programs that queues call: which are wanted, by setting, and in which of our scripts.

    What of the site's own is kept is all that ``plain`` matches, its first group; ``why`` says what
    else there is.
    """

    wanted: Mapping[str, str]
    scripts: Mapping[str, str]
    plain: re.Pattern[str]
    why: str

    def settings(self, rows: Sequence[tuple[str, str, str]]) -> list[LiveSetting]:
        """Of queue, setting and value. One script cannot call what several queues have."""
        others = {
            name: {value for _, one, value in rows if one == name} - {"", wanted}
            for name, wanted in self.wanted.items()
        }
        return [
            self._setting(f"{queue} {name}", name, value, others[name])
            for queue, name, value in rows
        ]

    def _setting(self, title: str, name: str, found: str, others: set[str]) -> LiveSetting:
        wanted, script = self.wanted[name], self.scripts[name]
        if found in ("", wanted):
            return LiveSetting(title, found, wanted, script)
        program = self.plain.fullmatch(found)
        if program is None or len(others) > 1:
            why = "queues differ" if len(others) > 1 else self.why
            return LiveSetting(title, found, wanted, script, trouble=f"{why}: merge it by hand")
        return LiveSetting(title, found, wanted, script, program[1])


def copied(
    at: Installation, script: str, path: str, text: str, aside: str = ""
) -> LiveSetting:  # fmt: skip
    """A file that has to be a copy of one of our scripts; ``text`` is what it is now.

    ``aside`` is where a program of the site that stands there has to go; "" is that it has its own
    place anyway.
    """
    wanted = at.place(script)
    own = {**at.own, script: aside} if aside else at.own
    if text == replace(at, own=own).scripts()[script]:
        return LiveSetting(path, wanted, wanted, script, aside)
    if not text or _BY in text:
        return LiveSetting(path, "another version of it" if text else "", wanted, script, aside)
    return LiveSetting(path, "a program of the site", wanted, script, trouble=(
        f"move it to {path}{SITE}, from where our script calls it first"
    ))  # fmt: skip


def places(root: str, job: str) -> Iterator[tuple[str, str]]:
    """The variables, and where their directories are, in words of the shell."""
    for variable, name in VARIABLES.items():
        yield (
            variable,
            f"{root}/{name}" if variable == "MACHINEFEATURES" else f"{root}/{job}/{name}",
        )


def exports(indent: str, root: str, job: str) -> str:
    """For each directory that is there, a line that exports its name, and no other job's."""
    found = f"{indent}mjf={root}\n" if root != "$mjf" else ""
    for variable, place in places("$mjf", job):
        found += f'{indent}[ -d "{place}" ] && export "{variable}={place}"\n'
    return found


def unset_of_others(indent: str, root: str) -> str:
    """The lines that forget directories below a root: those of the job that submitted this one."""
    return "".join(f"{indent}case ${name} in {root}/*) unset {name};; esac\n" for name in VARIABLES)


def becoming(shell: str) -> str:
    """The lines by which a starter becomes the job that follows it, which ``shell`` reads."""
    return (
        f"shell={shell}\n"
        "# A job comes as the path of a script and arguments, as a command, or as one text.\n"
        'case $1 in */*) [ -f "$1" ] && [ ! -x "$1" ] && exec "$shell" "$@" ;; esac\n'
        'case $(command -v "$1") in */*) exec "$@" ;; esac\n'
        "# What only a shell has takes its arguments as they are, unless they join commands.\n"
        "words=$#\n"
        "for word; do case $word in '&&'|'||'|';'|'|'|'&') words=1 ;; esac; done\n"
        '[ $words -gt 1 ] && command -v "$1" >/dev/null && '
        'exec /bin/sh -c \'"$@"\' sh "$@"\n'
        'exec "$shell" -c "$*"\n'
    )


def write(directory: str | os.PathLike[str], scripts: dict[str, str]) -> None:
    """Write scripts, each whole or not at all; those can be run that say by what.

    Everybody can read them, whatever the umask is: some run as the user of the job. Raises
    ``Unprotected`` for a directory in which others could exchange what root runs, or ``OSError``.
    """
    with handles.protected(directory, make=True) as folder:
        for name, text in scripts.items():
            atomic.put(folder, name, text.encode(), 0o755 if text.startswith(_RUN) else 0o644)
