"""Each road takes the same choice of a job with its only task group, where both have alternatives.

That is the first of those of both, best first, that can be met (decisions 1117, 1161, 1162).
"""

import re

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from test_named_nodes import READERS, ROADS, differences
from translated import wrapped

from sssjob import layout, loads
from sssjob.amounts import Scope
from sssjob.classads import writing
from sssjob.errors import InvalidJob, InvalidValue
from sssjob.features.derive import derive
from sssjob.lcginfo.jobs import from_job
from sssjob.matching import match
from sssjob.submission.at_once import submission
from sssjob.systems.condor.task_groups import to_ads
from sssjob.translate import Settings, Untranslatable, translate


def requested(inner):
    return f"<Requested>{inner}</Requested>" if inner else ""


def group(inner):
    return f"<TaskGroup><Name>a</Name>{inner}</TaskGroup>"


def either(first, second):
    """One or the other: the second is a property without attributes, or with some."""
    name, rest = second[1:].split(">", 1)
    return requested(f'{first}<{name} conj="Or">{rest}')


def preferred(name, number, preference):
    return f'<{name} preference="{preference}">{number}</{name}>'


P2, P4, N3, N2 = (
    f"<{name}>{number}</{name}>"
    for name, number in (("Processors", 2), ("Processors", 4), ("NodeCount", 3), ("NodeCount", 2))
)
F, G, A = "<Feature>f</Feature>", "<Feature>g</Feature>", "<Architecture>A</Architecture>"
B, M1, M3 = "<Architecture>B</Architecture>", "<Memory>1</Memory>", "<Memory>3</Memory>"
BRACKETS = '<Processors group="1">4</Processors><NodeCount group="-1">2</NodeCount>'
# What a job and its only group say, and on how many processors and nodes that is.
CASES = {
    "tasks or a feature, and memory or an architecture":
        (either(P2, G), group(either(M3, A)), 2, None),
    "fewer tasks than the group has nodes":
        (either(P2, G), group(either(N3, A)), 2, None),
    "more nodes than the group has tasks":
        (either(N3, G), group(either(P2, A)), 3, 3),
    "two numbers of tasks and two of nodes":
        (either(P2, P4), group(either(N3, N2)), 2, 2),
    "a number beside a feature of the group":
        (either(P4, F), group(requested(G)), 4, None),
    "a number beside a feature that the group says outside of its request":
        (either(P4, F), group(G), 4, None),
    "a number beside the tasks of the group":
        (either(P4, F), group("<TaskCount>2</TaskCount>"), 4, None),
    "a number beside a group that requests nothing":
        (either(P4, M1), group("<Application>g</Application>"), 4, None),
    "a number or memory, beside a feature of the group":
        (either(P4, M1), group(requested(G)), 4, None),
    "nodes beside a feature of the group":
        (either(N3, F), group(requested(G)), 3, 3),
    "the tasks of the job beside a number or a feature":
        ("<TaskCount>2</TaskCount>", group(either(P4, F)), 4, None),
    "a number that is joined to nodes, of which the group says another":
        (either(P4, N2), group(N3), 3, 3),
    "a number that is joined to an architecture, of which the group requests another":
        (either(P4, B), group(requested(A)), 1, None),
    "brackets that say nothing":
        (requested(BRACKETS), group(N3), 4, 3),
    "brackets that say nothing, beside a wish":
        (requested(f'{BRACKETS}<Feature preference="-1">f</Feature>'), group(N3), 4, 3),
    "brackets that say nothing, beside a feature":
        (requested(BRACKETS + F), group(N3), 4, 3),
    "a feature that the group does not want, or a number": (
        either('<Feature op="NE">f</Feature>', P2), group(requested(F)), 2, None,
    ),
    "a feature that the job requests and the group does not want, or a number":
        (requested(F), group(either('<Feature op="NE">f</Feature>', P2)), 2, None),
    "preferred numbers of both": (
        requested(preferred("Processors", 2, 1) + preferred("Processors", 4, 3)),
        group(requested(preferred("NodeCount", 2, 1) + preferred("NodeCount", 1, 2))),
        4, 1,
    ),
    # What Requested speaks of in any alternative, it alone asks for. # decision 1167
    "a number outside of a request that speaks of it in another alternative":
        ("<Processors>3</Processors>" + either(M3, P2), group(""), 1, None),
    "a number outside of a request that does not want it":
        ("<Processors>3</Processors>" + either('<Processors op="NE">3</Processors>', M3),
         group(""), 1, None),
    "nodes outside of a request that bounds them in another alternative":
        (N3 + either(F, '<NodeCount op="LE">2</NodeCount>'), group(""), 1, None),
    "nodes outside of a request that is joined to what the group says otherwise":
        (N3 + either(N2, P2), group(P4), 4, None),
    "nodes of the group outside of its request, of which another alternative speaks":
        ("", group(N2 + either(F, N3)), 1, None),
    "nodes of the group outside of its request, of which the job overrules the rest":
        (requested("<Memory>5</Memory>"), group(N3 + either(N2, M3)), 1, None),
    # What either of both says outside of its request overrules as what it requests. # decision 1168
    "memory outside of the request of the job, and a number joined to memory":
        (M1, group(either(M3, P4)), 1, None),
    "a number of the job, beside a group of which a part is overruled":
        ("<Processors>6</Processors>" + either(F, M3), group(either(M3, P4)), 6, None),
    # decision 1169
    "nodes that contradict themselves, of which the group says another":
        (requested(N3 + N2), group(N2), 2, 2),
    "nodes and memory that contradict themselves, of which both say another":
        (requested(N3 + N2 + M3), group(N2 + requested(M1 + M3)), 2, 2),
    "a number of the job, whose tasks are those of the group":
        ("<TaskCount>5</TaskCount><Processors>2</Processors>", group("<TaskCount>2</TaskCount>"),
         2, None),
    "a feature of the job outside of its request, which one alternative does not want": (
        G + requested('<Feature op="NE" group="1">g</Feature>'
                      f'<Processors conj="Or" group="-1">3</Processors>{N2}'),
        group('<TaskDistribution type="TasksPerNode">2</TaskDistribution>'), 3, 2,
    ),
    # decision 1162
    "two architectures, or a number":
        ("", requested('<Architecture group="1">A</Architecture>'
                       '<Architecture group="-1">B</Architecture>'
                       '<Processors conj="Or">2</Processors>'), 2, None),
    "two sizes of memory, or a number": (
        requested('<Memory group="1">1</Memory><Memory group="-1">3</Memory>'
                  '<Processors conj="Or">2</Processors>'), group(""), 2, None,
    ),
    "two queues of the job, or a number":
        (requested('<Queue group="1">q</Queue><Queue group="-1">r</Queue>'
                   '<Processors conj="Or">5</Processors>'), group(""), 5, None),
    "two projects of the job, or a number, beside tasks of the group":
        (requested('<Project group="1">p</Project><Project group="-1">r</Project>'
                   '<Processors conj="Or">4</Processors>'), group("<TaskCount>2</TaskCount>"), 4,
         None),
    # decision 1131
    "nodes up to a number beside fewer tasks of the job":
        ("<TaskCount>2</TaskCount>" + requested('<NodeCount op="LE">3</NodeCount>' + P4),
         group(""), 4, None),
}  # fmt: skip


