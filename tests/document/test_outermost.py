"""Which elements of a document are its job objects, and which only have their name."""

import pytest

from sssjob import spec
from sssjob.document.outermost import (
    are_theirs,
    is_foreign,
    is_mistaken,
    is_told,
    may_hold_strangers,
    strangers,
    told,
)
from sssjob.document.parsing import parse

OURS = spec.NAMESPACE
THEIR = '<Job xmlns="urn:x"{}><Id>2</Id></Job>'


@pytest.mark.parametrize(
    "head, name, certain",
    [
        pytest.param(b"<Job><Id>1</Id></Job>", "Job", True, id="a job"),
        pytest.param(b"<Job>", "Job", True, id="behind a whole tag nothing may come for long"),
        pytest.param(b"<Job ", "Job", False, id="a tag that is cut off"),
        pytest.param(b'<Job a="1"', "Job", False, id="one that is cut off in an attribute"),
        pytest.param(b"<Job><", "Job", False, id="a name that has to come"),
        pytest.param(b"<Job><Job_I", "Job", False, id="a name that may become another"),
        pytest.param(b"<Job><Job_Id>", "", False, id="a job of a batch system"),
        pytest.param(b"<Data><Job><Job_Id>1", "", False, id="one in another element"),
        pytest.param(b"<JobGroup ", "JobGroup", True, id="a group, which is ours in any case"),
        pytest.param(b"<x:Jobs ", "Jobs", True, id="a list with a prefix"),
        pytest.param(b"<Data><JobGroup", "", False, id="a name that may go on"),
        pytest.param(b"<JobDefinition ", "", False, id="jobs of JSDL"),
        pytest.param(b"words <Job>", "", False, id="words"),
        pytest.param(b"", "", False, id="nothing"),
    ],
)
def test_what_comes_first_tells_whose_jobs_these_are(head, name, certain):
    assert told(head) == name
    assert is_told(head) is certain


def test_jobs_of_a_batch_system_are_theirs():
    assert are_theirs(b"<Data><Job><Job_Id>1.srv</Job_Id>")
    assert not are_theirs(b"<Data><Job><Id>1</Id>")
    assert not are_theirs(b"")


@pytest.mark.parametrize(
    "text, found",
    [
        pytest.param(THEIR, 1, id="the root"),
        pytest.param(f"<JobGroup>{THEIR}</JobGroup>", 1, id="one in a group, as Reject is usual"),
        pytest.param(
            "<JobGroup>" + THEIR.replace("{}", " awarenessPolicy='{}'") + "</JobGroup>", None,
            id="by its own policy",
        ),
        pytest.param(
            "<JobGroup awarenessPolicy='{}'>" + THEIR.replace("{}", "") + "</JobGroup>", None,
            id="by that of its group",
        ),
        pytest.param(
            "<JobGroup awarenessPolicy='{}'>"
            + THEIR.replace("{}", " awarenessPolicy='Reject'") + "</JobGroup>", 1,
            id="by its own before that of its group",
        ),
        pytest.param(f"<Jobs><Job/>{THEIR}</Jobs>", 1, id="one beside jobs"),
        pytest.param(f"<Jobs>{THEIR}{THEIR}</Jobs>", 2, id="two"),
        pytest.param('<Job xmlns="urn:x"><Job xmlns=""/></Job>', 0, id="a wrapper of jobs"),
        pytest.param(f'<JobGroup xmlns="urn:x">{THEIR}</JobGroup>', 1, id="one in another"),
        pytest.param(f"<Job>{THEIR}</Job>", 0, id="what a job holds"),
        pytest.param(f"<TaskGroup>{THEIR}</TaskGroup>", 0, id="what a part of a job holds"),
        pytest.param('<TaskGroup xmlns="urn:x"/>', 1, id="a root that is called like a part"),
        pytest.param('<Jobs><TaskGroup xmlns="urn:x"/></Jobs>', 0, id="such a one further inside"),
        pytest.param(f'<Job xmlns="{OURS}"/>', 0, id="a job object"),
        pytest.param("<Data><Other/></Data>", 0, id="none at all"),
    ],
)  # fmt: skip
def test_strangers_have_the_name_of_a_job_object_and_are_none(text, found):
    """Where it depends on a policy, only what must be understood is one."""
    for policy, count in (("Reject", 1), ("Warn", 0), ("Ignore", 0)):
        root = parse(text.replace("'{}'", f"'{policy}'").replace("{}", ""))
        assert len([*strangers(root)]) == (count if found is None else found)


@pytest.mark.parametrize(
    "data, around, may",
    [
        (b"<JobGroup xmlns='urn:x'/>", b"", True),
        (b"<JobGroup/>", b"<E xmlns='urn:x'>", True),
        (b"<JobGroup/>", b"", False),
        (b"<Job xmlns='urn:x'/>", b"<E xmlns='urn:x'>", False),
    ],
)
def test_only_a_group_where_a_namespace_is_named_may_hold_strangers(data, around, may):
    assert may_hold_strangers(data, around) is may


@pytest.mark.parametrize(
    "text, mistaken, foreign",
    [
        pytest.param("<Data/>", False, False, id="an empty wrapper"),
        pytest.param("<Data> \n<!-- a --></Data>", False, False, id="one with a comment"),
        pytest.param("<Data>words</Data>", True, True, id="words"),
        pytest.param("<project><target/></project>", True, True, id="something else"),
        pytest.param("<job/>", True, False, id="a name in other letters"),
        pytest.param("<taskgroup/>", True, False, id="that of a part in other letters"),
        pytest.param("<data><job/></data>", True, False, id="one further inside"),
        pytest.param("<data><x><y:JOBS xmlns:y='urn:y'/></x></data>", True, False, id="a list"),
        pytest.param("<data><taskgroup/></data>", True, True, id="a part of none"),
    ],
)
def test_a_document_without_job_objects_is_a_mistake_or_about_something_else(
    text, mistaken, foreign
):
    root = parse(text)
    assert is_mistaken(root) is mistaken
    assert is_foreign(root) is foreign
