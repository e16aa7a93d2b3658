"""``sssjob condor job-exit``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "job-exit",
    """Note how a job ended, and what it used.

    Standard input is the ad of the job with what the starter added. exit and remove complete the
    job, hold holds it, evict lets it be fetched again.""",
    """\b
Example:
  sssjob condor job-exit --jobs /var/lib/sssjob/jobs exit < job.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
