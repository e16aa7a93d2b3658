"""What of Flux stands where in this folder."""

from sssjob.registry import Format, Status, System

_JOBS = "sssjob.systems.flux.accounting"

SYSTEM = System(
    "flux",
    "Flux",
    formats=(Format("flux", _JOBS, "flux jobs --json"),),
    # What it prints of live jobs is what it prints of all.
    status=Status(
        (Format("flux", _JOBS, "flux jobs --json"),), ask=((("flux", "jobs", "-A", "--json"),),)
    ),
)
