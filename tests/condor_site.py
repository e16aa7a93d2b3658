"""A directory of jobs for tests, and the hooks called about them, in this process."""

import io
import sqlite3
import sys

from sssjob.classads import forms, long
from sssjob.classads.values import Ad
from sssjob.document import loads
from sssjob.systems.condor.hooks import programs as hooks
from sssjob.systems.condor.hooks import reports
from sssjob.systems.condor.hooks.queue import OpenQueue, copied
from sssjob.systems.condor.hooks.settings import HookSettings

SLOT = Ad({"Name": "slot1@n1", "Cpus": 4, "Memory": 4096, "Disk": 10**6, "Machine": "n1",
           "Arch": "X86_64", "OpSys": "LINUX"})  # fmt: skip


class Output(io.BytesIO):
    """Standard output that keeps what was written in one go."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def write(self, octets):
        self.writes.append(bytes(octets))
        return super().write(octets)


class Site:
    """Jobs in ``path``, their queue in ``state``."""

    def __init__(self, path, monkeypatch, capsys):
        self.path, self.state = path, path / ".condor"
        self._monkeypatch, self._capsys = monkeypatch, capsys
        self.said, self.writes = "", []

    def add(self, name, inner, id_="7"):
        text = f"<Job><Id>{id_}</Id><Executable>/bin/true</Executable>{inner}</Job>"
        (self.path / name).write_text(text)
        return self.path / name

    def call(self, hook, stdin, *words, **options):
        output = Output()
        text = stdin if isinstance(stdin, bytes) else long.write(stdin).encode()
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        self._monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output))
        given = HookSettings(str(self.path), **{"fold": "now", "refresh": 0, "pause": 0, **options})
        assert hooks.run(hook, given, words) == 0
        self.said = self._capsys.readouterr().err
        self.writes = output.writes
        return b"".join(output.writes)

    def fetch(self, slot=SLOT, **options):
        answer = self.call("fetch-work", slot, **options)
        return forms.read_text(answer.decode(), strict=True)

    def fold(self, until=None, **options):
        """How many reports were folded, and what was said of the others."""
        said = []
        given = HookSettings(str(self.path), **options)
        with OpenQueue(given) as queue:
            count, _ = reports.fold(given, queue, say=said.append, until=until)
        return count, [str(each) for each in said]

    def job(self, name):
        return loads((self.path / name).read_bytes())

    def jobs(self, *states):
        return list(copied(HookSettings(str(self.path))).jobs(*states))

    def unheard(self):
        """Nothing was heard of any job for a long time."""
        with sqlite3.connect(self.state / "queue.db") as queue:
            queue.execute("UPDATE job SET heard = 1")

    def missed_long_ago(self):
        """Reports have waited for their jobs for a long time."""
        with sqlite3.connect(self.state / "queue.db") as queue:
            queue.execute("UPDATE note SET at = 1 WHERE name LIKE 'awaited %'")
