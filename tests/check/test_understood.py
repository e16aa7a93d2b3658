"""What an operation makes of a job object of which it does not understand everything (9.0)."""

import pytest
from draws import examples
from hypothesis import given
from lxml import etree
from strategies import documents, policed

from sssjob import spec
from sssjob.check import awareness
from sssjob.check.awareness import AwarenessPolicy, UnknownKind, around, items, understood
from sssjob.document import dumps, from_tree, loads
from sssjob.errors import InvalidJob, Severity, SSSJobError
from sssjob.model import BLOCKS, Job, JobGroup

ASK, ACT, GRAPH, LAYOUT = awareness.ASK, awareness.ACT, awareness.GRAPH, awareness.LAYOUT
# What is asked, what is left of it, and the paths of what is not understood.
LEFT = [
    ("an element that nobody knows", ACT, "<Job><Id>1</Id><Colour/></Job>",
     "<Job><Id>1</Id></Job>", ["/Job/Colour"]),
    ("an attribute that nobody knows", ACT, "<Job><Id mood='x'>1</Id></Job>",
     "<Job><Id>1</Id></Job>", ["/Job/Id/@mood"]),
    ("an attribute of the container stays with it", ACT, "<Job mood='x'><Id>1</Id></Job>",
     '<Job mood="x"><Id>1</Id></Job>', ["/Job/@mood"]),
    ("a value elsewhere stays, lest its absence means something else", ACT,
     "<Job><Id>1</Id><Dependency condition='OnMoon'>7</Dependency></Job>",
     '<Job><Id>1</Id><Dependency condition="OnMoon">7</Dependency></Job>',
     ["/Job/Dependency/@condition"]),
    ("a value in a request goes, and the request stays", ASK,
     "<Job><Requested><Memory op='APPROX'>1</Memory></Requested></Job>",
     "<Job><Requested><Memory>1</Memory></Requested></Job>", ["/Job/Requested/Memory/@op"]),
    ("And misses nothing that is not understood", ASK,
     "<Job><Requested><Memory>1</Memory><GPU>2</GPU></Requested></Job>",
     "<Job><Requested><Memory>1</Memory></Requested></Job>", ["/Job/Requested/GPU"]),
    ("nor does Or", ASK,
     "<Job><Requested><GPU>2</GPU><Memory conj='Or'>1</Memory></Requested></Job>",
     "<Job><Requested><Memory>1</Memory></Requested></Job>", ["/Job/Requested/GPU"]),
    ("a group of two loses one, and its parentheses", ASK,
     "<Job><Requested><Node>n</Node><Memory conj='And' group='+1'>1</Memory>"
     "<GPU conj='Or' group='-1'>2</GPU></Requested></Job>",
     "<Job><Requested><Node>n</Node><Memory>1</Memory></Requested></Job>",
     ["/Job/Requested/GPU"]),
    ("all of a request goes", ASK, "<Job><Requested><GPU>2</GPU></Requested></Job>",
     "<Job><Requested></Requested></Job>", ["/Job/Requested/GPU"]),
    ("groups that cannot be read stay as they are", ASK,
     "<Job><Requested><Node group='+1'>n</Node><GPU>2</GPU></Requested></Job>",
     '<Job><Requested><Node group="+1">n</Node><GPU group="0" conj="And"></GPU></Requested></Job>',
     ["/Job/Requested/GPU"]),
    ("what matches is asked of requests only", ASK,
     "<Job><Colour/><Id mood='x'>1</Id><Requested><Memory>1</Memory></Requested></Job>",
     '<Job><Colour></Colour><Id mood="x">1</Id><Requested><Memory>1</Memory></Requested></Job>',
     []),
    ("a graph looks at attributes of what it draws only", GRAPH,
     "<Job><Id mood='x'>1</Id><Queue mood='x'>q</Queue><Requested><GPU/></Requested></Job>",
     '<Job><Id>1</Id><Queue mood="x">q</Queue><Requested><GPU></GPU></Requested></Job>',
     ["/Job/Id/@mood"]),
    ("an element within a property counts for all", LAYOUT,
     "<Job><Name mood='x'>n<Colour/></Name></Job>", None, ["/Job/Name/Colour"]),
]  # fmt: skip


