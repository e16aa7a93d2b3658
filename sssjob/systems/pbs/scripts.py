"""The scripts of PBS: prologue and epilogue of pbs_mom, and lines for the shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from sssjob.features import kernel
from sssjob.features.batch.scripts import (
    SITE,
    ConfigFile,
    Installation,
    LiveSetting,
    Scripts,
    copied,
    exports,
    unset_of_others,
)

_NAMES = ("prologue", "epilogue")
_PROFILE = "/etc/profile.d/sssjob-features.sh"
_TORQUE = "/var/spool/torque"
_PLAIN = re.compile(r"/[A-Za-z0-9._/+-]+")
_HOOK = re.compile(r"^Hook (\S+)$", re.MULTILINE)
_BROKEN = re.compile(r",\s*\n\t\s*")  # a long list goes on in the next line
_ATTRIBUTE = re.compile(r"^\s+(enabled|event) = (.*)$", re.MULTILINE)


class PBSScripts(Scripts):
    """prologue and epilogue run as root; they are told of the job by arguments."""

    command = "qstat"
    handed = ("PBS_SERVER", "PBS_CONF_FILE")
    job = "job=$1\n"
    arguments = '"$@"'
    prolog = ("prologue", "PBS prologue")
    epilog = ("epilogue", "PBS epilogue")

    def more(self, at: Installation) -> dict[str, str]:
        """A profile of the shell: a prologue cannot change the environment of a job."""
        head = at.head("/etc/profile.d", "tells the shell").partition("\n")[2]
        lines = f"    mjf={at.root_word()}\n" + unset_of_others("    ", '"$mjf"')
        lines += exports("    ", "$mjf", "$PBS_JOBID")
        return {
            "profile.sh": f'{head}if [ -n "$PBS_JOBID" ]; then\n{lines}    unset mjf\nfi\n',
        }

    def configuration(self, at: Installation) -> Iterator[str]:
        """The commands that put the files where PBS looks for them."""
        home = "$PBS_HOME/mom_priv"
        yield "# As root, on every node that runs jobs; PBS wants the files to be root's:"
        yield f"install -m 500 {at.place('prologue')} {home}/prologue"
        yield f"install -m 500 {at.place('epilogue')} {home}/epilogue"
        yield f"install -m 644 {at.place('profile.sh')} {_PROFILE}"

    def live(self) -> Mapping[str, Sequence[str]]:
        """The hooks of PBS Professional; TORQUE has none."""
        return {"hooks": ["qmgr", "-c", "list hook"]} if is_professional() else {}

    def files(self) -> Mapping[str, ConfigFile]:
        """What stands where PBS looks for it, and the site's own that was moved aside."""
        place = f"{home()}/mom_priv"
        names = (*_NAMES, *(f"{name}{SITE}" for name in _NAMES))
        found = {name: ConfigFile(f"{place}/{name}", 0o500) for name in names}
        return {**found, "profile.sh": ConfigFile(_PROFILE)}

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """The files, and hooks in whose place PBS runs neither prologue nor epilogue."""
        if "prologue" not in answers or not _PLAIN.fullmatch(home()):
            return []
        paths = self.files()
        found = [
            copied(at, name, paths[name].path, answers[name],
                   paths[f"{name}{SITE}"].path if answers.get(f"{name}{SITE}") else "")
            for name in _NAMES
        ]  # fmt: skip
        found.append(copied(at, "profile.sh", _PROFILE, answers.get("profile.sh", "")))
        if "hooks" not in answers and self.live():
            found.append(LiveSetting("hooks", "not known", "", trouble=(
                "qmgr does not list them, and one may run in the place of our scripts: check "
                "where it does"
            )))  # fmt: skip
        return [*found, *_hooks(answers.get("hooks", ""))]


def _hooks(printed: str) -> Iterator[LiveSetting]:
    """Hooks that are enabled and run where the prologue or the epilogue would."""
    parts = _HOOK.split(_BROKEN.sub(",", printed))
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        told = dict(_ATTRIBUTE.findall(text))
        events = {each.strip() for each in told.get("event", "").split(",")}
        for script in _NAMES:
            if told.get("enabled", "").lower() == "true" and f"execjob_{script}" in events:
                yield LiveSetting(f"hook {name}", f"execjob_{script}", "", trouble=(
                    f"while it is enabled, PBS runs no {script}"
                ))  # fmt: skip


def is_professional() -> bool:
    """Whether this is PBS Professional or OpenPBS: TORQUE has no pbs.conf."""
    return bool(_configured())


def home() -> str:
    """Where PBS keeps what is its own: by its configuration, the environment, or TORQUE's."""
    return _configured().get("PBS_HOME") or os.environ.get("PBS_HOME") or _TORQUE


def _configured() -> dict[str, str]:
    text = kernel.text(os.environ.get("PBS_CONF_FILE") or "/etc/pbs.conf")
    pairs = (line.partition("=") for line in text.splitlines())
    return {name.strip(): value.strip() for name, sign, value in pairs if sign}
