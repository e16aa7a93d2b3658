"""Workers of Dask are jobs of a real Grid Engine, and make what one process makes.

Where no cell can be started, the test says why. The same on Slurm is in ``test_audit_live``.
"""

import gridengine_cell
import pytest
from batch_jobs import COMMAND
from daemons import started

pytest.importorskip("dask_jobqueue")

pytestmark = pytest.mark.interop

HEADER = "JobID|Cluster|User|State|Submit|Start|End|ElapsedRaw|NCPUS\n"
LINE = "{}|c|amy|COMPLETED|1700000000|1700000060|1700003660|3600|4\n"
PROFILE = """\
workers = 2
memory_mib = 1000
interface = "lo"
queue = "main.q"
options = ["-l h_vmem=3G"]
"""
ON_CELL = ("--cluster", "sge", "--cluster-profile", "cluster.toml")


@pytest.fixture
def cell():
    place = started(gridengine_cell.start)
    yield place
    place.stop()


def test_dask_works_in_the_queues_of_grid_engine(cell):
    work = cell.root / "work"
    (work / "cluster.toml").write_text(PROFILE)
    (work / "many.txt").write_text(HEADER + "".join(map(LINE.format, range(20_000))))
    for name, words in {"alone": (), "together": ON_CELL}.items():
        cell.run("/bin/sh", "-c", f'cd work && "$0" "$@" > {name}.sss 2> {name}.err', COMMAND,
                 "convert", "--from", "slurm", *words, "many.txt")  # fmt: skip
    assert (work / "together.sss").read_bytes() == (work / "alone.sss").read_bytes()
    assert (work / "together.err").read_text() == (work / "alone.err").read_text()
    accounting = cell.root / "default/common/accounting"
    cell.answers("cat", accounting, holds=lambda text: text.count(":sssjob:") == 2)