@pytest.mark.parametrize("operation, text, left, paths", [row[1:] for row in LEFT],
                         ids=[row[0] for row in LEFT])  # fmt: skip
def test_an_operation_goes_on_with_what_it_understands(operation, text, left, paths):
    known = understood(loads(text), operation)
    assert [item.path for item in known.items] == paths
    if left is not None:
        assert dumps(known.block) == dumps(loads(left))


# The containers, each with those around it in which it may stand.
WITHIN = {
    "Job": (), "JobGroup": (), "JobDefaults": ("JobGroup",), "Requested": ("Job",),
    "Delivered": ("Job",), "TaskGroup": ("Job",), "TaskGroupDefaults": ("Job",),
    "Task": ("Job", "TaskGroup"), "TaskDefaults": ("Job", "TaskGroup"),
}  # fmt: skip
PLACES = [(outer, inner) for outer in WITHIN for inner in BLOCKS if inner not in spec.blocks(outer)]


@pytest.mark.parametrize("outer, inner", PLACES, ids=map(">".join, PLACES))
def test_a_container_where_the_tables_have_none_is_not_understood(outer, inner):
    """Neither where a document is checked, nor by an operation, which goes on without it."""
    tags = [*WITHIN[outer], outer]
    before, after = ("".join(f"<{end}{tag}>" for tag in order)
                     for end, order in (("", tags), ("/", tags[::-1])))  # fmt: skip
    text = f"{before}<{inner}><Id>1</Id></{inner}>{after}"
    known = understood(loads(text))
    assert [(item.path, item.name, item.policy) for item in known.items] == [
        (item.path, item.name, item.policy) for item in items(etree.fromstring(text))
    ] == [(f"/{'/'.join(tags)}/{inner}", inner, AwarenessPolicy.REJECT)]  # fmt: skip
    assert dumps(known.block) == dumps(loads(before + after))


@pytest.mark.parametrize("inner", [inner for outer, inner in PLACES if outer == "JobGroup"])
def test_a_container_that_stands_wrongly_around_a_job_is_judged_with_it(inner):
    group = loads(f"<JobGroup><{inner}/><Job><Id>1</Id></Job></JobGroup>")
    (shared,) = around(group, [job for job in group.blocks(Job) if job.id])
    accepted, (said,) = shared.judged()
    assert (accepted, said.path) == (False, f"/JobGroup/{inner}")


@given(policed())
def test_an_operation_that_looks_at_all_understands_what_a_check_does(root):
    try:
        block = from_tree(root)
    except SSSJobError:
        return

    def told(found):
        """Without values, of which requests have more; a path has the present names."""
        return sorted(item.name for item in found if item.kind is not UnknownKind.VALUE)

    assert told(understood(block).items) == told(items(root))


def test_the_policies_decide_whether_an_operation_goes_on_and_what_is_said():
    text = "<Job awarenessPolicy='Warn'><A/><B awarenessPolicy='Ignore'/>%s</Job>"
    known = understood(loads(text % ""))
    assert known.accepted
    (warning,) = known.findings()
    assert (warning.code, warning.severity, warning.path) == (
        "E-UNKNOWN", Severity.WARNING, "/Job/A",
    )  # fmt: skip
    assert warning.message == "element A is not understood, and its awarenessPolicy is Warn"
    assert known.required() == loads("<Job awarenessPolicy='Warn'/>")
    rejected = understood(loads(text % "<C awarenessPolicy='Reject'/>"))
    assert not rejected.accepted
    with pytest.raises(InvalidJob, match="element C is not understood"):
        rejected.required()
    assert rejected.about(lambda path: not path.endswith("/C")).accepted


def test_what_is_around_a_block_gives_the_policy_and_the_path():
    block = loads("<Job><A/></Job>")
    known = understood(block, around=AwarenessPolicy.IGNORE, path="/JobGroup/Job[2]")
    assert known.accepted
    assert [(item.path, item.policy) for item in known.items] == [
        ("/JobGroup/Job[2]/A", AwarenessPolicy.IGNORE)
    ]


