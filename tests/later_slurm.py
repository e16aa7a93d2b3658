"""Slurm of Debian 13 for tests, in a root directory made of its packages by mmdebstrap.

It is made once, in about a minute; later runs find it. The servers of munge and SQL are those of
this machine, and so is our own command, whose directories are bound into the root. It takes root
and leave to mount.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from daemons import PROTECTED, Unavailable, needed

ROOT = Path(__file__).parents[1]
PLACE = Path(os.environ.get("SSSJOB_TEST_SLURM", "/var/cache/sssjob-test/slurm"))
PACKAGES = (
    "slurmctld", "slurmd", "slurm-client", "slurmdbd", "slurm-wlm-mysql-plugin",
    "slurm-wlm-basic-plugins", "dash", "coreutils", "util-linux", "mount", "passwd",
    # what our own Python needs
    "libssl3t64", "libffi8", "libsqlite3-0", "libbz2-1.0", "liblzma5", "zlib1g",
)  # fmt: skip
OUTSIDE = ("munged", "munge", "mariadbd", "mariadb", "mariadb-install-db")
GROUPS = Path("/sys/fs/cgroup/memory")  # of version 1: version 2 takes systemd, or a subtree
_BOUND = dict.fromkeys((
    "/dev", "/run", PROTECTED, *((str(GROUPS),) if GROUPS.is_dir() else ()),
    *(str(Path(each).resolve()) for each in (ROOT, sys.prefix, sys.base_prefix)),
))  # fmt: skip


@contextmanager
def root():
    """The words before a command that is to run inside. Raises ``Unavailable``."""
    needed("mmdebstrap", "chroot", "unshare", "nsenter")
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    with PLACE.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _make()
        holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-ec", _mounting()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            if holder.stdout.readline() != "mounted\n":
                raise Unavailable("nothing can be mounted here")
            yield ("nsenter", f"--mount=/proc/{holder.pid}/ns/mnt", "chroot", str(PLACE))
        finally:
            holder.stdin.close()
            holder.wait()


def limits():
    """Whether Slurm can make control groups here that limit the memory of jobs."""
    place = GROUPS / f"sssjob-{os.getpid()}"
    try:
        place.mkdir()
        place.rmdir()
    except OSError:
        return False
    return True


def _make():
    if not (PLACE / "usr/sbin/slurmctld").exists():
        sites = subprocess.run(
            ["apt-get", "indextargets", "--format", "$(SITE)"], capture_output=True, text=True,
            check=False,
        ).stdout.splitlines()  # fmt: skip
        made = subprocess.run(
            [
                "mmdebstrap", "--variant=extract", f"--include={','.join(PACKAGES)}",
                '--aptopt=APT::Install-Recommends "false"', "trixie", str(PLACE),
                *[each for each in sites if "security" not in each][:1],
            ],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if made.returncode:
            shutil.rmtree(PLACE, ignore_errors=True)
            raise Unavailable(f"mmdebstrap: {made.stderr.strip().splitlines()[-1:]}")
        # What scripts of the packages would do.
        for name in ("bin", "sbin", "lib", "lib64"):
            if not (PLACE / name).exists():
                (PLACE / name).symlink_to(f"usr/{name}")
        for name in ("slurmd", "slurmstepd", "slurmctld"):
            (PLACE / "usr/sbin" / name).symlink_to(f"{name}-wlm")
    for name in ("runuser", "other"):  # of which those of Debian ask for more than is here
        (PLACE / "etc/pam.d" / name).write_text(
            "auth sufficient pam_rootok.so\naccount required pam_permit.so\n"
            "session required pam_permit.so\npassword required pam_deny.so\n"
        )
    for name in ("passwd", "group", "hosts", "hostname"):
        shutil.copy(f"/etc/{name}", PLACE / "etc")


def _mounting():
    """Mounts that only the processes inside see, and that go with the last of them."""
    lines = [f"mkdir -p {PLACE}/proc", f"mount -t proc proc {PLACE}/proc"]
    for place in _BOUND:
        lines += [f"mkdir -p {PLACE}{place}", f"mount --bind {place} {PLACE}{place}"]
    return "\n".join([*lines, "echo mounted", "exec cat"])
