"""A real HTCondor for tests: a personal pool on loopback that calls our hooks.

Debian 13 has HTCondor as a package, so the daemons run in a root directory made of its packages
by mmdebstrap (once, about a minute; later runs find it). It takes root and leave to mount.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

from daemons import Unavailable
from waiting import HANG, until

ROOT = Path(__file__).parents[1]
PLACE = Path(os.environ.get("SSSJOB_TEST_CONDOR", "/var/cache/sssjob-test/condor"))
PACKAGES = (
    "condor", "minicondor", "procps",
    "python3-lxml", "python3-click", "python3-regex", "python3-rich", "python3-zstandard",
)  # fmt: skip
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"

CONFIGURATION = """\
ENABLE_IPV6 = False
COLLECTOR_PORT = {port}
COLLECTOR_HOST = 127.0.0.1:{port}
CONDOR_HOST = 127.0.0.1
UID_DOMAIN = sssjob.test
FILESYSTEM_DOMAIN = sssjob.test
TRUST_UID_DOMAIN = True
NUM_CPUS = 4
MEMORY = 4000
use FEATURE : PartitionableSlot
NEGOTIATOR_INTERVAL = 1
NEGOTIATOR_MIN_INTERVAL = 1
NEGOTIATOR_CYCLE_DELAY = 1
SCHEDD_INTERVAL = 2
SCHEDD_MIN_INTERVAL = 1
UPDATE_INTERVAL = 2
POLLING_INTERVAL = 2
MASTER_BACKOFF_CONSTANT = 1
STARTER_INITIAL_UPDATE_INTERVAL = 1
SHADOW_QUEUE_UPDATE_INTERVAL = 2
CLAIM_WORKLIFE = 0
BASE_CGROUP =
MAIL = /bin/true
PREEN =
START = TRUE
SUSPEND = FALSE
PREEMPT = FALSE
KILL = FALSE
use FEATURE : GPUs
GPU_DISCOVERY_EXTRA =
MACHINE_RESOURCE_INVENTORY_GPUs = /usr/local/libexec/sssjob-gpus -properties
STARTD_CRON_GPUs_MONITOR_EXECUTABLE = /bin/true
MACHINE_RESOURCE_Tapes = 3
"""

HURRIED = tuple(f"--option=--{each}" for each in ("attempts=2", "pause=1", "silence=10"))
# Behind the lines of ours, which are for a site that does not hurry.
HURRY = """\
STARTER_UPDATE_INTERVAL = 2
FetchWorkDelay = 2
PER_JOB_HISTORY_DIR = /var/lib/condor/perjob
STARTD_HISTORY = /var/spool/condor/startd_history
STARTER_DEBUG = D_FULLDEBUG
STARTD_DEBUG = D_FULLDEBUG
"""


# What condor_gpu_discovery prints on a machine with two of them.
GPUS = """\
#!/bin/sh
cat <<'END'
DetectedGPUs="GPU-aaaa1111, GPU-bbbb2222"
Common=[ Capability=8.0; GlobalMemoryMb=40000; DriverVersion=12.2; ]
GPU_aaaa1111=[ id="GPU-aaaa1111"; DeviceName="NVIDIA A100"; DeviceUuid="aaaa1111"; ]
GPU_bbbb2222=[ id="GPU-bbbb2222"; DeviceName="NVIDIA A30"; DeviceUuid="bbbb2222"; ]
END
"""


class Pool:
    """A pool that runs; ``jobs`` is the directory of its jobs, inside and outside."""

    def __init__(self, root):
        self.root = root
        self.inside = "/data/jobs"
        self.jobs = root / "data/jobs"

    def run(self, *command, user="root", check=True):
        """Run a command inside, as a user; gives its output."""
        whole = [
            "chroot", f"--userspec={user}", str(self.root), "/usr/bin/env", "-i", f"PATH={PATH}",
            f"HOME=/home/{user}", f"USER={user}", "LANG=C.UTF-8", "/bin/sh", "-c",
            'cd /data; exec "$@"', "sh", *command,
        ]  # fmt: skip
        return subprocess.run(whole, capture_output=True, text=True, check=check).stdout

    def log(self, name):
        """What a daemon logged."""
        path = self.root / "var/log/condor" / name
        return path.read_text(errors="replace") if path.exists() else ""


# The lock that the process with the pool holds: there is one root directory for all of them.
_held = []


def start(options=(), lines=lambda: "", user="condor", stores=False):
    """A pool with our hooks; raises ``Unavailable``. Waits while another process has one.

    ``lines`` gives more configuration, once the root directory is there; the daemons run as a
    ``user``, or as root with that of HTCondor. ``stores``: its hooks read stores.
    """
    if os.geteuid() != 0:
        raise Unavailable("HTCondor in a root directory of its own needs root")
    if shutil.which("mmdebstrap") is None:
        raise Unavailable("mmdebstrap is not installed")
    _hold()
    try:
        return _started(options, lines, user, stores=stores)
    except BaseException:
        stop()
        raise


def stop():
    """Stop the pool of this process, and let another process start one."""
    if _held:
        _stop()
        _held.pop().close()


@contextmanager
def tools():
    """The commands of HTCondor without daemons, as a function; raises ``Unavailable``."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        raise Unavailable("a root directory with HTCondor needs root and mmdebstrap")
    _hold()
    try:
        _make()
        _clear()
        yield _asked
    finally:
        _held.pop().close()


