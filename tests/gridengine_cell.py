"""A real Grid Engine for tests: one host, with queues whose prolog and epilog are ours.

qmaster and execd run as children. They listen on every address and trust hosts by name, so this is
for machines that nobody else reaches; all state is in one directory.
"""

import re
import socket
from pathlib import Path

from daemons import Place, needed, ports

PROGRAMS = Path("/usr/lib/gridengine")  # where Debian has what is not for users
SHARED = Path("/usr/share/gridengine")
STATE = Path("/var/lib/gridengine")
HOST = "localhost"  # the name that 127.0.0.1 has; others are aliases of it
SLOTS = 8

BOOTSTRAP = """\
admin_user none
default_domain none
ignore_fqdn false
spooling_method classic
spooling_lib libspoolc
spooling_params {root}/default/common;{root}/qmaster
binary_path /usr/sbin
qmaster_spool_dir {root}/qmaster
security_mode none
listener_threads 2
worker_threads 2
scheduler_threads 1
"""
QUICK = {
    "execd_spool_dir": "{root}/execd",
    "reporting_params": "accounting=true reporting=false flush_time=00:00:01 "
                        "accounting_flush_time=00:00:00 joblog=false sharelog=00:00:00",
    "load_report_time": "00:00:02",
    "execd_params": "PDC_INTERVAL=1",
    "min_uid": "0",
    "min_gid": "0",
    "mailer": "/bin/true",
    "administrator_mail": "none",
}  # fmt: skip
SCHEDULER = {
    "schedule_interval": "0:0:1", "flush_submit_sec": "1", "flush_finish_sec": "1",
    "load_formula": "slots", "job_load_adjustments": "NONE",
}  # fmt: skip
ENVIRONMENT = """\
pe_name smp
slots 99
user_lists NONE
xuser_lists NONE
start_proc_args NONE
stop_proc_args NONE
allocation_rule $pe_slots
control_slaves FALSE
job_is_first_task TRUE
urgency_slots min
qsort_args NONE
accounting_summary TRUE
"""


def start(queues=lambda place: {"main.q": {}}):
    """A cell that is up; ``queues`` gives them by name, each with its attributes.

    Raises ``Unavailable``.
    """
    needed("qsub", "qstat", "qconf", str(PROGRAMS / "sge_qmaster"), str(PROGRAMS / "sge_execd"))
    place = Place("gridengine")
    try:
        _start(place, queues)
    except BaseException:
        place.stop()
        raise
    return place


def _start(place, queues):
    root, common = place.root, place.root / "default/common"
    place.make("default/common", "qmaster/job_scripts", "execd", "log", "work")
    for name in ("bin", "lib", "util", "utilbin"):
        (root / name).symlink_to(STATE / name)
    qmaster, execd = ports(2)
    place.environment |= {
        "SGE_ROOT": str(root), "SGE_CELL": "default", "SGE_QMASTER_PORT": str(qmaster),
        "SGE_EXECD_PORT": str(execd), "SGE_SINGLE_LINE": "1",
        "SGE_ND": "1",  # in the foreground
    }  # fmt: skip
    made = queues(place)  # may install scripts, which keep the ports that stand there
    names = dict.fromkeys((HOST, socket.gethostname(), socket.gethostname().partition(".")[0]))
    (common / "host_aliases").write_text(" ".join(names) + "\n")
    (common / "act_qmaster").write_text(f"{HOST}\n")
    (common / "bootstrap").write_text(BOOTSTRAP.format(root=root))
    _spool(place, f"{common};{root}/qmaster")
    place.daemon(PROGRAMS / "sge_qmaster")
    place.answers("qconf", "-sh")
    _objects(place, made)
    place.daemon(PROGRAMS / "sge_execd")
    place.answers("qstat", "-f", holds=_is_open)


def _is_open(printed):
    """Whether no queue has a state that keeps jobs away: a sixth column."""
    lines = [line.split() for line in printed.splitlines() if "@" in line]
    return bool(lines) and all(len(line) == 5 for line in lines)


def _spool(place, where):
    root = place.root
    place.run(PROGRAMS / "spoolinit", "classic", "libspoolc", where, "init")
    text = _with((SHARED / "default-configuration").read_text(), QUICK)
    (root / "configuration").write_text(text.format(root=root) if "{root}" in text else text)
    for words in (
        ("configuration", root / "configuration"),
        ("complexes", SHARED / "util/resources/centry"),
        ("usersets", SHARED / "util/resources/usersets"),
        ("managers", "root"),
    ):
        place.run(PROGRAMS / "spooldefaults", *words)


def _objects(place, queues):
    """The host, a parallel environment, and the queues."""
    for option in ("-ah", "-as"):
        place.run("qconf", option, HOST, check=False)
    lists = ("user_lists", "xuser_lists", "projects", "xprojects", "usage_scaling", "load_scaling",
             "report_variables")  # fmt: skip
    values = {"hostname": HOST, "complex_values": "h_vmem=8G", **dict.fromkeys(lists, "NONE")}
    _add(place, "-Ae", "".join(f"{name} {value}\n" for name, value in values.items()))
    complexes = place.run("qconf", "-sc")
    _add(place, "-Mc", re.sub(
        r"^(h_vmem +h_vmem +MEMORY +<= +YES +)NO( +)\S+", r"\1YES\2 100M", complexes, flags=re.M
    ))  # fmt: skip
    _add(place, "-Ahgrp", f"group_name @allhosts\nhostlist {HOST}\n")
    _add(place, "-Ap", ENVIRONMENT)
    _add(place, "-Msconf", _with(place.run("qconf", "-ssconf"), SCHEDULER))
    for name, attributes in queues.items():
        queue = {
            "qname": name, "hostlist": "@allhosts", "qtype": "BATCH", "pe_list": "smp",
            "slots": str(SLOTS), "shell": "/bin/sh", "load_thresholds": "NONE", **attributes,
        }  # fmt: skip
        _add(place, "-Aq", _with(place.run("qconf", "-sq"), queue))


def _with(text, values):
    """Lines of names and values, some of them exchanged."""
    for name, value in values.items():
        text = re.sub(rf"^{name}\s.*$", f"{name} {value}", text, flags=re.M)
    return text


def _add(place, option, text):
    file = place.root / "object"
    file.write_text(text)
    place.run("qconf", option, file)