GROUP = "<JobGroup{}><Id{}>g</Id>{}<Job><Id>1</Id></Job><Job><Id>2</Id>{}</Job></JobGroup>"
AROUND = [
    ("all is known", ("", "", "", ""), (None, None)),
    ("an attribute of the group", (" mood='x'", "", "", ""), (["@mood"], ["@mood"])),
    ("one of what it says", ("", " mood='x'", "", ""), (["Id/@mood"], ["Id/@mood"])),
    ("one of its defaults", ("", "", "<JobDefaults mood='x'/>", ""),
     (["JobDefaults/@mood"], ["JobDefaults/@mood"])),
    ("one of the defaults of a job", ("", "", "", "<TaskGroupDefaults mood='x'/>"),
     (None, ["Job/TaskGroupDefaults/@mood"])),
    ("one of each", (" mood='x'", "", "", "<TaskGroup><TaskDefaults mood='x'/></TaskGroup>"),
     (["@mood"], ["@mood", "Job/TaskGroup/TaskDefaults/@mood"])),
    ("an element that nobody knows", ("", "", "<Colour mood='x'/>", ""), (["Colour"], ["Colour"])),
    ("one that only jobs have", ("", "", "<Queue>q</Queue>", ""), (["Queue"], ["Queue"])),
    ("a container that groups have not", ("", "", "<Requested><Queue>q</Queue></Requested>", ""),
     (["Requested"], ["Requested"])),
]  # fmt: skip


@pytest.mark.parametrize("parts, expected", [row[1:] for row in AROUND],
                         ids=[row[0] for row in AROUND])  # fmt: skip
def test_what_stands_around_a_job_is_judged_with_it(parts, expected):
    group = loads(GROUP.format(*parts))
    found = [
        each and [one.path.removeprefix("/JobGroup/") for one in each.judged()[1]]
        for each in awareness.around(group, group.jobs)
    ]
    assert tuple(found) == expected


def test_a_job_alone_is_judged_by_the_attributes_of_its_defaults():
    plain = loads("<Job><TaskGroupDefaults/></Job>")
    assert [*awareness.around(plain, [plain])] == [None]
    odd = loads("<Job awarenessPolicy='Warn'><TaskGroupDefaults mood='x'/></Job>")
    (around,) = awareness.around(odd, [odd])
    accepted, (finding,) = around.judged()
    assert accepted
    assert (finding.path, finding.severity) == ("/Job/TaskGroupDefaults/@mood", Severity.WARNING)
    bare = loads("<Job><TaskGroupDefaults mood='x'/></Job>")
    (around,) = awareness.around(bare, [bare])
    assert not around.judged()[0]
    assert around.judged(AwarenessPolicy.IGNORE) == (True, [])


@examples(40)
@given(policed())
def test_what_is_left_has_nothing_that_is_not_understood_but_values(root):
    block = from_tree(root)
    known = understood(block, ACT)
    words = [
        item for item in items(block)
        if item.kind is not UnknownKind.VALUE
        or item.value.strip() not in awareness.WORDS.get(item.name, ())
    ]  # fmt: skip
    assert sorted(item.path for item in known.items) == sorted(item.path for item in words)
    # Attributes of containers stay, and so does a request whose groups cannot be read.
    unread = [
        item.path for item in items(known.block)
        if item.kind is UnknownKind.ELEMENT and item.path.count("/") == 2
        and root.tag != "Requested"
    ]  # fmt: skip
    assert unread == []


@examples(40)
@given(documents(("Job", "JobGroup")))
def test_what_is_understood_stays_as_it_is(tree):
    block = from_tree(etree.fromstring(etree.tostring(tree)))
    known = understood(block, ACT)
    if not known.items:
        assert known.block == block
        assert known.required() == block
    if isinstance(block, JobGroup) and not any("@" in item.path for item in known.items):
        assert {*awareness.around(block, block.jobs)} <= {None}
