"""The scripts of Flux: prolog and epilog of its job manager, and lines for the job shell."""

from __future__ import annotations

import os
import shlex
import string
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

from sssjob.features.batch.allocation import told
from sssjob.features.batch.scripts import (
    ConfigFile,
    Installation,
    LiveSetting,
    Scripts,
    copied,
    places,
)

_PLUGIN = "perilog.so"
_PLACES = {  # where Flux looks for our scripts; others have names of their own there
    "prolog": "/etc/flux/system/prolog.d/sssjob-features",
    "epilog": "/etc/flux/system/epilog.d/sssjob-features",
    "features.lua": "/etc/flux/shell/lua.d/sssjob.lua",
}
_TRUE = ("job-manager.prolog.per-rank", "job-manager.epilog.per-rank", "access.allow-root-owner")
_PLAIN = f"{string.ascii_letters}{string.digits}/._-"
# Some versions of Lua have no whole numbers as long as those of the ids of RFC 19.
_LUA = """\
@head@
local letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

local function number (id)
    local form = id:match ("^f(%w+)$") or id:match ("^\\198\\146(%w+)$")
    if not form then return id:match ("^%d+$") end
    local digits = { 0 }
    for letter in form:gmatch (".") do
        local place = letters:find (letter, 1, true)
        if not place then return nil end
        local carry = place - 1
        for i = 1, #digits do
            local value = digits[i] * 58 + carry
            digits[i] = value % 10
            carry = (value - digits[i]) / 10
        end
        while carry > 0 do
            digits[#digits + 1] = carry % 10
            carry = (carry - carry % 10) / 10
        end
    end
    local text = ""
    for i = 1, #digits do text = string.format ("%d", digits[i]) .. text end
    return text
end

local function is_there (place)
    local directory = io.open (place)
    if directory then directory:close () end
    return directory ~= nil
end

local function tell (name, place)
    if is_there (place) then task.setenv (name, place) else task.unsetenv (name) end
end

local function export ()
    local job = number (task.getenv ("FLUX_JOB_ID") or "")
    if not job then return end
    local file = io.open ("/proc/sys/kernel/hostname")
    local node = file and file:read ("*l") or ""
    if file then file:close () end
    local root = @root@
    -- A job of an instance inside a job has no prolog, and keeps the names of the job around it.
    if not is_there (root .. "/" .. job) then return end
@lines@end

plugin.register {
    name = "sssjob-features",
    handlers = { { topic = "task.init", fn = export } }
}
"""


