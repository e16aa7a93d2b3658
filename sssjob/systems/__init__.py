"""Batch systems: each has a folder for what it prints, what it accepts, and what its words mean.

A payload may run in any of them, and imports little: no ``system.py``. So what jobs of ours find
stands here, by the name of the system: a variable that only such a job has, and what reads it.
All that are set count: jobs of one system run inside those of others. Each ``system.py`` has its
row as ``inside``.
"""

INSIDE = {
    "condor": ("_CONDOR_JOB_AD", "sssjob.systems.condor.inside:read"),
    "slurm": ("SLURM_JOB_ID", "sssjob.systems.slurm.inside:read"),
    "pbs": ("PBS_JOBID", "sssjob.systems.pbs.inside:read"),
    "lsf": ("LSB_JOBID", "sssjob.systems.lsf.inside:read"),
    "flux": ("FLUX_JOB_ID", "sssjob.systems.flux.inside:read"),
    "gridengine": ("SGE_TASK_ID", "sssjob.systems.gridengine.inside:read"),
}
