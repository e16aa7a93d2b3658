"""``sssjob condor fetch-work``: a hook of HTCondor."""

from __future__ import annotations

from sssjob.cli.condor.hooking import hook

command = hook(
    "fetch-work",
    """Give a slot the first job that fits it.

    Standard input is the ad of the slot, standard output the ad of a job: one whose alternatives,
    amounts and Requirements the slot satisfies, highest priority first. Nothing is printed if
    there is none. The job is claimed before it is printed, by one slot only.""",
    """\b
Example:
  sssjob condor fetch-work --jobs /var/lib/sssjob/jobs < slot.ad

Exit code: 0, which HTCondor ignores; 2 the options are not understood.""",
)
