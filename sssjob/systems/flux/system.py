"""What of Flux stands where in this folder."""

from sssjob.registry import Format, System

SYSTEM = System(
    "flux", "Flux", formats=(Format("flux", "sssjob.systems.flux.accounting", "flux jobs --json"),)
)