def _asked(*command, stdin=""):
    """What a command inside prints; its errors with it."""
    return subprocess.run(
        ["chroot", str(PLACE), "/usr/bin/env", "-i", f"PATH={PATH}", "HOME=/root", *command],
        input=stdin, capture_output=True, text=True, check=False, timeout=HANG,
    )  # fmt: skip


def _hold():
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    _held.append(PLACE.with_suffix(".lock").open("w"))
    fcntl.flock(_held[-1], fcntl.LOCK_EX)


def _started(options, lines, user, stores):
    _make()
    if stores:
        _newer()
    _mount()
    _install(options, lines, user)
    pool = Pool(PLACE)
    environment = {"PATH": PATH, "HOME": "/root"}
    subprocess.run(
        ["chroot", f"--userspec={'root' if user == 'condor' else user}", str(PLACE),
         "condor_master", "-pidfile", "/run/condor/master.pid"],
        check=True, env=environment,
    )  # fmt: skip
    if not until(
        lambda: pool.run("condor_status", "-af", "Name", check=False).strip(), going=_inside
    ):
        raise Unavailable(f"HTCondor does not start: {pool.log('MasterLog')[-500:]}")
    return pool


def _stop():
    """Stop what runs inside, and take the mounts away."""
    master = PLACE / "run/condor/master.pid"
    inside = _inside()
    if master.exists() and int(master.read_text()) in inside:
        os.kill(int(master.read_text()), signal.SIGQUIT)
    # Nothing that a pool of tests has is worth more patience.
    if not until(lambda: not _inside(), seconds=2):
        for pid in _inside():
            with suppress(ProcessLookupError):  # it has ended in the meantime
                os.kill(pid, signal.SIGKILL)
        until(lambda: not _inside())
    for name in ("proc", "dev", ""):
        # Lazily: a process that has just ended may still hold it for a moment.
        while _is_mounted(PLACE / name):
            subprocess.run(["umount", "--lazy", str(PLACE / name)], check=True)