class FluxScripts(Scripts):
    """prolog and epilog run as root on each node of a job, by the IMP."""

    command = "flux"
    handed = ("FLUX_JOB_ID", "FLUX_JOB_USERID", "FLUX_URI")
    job = "job=$FLUX_JOB_ID\n"
    prolog = ("prolog", "Flux prolog")
    epilog = ("epilog", "Flux epilog")

    def more(self, at: Installation) -> dict[str, str]:
        """Lua for the job shell: a prolog cannot change the environment of a job."""
        head = "".join(
            f"-- {line.removeprefix('# ')}\n"
            for line in at.head("Lua of the Flux job shell", "tells the job").splitlines()[1:]
        )
        root = " .. node .. ".join(map(_text, at.root.split("%n")))
        lines = "".join(
            f'    tell ("{variable}", root .. "{place}")\n'
            for variable, place in places("", '" .. job .. "')
        )
        text = _LUA.replace("@head@\n", head).replace("@lines@", lines).replace("@root@", root)
        return {"features.lua": text}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The commands that put the files where Flux looks for them, and its tables."""
        yield "# As root, on every node (before Flux 0.78: paths of [run.prolog] and [run.epilog]"
        yield "# in /etc/flux/imp/conf.d):"
        for name, place in _PLACES.items():
            mode = 644 if name == "features.lua" else 755
            yield f"install -D -m {mode} {at.place(name)} {place}"
        yield "# /etc/flux/system/conf.d, beside [run.prolog] and [run.epilog] of the IMP:"
        yield '[job-manager]\nplugins = [ { load = "' + f'{_PLUGIN}" }} ]'
        for name in ("prolog", "epilog"):
            yield f"[job-manager.{name}]\nper-rank = true"
        yield "[access]\nallow-root-owner = true"

    def live(self) -> Mapping[str, Sequence[str]]:
        """``flux config get``: all of its tables, as JSON."""
        return {"config": ["flux", "config", "get"]}

    def files(self) -> Mapping[str, ConfigFile]:
        """What stands where Flux looks for it."""
        return {
            name: ConfigFile(path) if name == "features.lua" else ConfigFile(path, 0o100)
            for name, path in _PLACES.items()
        }

    def settings(self, at: Installation, answers: Mapping[str, str]) -> list[LiveSetting]:
        """The plugin, what has to be true, and the files."""
        form = told(answers.get("config", ""), "flux config get", [])
        if not isinstance(form, dict):
            return []
        loaded = _loaded(_at(form, "job-manager.plugins"))
        is_there = _PLUGIN in map(os.path.basename, loaded)
        wanted = loaded if is_there else [*loaded, _PLUGIN]
        rows = [LiveSetting("job-manager.plugins", ",".join(loaded), ",".join(wanted))]
        rows += [
            LiveSetting(name, "true" if _at(form, name) is True else "", "true") for name in _TRUE
        ]
        rows += _others(form)
        if None in (_at(form, f"job-manager.{script}.command") for script in ("prolog", "epilog")):
            rows.append(_imp(form))
        files = _PLACES.items()
        return [*rows, *(copied(at, name, path, answers.get(name, "")) for name, path in files)]


def _loaded(plugins: object) -> list[str]:
    """The plugins that stay loaded, in the order of the table; one may be taken out again."""
    found: list[str] = []
    for each in plugins if isinstance(plugins, list) else []:
        if not isinstance(each, dict):
            continue
        removed, load = each.get("remove"), each.get("load")
        if isinstance(removed, str):  # a name, a pattern, or all
            pattern = "*" if removed == "all" else removed
            found = [one for one in found if not fnmatchcase(os.path.basename(one), pattern)]
        if isinstance(load, str):
            found.append(load)
    return found


def _others(form: object) -> Iterator[LiveSetting]:
    """Commands in the place of ``flux-imp run``, which alone runs what is in our places."""
    for script in ("prolog", "epilog"):
        name = f"job-manager.{script}.command"
        said = _at(form, name)
        words = [str(each) for each in said] if isinstance(said, list) else [str(said)]
        usual = len(words) == 3 and os.path.basename(words[0]) == "flux-imp"
        if said is not None and not (usual and words[1:] == ["run", script]):
            yield LiveSetting(name, shlex.join(words), "", trouble=(
                f"Flux runs this, and not flux-imp run {script}, which runs {_PLACES[script]}"
            ))  # fmt: skip


def _imp(form: object) -> LiveSetting:
    """The program that runs our scripts, where no command is set that does."""
    said = _at(form, "exec.imp")
    path = said if isinstance(said, str) else ""
    if not path:
        fault = "Flux does not start: without it each script needs a command of its own"
    elif not os.path.exists(path):
        fault = "there is no such program on this node"
    else:
        fault = ConfigFile(path, 0o4111).fault()
    return LiveSetting("exec.imp", path, path, trouble=fault)


def _at(form: object, path: str) -> object:
    """What stands in tables inside each other; None where nothing does."""
    for name in path.split("."):
        form = form.get(name) if isinstance(form, dict) else None
    return form


def _text(text: str) -> str:
    """A string of Lua: each byte but the plainest is escaped."""
    plain = (chr(byte) if chr(byte) in _PLAIN else f"\\{byte:03d}" for byte in os.fsencode(text))
    return f'"{"".join(plain)}"'
