"""What a job of Flux finds in its environment. A payload imports this: nothing slow.

Flux tells a job who it is; its times and its processors are asked of the instance.
"""

from __future__ import annotations

from sssjob.features.said import StatedValues
from sssjob.systems.flux import ids

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job."""
    said = StatedValues("Flux", ("wall_limit_secs", "jobstart_secs"))
    id = ids.number(environment.get("FLUX_JOB_ID", "").strip())
    said.text("job_id", "FLUX_JOB_ID", {"FLUX_JOB_ID": id})  # a number, as records have it
    said.spelled = ids.number
    for name in ("FLUX_JOB_SIZE", "FLUX_JOB_NNODES"):
        said.whole(name, environment)  # of all its nodes; what is none is told
    return said
