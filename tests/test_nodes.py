"""Names in one property: every example and error of List, Range and Pattern, and the way back."""

import dataclasses

import pytest
from counting import calls
from hypothesis import given
from hypothesis import strategies as st

import sssjob
from sssjob import nodes
from sssjob.document import loads
from sssjob.errors import InvalidValue, LimitExceeded
from sssjob.expression import parse
from sssjob.expression.evaluate import Offer, Request
from sssjob.layout.request import requests
from sssjob.model import Delivered, Job, Property, Requested


def node(text, **attributes):
    return Property("Node", text, attributes)


def range_of(text):
    return node(text, aggregation="Range")


@pytest.mark.parametrize(
    "text, names",
    [
        pytest.param("node[1-5]", "node1 node2 node3 node4 node5", id="one item"),
        pytest.param("n[005-007,12]", "n005 n006 n007 n12", id="width of each item"),
        pytest.param("n[0098-0101]", "n0098 n0099 n0100 n0101", id="width over a power of ten"),
        pytest.param("n[3,1-2,2]", "n3 n1 n2 n2", id="order and duplicates"),
        pytest.param("n[8-10]", "n8 n9 n10", id="no width"),
        pytest.param("n[0-1]", "n0 n1", id="zero is no width"),
        pytest.param("[1-2]", "1 2", id="no prefix"),
        pytest.param("a-b.c[7]", "a-b.c7", id="one number"),
        pytest.param("head", "head", id="no bracket is one name"),
        pytest.param("  n[1-2]\n", "n1 n2", id="white space around"),
    ],
)
def test_a_range_stands_for_its_names_in_order(text, names):
    assert list(nodes.expand(range_of(text))) == names.split()


def test_the_range_of_the_text_has_twenty_names():
    found = list(nodes.expand(range_of("n[5-23,77]")))
    assert found == [f"n{number}" for number in (*range(5, 24), 77)]


@pytest.mark.parametrize(
    "text",
    [
        *("n[5-3]", "n[1-]", "n[a-b]", "n[1-2]x", "n[]", "n[1,,2]", "n[1-2],m3", "n[1-2-3]"),
        *("n[-1]", "n[ 1-2]", "n[1]]", "[[1]", "n]", "n[1]m[2]", "n[1-2] m", "", "n[0x1]"),
        *("n[1-2/2]", "n[١-٢]", "n[1234567890123456789]"),
    ],
)
def test_what_is_no_range_is_refused(text):
    with pytest.raises(InvalidValue):
        nodes.expand(range_of(text))


@pytest.mark.parametrize(
    "text", ["n[0-99999999]", "n[0-999999999999]", "n[0-1000000]", "n[0-999999,5]"]
)
def test_a_range_above_the_limit_is_refused_before_a_name_is_made(text):
    def refused():
        with pytest.raises(LimitExceeded, match="more than 1000000 names in n"):
            nodes.expand(range_of(text))

    assert calls(refused) < 1_000


def test_a_range_at_the_limit_is_made_when_it_is_asked_for():
    found = nodes.expand(range_of("n[0-999999]"))
    assert len(found) == found.distinct == 1_000_000
    assert next(iter(found)) == "n0"


@pytest.mark.parametrize(
    "text, delimiter, names",
    [
        pytest.param("feature1,feature2", None, ["feature1", "feature2"], id="of the text"),
        pytest.param("ib;ssd", ";", ["ib", "ssd"], id="another delimiter"),
        pytest.param(" a ,\n b ", None, ["a", "b"], id="blanks are trimmed"),
        pytest.param("a--b-c", "--", ["a", "b-c"], id="several characters"),
        pytest.param("b,a,b", None, ["b", "a", "b"], id="order and duplicates"),
        pytest.param("a,,b,", None, ["a", "b"], id="empty members are dropped"),
        pytest.param("a b\tc", " ", ["a", "b\tc"], id="a blank delimiter trims nothing"),
        pytest.param("a\tb c", "\t", ["a", "b c"], id="tab"),
        pytest.param(",,", None, [], id="nothing but empty members"),
    ],
)
def test_a_list_is_split_on_its_delimiter(text, delimiter, names):
    attributes = {"aggregation": "List"} | ({"delimiter": delimiter} if delimiter else {})
    assert list(nodes.expand(Property("Feature", text, attributes))) == names


