"""What an operation makes of a job object of which it does not understand everything (9.0)."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from draws import examples
from hypothesis import given
from lxml import etree
from strategies import documents, policed

from sssjob import spec
from sssjob.check import awareness
from sssjob.check.awareness import AwarenessPolicy, UnknownKind, around, items, understood
from sssjob.document import dumps, from_tree, loads
from sssjob.errors import InvalidJob, InvalidValue, Severity, SSSJobError
from sssjob.model import BLOCKS, Job, JobGroup, Property

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
    ("an element within a property leaves the property", ACT,
     "<Job><Name>n<Colour/></Name></Job>", "<Job><Name>n<Colour/></Name></Job>", ["/Job/Name/Colour"]),
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


# What a look at a value tells, without a tree: all of it is known to be understood.
KNOWN_AT_A_LOOK = [
    ("<Job><Id>1</Id></Job>", True),
    ("<Job><User awarenessPolicy='Warn'>a</User></Job>", True),
    ("<Job><Environment><Variable name='a'>1</Variable></Environment></Job>", True),
    ("<Job><Requested><User>x</User></Requested><TaskGroup><Id>t</Id></TaskGroup></Job>", True),
    ("<JobGroup><Id>g</Id><Job><Id>1</Id></Job></JobGroup>", True),
    ("<Job awarenessPolicy='Warn'><Id>1</Id></Job>", False),
    (f"<Job xmlns='{spec.NAMESPACE}'><Id>1</Id></Job>", False),
    ("<Job><Colour/></Job>", False),
    ("<Job><Requested><Colour/></Requested></Job>", False),
    ("<Job><Requested><State>x</State></Requested></Job>", False),
    ("<Job><JobDefaults/></Job>", False),
    ("<Job><Id mood='x'>1</Id></Job>", False),
    ("<Job><Id><b/>1</Id></Job>", False),
    ("<Job><Id>1<!-- c --></Id></Job>", False),
    ("<Job><!-- c --><Id>1</Id></Job>", False),
    ("<Job><TaskGroup>t</TaskGroup></Job>", False),
    ("<Job><x:Id xmlns:x='urn:x'>1</x:Id></Job>", False),
    ("<Job><NotificationList>JobEnd</NotificationList></Job>", False),
    ("<Job><NotificationList awarenessPolicy='Warn'>x</NotificationList></Job>", False),
    ("<Job><Environment><Variable nam='a'>1</Variable></Environment></Job>", False),
    ("<Job><Dependency condition='OnMoon'>1</Dependency></Job>", False),
]  # fmt: skip


@pytest.mark.parametrize("text, known", KNOWN_AT_A_LOOK)
def test_most_jobs_are_known_to_be_understood_at_a_look(monkeypatch, text, known):
    block = loads(text)
    trees = []
    monkeypatch.setattr(awareness, "_tree", lambda of: trees.append(of) or tree_of(of))
    found = [(item.path, item.what) for item in items(etree.fromstring(text))]
    assert [(item.path, item.what) for item in understood(block).items] == found
    assert bool(found) <= (not known)
    assert trees == [block] * (not known)


tree_of = awareness._tree


@pytest.mark.parametrize("attributes", [{}, {"awarenessPolicy": "Warn"}])
def test_a_text_that_no_document_holds_is_refused_on_the_short_way_too(attributes):
    odd = Property.read("Name", "a\x00", attributes)
    with pytest.raises(InvalidValue):
        understood(Job.of().holding((odd,)))


KINDS = (
    "<Job awarenessPolicy='{}'>\n<A/>\n<Id mood='x'>1</Id>\n"
    "<Dependency condition='OnMoon'>7</Dependency></Job>"
)


@pytest.mark.parametrize(
    "policy, severity", [("Warn", Severity.WARNING), ("Reject", Severity.ERROR)]
)
def test_an_operation_says_what_of_a_job_it_does_not_understand_and_where(policy, severity):
    ends = f"is not understood, and its awarenessPolicy is {policy}"
    assert [
        (one.line, one.path, one.message)
        for one in understood(loads(KINDS.format(policy))).findings()
        if (one.severity, one.code, one.section) == (severity, "E-UNKNOWN", "SSS 9.0")
    ] == [
        (2, "/Job/A", f"element A {ends}"),
        (3, "/Job/Id/@mood", f"attribute mood {ends}"),
        (4, "/Job/Dependency/@condition", f"condition 'OnMoon' {ends}"),
    ]


def test_of_what_is_ignored_nothing_is_said():
    assert [*understood(loads(KINDS.format("Ignore"))).findings()] == []


@pytest.mark.parametrize("name", ["JobId", "UserId", "ProjectId", "MachineName", "WallDuration"])
def test_a_job_of_old_names_is_told_from_others(name):
    assert awareness.is_old(etree.fromstring(f"<Job><!-- c --><Queue/><{name}>1</{name}></Job>"))


def test_a_job_of_present_names_is_not_old():
    text = "<Job><!-- c --><Id>1</Id><User>a</User><Requested><JobId>1</JobId></Requested></Job>"
    assert not awareness.is_old(etree.fromstring(text))


@pytest.mark.parametrize("group, own, policy", [
    ("", "", None), (" awarenessPolicy='Warn'", "", "Warn"), (" mood='x'", "", None),
    (" awarenessPolicy='Warn'", " awarenessPolicy='Ignore'", "Ignore"),
    (" awarenessPolicy='Warn' mood='x'", " mood='y'", "Warn"),
])  # fmt: skip
def test_a_job_takes_the_policy_of_its_group_with_it(group, own, policy):
    whole = loads(f"<JobGroup{group}><Id>g</Id><Job{own}><Id>1</Id></Job></JobGroup>")
    (job,) = whole.jobs
    alone = awareness.by_group(job, whole)
    assert alone.attributes.get("awarenessPolicy") == policy
    assert alone.attributes.get("mood") == job.attributes.get("mood")
    assert alone.items == job.items


LOOKED_INTO = {
    "JobGroup": (ASK, GRAPH, LAYOUT, ACT), "Job": (GRAPH, LAYOUT, ACT), "Requested": (ASK, LAYOUT, ACT),
    "Delivered": (ACT,), "TaskGroup": (LAYOUT, ACT), "JobDefaults": (GRAPH, LAYOUT, ACT),
}  # fmt: skip


@pytest.mark.parametrize("block", LOOKED_INTO)
def test_an_operation_looks_into_the_containers_that_it_is_about(block):
    looking = [each for each in (ASK, GRAPH, LAYOUT, ACT) if each.looks_into(block)]
    assert looking == [*LOOKED_INTO[block]]


@pytest.mark.parametrize("operation, name, block, looks", [
    (ACT, "Queue", "Job", True), (ASK, "Queue", "Job", False), (ASK, "Queue", "Requested", True),
    (LAYOUT, "NodeCount", "Job", True), (LAYOUT, "Queue", "Job", False), (GRAPH, "Queue", "Job", False),
    (GRAPH, "Dependency", "Job", True), (awareness.PLACE, "Memory", "Job", True),
    (awareness.PLACE, "NodeCount", "Job", True), (awareness.PLACE, "Queue", "Job", False),
])  # fmt: skip
def test_an_operation_looks_at_the_attributes_of_what_it_is_about(operation, name, block, looks):
    assert operation.looks_at(name, block) == looks


def test_what_stands_around_is_judged_once_for_each_operation_and_policy(monkeypatch):
    group = loads(GROUP.format(" mood='x'", "", "", ""))
    shared = [*awareness.around(group, group.jobs)]
    assert shared[0].shared is shared[1].shared
    asked = []
    monkeypatch.setattr(
        awareness,
        "understood",
        lambda block, *rest, **more: asked.append(rest) or understood(block, *rest, **more),
    )
    for each in shared * 2:
        assert not each.judged()[0]
        assert not each.outcome(ACT, AwarenessPolicy.REJECT).accepted
        assert each.outcome(ACT, AwarenessPolicy.WARN).accepted
        assert each.judged(AwarenessPolicy.WARN)[0]
    assert len(asked) == 2
    assert shared[0].judged() == shared[1].judged()


# decision 1103
@pytest.mark.parametrize("count", [3, 10, 11, 500])
def test_what_stands_around_is_said_whole_with_the_first_job_alone(count):
    group = loads(f"<JobGroup><Id>g</Id>{'<foo/><Job><Id>1</Id></Job>' * count}</JobGroup>")
    said = [each.judged() for each in awareness.around(group, group.jobs)]
    assert {accepted for accepted, _ in said} == {False}
    assert [len(found) for _, found in said] == [count, *[min(count, 10)] * (count - 1)]
    assert said[1][1] == said[0][1][:10]


def test_no_more_is_said_of_what_is_not_understood_than_of_a_job_that_is_checked(monkeypatch):
    monkeypatch.setattr(awareness, "MOST", 5)
    found = list(understood(loads(f"<Job><Id>1</Id>{'<foo/>' * 9}</Job>")).findings())
    assert [each.code for each in found] == ["E-UNKNOWN"] * 5 + ["E-LIMIT"]


def test_a_job_is_judged_with_what_stands_around_it():
    group = loads(GROUP.format(" mood='x'", "", "", "<Colour/>"))
    one, two = (understood(job) for job in group.jobs)
    around = [*awareness.around(group, group.jobs)]
    assert one.within(None) is one
    assert [item.path for item in one.within(around[0]).items] == ["/JobGroup/@mood"]
    both = two.within(around[1])
    assert [item.path for item in both.items] == ["/JobGroup/@mood", "/Job/Colour"]
    assert both.block == two.block
    assert not both.accepted
    assert one.within(around[0], around=AwarenessPolicy.WARN).accepted
    assert not two.within(around[1], around=AwarenessPolicy.WARN).accepted


@pytest.mark.parametrize("text, jobs, expected", [
    ("<Job mood='x'><Id>1</Id></Job>", False, None),
    ("<JobGroup><Id>g</Id><Job mood='x'/></JobGroup>", True, None),
    ("<JobGroup><Id>g</Id><JobDefaults><Queue mood='x'>q</Queue></JobDefaults></JobGroup>", True, None),
    ("<JobGroup mood='x'/>", True, ["/JobGroup/@mood"]),
    ("<JobGroup><Id mood='x'>g</Id></JobGroup>", True, ["/JobGroup/Id/@mood"]),
    ("<JobGroup><Id><b/></Id></JobGroup>", True, ["/JobGroup/Id/b"]),
    ("<JobGroup><x:Id xmlns:x='urn:x'>g</x:Id></JobGroup>", True, ["/JobGroup/Id"]),
    ("<JobGroup><JobDefaults><JobGroup/></JobDefaults></JobGroup>", True,
     ["/JobGroup/JobDefaults/JobGroup"]),
])  # fmt: skip
def test_what_a_group_says_around_its_jobs(text, jobs, expected):
    found = awareness.of_group(loads(text))
    if expected is None:
        assert found is None
    else:
        outcome = found.outcome(ACT, AwarenessPolicy.REJECT)
        assert [item.path for item in outcome.reject] == expected
