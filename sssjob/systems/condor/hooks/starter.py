"""The part of a starter: one job prepared, run, watched and ended, with the hooks called as the
text of HTCondor states. It runs jobs as the user who runs it, without a sandbox.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sssjob.classads import long, quoting
from sssjob.classads.values import Ad
from sssjob.systems.condor import names

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

INITIAL_UPDATE, UPDATE = 8, 300  # seconds: STARTER_INITIAL_UPDATE_INTERVAL, STARTER_UPDATE_INTERVAL
EXIT_TIMEOUT = 30  # seconds: <Keyword>_HOOK_JOB_EXIT_TIMEOUT
REPLY_LIMIT = 16 << 20

Event = Callable[[str, str], None]  # what happened, and more about it


@dataclass(frozen=True, slots=True)
class Hooks:
    """How each hook is called; one that is missing is not called.

    ``timeout`` are the seconds that each may take, where they are not those of HTCondor.
    """

    commands: Mapping[str, Sequence[str]]
    event: Event
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    timeout: float | None = None

    def call(
        self, name: str, stdin: str, *arguments: str, environment: Mapping[str, str] | None = None,
        directory: str | None = None, timeout: float = 60,
    ) -> subprocess.CompletedProcess[bytes] | None:  # fmt: skip
        """Run a hook to its end; its standard error is logged. None if it is missing or hangs."""
        command = self.commands.get(name)
        if command is None:
            return None
        try:
            done = subprocess.run(
                [*command, *arguments], input=stdin.encode(), capture_output=True, cwd=directory,
                env={**self.environment, **(environment or {})},
                timeout=self.timeout or timeout, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            self.event("failed", f"{name}: {error}")
            return None
        for line in done.stderr.decode(errors="replace").splitlines():
            self.event("said", f"{name}: {line}")
        return done


@dataclass(slots=True)
class Starter:
    """One job in one slot."""

    job: Ad
    slot: Ad
    scratch: Path
    hooks: Hooks
    initial_update: float = INITIAL_UPDATE
    update: float = UPDATE
    _updating: threading.Thread | None = field(default=None, init=False)

    def run(self) -> str:
        """Prepare, run and end the job; gives how it ended: exit, hold or idle."""
        (self.scratch / ".machine.ad").write_text(long.write(self.slot, ordered=True))
        for name in ("prepare-job-before-transfer", "prepare-job"):
            code, message = self._prepare(name)
            if code:
                self.hooks.event("not started", f"HookStatusCode {code}: {message}")
                return "hold" if code < 300 else "idle"
            if message:
                self.hooks.event("warned", message)
        (self.scratch / ".job.ad").write_text(long.write(self.job, ordered=True))
        return self._execute()

    def _prepare(self, name: str) -> tuple[int, str]:
        """Call a hook that prepares, and merge its answer: lines count up to the first bad one."""
        done = self.hooks.call(
            name, long.write(self.job, ordered=True), environment=self._environment(),
            directory=str(self.scratch),
        )  # fmt: skip
        if done is None:
            return 0, ""
        answer: dict[str, Attribute] = {}
        for line in done.stdout[:REPLY_LIMIT].decode(errors="replace").splitlines():
            try:
                attribute, value = long.attribute(line.lstrip())
            except ValueError as error:
                self.hooks.event("bad line", f"{name}: {error}")
                break
            answer[attribute] = value
        told = Ad(answer)
        self.job = self.job.merged(told)
        code = told.number("HookStatusCode")
        if code is None or code < 0 or done.returncode < 0:
            code = done.returncode
        return int(code), told.text("HookStatusMessage")

    def _environment(self) -> dict[str, str]:
        scratch = str(self.scratch)
        return {
            "_CONDOR_SCRATCH_DIR": scratch, "_CONDOR_JOB_IWD": self.job.text("Iwd", scratch),
            "_CONDOR_SLOT": self.slot.text("Name").partition("@")[0],
            "_CONDOR_MACHINE_AD": str(self.scratch / ".machine.ad"),
            "_CONDOR_JOB_AD": str(self.scratch / ".job.ad"),
            "TMPDIR": scratch, "TMP": scratch, "TEMP": scratch, "BATCH_SYSTEM": "HTCondor",
        }  # fmt: skip

    def _execute(self) -> str:
        directory = self.job.text("Iwd", str(self.scratch))
        command = os.path.join(directory, self.job.text("Cmd"))
        environment = {**os.environ, **self._environment(), **quoting.environment(self.job)}
        files = [
            open(os.path.join(directory, self.job.text(name, names.NULL_DEVICE)), mode)  # noqa: SIM115 - closed below
            for name, mode in (("In", "rb"), ("Out", "wb"), ("Err", "wb"))
        ]  # fmt: skip
        began = time.time()
        try:
            process = subprocess.Popen(
                [command, *quoting.arguments(self.job)], cwd=directory, env=environment,
                stdin=files[0], stdout=files[1], stderr=files[2],
            )  # fmt: skip
        except OSError as error:
            self.hooks.event("not started", str(error))
            return "hold"
        finally:
            for file in files:
                file.close()
        self.hooks.event("started", f"{command} as process {process.pid}")
        return self._watched(process.pid, began)

    def _watched(self, pid: int, began: float) -> str:
        """Wait for the end of a process, and call the hooks on the way."""
        due = began + self.initial_update
        peak = 0
        while True:
            found, status, usage = os.wait4(pid, os.WNOHANG)
            peak = max(peak, _resident(pid))
            if found:
                break
            if time.time() >= due:
                due = time.time() + self.update
                self._update(self._told(pid, began, peak, *_cpu(pid)))
            time.sleep(0.02)
        code = os.waitstatus_to_exitcode(status)
        reason = f"exited normally with status {code}"
        if code < 0:
            reason = f"died on signal {-code} ({signal.strsignal(-code)})"
        ended: dict[str, Attribute] = {
            "ExitReason": reason, "ExitBySignal": code < 0, "JobDuration": time.time() - began,
            **({"ExitSignal": -code} if code < 0 else {"ExitCode": code}),
        }  # fmt: skip
        text = self._told(
            pid, began, max(peak, usage.ru_maxrss), usage.ru_utime, usage.ru_stime, ended
        )
        environment = self._environment()
        self.hooks.call("job-exit", text, "exit", environment=environment, timeout=EXIT_TIMEOUT)
        self.hooks.event("ended", reason)
        return "exit"

    def _update(self, text: str) -> None:
        """Call the hook without waiting for it, as a starter does, unless the last call still runs:
        on a busy machine calls would pile up, and keep the job from its end.
        """
        if self._updating is not None and self._updating.is_alive():
            return
        self.hooks.event("updated", "")
        self._updating = threading.Thread(
            target=self.hooks.call, args=("update-job-info", text),
            kwargs={"environment": self._environment()},
        )  # fmt: skip
        self._updating.start()

    def _told(
        self, pid: int, began: float, peak: int, user: float, system: float,
        ended: Mapping[str, Attribute] | None = None,
    ) -> str:  # fmt: skip
        """The ad of the job with what a starter adds to it."""
        more: dict[str, Attribute] = {
            "JobState": "Exited" if ended else "Running", "JobPid": pid, "NumPids": 1,
            "JobStartDate": int(began), "RemoteUserCpu": float(user), "RemoteSysCpu": float(system),
            "ImageSize": peak, "ResidentSetSize": peak, "RemoteHost": self.slot.text("Name"),
            **(ended or {}),
        }  # fmt: skip
        return long.write(self.job.merged(more), ordered=True)


def _resident(pid: int) -> int:
    """The resident memory of a process in KiB, as the kernel counts its peak; 0 if it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def _cpu(pid: int) -> tuple[float, float]:
    """User and system time of a process that runs, in seconds."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, 0.0
    ticks = os.sysconf("SC_CLK_TCK")
    return int(fields[11]) / ticks, int(fields[12]) / ticks