def _make():
    """The root directory, with the packages of Debian 13 in it."""
    if (PLACE / "usr/sbin/condor_master").exists():
        return
    site = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)"], capture_output=True, text=True,
        check=False,
    ).stdout  # fmt: skip
    sites = [line for line in site.splitlines() if "security" not in line]
    made = subprocess.run(
        [
            "mmdebstrap", "--variant=apt", f"--include={','.join(PACKAGES)}",
            '--aptopt=APT::Install-Recommends "false"', "--dpkgopt=path-exclude=/usr/share/doc/*",
            "--dpkgopt=path-exclude=/usr/share/man/*",
            '--essential-hook=printf "#!/bin/sh\\nexit 101\\n" > "$1/usr/sbin/policy-rc.d"; '
            'chmod 755 "$1/usr/sbin/policy-rc.d"',
            "trixie", str(PLACE), *sites[:1],
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if made.returncode:
        shutil.rmtree(PLACE, ignore_errors=True)
        raise Unavailable(f"mmdebstrap: {made.stderr.strip().splitlines()[-1:]}")


def _newer():
    """What Debian has in a version that reads no store of ours; raises ``Unavailable``."""
    version = _inside_run("python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    target = PLACE / f"usr/local/lib/python{version.strip()}/dist-packages"
    if not (target / "zstandard").exists():
        made = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", f"--target={target}",
             f"--python-version={version.strip()}", "--only-binary=:all:", "zstandard>=0.24"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            raise Unavailable(f"zstandard for a store: {made.stderr.strip().splitlines()[-1:]}")


def _mount():
    """A starter wants a mount point for its root, and /proc."""
    _stop()
    for command, name in (
        (["mount", "--bind", str(PLACE), str(PLACE)], ""),
        (["mount", "-t", "proc", "proc", str(PLACE / "proc")], "proc"),
        (["mount", "--bind", "/dev", str(PLACE / "dev")], "dev"),
    ):
        if not _is_mounted(PLACE / name) and subprocess.run(command, check=False).returncode:
            raise Unavailable(f"{' '.join(command)} is not allowed here")


def _is_mounted(path):
    """Whether something is mounted there, also another place of the same file system."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return any(line.split()[4] == str(path) for line in lines)


def _install(options, lines, user):
    """Our command, the hooks, users and the configuration."""
    for name in ("data", "opt"):
        shutil.rmtree(PLACE / name, ignore_errors=True)
        (PLACE / name).mkdir()
    for name in ("sssjob", "schemas", "xslt"):
        shutil.copytree(ROOT / name, PLACE / "opt" / name)
    os.chmod(PLACE / "data", 0o1777)
    program = PLACE / "usr/local/bin/sssjob"
    program.write_text('#!/bin/sh\nexec /usr/bin/python3 -m sssjob "$@"\n')
    (PLACE / "usr/lib/python3/dist-packages/sssjob.pth").write_text("/opt\n")
    program.chmod(0o755)
    gpus = PLACE / "usr/local/libexec/sssjob-gpus"
    gpus.write_text(GPUS)
    gpus.chmod(0o755)
    if not (PLACE / "home/alice").exists():
        _inside_run("useradd", "-m", "-s", "/bin/bash", "alice")
    _clear(user)
    ours = _inside_run(
        "sssjob", "condor", "config", "--documents", "/data/jobs", "--write-hooks",
        "--hooks", "/usr/local/libexec/sssjob", "--every-job",
        "--cron", "--set hs06=42.5", *HURRIED, *options,
    )  # fmt: skip
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A shared port is the one that others find.
    text = CONFIGURATION.format(port=port) + ours + HURRY + lines()
    (PLACE / "etc/condor/config.d/99-test").write_text(text)


def _clear(user="condor"):
    """What HTCondor writes into, empty, and this machine in its hosts: a new root has neither."""
    (PLACE / "etc/hosts").write_text(f"127.0.0.1 localhost {socket.gethostname()}\n")
    for name in ("run/condor", "run/lock/condor", "var/lib/condor/perjob", "var/lib/condor/execute",
                 "var/spool/condor", "var/log/condor", "data/jobs"):  # fmt: skip
        shutil.rmtree(PLACE / name, ignore_errors=True)
        (PLACE / name).mkdir(parents=True)
        _inside_run("chown", f"{user}:{user}", f"/{name}")


def inside(*command):
    """Run a command in the root directory, as root and without daemons; gives its output."""
    return _inside_run(*command)


def _inside_run(*command):
    environment = {"PATH": f"/usr/local/bin:{PATH}", "HOME": "/root", "LANG": "C.UTF-8"}
    return subprocess.run(
        ["chroot", str(PLACE), *command], check=True, capture_output=True, text=True,
        env=environment,
    ).stdout  # fmt: skip


def _inside():
    """The processes whose root directory is ours."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                alive = "\nState:\tZ" not in (entry / "status").read_text()
                if alive and os.readlink(entry / "root") == str(PLACE):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found