def test_a_list_is_bounded():
    with pytest.raises(LimitExceeded):
        nodes.split("," * 1_000_000)


def test_without_aggregation_a_text_is_one_name_and_a_pattern_stays_one():
    assert list(nodes.expand(node(" n[1-2] "))) == ["n[1-2]"]
    assert nodes.expand(node("node[1-5]", aggregation="Pattern")) == nodes.Pattern("node[1-5]")
    with pytest.raises(InvalidValue, match="one of the aggregations"):
        nodes.expand(node("a", aggregation="Set"))


# Folding


@pytest.mark.parametrize(
    "text",
    [
        *("node[1-5]", "n[5-23,77]", "n[005-007,12]", "n[0098-0101]", "n[3,1-2,2]", "n[9,010]"),
        *("n[08-10]", "head", "n7"),
    ],
)
def test_folding_gives_the_range_back(text):
    assert nodes.fold(nodes.expand(range_of(text))) == text


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([], id="none"),
        pytest.param(["n1", "m1"], id="two prefixes"),
        pytest.param(["n1", "head"], id="no number"),
        pytest.param(["n1-ib", "n2-ib"], id="suffix"),
        pytest.param(["n[1]", "n[2]"], id="brackets"),
        pytest.param([" n1", " n2"], id="blanks"),
        pytest.param(["n[1-2]"], id="one that would be read as a range"),
    ],
)
def test_what_one_range_cannot_say_is_not_folded(names):
    assert nodes.fold(names) is None


NAMES = st.one_of(
    st.from_regex(r"[a-c]{0,2}[0-9]{1,4}", fullmatch=True),
    st.from_regex(r"n0{0,2}[0-9]{1,20}", fullmatch=True),
    st.text("ab0[],; ", min_size=1, max_size=4),
)


@given(st.lists(NAMES, min_size=1, max_size=12))
def test_what_is_folded_expands_to_the_same_names_in_the_same_order(names):
    text = nodes.fold(names)
    if text is not None:
        assert list(nodes.expand(range_of(text))) == names


@given(st.lists(st.from_regex(r"n[0-9]{1,4}", fullmatch=True), min_size=1, max_size=12))
def test_names_of_one_prefix_always_fold(names):
    assert nodes.fold(names) is not None


@given(st.lists(NAMES.filter(lambda name: name == name.strip()), min_size=1, max_size=6))
def test_names_together_are_a_property_that_stands_for_them(names):
    try:
        item = nodes.joined(names)
    except InvalidValue:
        assert {",", ";"} <= set("".join(names))
    else:
        assert list(nodes.expand(item)) == names


@pytest.mark.parametrize(
    "names, expected",
    [
        (["n1"], node("n1")),
        (["n1", "n2"], node("n[1-2]", aggregation="Range")),
        (["n1", "m1"], node("n1,m1", aggregation="List")),
        (["n,1", "m1"], node("n,1;m1", aggregation="List", delimiter=";")),
    ],
)
def test_together_prefers_a_range(names, expected):
    assert nodes.joined(names) == expected


@pytest.mark.parametrize("name", ["", " a", "a\n"])
def test_a_name_with_blanks_around_it_cannot_stand_in_a_property(name):
    with pytest.raises(InvalidValue):
        nodes.joined([name, "b"])


def test_names_that_no_delimiter_separates_are_refused_by_the_first():
    with pytest.raises(InvalidValue, match="some delimiter can separate") as refused:
        nodes.joined(["a,;|\nb", "c"])
    assert "a,;|" in str(refused.value)


@pytest.mark.parametrize(
    "item, name",
    [
        (node("n[7-7]", aggregation="Range"), "n7"),
        (node("n[7-8]", aggregation="Range"), ""),
        (node("n7,n7", aggregation="List"), "n7"),
        (node("n7,n8", aggregation="List"), ""),
        (node("n7,n8,n9", aggregation="List"), ""),
        (node("", aggregation="List"), ""),
        (node("n[", aggregation="Range"), ""),
        (node("n7", aggregation="Pattern"), ""),
        (node("n7"), ""),
    ],
)
def test_a_set_of_one_stands_for_a_single_name(item, name):
    assert nodes.single(item) == name


