"""``sssjob condor prepare-job``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "prepare-job",
    """Write the features of a job and tell it where they are.

    Standard input is the ad of the job; the ad of its slot is the file that $_CONDOR_MACHINE_AD
    names. The directories .mjf/machinefeatures, .mjf/jobfeatures and .mjf/jobstatus appear in the
    scratch directory, and the answer sets their variables in the job's environment. The same
    command serves before and after files are transferred.

    Without --mandatory a job runs without features where they cannot be written, with a message
    in its log.""",
    """\b
Example:
  sssjob condor prepare-job < $_CONDOR_JOB_AD
  sssjob condor prepare-job --features /tmp/tried < job.ad

Exit code: 0, what went wrong is in HookStatusCode; 2 the options are not understood,
or $_CONDOR_SCRATCH_DIR is not set and no --features DIR says where to write.""",
)