def first_layout(job):
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path).layouts[0]
    return int(found.processors.value), None if found.nodes is None else int(found.nodes.value)


def holds(job):
    [unit] = layout.units(job)
    found = layout.layouts(unit.block, unit.path).layouts
    return bool(found) and found[0].holds


def cpucount(job):
    return from_job(job, queue="q", group="g").cpucount


def with_policy(policy, inner):
    return loads(wrapped(inner).replace("<Job>", f'<Job awarenessPolicy="{policy}">'))


@pytest.mark.parametrize("policy", ["Warn", "Reject"])
@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_all_who_count_take_the_first_choice_that_can_be_met(own, inner, processors, nodes, policy):
    job = with_policy(policy, own + inner)
    found, on = first_layout(job)
    assert (found, nodes and on) == (processors, nodes)
    assert cpucount(job) == processors
    assert derive(job, starting=True).values["allocated_cpu"] == processors


@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_so_do_targets_ads_and_places(own, inner, processors, nodes):
    del processors, nodes  # of the layout
    assert differences(with_policy("Warn", own + inner), set(ROADS) - {"place"}) == {}


@pytest.mark.parametrize("own, inner, processors, nodes", CASES.values(), ids=CASES)
def test_so_does_what_is_submitted(own, inner, processors, nodes):
    """With the features of a job, the options are arguments of the command."""
    job = with_policy("Warn", own + inner)
    options = [each for each in submission(job, "slurm").command if each.startswith("--")]
    asked = READERS["sbatch"]("".join(f"#SBATCH {each}\n" for each in options))
    assert (asked.processors, nodes and asked.nodes) == (processors, nodes)


