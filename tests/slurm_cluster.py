"""A real Slurm for tests: two nodes on this machine, with the accounting that sacct needs.

munged, mariadbd, slurmdbd, slurmctld and two slurmd run as children, all state in one directory.
Jobs need no control groups; processors and memory of the nodes need not be there.
"""

import os
import re
import socket

from daemons import Place, Unavailable, needed, ports

NODES = ("n1", "n2")
PROGRAMS = ("munged", "mariadbd", "mariadb-install-db", "slurmdbd", "slurmctld", "slurmd", "sbatch",
            "sacct", "sacctmgr", "scontrol")  # fmt: skip
CPUS, MEMORY = 8, 4000  # of each node; memory in MiB

CONFIGURATION = """\
ClusterName=sssjob
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket,cred_expire=20
CredType=cred/munge
{binding}StateSaveLocation={root}/state
SlurmctldPidFile={root}/log/slurmctld.pid
SlurmdPidFile={root}/log/slurmd-%n.pid
SlurmdLogFile={root}/log/slurmd-%n.log
SlurmdSpoolDir={root}/spool-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/{task}
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=50
KillWait=2
ReturnToService=2
PropagateResourceLimits=NONE
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={root}/munge/socket
NodeName=DEFAULT TmpDisk=10
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs={cpus} RealMemory={memory}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs={cpus} RealMemory={memory}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=10 State=UP
"""
DATABASE = """\
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket
DbdHost={host}
DbdAddr=127.0.0.1
{binding}DbdPort={dbd}
SlurmUser=root
PidFile={root}/log/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=slurm
StoragePass=test
StorageLoc=slurm
"""
GRANTS = """
create database slurm;
create user 'slurm'@'127.0.0.1' identified by 'test';
grant all on slurm.* to 'slurm'@'127.0.0.1';
"""


def start(lines=lambda place: (), inside=(), outside=(), *, limits=False):
    """A cluster that is up; ``lines`` gives more of slurm.conf.

    ``inside`` are the words before all programs but those ``outside``. With ``limits`` control
    groups of version 1 limit the memory of jobs. Raises ``Unavailable``.
    """
    needed(*PROGRAMS)
    place = Place("slurm", inside, outside)
    try:
        _start(place, lines, limits)
    except BaseException:
        place.stop()
        raise
    return place


def _start(place, lines, limits):
    root = place.root
    place.make("munge", "state", "etc", "log", "work", "spool-n1", "spool-n2")
    names = ("ctld", "dbd", "first", "second", "sql")
    values = dict(zip(names, ports(len(names)), strict=True))
    host = socket.gethostname().partition(".")[0]
    values |= {"root": root, "host": host, "cpus": CPUS, "memory": MEMORY}
    values["binding"] = _binding()
    values["task"] = "cgroup" if limits else "none"
    _munge(place)
    _database(place, values["sql"])
    (root / "etc/slurm.conf").write_text(
        CONFIGURATION.format(**values) + "".join(f"{line}\n" for line in lines(place))
    )
    if int(re.search(r"[0-9]+", place.run("slurmctld", "-V"))[0]) >= 23:
        # Later ones do not start without control groups unless they are told to.
        groups = "cgroup/v1\nConstrainRAMSpace=yes" if limits else "disabled"
        (root / "etc/cgroup.conf").write_text(f"CgroupPlugin={groups}\n")
    (root / "etc/slurmdbd.conf").touch(0o600)
    (root / "etc/slurmdbd.conf").write_text(DATABASE.format(**values))
    place.environment["SLURM_CONF"] = str(root / "etc/slurm.conf")
    place.daemon("slurmdbd", "-D")
    place.answers("sacctmgr", "-n", "show", "cluster")
    place.run("sacctmgr", "-i", "add", "cluster", "sssjob", check=False)
    place.daemon("slurmctld", "-D")
    place.answers("scontrol", "ping", holds=lambda printed: "is UP" in printed)
    for node in NODES:
        place.daemon("slurmd", "-D", "-N", node)
    place.answers(
        "sinfo",
        "-h",
        "-N",
        "-p",
        "main",
        "-o",
        "%t",
        holds=lambda printed: printed.split() == ["idle", "idle"],
    )


def _munge(place):
    root = place.root / "munge"
    (root / "key").touch(0o600)
    (root / "key").write_bytes(os.urandom(128))
    place.daemon(
        "munged", "--foreground", "--force", f"--key-file={root}/key", f"--socket={root}/socket",
        f"--pid-file={root}/pid", f"--seed-file={root}/seed", f"--log-file={root}/log",
        "--num-threads=2",
    )  # fmt: skip
    place.answers("munge", "-S", f"{root}/socket", "-n")


def _database(place, port):
    data, own = place.root / "sql", place.root / "sql-tmp"
    own.mkdir()  # of two that start at once, one would meet tables of the other in /tmp
    place.run(
        "mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db",
        "--auth-root-authentication-method=normal", f"--tmpdir={own}",
    )  # fmt: skip
    socket_ = place.root / "sql.socket"
    place.daemon(
        "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={socket_}",
        "--bind-address=127.0.0.1", f"--port={port}", "--innodb-flush-log-at-trx-commit=0",
        "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900", "--skip-name-resolve",
        "--performance-schema=OFF", f"--pid-file={place.root}/sql.pid", f"--tmpdir={own}",
    )  # fmt: skip
    asking = ("mariadb", "--no-defaults", "-uroot", "-S", socket_)
    place.answers(*asking, "-e", "select 1")
    place.run(*asking, stdin=GRANTS)


def _binding():
    """Loopback only, where the name of this machine stands for it."""
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        raise Unavailable("the name of this machine has no address") from None
    only = "CommunicationParameters=NoCtldInAddrAny,NoInAddrAny\n"
    return only if address.startswith("127.") else ""
