"""A TaskDistribution says the same to layouts, features, ads and each target."""

import pytest
from test_job_totals import TARGETS
from translated import requested, wrapped

from sssjob import layout, loads
from sssjob.features.derive import derive
from sssjob.model import Property
from sssjob.systems.condor.task_groups import to_ads
from sssjob.task_distribution import read
from sssjob.translate import Settings, translate

# fmt: off
TEXTS = [  # the text, its type, and how many tasks, nodes and processors four tasks are with it
    ("2",             "TasksPerNode",      (4, 2, 4)),
    (" 2\n",          "TasksPerNode",      (4, 2, 4)),
    ("+2",            "TasksPerNode",      (4, 2, 4)),
    ("2",             "",                  (4, 2, 4)),
    ("2",             "ProcessorsPerTask", (4, None, 8)),
    ("RoundRobin",    "Rule",              (4, None, 4)),
    ("Snake",         "",                  (4, None, 4)),
    ("2",             "Rule",              (4, None, 4)),
    ("{0,1}{2}{3}",   "Rule",              (4, None, 4)),
    ("{0,1}{2}{3}",   "Geometry",          (4, 3, 4)),
    ("{1,2}{3}{4}",   "",                  (4, 3, 4)),
    ("{1,2}{3}{5,4}", "Geometry",          (5, 3, 5)),
    ("{0}{1}",        "Geometry",          (2, 2, 2)),
    ("{1,2}{,}",      "Geometry",          (4, None, 4)),
    ("{0,1}{1,2}",    "Geometry",          (4, None, 4)),
    ("{5}{6}{7}",     "Geometry",          (4, None, 4)),
    ("{0,1}{2,3}",    "TasksPerNode",      (4, None, 4)),
    ("many",          "TasksPerNode",      (4, None, 4)),
    ("0",             "ProcessorsPerTask", (4, None, 4)),
]
# fmt: on


def job_of(text, kind, where):
    """A job of four tasks: it says their distribution, or its only task group does, or of both."""
    said = f'<TaskDistribution type="{kind}">{text}</TaskDistribution>'
    said = said if kind else said.replace(' type=""', "")
    tasks = "<TaskCount>4</TaskCount>"
    form = {
        "job": f"{tasks}{said}",
        "group": f"<TaskGroup>{tasks}{said}</TaskGroup>",
        "tasks of the job": f"{tasks}<TaskGroup>{said}</TaskGroup>",
        "tasks of the group": f"{said}<TaskGroup>{tasks}</TaskGroup>",
    }
    return loads(wrapped(form[where]))


# decision 981
@pytest.mark.parametrize("where", ["job", "group", "tasks of the job", "tasks of the group"])
@pytest.mark.parametrize(("text", "kind", "wanted"), TEXTS)
def test_a_distribution_is_the_same_for_all_who_read_it(text, kind, wanted, where):
    job = job_of(text, kind, where)
    (unit,) = layout.units(job)
    for laid in layout.layouts(unit.block, unit.path, lenient=True).layouts:  # none of a faulty one
        assert (laid.tasks.value, laid.nodes and laid.nodes.value, laid.processors.value) == wanted
    assert derive(job, starting=True).values["allocated_cpu"] == wanted[2]
    (made,) = to_ads(job)
    hosts = made.ad.get("MinHosts", 1)
    assert hosts == (wanted[1] or 1)
    assert made.ad.get("SSSTotalCpus", made.ad["RequestCpus"] * hosts) == wanted[2]
    for target, read_ in TARGETS.items():
        asked = read_(translate(job, target, Settings(residual=False, unstated="Warn")).text)
        pairs = [*zip(asked, wanted, strict=True)]
        if target == "condor" and wanted[1]:
            pairs.pop()  # rounded up for each machine
        assert all(said == is_ for said, is_ in pairs if None not in (said, is_)), target


@pytest.mark.parametrize("target", TARGETS)
def test_other_counts_than_those_of_a_geometry_are_told(target):
    job = loads(wrapped(
        "<TaskCount>4</TaskCount><TaskDistribution>{0}{1}</TaskDistribution>"
        + requested("<NodeCount>3</NodeCount>")
    ))  # fmt: skip
    told = {
        loss.path.rpartition("/")[2]
        for loss in translate(job, target, Settings(residual=False, unstated="Warn")).losses
    }
    assert {"TaskCount", "NodeCount"} <= told


@pytest.mark.parametrize(
    ("text", "kind", "codes"),
    [
        ("2", "", ["W-TYPE"]), ("0", "", ["W-TYPE", "E-TYPE"]), ("x", "TasksPerNode", ["E-TYPE"]),
        ("{1}{1}", "", ["E-COUNTS"]), ("{1}{3}", "", ["E-COUNTS"]), ("{1", "", ["E-TYPE"]),
        ("{" + "1," * 1_000_001 + "}", "", ["E-LIMIT"]), ("Snake", "", []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_distribution_is_said(text, kind, codes):
    found = read(Property("TaskDistribution", text, {"type": kind} if kind else {}))
    assert [fault.code for fault in found.faults] == codes
