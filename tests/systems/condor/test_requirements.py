"""Requests as Requirements and Rank, and Requirements as requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.classads import evaluate, writing
from sssjob.classads.parser import expression
from sssjob.classads.values import Ad
from sssjob.errors import InvalidValue
from sssjob.expression import Comparison, comparisons, parse
from sssjob.expression.evaluate import Request, Verdict
from sssjob.model import Property
from sssjob.systems.condor import requirements
from sssjob.systems.condor.offers import offer

P = Property
ASKED = [
    pytest.param([P("Architecture", "x86_64")], 'TARGET.Arch == "X86_64"', "", id="architecture"),
    pytest.param([P("OperatingSystem", "linux")], 'TARGET.OpSys == "LINUX"', "", id="system"),
    pytest.param([P("Memory", 2, {"units": "GB"})], "TARGET.Memory >= 2048", "", id="memory"),
    pytest.param([P("Memory", 1, {"units": "B"})], "TARGET.Memory >= 1", "", id="rounded up"),
    pytest.param([P("Disk", 3, {"op": "GT"})], "TARGET.Disk > 3072", "", id="disk"),
    pytest.param([P("Swap", 1)], "TARGET.VirtualMemory >= 1024", "", id="swap"),
    pytest.param([P("Processors", 8, {"op": "LE"})], "", "", id="an upper limit binds no slot"),
    pytest.param([P("Processors", 8, {"op": "EQ", "context": "Configured"})],
                 "TARGET.TotalCpus == 8", "", id="configured"),
    pytest.param([P("Feature", "ib")], "TARGET.Hasib is true", "", id="feature"),
    pytest.param([P("Feature", "ib,ssd", {"aggregation": "List"})],
                 "TARGET.Hasib is true && TARGET.Hasssd is true", "", id="features"),
    pytest.param([P("Node", "n1", {"op": "NE"})], 'TARGET.Machine != "n1"', "", id="not a node"),
    pytest.param([P("Node", "n[1-2]", {"aggregation": "Range"})],
                 'member(TARGET.Machine,{ "n1","n2" })', "", id="range"),
    pytest.param([P("Node", "fr15.*", {"op": "Match"})],
                 'regexp("^(?:fr15.*)$",TARGET.Machine)', "", id="match"),
    pytest.param([P("Node", "fr15.*", {"aggregation": "Pattern"})],
                 'regexp("^(?:fr15.*)$",TARGET.Machine)', "", id="pattern"),
    pytest.param([P("Resource", 2, {"name": "GPUs"})], "TARGET.GPUs >= 2", "", id="resource"),
    pytest.param([P("Resource", 2, {"name": "matlab", "type": "License"})], "", "", id="licence"),
    pytest.param([P("Node", "a"), P("Node", "b", {"conj": "Or"})],
                 'TARGET.Machine == "a" || TARGET.Machine == "b"', "", id="or"),
    pytest.param([P("Node", "a", {"group": "1"}), P("Node", "b", {"conj": "Or", "group": "-1"}),
                  P("Architecture", "arm64")],
                 '(TARGET.Machine == "a" || TARGET.Machine == "b") && TARGET.Arch == "aarch64"', "",
                 id="group"),
    pytest.param([P("Memory", 1), P("Node", "a", {"conj": "Nand", "group": "1"}),
                  P("OperatingSystem", "Linux", {"group": "-1"})],
                 'TARGET.Memory >= 1 && !(TARGET.Machine == "a" && TARGET.OpSys == "LINUX")', "",
                 id="nand"),
    pytest.param([P("Feature", "a", {"preference": "5"}), P("Feature", "b", {"preference": "3"})],
                 "(TARGET.Hasa is true || TARGET.Hasb is true)",
                 "5 * (TARGET.Hasa is true) + 3 * (TARGET.Hasb is true)", id="preferences"),
    pytest.param([P("Feature", "a", {"preference": "-5"})], "",
                 "5 * (TARGET.Hasa is true)", id="wish"),
    pytest.param([P("User", "amy"), P("Duration", 60)], "", "", id="no matter of slots"),
]  # fmt: skip


def written(node):
    return "" if node is None else writing.expression(node)


@pytest.mark.parametrize("asked, demanded, rank", ASKED)
def test_a_request_demands_of_a_slot(asked, demanded, rank):
    found = requirements.demands(parse(asked))
    assert written(found.requirements) == demanded
    assert written(found.rank) == rank


def test_what_a_slot_cannot_be_asked_is_said():
    found = requirements.demands(parse([P("Reservation", "r1")]))
    assert found.requirements is None
    assert found.unsaid == ("Reservation EQ r1",)


@pytest.mark.parametrize("asked", [
    P("Node", "n1", {"op": "nearly"}), P("Architecture", "x86_64", {"op": "nearly"}),
    P("Processors", 8, {"op": "Match", "context": "Configured"}),
])  # fmt: skip
def test_what_an_op_cannot_compare_is_refused(asked):
    with pytest.raises(InvalidValue, match="as op of"):  # which no request has read before
        requirements.demands(Comparison(asked))


NAMES = st.sampled_from(["n1", "n2", "n3"])
COMPARISONS = st.one_of(
    st.builds(lambda text, op: P("Node", text, {"op": op}), NAMES, st.sampled_from(["EQ", "NE"])),
    st.builds(lambda text: P("Node", text, {"op": "Match"}), st.sampled_from(["n.", "n[12]", "x"])),
    st.builds(lambda text: P("Architecture", text), st.sampled_from(["x86_64", "aarch64"])),
    st.builds(lambda text: P("Feature", text), st.sampled_from(["ib", "ssd"])),
    st.builds(lambda size, op: P("Processors", size, {"op": op}), st.integers(1, 9),
              st.sampled_from(["EQ", "GE", "GT", "LE"])),
    st.builds(lambda size: P("Memory", size, {"units": "MB"}), st.integers(1, 4096)),
)  # fmt: skip
REQUESTS = st.lists(
    st.tuples(COMPARISONS, st.sampled_from([None, "And", "Or"])), min_size=1, max_size=4
).map(lambda rows: [item.having(conj=conj) for item, conj in rows])
SLOTS = st.builds(
    lambda node, arch, ib, cpus, memory: Ad({
        "Name": f"slot1@{node}", "Machine": node, "Arch": arch, "OpSys": "LINUX", "Hasib": ib,
        "Cpus": cpus, "Memory": memory, "Disk": 10**6,
    }),
    NAMES, st.sampled_from(["X86_64", "aarch64"]), st.booleans(), st.integers(1, 9),
    st.integers(1, 4096),
)  # fmt: skip


@given(REQUESTS, SLOTS)
def test_a_slot_that_satisfies_a_request_satisfies_its_requirements(asked, slot):
    request = parse(asked)
    node = requirements.demands(request).requirements
    theirs = node is None or evaluate.evaluate(node, Ad(), slot)
    if Request(request).verdict(offer(slot)) is Verdict.YES:
        assert theirs is True


BACK = [
    pytest.param('(TARGET.Arch == "X86_64") && (TARGET.OpSys == "LINUX")',
                 "(Architecture EQ x86_64 And OperatingSystem EQ Linux)", True, id="sides"),
    pytest.param("(TARGET.Disk >= RequestDisk) && (TARGET.Memory >= RequestMemory)", "None", True,
                 id="what is requested anyway"),
    pytest.param("2048 <= TARGET.Memory", "Memory GE 2048 MB", True, id="turned round"),
    pytest.param('TARGET.Machine == "a" || Machine == "b"', "(Node EQ a Or Node EQ b)", True,
                 id="or"),
    pytest.param('!(TARGET.Machine == "a")', "Node NE a", True, id="not"),
    pytest.param('regexp("^n[12]$", TARGET.Machine)', "Node Match n[12]", True, id="anchored"),
    pytest.param('regexp("n[12]", TARGET.Machine)', "Node Match .*n[12].*", True, id="anywhere"),
    pytest.param('member(TARGET.Machine, {"a", "b"})', "Node EQ a,b", True, id="list"),
    pytest.param("TARGET.HasSsd", "Feature EQ Ssd", True, id="feature"),
    pytest.param('TARGET.Machine == "a" && time() > 5', "Node EQ a", False, id="a part of it"),
    pytest.param('TARGET.Machine == "a" || time() > 5', "None", False, id="all or nothing"),
    pytest.param("TARGET.HasFileTransfer", "None", False, id="of every starter"),
    pytest.param("true", "None", True, id="nothing"),
]  # fmt: skip


@pytest.mark.parametrize("text, asked, complete", BACK)
def test_requirements_are_a_request(text, asked, complete):
    found = requirements.request(expression(text))
    assert str(found.request) == asked
    assert found.complete is complete


@pytest.mark.parametrize("text, machines, count", [
    ('member(TARGET.Machine, {"a", "b"})', 1, "1"),
    ('member(TARGET.Machine, {"a", "b"})', 2, None),
    ('!member(TARGET.Machine, {"a", "b"})', 1, None),
    ('member(TARGET.Machine, {"a"})', 1, None),
    ('member(TARGET.Machine, {"a", "b"}) || TARGET.HasSsd', 1, "1"),
])  # fmt: skip
def test_one_machine_that_is_a_member_of_a_list_is_one_of_these_nodes(text, machines, count):
    found = requirements.request(expression(text), machines=machines).request
    [item] = [each.item for each in comparisons(found) if each.item.name == "Node"]
    assert item.attributes.get("count") == count


# decision 938
@pytest.mark.parametrize("text, machines", [
    ('member(TARGET.Machine, {"a", "b"})', 3), ('member(TARGET.Machine, {"a", "a"})', 2),
    ('member(TARGET.Machine, {"a", "b"}) || TARGET.HasSsd', 4),
])  # fmt: skip
def test_more_machines_than_names_of_a_list_are_no_request(text, machines):
    found = requirements.request(expression(text), machines=machines)
    assert (found.request, found.complete) == (None, False)


@given(REQUESTS)
def test_a_request_comes_back_from_requirements(asked):
    node = requirements.demands(parse(asked)).requirements
    if node is None:
        return
    found = requirements.request(node)
    assert found.complete
    again = requirements.demands(found.request).requirements
    assert written(again).replace("(", "").replace(")", "") == written(node).replace(
        "(", ""
    ).replace(")", "")
