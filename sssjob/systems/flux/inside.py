"""What a job of Flux finds in its environment. A payload imports this: nothing slow.

Flux tells a job who it is; its times and its processors are asked of the instance.
"""

from __future__ import annotations

from sssjob.features.said import StatedValues

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> StatedValues:
    """What is said of the job."""
    said = StatedValues("Flux", ("wall_limit_secs", "jobstart_secs"))
    said.text("job_id", "FLUX_JOB_ID", environment)
    return said
