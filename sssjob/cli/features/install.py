"""``sssjob features install``: what a site configures, and the scripts that it needs."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from sssjob import host_name
from sssjob.cli import common, options
from sssjob.cli.features import batch
from sssjob.cli.features.common import VOCABULARIES, fail, site
from sssjob.cli.ranges import WholeNumber
from sssjob.errors import SSSJobError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sssjob.features.batch.scripts import ConfigFile, Installation, LiveSetting
    from sssjob.features.site import SiteTables

_LONGEST = 1 << 20  # bytes of a file of the configuration


@click.command(
    epilog="""\b
Examples:
  sssjob features install --for slurm
  sssjob features install --for slurm --to /usr/libexec/sssjob/slurm
  sssjob features install --for gridengine --documents /var/lib/sssjob/jobs --to /opt/mjf
  sssjob features install --for slurm --check
  sssjob features install --for slurm --check --to /usr/libexec/sssjob/slurm
  sssjob features install --for pbs --site /etc/sssjob/site.toml --json

Exit code: 0 printed, 1 with --check the batch system is not configured so (yet), 2
an option is not understood, a script cannot be written,
or other users could replace one of the directories."""
)
@batch.system("installation")
@click.option("--to", "directory", metavar="DIR", type=click.Path(), help="Write the scripts.")
@batch.root
@batch.jobs
@click.option("--site", "site_file", metavar="FILE", default="", type=click.Path(),
              help="The site's configuration (TOML), for the prolog.")  # fmt: skip
@click.option("--scratch", metavar="DIR", default="", type=click.Path(),
              help="The scratch space of jobs, for the prolog.")  # fmt: skip
@click.option("--vocabulary", type=click.Choice(VOCABULARIES), default="both", show_default=True,
              help="The keys that the prolog writes.")  # fmt: skip
@click.option("--status-size", metavar="BYTES", type=WholeNumber(0, 1 << 30),
              default=1 << 20, show_default=True,
              help="The size of $JOBSTATUS, which the prolog makes a file system in memory; 0: "
                   "it is a "
                   "directory like the others.")  # fmt: skip
@click.option("--seconds", metavar="SECONDS",
              type=WholeNumber(1, 3600), default=30, show_default=True,
              help="The longest time that a script may take.")  # fmt: skip
@click.option("--log", metavar="FILE", default="/var/log/sssjob-features.log", show_default=True,
              type=click.Path(), help="Where the scripts report errors.")  # fmt: skip
@click.option("--agent", metavar="PATH", default="", type=click.Path(),
              help="The socket of a resident process that runs the scripts' commands, see "
              '"sssjob features agent".')  # fmt: skip
@click.option("--check", is_flag=True,
              help="Compare with the configuration as it is now, keep what the site has there, and "
              "show what a job on this node would find.")  # fmt: skip
@click.option("--node", metavar="NAME", default="",
              help="With --check: the name of this node in the batch system. Default: that of the "
              "host, without its domain.")  # fmt: skip
@options.JSON_OBJECT
def command(
    system: str, directory: str | None, root: str, jobs: str, site_file: str, scratch: str,
    vocabulary: str, status_size: int, seconds: int, log: str, agent: str, check: bool,
    node: str, as_json: bool,
) -> None:  # fmt: skip
    """Print the configuration and the scripts by which jobs find their features.

    Paths are those of the nodes. The commands of the batch system are taken to be where they are
    here. In --root, %n stands for the name of the node. With --to the
    scripts are written, and only the lines of the configuration are printed. Each script ends with
    0 and in time, whatever happens: no job fails because its features are missing. With --check, a
    prolog that the site has already is called first by ours, and decides whether the job starts.
    """
    from sssjob.features.batch.scripts import Installation, write

    options = [] if vocabulary == "both" else [f"--vocabulary={vocabulary}"]
    known = site(site_file, guarded=True) if site_file else None  # a mistake is better found now
    if site_file:
        options.append(f"--site={os.path.abspath(site_file)}")
    options += [f"--scratch={scratch}"] if scratch else []
    options += [f"--status-size={status_size}"] if status_size else []
    place = os.path.abspath(directory) if directory else f"/usr/libexec/sssjob/{system}"
    try:
        found = Installation(
            system, place, _program(), root, jobs, options, seconds=seconds, log=log,
            agent=agent,
        )  # fmt: skip
        found = replace(found, path=_place_of(found.side.command))
        found.check()
        found, gone = _with_own(found, written=bool(directory) and not check)
        written = bool(directory)  # at once
        checked = (
            CheckedConfiguration(found, node, known, scratch, vocabulary, written=written)
            if check
            else None
        )
        found = found if checked is None else checked.merged
        scripts = found.scripts()
        if directory:
            write(place, scripts)
    except (OSError, SSSJobError) as error:
        fail(error)
    _warn([*_doubts(found), *gone])
    lines = list(found.configuration())
    if as_json:
        common.data(json.dumps({
            "configuration": lines, "directory": place, "written": bool(directory),
            "scripts": scripts, **({} if checked is None else {"check": checked.as_dict()}),
        }, indent=2, ensure_ascii=False))  # fmt: skip
        _end(checked)
    if checked is not None:
        checked.show()
        if directory:
            common.say(f"written to {place}: {', '.join(scripts)}")
        _end(checked)
    for line in lines:
        common.data(line)
    if directory:
        common.say(f"written to {place}: {', '.join(scripts)}")
        return
    again = shlex.join(["--for", system, "--to", place])
    common.echo(f"\n# The scripts; to write them: sssjob features install {again}")
    for name, text in scripts.items():
        common.data(f"\n# ---- {place}/{name}\n{text}", nl=False)


class CheckedConfiguration:
    """The configuration as it is now, ours merged into it, and what a job would find."""

    def __init__(
        self, at: Installation, node: str, known: SiteTables | None, scratch: str, vocabulary: str,
        *, written: bool,
    ) -> None:  # fmt: skip
        from sssjob.features.batch.starting import SiteSettings, preview

        named = node or host_name.own()
        call = batch.call(at.system, (), 10)
        notes: list[str] = []
        answers = {**call.answers(at.side.live(), notes), **_texts(at.side.files())}
        self.settings = at.side.settings(at, answers) if answers else []
        if not self.settings:
            notes.append(f"the configuration of {at.system} is not known")
        else:
            self.settings = _with_faults(self.settings, at.side.files().values())
            self.settings += () if written else at.uncalled()
        own = {each.script: each.own for each in self.settings if each.own}
        self.merged = replace(at, own={**at.own, **own})
        told = {each.name for each in self.settings if each.trouble}
        self.settings += [each for each in self.merged.unsafe() if each.name not in told]
        found = SiteSettings(Path(at.root), at.jobs, known, scratch, vocabulary)
        self.seen = preview(call, found, named, int(time.time()))
        if not node and "total_cpu" not in self.seen.machine:
            notes.append(
                f"{named} is the name of this host; --node names the node as {at.system} does"
            )
        self.doubts = _doubts(at)
        self.notes = tuple(dict.fromkeys((*self.seen.notes, *notes)))

    @property
    def is_good(self) -> bool:
        """Whether the batch system is configured so, and our scripts have what they need."""
        good = all(each.is_good for each in self.settings)
        return bool(self.settings) and good and not self.doubts

    def as_dict(self) -> dict[str, object]:
        """All of it, as JSON has it."""
        from sssjob.features.keys import spell

        return {
            "settings": [{
                "name": each.name, "found": each.found, "wanted": each.wanted, "own": each.own,
                "trouble": each.trouble, "good": each.is_good,
            } for each in self.settings],
            "node": self.seen.node,
            "machine": {name: spell(value) for name, value in self.seen.machine.items()},
            "job": {name: spell(value) for name, value in self.seen.job.items()},
            "notes": list(self.notes),
        }  # fmt: skip

    def show(self) -> None:
        """Print it."""
        from sssjob.features.keys import spell

        for each in self.settings:
            if each.is_good:
                common.echo(f"{each.name}={each.wanted}  # is so")
                continue
            after = f"; our script calls it first: {each.own}" if each.own else ""
            common.echo(f"{each.name}={each.wanted}  # is {each.found or 'not set'}{after}")
            if each.trouble:
                common.echo(f"# {each.name}: {each.trouble}")
        common.echo(f"\n# What a job with one processor would find on {self.seen.node}")
        for variable, values in (("MACHINE", self.seen.machine), ("JOB", self.seen.job)):
            for name, value in values.items():
                common.echo(f"${variable}FEATURES/{name}  {spell(value)}")


def _with_faults(settings: list[LiveSetting], files: Iterable[ConfigFile]) -> list[LiveSetting]:
    """Settings, of which no file is good that is not used, or that others can change."""
    from sssjob.features.batch.scripts import LiveSetting

    faults = {each.path: fault for each in files if (fault := each.fault())}
    judged = []
    for each in settings:
        told = (each.trouble, faults.pop(each.name, ""))
        judged.append(replace(each, trouble="; ".join(filter(None, told))))
    rest = (LiveSetting(path, "there", "", trouble=fault) for path, fault in faults.items())
    return [*judged, *rest]


def _texts(files: Mapping[str, ConfigFile]) -> dict[str, str]:
    """What is in files, by name, as far as their directories are there."""
    from sssjob.features import kernel

    paths = {name: file.path for name, file in files.items()}
    there = {name: path for name, path in paths.items() if os.path.isdir(os.path.dirname(path))}
    return {name: kernel.text(path, _LONGEST) for name, path in there.items()}


def _with_own(at: Installation, *, written: bool) -> tuple[Installation, list[str]]:
    """An installation with the programs that scripts of ours, written before, call first.

    Scripts that are ``written`` as they are call no longer what is gone, each of which is told.
    """
    found = replace(at, own=_kept_own(at))
    gone = found.gone() if written else {}
    rest = {name: own for name, own in found.own.items() if name not in gone}
    told = [f"{own} is not there: our {name} calls it no longer" for name, own in gone.items()]
    return replace(found, own=rest), told


def _kept_own(at: Installation) -> dict[str, str]:
    """What scripts that were written before call first, so that they go on to do so."""
    found = {}
    for name in at.scripts():
        try:
            lines = Path(at.place(name)).read_text("utf-8").splitlines()[:8]
        except (OSError, UnicodeDecodeError):
            continue
        head = "for each in "
        for each in lines:
            if each.startswith(head):
                found[name] = each[len(head) :].partition(";")[0]
    return found


def _warn(doubts: Iterable[str]) -> None:
    for told in doubts:
        common.say(f"sssjob: warning: {told}")


def _doubts(at: Installation) -> list[str]:
    """What keeps our scripts from all that they are for, or makes them dangerous."""
    return [*at.missing(), *filter(None, (at.exchangeable(),))]


def _end(checked: CheckedConfiguration | None) -> NoReturn:
    """End the command."""
    if checked is not None:
        batch.notes(checked.notes)
    sys.exit(common.FOUND if checked is None or checked.is_good else common.NOTHING)


def _program() -> list[str]:
    """How a daemon, which has no search path, calls this command."""
    beside = Path(sys.executable).with_name("sssjob")
    found = str(beside) if beside.exists() else shutil.which("sssjob")
    return [os.path.abspath(found)] if found else [sys.executable, "-m", "sssjob"]


def _place_of(command: str) -> str:
    """The directory of a command of the batch system, if it is not one where all look."""
    from sssjob.features.batch.scripts import PATH

    found = shutil.which(command)
    place = os.path.dirname(os.path.abspath(found)) if found else ""
    return "" if place in PATH.split(":") else place
