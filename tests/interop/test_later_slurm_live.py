"""The conformance kit over a Slurm that is later than that of this machine: 24.11 of Debian 13.

Where it cannot be started, the test says why.
"""

import later_slurm
import pytest
import slurm_cluster
from batch_jobs import install, proven
from daemons import Unavailable

pytestmark = pytest.mark.interop


@pytest.fixture
def cluster():
    def lines(place):
        found = install(place, "slurm", "mjf/%n")
        return [line for line in found if "=" in line.partition(" ")[0]]

    try:
        with later_slurm.root() as inside:
            place = slurm_cluster.start(lines, inside, later_slurm.OUTSIDE)
            try:
                yield place
            finally:
                place.stop()
    except Unavailable as error:
        pytest.skip(str(error))


def test_the_conformance_kit_proves_a_later_slurm(cluster):
    version = cluster.run("slurmctld", "-V")
    assert int(version.split()[1].partition(".")[0]) >= 24
    rows = proven(cluster, "slurm")
    assert len(rows) == 12
    assert [row for row in rows if row["outcome"] != "holds"] == []