WISH = '<Feature preference="-1">w</Feature>'
PARTS = st.sampled_from((
    P2, P4, N3, N2, F, G, A, B, M1, M3, '<Processors op="GE">3</Processors>',
    '<NodeCount op="LE">2</NodeCount>', '<NodeCount op="GE">2</NodeCount>',
))  # fmt: skip


def joined(first, second, word):
    name, rest = re.match(r"<(\w+)(.*)", second).groups()
    return f'{first}<{name} conj="{word}"{rest}'


def bracketed(first, second):
    return re.sub(r"^<(\w+)", r'<\1 group="1"', first) + re.sub(
        r"^<(\w+)", r'<\1 group="-1"', second
    )


REQUESTS = st.one_of(
    PARTS,
    st.builds(joined, PARTS, PARTS, st.sampled_from(("Or", "Or", "Or", "And"))),
    st.builds(bracketed, PARTS, PARTS),
    st.just(""),
)
SAID = st.tuples(
    st.sampled_from(
        (
            "",
            "",
            "<TaskCount>4</TaskCount>",
            N3,
            "<Processors>6</Processors>",
            F,
            A,
            M1,
            "<TaskCount>5</TaskCount><Processors>2</Processors>",
        )
    ),
    REQUESTS,
    st.sampled_from(("", "", WISH)),
)


@examples(120)
@given(own=SAID, inner=SAID)
def test_all_roads_count_the_same_whatever_is_joined_on_either_side(own, inner):
    texts = [outside + requested(asked + wish) for outside, asked, wish in (own, inner)]
    job = with_policy("Warn", texts[0] + group(texts[1]))
    if not Scope(job, "/Job").choices or not holds(job):
        return
    processors, _ = first_layout(job)
    assert cpucount(job) == processors
    assert derive(job, starting=True).values["allocated_cpu"] == processors
    assert differences(job, set(ROADS) - {"place"}) == {}


# What does not count, as the other one of a job and its only group says another.
OVERRULED = {
    "an architecture": (requested(B), group(A)),
    "an architecture joined to a number": (either(P4, B), group(A)),
    "two numbers": (either(P2, P4), group("<Processors>5</Processors>")),
    "a number, where the group has a choice":
        (requested(P4), group(either('<Processors op="GT">2</Processors>', M3))),
    "memory of the group": (requested(M3), group(M1)),
    "memory of the group, where its job has a choice": (either(N2, M3), group(M1)),
    "memory that the group requests, where its job has a choice":
        (either(N2, M3), group(requested(M1))),
    "an architecture of the group joined to memory":
        (either(M3, P4), group(either(A, "<Memory>3</Memory>"))),
    "a mapping of tasks": (
        '<TaskDistribution type="TasksPerNode">2</TaskDistribution>',
        group("<TaskCount>2</TaskCount>"
              '<TaskDistribution type="ProcessorsPerTask">2</TaskDistribution>'),
    ),
    "an architecture outside of a request, and a choice of the group":
        (B + requested(A), group(either(A, N2))),
    "nodes outside of a request": (N3 + either(F, N2), group("")),
}  # fmt: skip


def is_written(job, target):
    try:
        translate(job, target, Settings(residual=False))
    except (Untranslatable, InvalidValue):
        return False
    return True


def is_submitted(job, system):
    try:
        submission(job, system)
    except InvalidJob:
        return False
    return True


