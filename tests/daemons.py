"""Servers of batch systems for tests: in a directory of their own, on free ports, ended after."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from waiting import HANG, until

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
PROTECTED = "/var/lib"  # where only root writes, and all may read
USERS = ("games", "daemon")  # of every Debian; a job is not to be root's


@contextmanager
def protected(otherwise):
    """A directory of root that only root can lead elsewhere; a user has his own below /tmp."""
    if os.geteuid() != 0:
        yield otherwise
        return
    place = Path(tempfile.mkdtemp(prefix="sssjob-test-", dir=PROTECTED))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


class Unavailable(Exception):
    """Why there can be no batch system here."""


def started(start, *arguments):
    """What starts, or else the test is skipped, and says why nothing can start here."""
    try:
        return start(*arguments)
    except Unavailable as error:
        pytest.skip(str(error))


def needed(*programs):
    """Tell which programs are missing; raises ``Unavailable``."""
    if os.geteuid() != 0:
        raise Unavailable("batch systems start jobs of other users, which takes root")
    missing = [name for name in programs if shutil.which(name, path=PATH) is None]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)} (.ci/packages)")


def ports(count):
    """Ports that are free on loopback."""
    opened = [socket.socket() for _ in range(count)]
    for each in opened:
        each.bind(("127.0.0.1", 0))
    found = [each.getsockname()[1] for each in opened]
    for each in opened:
        each.close()
    return found


class Place:
    """A directory that everybody can read, with daemons, and the environment of all of them."""

    def __init__(self, name, inside=(), outside=()):
        self.inside, self.outside = inside, outside
        place = PROTECTED if os.geteuid() == 0 else None
        self.root = Path(tempfile.mkdtemp(prefix=f"sssjob-{name}-", dir=place))
        self.root.chmod(0o755)
        self.environment = {"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"}
        self.daemons = []

    def words(self, command, before=()):
        """A command where it has to run: inside another root, or here."""
        inside = () if Path(command[0]).name in self.outside else self.inside
        return [*inside, *before, *(str(word) for word in command)]

    def make(self, *names):
        """Directories; jobs write into the one called work."""
        for name in names:
            (self.root / name).mkdir(parents=True)
            (self.root / name).chmod(0o1777 if name == "work" else 0o755)

    def daemon(self, *command):
        """Start a server, which stays in the foreground; what it says is in log/."""
        name = Path(command[0]).name
        with open(self.root / f"log/{name}-{len(self.daemons)}.out", "wb") as log:
            started = subprocess.Popen(
                self.words(command), env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=subprocess.STDOUT, cwd=self.root,
            )  # fmt: skip
        self.daemons.append(started)
        return started

    def run(self, *command, user="", check=True, stdin="", env=None):
        """What a command prints, run as a user."""
        words = ["runuser", "-u", user, "--"] if user else []
        done = subprocess.run(
            self.words(command, words), env={**self.environment, **(env or {})},
            input=stdin, capture_output=True, text=True, check=False, cwd=self.root, timeout=HANG,
        )  # fmt: skip
        if check and done.returncode:
            raise AssertionError(f"{command} returned {done.returncode}: {done.stderr}")
        return done.stdout

    def answers(self, *command, holds=lambda printed: True):
        """Wait until a command succeeds with what is expected.

        Raises ``Unavailable`` if it never does, or a server has ended.
        """

        def asked():
            done = subprocess.run(
                self.words(command), env=self.environment, stdin=subprocess.DEVNULL,
                capture_output=True, text=True, check=False, timeout=HANG,
            )  # fmt: skip
            return done.returncode == 0 and holds(done.stdout)

        if not until(asked, going=self._runs):
            raise Unavailable(f"{command[0]} gets no answer: {self.logs()}")

    def _runs(self):
        """Whether all servers still run."""
        return all(daemon.poll() is None for daemon in self.daemons)

    def logs(self, most=400):
        """The ends of what the servers said, and of what was logged beside them."""
        return "; ".join(
            f"{log.name}: {log.read_text(errors='replace')[-most:]}"
            for log in sorted((self.root / "log").iterdir())
            if log.is_file()
        )

    def stop(self):
        """End the servers, the last first, and remove the directory."""
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(3)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.root, ignore_errors=True)


def user():
    """Somebody who is not root."""
    import pwd

    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise Unavailable(f"no user {' or '.join(USERS)}")
