"""``sssjob condor evict-claim``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "evict-claim",
    """Take back a job whose claim is given up, unless it has ended.

    Standard input is the ad of the job, a line of five hyphens, and the ad of the slot.""",
    """\b
Example:
  sssjob condor evict-claim --jobs /var/lib/sssjob/jobs < ads

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
