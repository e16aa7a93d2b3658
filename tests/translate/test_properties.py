"""Properties of every pair of a writer and a reader."""

import pytest
from hypothesis import given
from translated import JOBS, comes_back, job_of


@pytest.mark.parametrize("target", ["sbatch", "pbs", "torque", "sge", "lsf", "condor", "sss"])
@given(tree=JOBS)
def test_what_is_written_and_read_is_the_same_job(target, tree):
    comes_back(job_of(tree), target)
