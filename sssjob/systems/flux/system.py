"""What of Flux stands where in this folder."""

from sssjob.registry import Format, Inside, Sign, Status, System, SystemWords, Target
from sssjob.systems import INSIDE

_JOBS = "sssjob.systems.flux.accounting"

SYSTEM = System(
    "flux",
    "Flux",
    formats=(Format("flux", _JOBS, "flux jobs --json"),),
    # What it prints of live jobs is what it prints of all.
    status=Status(
        (Format("flux", _JOBS, "flux jobs --json"),), ask=((("flux", "jobs", "-A", "--json"),),)
    ),
    script="sssjob.systems.flux.allocation:FluxAllocation",
    site_tests="sssjob.systems.flux.site_tests:FluxSiteTests",
    installation="sssjob.systems.flux.scripts:FluxScripts",
    submission="sssjob.systems.flux.jobspec:V1",
    outcomes=("result",),
    control="sssjob.systems.flux.control:CONTROL",
    targets=(
        Target("flux", "sssjob.systems.flux.jobspec:V1", "jobspecs of Flux (RFC 25)", Sign.NAME),
        Target("flux-canonical", "sssjob.systems.flux.jobspec:CANONICAL_FORM",
               "canonical jobspecs of Flux (RFC 14)", Sign.NAME),
    ),
    inside=Inside(*INSIDE["flux"]),
    variables=("FLUX_URI",),
    words=SystemWords(aborted=("TIMEOUT*",)),
)  # fmt: skip