@pytest.mark.parametrize(
    "span, other, left",
    [
        ((3, 9, 1), (5, 6, 1), ["n3 n4", "n7 n8 n9"]),
        ((3, 9, 1), (1, 3, 1), ["n4 n5 n6 n7 n8 n9"]),
        ((3, 9, 1), (9, 12, 1), ["n3 n4 n5 n6 n7 n8"]),
        ((3, 5, 1), (3, 5, 1), []),
        ((3, 5, 1), (6, 9, 1), ["n3 n4 n5"]),
        ((8, 11, 1), (8, 11, 2), ["n8 n9"]),
        ((8, 11, 2), (8, 11, 1), ["n08 n09"]),
        ((1, 3, 2), (1, 3, 3), ["n01 n02 n03"]),
    ],
)
def test_what_is_left_of_a_span_is_spans(span, other, left):
    low, high, width = span
    found = nodes.Span("n", low, high, width).without(nodes.Span("n", *other))
    assert [" ".join(each) for each in found] == left


# What the standard does not have


def extended(text):
    pytest.importorskip("ClusterShell")
    return list(nodes.expand(range_of(text), extended=True))


@pytest.mark.parametrize(
    "text, names",
    [
        pytest.param("n[1-2]x", "n1x n2x", id="suffix"),
        pytest.param("r[1-2]c[0-1]", "r1c0 r1c1 r2c0 r2c1", id="several brackets"),
        pytest.param("n[1-2],m3", "m3 n1 n2", id="set, sorted"),
        pytest.param("n[0-9/3]", "n0 n3 n6 n9", id="steps"),
        pytest.param("n[1-3]!n2", "n1 n3", id="difference"),
        pytest.param("n[3,1-2,2]", "n3 n1 n2 n2", id="a range of the standard stays what it is"),
    ],
)
def test_extended_ranges_are_read_by_clustershell(text, names):
    assert extended(text) == names.split()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("n[1-2-3]", id="read by ClusterShell as negative numbers"),
        pytest.param("n[1-2],@all", id="groups of this machine"),
        pytest.param("n[1-2],n*", id="wildcards over those groups"),
        pytest.param("n[1-2],%s", id="templates"),
        pytest.param("n[ 1-2]", id="blanks"),
        pytest.param("n[5-3]x", id="descending"),
        pytest.param("n[1-9/0]", id="no step"),
        pytest.param("n[1-2],,m", id="empty member"),
        pytest.param("n[1-2]]", id="bracket"),
    ],
)
def test_what_clustershell_would_take_from_elsewhere_is_refused(text):
    with pytest.raises(InvalidValue):
        extended(text)


@pytest.mark.parametrize("text", ["n[0-999999999]x", "r[1-1000]c[1-1001]", "n[1-999999]x,m[1-2]"])
def test_extended_ranges_are_measured_before_they_are_made(text):
    def refused():
        with pytest.raises(LimitExceeded):
            extended(text)

    refused()  # what is imported and made once
    assert calls(refused) < 10_000


@pytest.mark.parametrize(
    "text, names",
    [
        pytest.param("n[1-8]x", 8, id="a range"),
        pytest.param("n[1-9]x", None, id="one more"),
        pytest.param("n[5]x[5]y[5]z[5]", 1, id="numbers alone"),
        pytest.param("n[1,3,5-6]x[7-8]", 8, id="items of several brackets"),
        pytest.param("n[1,3,5-7]x[7-8]", None, id="an item more"),
        pytest.param("n[1-4]x,m[1-4]x", 8, id="two sets"),
        pytest.param("n[1-4]x,m[1-5]x", None, id="two sets of nine"),
    ],
)
def test_as_many_names_as_the_limit_are_made(text, names, monkeypatch):
    monkeypatch.setattr(nodes, "LIMIT", 8)
    if names is None:
        with pytest.raises(LimitExceeded):
            extended(text)
    else:
        assert len(extended(text)) == names


