"""Properties of every pair of a writer and a reader."""

import pytest
from hypothesis import assume, given
from translated import JOBS, comes_back, job_of

from sssjob import registry
from sssjob.document import loads

BOTH_WAYS = [name for name, row in registry.targets().items() if row.reads and row.writes]


@pytest.mark.parametrize("target", BOTH_WAYS)
@given(tree=JOBS)
def test_what_is_written_and_read_is_the_same_job(target, tree):
    assume(comes_back(job_of(tree), target))


TEXTS = (
    "Name", "Project", "Queue", "QualityOfService", "Partition", "Machine", "Reservation", "Shell",
    "InitialWorkingDirectory", "InputFile", "OutputFile", "ErrorFile", "Architecture",
    "OperatingSystem", "Feature", "NotificationList", "Executable", "Dependency",
)  # fmt: skip


# What only Python, but neither XML nor a batch system, takes for white space or the end of a line.
@pytest.mark.parametrize("sign", ["\x85", "\xa0", "\u2028", "\u3000"])
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("target", BOTH_WAYS)
def test_a_sign_that_is_no_white_space_of_xml_comes_back(target, name, sign):
    runs = "" if name == "Executable" else "<Executable>/bin/true</Executable>"
    for text in (sign, f"{sign}a", f"a{sign}", f"a{sign}b", f"/{sign}", f"a {sign} b"):
        comes_back(loads(f"<Job><Id>1</Id><{name}>{text}</{name}>{runs}</Job>"), target)
