"""``sssjob condor reply-fetch``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "reply-fetch",
    """Learn whether the slot took the job; a job that is rejected is given away again.

    Standard input is the ad of the job, a line of five hyphens, and the ad of the slot.""",
    """\b
Example:
  sssjob condor reply-fetch --jobs /var/lib/sssjob/jobs accept < ads

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