def makes_an_ad(job):
    return all(each.runs for each in to_ads(job))


# decision 1171
@pytest.mark.parametrize("own, inner", OVERRULED.values(), ids=OVERRULED)
def test_what_one_of_both_overrules_is_refused_with_reject_whatever_it_is_joined_to(own, inner):
    job = with_policy("Reject", own + inner)
    assert [
        each for each in ("sbatch", "pbs", "lsf", "flux", "condor") if is_written(job, each)
    ] == []
    assert [each for each in ("slurm", "pbs", "lsf") if is_submitted(job, each)] == []
    assert not makes_an_ad(job)


@pytest.mark.parametrize("own, inner", OVERRULED.values(), ids=OVERRULED)
def test_with_warn_it_is_told_and_written(own, inner):
    job = with_policy("Warn", own + inner)
    assert is_written(job, "condor")
    [ad] = to_ads(job)
    assert ad.runs
    assert [each for each in ad.findings if each.code == "W-USELESS" or "dropped" in each.message]


@examples(120)
@given(own=SAID, inner=SAID, policy=st.sampled_from(("Warn", "Reject")))
def test_an_ad_is_refused_where_a_submit_file_is(own, inner, policy):
    texts = [outside + requested(asked + wish) for outside, asked, wish in (own, inner)]
    job = with_policy(policy, texts[0] + group(texts[1]))
    assert makes_an_ad(job) == is_written(job, "condor")


TWO_GROUPS = (
    group(f"<TaskCount>4</TaskCount>{N3}<Memory>1</Memory>")
    + "<TaskGroup><Name>b</Name><TaskCount>1</TaskCount><NodeCount>1</NodeCount></TaskGroup>"
)


@pytest.mark.parametrize("asked", [either(F, N2), either("<Disk>8</Disk>", N2), either(F, P4)])
def test_what_another_alternative_of_a_job_says_is_not_said_for_its_task_groups_by_an_ad(asked):
    [found] = to_ads(with_policy("Warn", asked + TWO_GROUPS))
    assert (found.ad["MinHosts"], found.ad["RequestCpus"]) == (4, 2)
    assert not [each for each in found.findings if "its job says" in each.message]


OF_THREE = {"NE 3": 6, "NE 1": 3, "GE 2": 3, "LE 8": 3, "LE 3": 3, "GE 4": 6}


# decision 1175
@pytest.mark.parametrize("said, number", OF_THREE.items(), ids=OF_THREE)
def test_a_range_of_processors_is_shared_by_the_tasks_of_all_groups(said, number):
    op, value = said.split()
    several = group("<TaskCount>2</TaskCount>") + "<TaskGroup><Name>b</Name></TaskGroup>"
    text = requested(f'<Processors op="{op}">{value}</Processors>') + several
    job = with_policy("Warn", text)
    assert cpucount(job) == derive(job, starting=True).values["allocated_cpu"] == number
    assert to_ads(job)[0].ad["RequestCpus"] == number
    for target in ("sbatch", "condor"):
        script = translate(job, target, Settings(residual=False)).text
        assert READERS[target](script).processors == number, target


def test_task_elements_overrule_processors_that_contradict_them_in_an_ad():
    text = requested(N2 + '<Processors op="LE">1</Processors>') + group("<Task/>" * 3)
    [found] = to_ads(with_policy("Warn", text))
    assert (found.ad["MinHosts"], found.ad["RequestCpus"]) == (2, 2)


# decision 955
def test_a_queue_of_the_only_group_counts_for_match_as_on_each_road():
    inner = group("<TaskCount>2</TaskCount><Queue>r</Queue>")
    job = with_policy("Warn", either("<Queue>q</Queue>", P4) + inner)
    [answer] = match(job, [{"Queue": "r", "Processors": 1}])
    assert (str(answer.verdict), cpucount(job)) == ("yes", 2)


CHOICE = either(G, F)
DEMANDED = {
    "outside of the request of the job": (G, group(CHOICE)),
    "requested by the job": (requested(G), group(CHOICE)),
    "outside, beside another one of the group": (G, group(F + CHOICE)),
    "of the group, beside a choice of the job": (CHOICE, group(G)),
}


