"""A distribution that is not ours, with a batch system: our own Slurm under other names."""

import re
import shutil
from pathlib import Path

from sssjob import registry
from sssjob.systems import slurm

PACKAGE, DISTRIBUTION = "mirrored_system", "mirrored"

# Ours, and what the same is called there; the longer ones first.
NAMES = {
    "slurm-jobcomp": "mirror-jobcomp", "slurm-json": "mirror-json", "slurmrest": "mirrorrest",
    "squeue-json": "mirror-queue", "scontrol": "mirror-text", "sbatch": "mbatch",
    "slurm": "mirror",
}  # fmt: skip
# Where these are names of ours, and not commands or words that Slurm prints.
_PLACES = {
    "system.py": r'(?<=Format\("){0}|(?<=Target\("){0}|(?<=^    "){0}(?=",$)',
    "submission.py": r'(?<=name="){0}|(?<=Manager\("){0}',
    "rest.py": r'(?<=name = "){0}',
    "control.py": r'(?<=target="){0}',
}
INFO = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


def mirror(folder):
    """Write the distribution into a directory, as if it were installed there."""
    home = folder / PACKAGE
    shutil.copytree(Path(slurm.__file__).parent, home, ignore=shutil.ignore_patterns("__pycache__"))
    for path in home.rglob("*.py"):
        text = path.read_text().replace("sssjob.systems.slurm", PACKAGE)
        places = _PLACES.get(path.name) if path.parent == home else None
        for ours, theirs in NAMES.items() if places else ():
            text = re.sub(places.format(f'{ours}(?=")'), theirs, text, flags=re.MULTILINE)
        path.write_text(text)
    declared(folder, {registry.SYSTEMS: {"mirror": f"{PACKAGE}.system:SYSTEM"}})


def declared(folder, groups, name=DISTRIBUTION):
    """Write the entry points of a distribution: groups with names and what each stands for."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(INFO.format(name=name))
    lines = (
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in points.items())
        for group, points in groups.items()
    )
    (info / "entry_points.txt").write_text("".join(lines))


def as_ours(text):
    """A text about the system there as it would be about ours."""
    for ours, theirs in NAMES.items():
        text = text.replace(theirs, ours)
    return text
