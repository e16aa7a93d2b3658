"""What a job of Flux finds in its environment. A payload imports this: nothing slow.

Flux tells a job who it is; its times and its processors are asked of the instance.
"""

from __future__ import annotations

from sssjob.features.said import Said

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def read(environment: Mapping[str, str]) -> Said:
    """What is said of the job."""
    said = Said("Flux", ("wall_limit_secs", "jobstart_secs"))
    said.text("job_id", "FLUX_JOB_ID", environment)
    return said