@pytest.mark.parametrize("own, inner", DEMANDED.values(), ids=DEMANDED)
def test_a_feature_that_is_demanded_is_asked_for_beside_a_choice_that_names_it(own, inner):
    job = with_policy("Reject", own + inner)
    slurm = translate(job, "sbatch", Settings(residual=False)).text
    assert re.search(r"--constraint=g&", slurm)
    condor = translate(job, "condor", Settings(residual=False)).text
    assert condor.count("TARGET.Hasg") == 2


RAN = {
    "an alternative with more nodes than tasks":
        ("<TaskCount>2</TaskCount>" + either(N3, N2), "<Processors>9</Processors>", 2),
    "the same in the only task group": (
        group(requested(f'{bracketed(P2, N3)}<NodeCount op="GE" conj="Or">2</NodeCount>')),
        "<Node>n1</Node><Processors>2</Processors>", 2,
    ),
    "the alternative that was delivered": (either(N3, N2), N2, 2),
}  # fmt: skip


@pytest.mark.parametrize("asked, given, hosts", RAN.values(), ids=RAN)
def test_what_was_delivered_says_which_alternative_an_ad_is_of_and_counts_nothing(
    asked, given, hosts
):
    [found] = to_ads(with_policy("Warn", f"{asked}<Delivered>{given}</Delivered>"))
    assert (found.ad["MinHosts"], found.ad["RequestCpus"]) == (hosts, 1)


# decision 1083
@pytest.mark.parametrize("target", ["sbatch", "pbs", "lsf", "flux"])
def test_counts_that_contradict_each_other_are_refused_where_something_was_delivered(target):
    job = "<TaskCount>2</TaskCount>" + requested(N3) + f"<Delivered>{F}</Delivered>"
    assert not is_written(with_policy("Reject", job), target)


M480 = "<Memory>480</Memory>"
EACH_TASK = {
    "nodes, or memory": (group(either(N3, M480)), 480),
    "nodes of the job, or a feature, and memory of the group":
        (either(N3, F) + group(requested(M480)), 480),
    "memory beside nodes, or two processors":
        (group(M480 + either('<NodeCount op="NE">3</NodeCount>', P2)), 960),
    "memory beside nodes, or a feature with two processors": (
        group(M480 + requested(
            N3 + '<Feature conj="Or" group="1">f</Feature><Processors group="-1">2</Processors>'
        )), 960,
    ),
}  # fmt: skip


@pytest.mark.parametrize("asked, size", EACH_TASK.values(), ids=EACH_TASK)
def test_the_next_alternative_has_the_memory_of_its_own_tasks(asked, size):
    """HTCondor runs nothing on several machines as one job does, so that Reject takes the next."""
    job = with_policy("Reject", asked)
    [found] = to_ads(job)
    assert (found.runs, found.ad["RequestMemory"]) == (True, size)
    assert f"request_memory = {size}" in translate(job, "condor", Settings(residual=False)).text


def of_groups(*every):
    return "".join(f"<TaskGroup>{inner}</TaskGroup>" for inner in every)


LIST, N1, NODE2 = (
    '<Node aggregation="List">n1,n2</Node>', "<Node>n1</Node>", "<Node>n2</Node>"
)  # fmt: skip
EACH_NODE = '<TaskDistribution type="TasksPerNode">3</TaskDistribution>'
NO_F = '<Feature op="NE">f</Feature>'
# What a job says and its groups do, and how many processors that is. # decision 1190
OF_SEVERAL = {
    "a feature of the job that one alternative does not want":
        (requested(F), of_groups(either(NO_F, N2), ""), 3),
    "a feature of the job outside of its request":
        (F, of_groups(either(NO_F, N2), ""), 3),
    "a feature of the job outside of its request, which one of its own does not want":
        (F + either(NO_F, LIST), of_groups("", N2), 4),
    "features of the job, of which a group leaves one":
        (either(F, G), of_groups(requested(NO_F) + N2, ""), 3),
    "a feature of a group outside of its request":
        (either(NO_F, G), of_groups(F + requested(P4), ""), 5),
    "a node joined to memory": (either(NODE2, M1), of_groups(EACH_NODE, ""), 2),
    "nodes joined to memory": (requested(N1) + either(NODE2, M1), of_groups("", ""), 2),
    "a node or another": (either(NODE2, N1), of_groups(EACH_NODE, ""), 4),
    "a node outside of the request": (NODE2, of_groups(EACH_NODE, ""), 4),
    "nodes joined to an architecture, of which one group says another":
        (either(LIST, B), of_groups(A, ""), 3),
    "more nodes than the job names":
        (requested(LIST), of_groups(either(N3, "<Processors>2</Processors>"), ""), 4),
    "more nodes than the job names outside of its request":
        (LIST, of_groups(either(N3, "<Processors>2</Processors>"), ""), 4),
}  # fmt: skip


