"""The directories of a job below those of its node: made before it starts, taken away behind it.

``ROOT/machinefeatures`` is of all jobs, ``ROOT/ID/jobfeatures`` of one, and ``ROOT/ID/jobstatus``
is what the job itself may write. Their names are the values of the variables that a job finds.
"""

from __future__ import annotations

import errno
import os
import pwd
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sssjob.features.keys import Value
from sssjob.features.write import write


@dataclass(frozen=True, slots=True)
class Directories:
    """Where the directories of one job are; none of them need be there."""

    root: Path
    job_id: str

    @property
    def job(self) -> Path:
        """What is of this job alone."""
        return self.root / self.job_id

    @property
    def jobfeatures(self) -> Path:
        """$JOBFEATURES."""
        return self.job / "jobfeatures"

    @property
    def machinefeatures(self) -> Path:
        """$MACHINEFEATURES."""
        return self.root / "machinefeatures"

    @property
    def jobstatus(self) -> Path:
        """$JOBSTATUS."""
        return self.job / "jobstatus"

    def variables(self) -> dict[str, str]:
        """The variables of the directories that are there."""
        places = {
            "JOBFEATURES": self.jobfeatures,
            "MACHINEFEATURES": self.machinefeatures,
            "JOBSTATUS": self.jobstatus,
        }
        return {name: str(place) for name, place in places.items() if place.is_dir()}

    def make(self, values: Mapping[str, Value], user: str = "") -> None:
        """Make those of a job anew; ``user`` owns the status: a name, or a number.

        Raises ``OSError``, and ``LookupError`` for a user who is not known.
        """
        os.makedirs(self.root, 0o755, exist_ok=True)
        if self.job.is_dir():  # of an earlier run of this job
            self.remove()
        self.job.mkdir(0o755)
        self.job.chmod(0o755)
        write(values, self.jobfeatures)
        self.jobstatus.mkdir(0o755)
        self.jobstatus.chmod(0o755)
        if user and os.geteuid() == 0:
            owner = int(user) if user.isdigit() else pwd.getpwnam(user).pw_uid
            os.chown(self.jobstatus, owner, -1, follow_symlinks=False)

    def remove(self) -> None:
        """Take away what is of this job; nothing, if it is not there."""
        if self.job.is_dir() and not self.job.is_symlink():
            shutil.rmtree(self.job)


def make_machine(root: Path, values: Mapping[str, Value]) -> None:
    """Make the directory of the machine, whole, unless it is there: others may have changed it."""
    place = root / "machinefeatures"
    if place.is_dir() or not values:
        return
    root.mkdir(0o755, parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=".machinefeatures.", dir=root))
    try:
        made.chmod(0o755)
        write(values, made)
        made.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise  # else another job that starts at this moment was quicker
    finally:
        shutil.rmtree(made, ignore_errors=True)