@pytest.mark.parametrize(
    "item",
    [
        '<Node aggregation="Heap">n[1-</Node>', "<Node>n[1-</Node>",
        '<Node aggregation="Pattern">n[1-3</Node>', '<Feature aggregation="Range">n[1-</Feature>',
        '<Feature aggregation="Heap">n[1-</Feature>',
    ],
)  # fmt: skip
def test_only_ranges_of_nodes_are_checked_as_ranges(item):
    assert list(nodes.check(loads(f"<Job>{item}</Job>"))) == []


def test_names_and_spans_are_taken_from_names_and_spans():
    some = nodes.Names(("a", "b", nodes.Span("n", 1, 5, 1), "n3", "c", nodes.Span("m", 1, 2, 1)))
    others = [nodes.Names(("b", nodes.Span("n", 2, 3, 1))), nodes.Names(("m1",))]
    assert " ".join(some.without(others)) == "a n1 n4 n5 c m2"
    assert " ".join(some.without(())) == "a b n1 n2 n3 n4 n5 n3 c m1 m2"


# How many


@pytest.mark.parametrize(
    "item, node_count, wanted",
    [
        pytest.param(node("n[1-8]", aggregation="Range", count="2"), 4, 2, id="count first"),
        pytest.param(node("n[1-8]", aggregation="Range"), 4, 4, id="then NodeCount"),
        pytest.param(node("n[1-8]", aggregation="Range"), None, 8, id="all of a Range"),
        pytest.param(node("a,b,a", aggregation="List"), None, 2, id="all of a List, each once"),
        pytest.param(node("n.*", aggregation="Pattern"), None, 1, id="at least one of a Pattern"),
        pytest.param(node("n1"), None, 1, id="a node"),
        pytest.param(node("n1", count="0"), None, 1, id="no count"),
    ],
)
def test_how_many_nodes_are_wanted(item, node_count, wanted):
    assert nodes.required(item, node_count) == wanted


# Findings


def codes(block):
    return [(found.code, found.path) for found in nodes.check(block)]


@pytest.mark.parametrize(
    "item, category, expected",
    [
        pytest.param(node("n[1-8]", aggregation="Range", count="2"), Requested, [], id="fine"),
        pytest.param(node("a;b", delimiter=";"), Requested,
                     [("W-USELESS", "/@delimiter")], id="delimiter without List"),
        pytest.param(node("a,,b", aggregation="List"), Requested, [("W-USELESS", "")], id="empty"),
        pytest.param(node("a,b", aggregation="List", delimiter=""), Requested,
                     [("E-TYPE", "/@delimiter")], id="empty delimiter"),
        pytest.param(node("n[5-3]", aggregation="Range"), Requested, [("E-TYPE", "")], id="range"),
        pytest.param(node("n[0-99999999]", aggregation="Range"), Requested,
                     [("E-LIMIT", "")], id="limit"),
        pytest.param(node("n.*", aggregation="Pattern"), Requested, [], id="pattern"),
        pytest.param(node("n.*", aggregation="Pattern"), Delivered,
                     [("E-OP", "/@aggregation")], id="delivered pattern"),
        pytest.param(node("n[1-2]", aggregation="Range", count="3", op="NE"), Requested,
                     [("W-USELESS", "/@count")], id="count of what is not wanted"),
        pytest.param(node("n[1-2]", aggregation="Range", count="4"), Delivered, [], id="instances"),
        pytest.param(node("a", count="4"), Requested, [], id="instances of a node"),
        pytest.param(Property("Queue", "a", {"aggregation": "List"}), Requested, [], id="others"),
    ],
)  # fmt: skip
def test_findings(item, category, expected):
    job = Job.of(category.of(item), Id="1")
    place = f"/Job/{category.name}/{item.name}"
    assert codes(job) == [(code, place + path) for code, path in expected]