def laid_in_all(job):
    every = [layout.layouts(each.block, each.path).layouts[0] for each in layout.units(job)]
    assert all(each.holds for each in every)
    return sum(each.processors.value for each in every)


def counted_by_roads(job):
    """The processors by each road that has one number for all groups, and does not tell of it."""
    found = {"features": derive(job, starting=True).values["allocated_cpu"], "lcg": cpucount(job)}
    for target in ("sbatch", "torque", "pbs", "flux"):
        text, losses = translate(job, target, Settings(residual=False, unstated="Warn"))
        if not any("processors in all" in each.reason for each in losses):
            found[target] = READERS[target](text).processors
    return found


@pytest.mark.parametrize("policy", ["Warn", "Ignore"])
@pytest.mark.parametrize("own, groups, number", OF_SEVERAL.values(), ids=OF_SEVERAL)
def test_several_groups_have_what_their_job_says_of_each_on_every_road(own, groups, number, policy):
    job = with_policy(policy, own + groups)
    assert laid_in_all(job) == number
    assert set(counted_by_roads(job).values()) == {number}


OF_EACH = st.sampled_from((F, G, NO_F, A, B, M1, N1, NODE2, LIST))
OF_GROUP = st.one_of(OF_EACH, PARTS)


def asking(parts):
    return st.one_of(
        st.just(""), st.builds(requested, parts),
        st.builds(requested, st.builds(joined, parts, parts, st.sampled_from(("Or", "Or", "And")))),
        st.builds(requested, st.builds(bracketed, parts, parts)),
    )  # fmt: skip


OUTSIDE = ("", "", F, A, N1)


@examples(80)
@given(
    own=st.tuples(st.sampled_from(OUTSIDE), asking(OF_EACH)),
    groups=st.lists(
        st.tuples(st.sampled_from((*OUTSIDE, "<TaskCount>4</TaskCount>", N3, EACH_NODE)),
                  asking(OF_GROUP)), min_size=2, max_size=3,
    ),
)  # fmt: skip
def test_so_do_any_several_groups(own, groups):
    job = with_policy("Warn", "".join(own) + of_groups(*map("".join, groups)))
    every = [layout.layouts(each.block, each.path).layouts for each in layout.units(job)]
    scope = Scope(job, "/Job")
    if not all(laid and laid[0].holds for laid in every) or not (scope.choices or not own[1]):
        return
    assert set(counted_by_roads(job).values()) == {laid_in_all(job)}


@pytest.mark.parametrize("policy", ["Warn", "Reject"])
def test_an_ad_asks_for_a_node_that_the_job_joins_to_an_amount(policy):
    job = with_policy(policy, either(NODE2, M1) + of_groups("", ""))
    [made] = to_ads(job)
    assert made.runs
    assert writing.expression(made.ad["Requirements"]) == 'TARGET.Machine == "n2"'
    assert is_written(job, "condor")


