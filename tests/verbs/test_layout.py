"""The layouts of a chosen job, as a page or a notebook asks for them."""

import io

import pytest

from sssjob.verbs.layout import layouts, sums
from sssjob.verbs.selection import chosen

ONE, FOUR, NINE = (
    b"<Requested><Processors>%d</Processors></Requested>" % count for count in (1, 4, 9)
)
JOB = (
    b"<Job><Id>7</Id>" + NINE
    + b"<TaskGroup><Name>master</Name><TaskCount>1</TaskCount>" + ONE + b"</TaskGroup>"
    + b"<TaskGroup><Name>slave</Name><TaskCount>4</TaskCount>" + FOUR + b"</TaskGroup></Job>"
)  # fmt: skip


def asked(select=None):
    (found,) = chosen("job.xml", io.BytesIO(JOB), select, on_error=pytest.fail)
    return found


@pytest.mark.parametrize(("select", "tasks"), [(None, [1, 4]), ("slave", [4])])
def test_each_chosen_group_has_a_layout(select, tasks):
    found = [each.as_dict() for each in layouts(asked(select))]
    assert [(each["file"], each["job"], each["tasks"]) for each in found] == [
        ("job.xml", "7", number) for number in tasks
    ]


def test_a_sum_is_held_against_a_whole_job_only():
    assert [(each.file, each.code) for each in sums(asked())] == [("job.xml", "E-COUNTS")]
    assert sums(asked("slave")) == ()