def test_a_tab_that_xml_made_a_space_is_said_with_advice():
    job = loads('<Job><Feature aggregation="List" delimiter="\t">a\tb</Feature></Job>')
    (found,) = nodes.check(job)
    assert (found.code, found.line) == ("W-USELESS", 1)
    assert "&#9;" in found.suggestion
    right = loads('<Job><Feature aggregation="List" delimiter="&#9;">a\tb</Feature></Job>')
    assert list(nodes.check(right)) == []
    assert list(nodes.expand(right["Feature"])) == ["a", "b"]


@pytest.mark.parametrize(
    "text", ["n[5-23,77]", "n[005-007,12]", "n[0098-0101]", "n[3,1-2,2]", "[8-11]", "n1[0-3]"]
)
def test_a_span_knows_its_names_without_making_them(text):
    spans = [part for part in nodes.spans(text).parts if not isinstance(part, str)]
    near = {
        f"{prefix}{number:0{width}}"
        for prefix in ("", "n", "n1", "m")
        for number in range(130)
        for width in range(1, 5)
    }
    for span in spans:
        assert {name for name in near if name in span} == near & set(span)
        assert not any(name in span for name in ("n", "n-5", "n+5", "n٥", "n5\n", 5, None))


def test_no_name_of_a_single_range_is_made_to_ask_whether_some_are_among_them(monkeypatch):
    made = Request(parse([
        Property("Node", f"n{place}[1-999999]", {"aggregation": "Range", "conj": "Or"})
        for place in range(2000)
    ]))  # fmt: skip
    monkeypatch.setattr(nodes.Span, "__iter__", lambda span: pytest.fail("names were made"))
    offers = [Offer.of("a", [Property("Node", "n7")]), Offer.of("b", [Property("Node", "m")])]
    assert [str(made.verdict(offer)) for offer in offers] == ["no", "no"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["n", "n1", "n0", "m"]), st.integers(0, 120), st.integers(0, 30),
            st.integers(1, 3),
        ),
        min_size=1, max_size=4,
    )
)  # fmt: skip
def test_ranges_are_taken_from_each_other_as_their_names_are(given_spans):
    spans = [
        nodes.Span(prefix, low, low + more, max(width, len(str(low))))
        for prefix, low, more, width in given_spans
    ]
    first, *others = (nodes.Names((each,)) for each in spans)
    excluded = {name for each in others for name in each}
    assert list(first.without(others)) == [name for name in first if name not in excluded]
    together = nodes.Names(tuple(spans))
    assert together.distinct == len(set(together))


def test_nothing_is_made_of_ranges_that_cover_each_other(monkeypatch):
    made = []

    def counted(self):
        for number in range(self.low, self.high + 1):
            made.append(number)
            assert len(made) < 1000
            yield f"{self.prefix}{number:0{self.width}}"

    monkeypatch.setattr(nodes.Span, "__iter__", counted)
    text = "n[1-999999]"
    source = (
        f'<Job><Id>1</Id><Requested><Node aggregation="Range" op="NE">{text}</Node>'
        f'<Node aggregation="Range">{text}</Node></Requested></Job>'
    )
    job = loads(source)
    offer = {"id": "n1", "Node": "n5", "Processors": 8}
    assert not sssjob.place(job, [offer]).placed
    with pytest.raises(sssjob.InvalidJob, match="of a set of 0"):
        sssjob.validate(source)
    (found, *_) = requests(job, "/Job").asked
    assert found.candidates.names(10) == ()
    assert found.candidates.number == 0
    assert dataclasses.replace(found.candidates, excluded=()).number == 999_999
    twice = dataclasses.replace(
        found.candidates, excluded=(), sets=((nodes.spans(text), None),) * 2
    )
    assert twice.names(3) == ("n1", "n2", "n3")


@pytest.mark.parametrize(
    ("said", "count"),
    [("1", 1), ("2", 2), (" 3 ", 3), ("0", None), ("-1", None), ("two", None), ("1.5", None)],
)
def test_a_count_is_a_whole_number_of_at_least_one(said, count):
    assert nodes.stated_count(node("n[1-4]", aggregation="Range", count=said)) == count
    assert nodes.stated_count(node("n1")) is None