# What a job says of all its task groups, and they of their tasks. # decision 1192
TOO_FEW = {
    "fewer processors than tasks":
        (requested("<Processors>4</Processors>"),
         of_groups("<TaskCount>4</TaskCount>", "<TaskCount>1</TaskCount>"), 5),
    "fewer, outside of the request":
        ("<Processors>4</Processors>",
         of_groups("<TaskCount>4</TaskCount>", "<TaskCount>1</TaskCount>"), 5),
    "at most fewer":
        (requested('<Processors op="LE">3</Processors>'), of_groups(P4, "<TaskCount>1</TaskCount>"),
         5),
    "one for two that say nothing": (requested("<Processors>1</Processors>"), of_groups("", ""), 2),
    "fewer than one of them": (requested(P2), of_groups("<TaskCount>5</TaskCount>", ""), 6),
}  # fmt: skip


@pytest.mark.parametrize("own, groups, number", TOO_FEW.values(), ids=TOO_FEW)
def test_the_tasks_of_several_groups_overrule_fewer_processors_of_their_job(own, groups, number):
    job = with_policy("Warn", own + groups)
    assert set(counted_by_roads(job).values()) == {number}
    [made] = to_ads(job)
    assert made.ad["RequestCpus"] == number
    assert "does not hold" in " ".join(each.message for each in made.findings)
    assert [each.code for each in layout.check(job)] == ["E-COUNTS"]
    told = derive(job, starting=True).findings
    assert "W-COUNTS" in {each.code for each in told}


@pytest.mark.parametrize("own, groups, number", TOO_FEW.values(), ids=TOO_FEW)
def test_with_reject_no_road_writes_them(own, groups, number):
    del number
    job = with_policy("Reject", own + groups)
    assert [each for each in ("sbatch", "pbs", "torque", "condor") if is_written(job, each)] == []
    assert not makes_an_ad(job)


@pytest.mark.parametrize(
    "own", [either('<Processors op="LE">3</Processors>', "<Duration>60</Duration>"),
            either(P2, "<Memory>9</Memory>")],
)  # fmt: skip
def test_an_alternative_that_has_room_for_the_tasks_of_the_groups_is_taken(own):
    text = own + of_groups("<TaskCount>4</TaskCount>", "")
    job = with_policy("Reject", text)
    assert set(counted_by_roads(with_policy("Warn", text)).values()) == {5}
    assert is_written(job, "pbs")
    assert [*layout.check(job)] == []


@pytest.mark.parametrize("policy, nodes", [("Warn", 2), ("Reject", None)])
def test_no_more_nodes_are_asked_for_than_several_groups_have_tasks(policy, nodes):
    job = with_policy(policy, "<NodeCount>4</NodeCount>" + of_groups("", ""))
    if nodes is None:
        assert not is_written(job, "sbatch")
        return
    text, losses = translate(job, "sbatch", Settings(residual=False))
    assert READERS["sbatch"](text).nodes == nodes
    assert any("NodeCount <= TaskCount does not hold" in each.reason for each in losses)


# What is said of each task, by the alternative that an ad of several is of.
@pytest.mark.parametrize(
    "asked, size",
    [
        (requested('<NodeCount>3</NodeCount><Memory conj="Or">480</Memory>'), 480),
        ("<Memory>480</Memory>" + either('<NodeCount op="NE">3</NodeCount>', P2), 960),
        ("<Memory>480</Memory>" + either(N3, F), 480),
    ],
)
def test_each_ad_of_several_groups_has_the_memory_of_the_tasks_of_its_alternative(asked, size):
    job = with_policy("Reject", of_groups(asked, "<NodeCount>1</NodeCount>"))
    first, second = to_ads(job)
    assert first.runs
    assert second.runs
    assert first.ad["RequestMemory"] == size


# decision 1193
@pytest.mark.parametrize("state", ["Queued", "Running", "Suspended"])
@pytest.mark.parametrize("given", ["<Duration>60</Duration>", "<Memory>3</Memory>"])
def test_what_was_delivered_to_a_job_that_has_not_ended_takes_nothing_of_what_it_asks_for(
    state, given
):
    asked = f"<State>{state}</State><TaskCount>4</TaskCount>{N2}{requested(F)}"
    with_, without = (
        with_policy("Warn", asked + more) for more in (f"<Delivered>{given}</Delivered>", "")
    )
    offers = [{"id": "a", "Feature": "f", "NodeCount": 2}, {"id": "b", "Feature": "f",
                                                            "NodeCount": 1}]  # fmt: skip
    verdicts = [[str(each.verdict) for each in match(job, offers)] for job in (with_, without)]
    assert verdicts[0] == verdicts[1]
    for target in ("sbatch", "torque", "pbs", "condor", "flux"):
        one, other = (translate(job, target, Settings(residual=False)).text
                      for job in (with_, without))  # fmt: skip
        assert one == other


