"""``sssjob condor update-job-info``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "update-job-info",
    """Note what a running job uses.

    Standard input is the ad of the job with what the starter added. The report goes into the
    spool, which users of jobs may write into, and from there into the document of the job.""",
    """\b
Example:
  sssjob condor update-job-info --jobs /var/lib/sssjob/jobs < job.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
