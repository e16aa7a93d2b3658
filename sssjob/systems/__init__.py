"""Batch systems: each has a folder for what it prints, what it accepts, and what its words mean.

A payload may run in any of them, and imports little: ``INSIDE`` names the module that reads what
a job finds, by a variable that only such a job has. The first one that is set counts.
"""

INSIDE = (
    ("_CONDOR_JOB_AD", "sssjob.systems.condor.inside"),
    ("SLURM_JOB_ID", "sssjob.systems.slurm.inside"),
    ("PBS_JOBID", "sssjob.systems.pbs.inside"),
    ("LSB_JOBID", "sssjob.systems.lsf.inside"),
    ("FLUX_JOB_ID", "sssjob.systems.flux.inside"),
    ("SGE_TASK_ID", "sssjob.systems.gridengine.inside"),
)
