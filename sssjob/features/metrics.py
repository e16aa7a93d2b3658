"""What the jobs of a node use, in OpenMetrics: for the text files of a node's exporter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sssjob.features.samples import Sample


class MetricFamily(NamedTuple):
    """A family of samples: of which value, its name behind ``sssjob_job_``, and explanation."""

    value: str
    name: str
    help: str
    is_counter: bool = False

    @property
    def unit(self) -> str:
        """As OpenMetrics wants it: the end of the name."""
        end = self.name.rpartition("_")[2]
        return end if end in ("seconds", "bytes") else ""


FAMILIES = (
    MetricFamily("cpu_secs", "cpu_seconds", "CPU time that a job has used on this node.", True),
    MetricFamily("cpu_rate", "cpu_busy", "Processors that a job kept busy since the look before."),
    MetricFamily("rss_bytes", "memory_bytes", "Memory that a job has."),
    MetricFamily("max_rss_bytes", "memory_peak_bytes", "The most memory that a job had."),
    MetricFamily("swap_bytes", "swap_bytes", "Swap that a job has."),
    MetricFamily("max_swap_bytes", "swap_peak_bytes", "The most swap that a job had."),
    MetricFamily("cpu_stall_secs", "cpu_stall_seconds", "A process waited for processors.", True),
    MetricFamily("memory_stall_secs", "memory_stall_seconds", "A process waited for memory.", True),
    MetricFamily("io_stall_secs", "io_stall_seconds", "A process waited for a disk.", True),
    MetricFamily("gpu_secs", "gpu_seconds", "Time on engines of GPUs.", True),
    MetricFamily("gpu_bytes", "gpu_memory_bytes", "Memory of GPUs that a job has."),
)


def text(jobs: Mapping[str, Sample], system: str, node: str) -> str:
    """The samples of all jobs; a family that no job has is left out."""
    return "".join(f"{line}\n" for line in (*_lines(jobs, system, node), "# EOF"))


def _lines(jobs: Mapping[str, Sample], system: str, node: str) -> Iterator[str]:
    for family in FAMILIES:
        rows = {
            job: value for job, sample in jobs.items()
            if (value := sample.values().get(family.value)) is not None
        }  # fmt: skip
        if not rows:
            continue
        name = f"sssjob_job_{family.name}"
        yield f"# TYPE {name} {'counter' if family.is_counter else 'gauge'}"
        if family.unit:
            yield f"# UNIT {name} {family.unit}"
        yield f"# HELP {name} {family.help}"
        ending = "_total" if family.is_counter else ""
        for job, value in rows.items():
            labels = {"system": system, "node": node, "job": job}
            inside = ",".join(f'{label}="{_escaped(each)}"' for label, each in labels.items())
            yield f"{name}{ending}{{{inside}}} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