# decision 1160
@pytest.mark.parametrize("name", ["Architecture", "Node", "OperatingSystem"])
def test_what_was_delivered_lets_no_ad_through_that_is_refused_without_it(name):
    asked = f"<{name}>n1</{name}>" + requested(f"<{name}>n2</{name}>")
    for more in ("", "<Delivered><Duration>77</Duration></Delivered>"):
        job = with_policy("Reject", asked + more)
        assert not makes_an_ad(job)
        assert not is_written(job, "condor")


# With fewer of a range the groups have room; what ran has had what it had. # decision 1192
@pytest.mark.parametrize(
    "groups",
    [
        of_groups(requested('<Processors op="LE">2</Processors>'), "<TaskCount>2</TaskCount>"),
        of_groups(*["<TaskCount>4</TaskCount><Delivered><Memory>1</Memory></Delivered>"] * 2),
    ],
)
def test_processors_that_are_enough_are_contradicted_by_nobody(groups):
    job = with_policy("Reject", "<Processors>3</Processors>" + groups)
    assert [*layout.check(job)] == []
    assert derive(job, starting=True).values["allocated_cpu"] == 3


# A choice of a job beside several task groups, and how many processors and nodes that is.
NONE_OF = {
    "nodes": ('<NodeCount op="LT">1</NodeCount>', F, 5),
    "processors": ('<Processors op="LT">1</Processors>', "<Processors>5</Processors>", 5),
    "more processors": ('<Processors op="LT">1</Processors>', "<Processors>10</Processors>", 10),
}


# decision 1182
@pytest.mark.parametrize("none, other, number", NONE_OF.values(), ids=NONE_OF)
def test_an_alternative_of_less_than_one_is_left_out_beside_several_groups(none, other, number):
    two = group("<TaskCount>2</TaskCount>") + "<TaskGroup><TaskCount>3</TaskCount></TaskGroup>"
    job = with_policy("Warn", either(none, other) + two)
    assert derive(job, starting=True).values["allocated_cpu"] == cpucount(job) == number
    for target in ("sbatch", "pbs", "torque", "lsf", "sge", "flux", "condor", "jsdl"):
        told = translate(job, target, Settings(residual=False)).losses
        assert not [
            each for each in told if "above 0" in each.reason or each.reason == "it is no amount"
        ]
    assert to_ads(job)[0].ad["RequestCpus"] == number
    assert [each.message for each in layout.check(job) if "no number of nodes" in each.message]


IMPOSSIBLE = {
    "nodes": '<NodeCount group="1">6</NodeCount><NodeCount group="-1">1</NodeCount>',
    "processors": '<Processors group="1">3</Processors><Processors group="-1">2</Processors>',
}


# decision 1195
@pytest.mark.parametrize("first", IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_a_choice_that_both_say_alike_is_one_also_where_no_number_satisfies_a_part_of_it(first):
    asked = requested(f'{first}<Processors conj="Or">4</Processors>')
    job = with_policy("Reject", asked + group(asked))
    assert is_written(job, "condor")
    assert (
        READERS["sbatch"](translate(job, "sbatch", Settings(residual=False)).text).processors == 4
    )
    assert is_submitted(job, "slurm")
    assert makes_an_ad(job)
    assert cpucount(job) == derive(job, starting=True).values["allocated_cpu"] == 4


# decision 1196
@pytest.mark.parametrize("target", ["sbatch", "pbs", "lsf", "condor"])
def test_the_next_alternative_may_compare_the_value_that_is_refused_otherwise(target):
    asked = either('<Memory op="NE">20</Memory>', '<Memory op="GE">20</Memory>')
    assert is_written(with_policy("Reject", asked), target)
    assert not is_written(with_policy("Reject", asked.replace("GE", "NE")), target)
