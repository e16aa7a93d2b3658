"""How much CPU time a prolog and an epilog of Slurm take: the scripts that a site installs.

They are run as slurmd runs them, with programs in the place of scontrol, whose time is not
counted: alone, and with a resident agent. The agent's children tell their own CPU time in the log;
that of the shell and of the client is added. The bound is the start of Python itself.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _measure import program, sssjob

from sssjob.features.batch.scripts import Installation, write

AIMS = {"prolog": 0.030, "epilog": 0.060}  # seconds of CPU time
ENVIRONMENT = {
    "SLURM_JOB_ID": "7", "SLURM_JOB_UID": "0", "SLURMD_NODENAME": "n1", "SLURM_JOB_NUM_NODES": "1",
    "SLURM_JOB_CPUS_PER_NODE": "2", "SLURM_JOB_START_TIME": "1800000000",
    "SLURM_JOB_END_TIME": "1800003600", "PATH": "/usr/bin:/bin",
}  # fmt: skip
DOCUMENT = "<Job><Id>7</Id><Requested><Duration>3600</Duration></Requested></Job>"
_TOLD = re.compile(r" (prolog|epilog) slurm 7: .*, ([0-9.]+) s of CPU time$", re.MULTILINE)


def installed(place: Path, agent: str) -> Path:
    """The scripts, in a directory of their own."""
    name = "agent" if agent else "alone"
    found = Installation(
        "slurm", str(place / name), list(sssjob()), root=str(place / "mjf"),
        jobs=str(place / "jobs"), path=str(place / "bin"), log=str(place / f"{name}.log"),
        agent=agent,
    )  # fmt: skip
    write(found.directory, found.scripts())
    return place / name


def cpu(command: tuple[str, ...]) -> float:
    """The CPU time of a process and of those that it waited for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def told(log: Path, name: str) -> float:
    """What the newest command of a name says of its own CPU time."""
    return [float(seconds) for each, seconds in _TOLD.findall(log.read_text()) if each == name][-1]


def measure(place: Path, rounds: int) -> dict[str, list[float]]:
    """The CPU times of all cases, which take turns."""
    for name in ("bin", "jobs"):
        (place / name).mkdir()
    (place / "bin/scontrol").write_text("#!/bin/sh\necho No reservations in the system\n")
    (place / "bin/scontrol").chmod(0o755)
    socket = place / "run/agent"
    alone, by_agent = installed(place, ""), installed(place, str(socket))
    agent = subprocess.Popen(sssjob("features", "agent", "--socket", socket),
                             stderr=subprocess.DEVNULL)  # fmt: skip
    found: dict[str, list[float]] = {}
    try:
        while not socket.exists():
            time.sleep(0.05)
        for _ in range(rounds):
            found.setdefault("python -c pass", []).append(cpu(program("pass")))
            for scripts in (alone, by_agent):
                (place / "jobs/7.xml").write_text(DOCUMENT)
                for name in AIMS:
                    seconds = cpu((str(scripts / name),))
                    if scripts == by_agent:
                        seconds += told(place / "agent.log", name)
                    found.setdefault(f"{name}, {scripts.name}", []).append(seconds)
    finally:
        agent.terminate()
        agent.wait()
    return found


def main() -> None:
    """Print the medians, and end with 1 where the agent's are above what was aimed for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    protected = "/run" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(dir=protected) as place:
        os.chmod(place, 0o755)
        found = measure(Path(place), rounds)
    bound = statistics.median(found["python -c pass"])
    over = False
    for name, runs in found.items():
        seconds = statistics.median(runs)
        kind, _, how = name.partition(", ")
        aim = AIMS.get(kind) if how == "agent" else None
        over = over or (aim is not None and seconds > aim)
        said = f"  aim {aim * 1000:.0f} ms" if aim else ""
        print(f"{name:16}  {seconds * 1000:6.1f} ms  {seconds / bound:5.2f} times{said}")
    sys.exit(over)


if __name__ == "__main__":
    main()
