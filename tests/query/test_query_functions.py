"""The functions sss:…, as written and on the resolved job."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import nodes, spec, units
from sssjob.errors import UnreadableDocument
from sssjob.expression.offers import BadOffer, offer
from sssjob.query import NotAQuery, compile, functions
from sssjob.query.match import number

GROUP = f"""<JobGroup xmlns="{spec.NAMESPACE}"><Id>g</Id>
<JobDefaults><Requested><Memory units="GB" op="GE">1</Memory></Requested></JobDefaults>
<Job><JobId>a</JobId><WallDuration>1:00:00</WallDuration></Job></JobGroup>""".encode()


def job(inside):
    return f"<Job><Id>1</Id>{inside}</Job>".encode()


def texts(expression, source, **options):
    return [match.text for match in compile(expression).run(source, **options)]


def requested(*items):
    return f"<Requested>{''.join(items)}</Requested>"


FROM_4 = '<Processors op="GE">4</Processors>'
TO_8 = '<Processors op="LE">8</Processors>'


@pytest.mark.parametrize(
    "inside, expression, expected",
    [
        pytest.param('<Memory units="GB">2</Memory>', "sss:bytes(Memory)", "2147483648", id="GB"),
        pytest.param("<Memory>2</Memory>", "sss:bytes(Memory)", "2097152", id="MB by default"),
        pytest.param('<Memory units="GB">1.89</Memory>', "sss:bytes(Memory)", "2029372047.36",
                     id="fractions"),
        pytest.param('<Memory units="gib">1</Memory>', "sss:bytes(Memory)", "1073741824",
                     id="loose units"),
        pytest.param("<Memory>much</Memory>", "sss:bytes(Memory)", "NaN", id="no number"),
        pytest.param("", "sss:bytes(Memory)", "NaN", id="nothing"),
        pytest.param("<Memory>1</Memory><Memory>2</Memory>", "sss:bytes(Memory)", "1048576",
                     id="the first, as number() does"),
        pytest.param("<Processors>4</Processors>", "sss:bytes(Processors)", "NaN",
                     id="a count has no bytes"),
        pytest.param('<ResourceLimit name="Memory">4096</ResourceLimit>',
                     "sss:bytes(ResourceLimit)", "4096", id="a limit is in bytes"),
        pytest.param('<ResourceLimit name="OpenFiles">4096</ResourceLimit>',
                     "sss:bytes(ResourceLimit)", "NaN", id="a limit that is a count"),
        pytest.param("<Memory>2</Memory>", "sss:bytes(Memory/text())", "2",
                     id="a text has no unit"),
        pytest.param("", "sss:bytes('1.5 GB')", "1610612736", id="a literal with its unit"),
        pytest.param("", "sss:bytes('2GB')", "2147483648", id="without a blank"),
        pytest.param("", "sss:bytes(1024)", "1024", id="a number"),
        pytest.param('<Memory units="DB">1e308</Memory>', "sss:bytes(Memory)", "Infinity",
                     id="more than a double holds"),
        pytest.param("<Duration>3600</Duration>", "sss:seconds(Duration)", "3600", id="seconds"),
        pytest.param("<Duration>1-02:24:13</Duration>", "sss:seconds(Duration)", "95053",
                     id="a clock"),
        pytest.param("<WallDuration>0:01:00</WallDuration>", "sss:seconds(WallDuration)", "60",
                     id="an older name"),
        pytest.param("<StartTime>2026-01-31T00:00Z</StartTime>", "sss:seconds(StartTime)",
                     "1769817600", id="seconds of a time"),
        pytest.param("", "sss:seconds('00:10:00') + 1", "601", id="arithmetic"),
        pytest.param("", "sss:time('2026-01-31T00:00Z')", "1769817600", id="ISO 8601"),
        pytest.param("", "sss:time('2026-01-31T01:00+01:00')", "1769817600", id="a zone"),
        pytest.param("<StartTime>1769817600</StartTime>",
                     "sss:time(StartTime) = sss:time('2026-01-31T00:00Z')", "true",
                     id="of an element"),
        pytest.param(requested(FROM_4, TO_8), "sss:min(Requested/Processors)", "4", id="least"),
        pytest.param(requested(FROM_4, TO_8), "sss:max(Requested/Processors)", "8", id="most"),
        pytest.param(requested(FROM_4), "sss:max(Requested/Processors)", "Infinity", id="no most"),
        pytest.param(requested(TO_8), "sss:min(Requested/Processors)", "0", id="no least"),
        pytest.param(requested('<Processors op="GT">4</Processors>'),
                     "sss:min(Requested/Processors)", "5", id="processors are whole"),
        pytest.param(requested('<Processors group="1">12</Processors>',
                               '<Processors conj="Or" group="-1">16</Processors>'),
                     "concat(sss:min(Requested/Processors), ' ', sss:max(Requested/Processors))",
                     "12 16", id="alternatives"),
        pytest.param(requested('<Processors group="1">12</Processors>',
                               '<Memory op="LT">1</Memory>', '<Memory op="GT">2</Memory>',
                               '<Processors conj="Or" group="-1">16</Processors>'),
                     "sss:min(Requested/Processors)", "16", id="an alternative that cannot be"),
        pytest.param(requested(FROM_4, "<Feature>ib</Feature>", "<Queue>a</Queue>"),
                     "sss:min(Requested/Processors)", "4", id="beside what is no amount"),
        pytest.param(requested(FROM_4, '<Feature preference="-1">ib</Feature>'),
                     "sss:min(Requested/Processors)", "4", id="beside a wish"),
        pytest.param(requested(FROM_4, '<Node op="Match">n.*</Node>'),
                     "sss:min(Requested/Processors)", "4", id="beside names of nodes"),
        pytest.param(requested(FROM_4, '<Memory op="GE" units="GB">1</Memory>'),
                     "sss:min(Requested/Memory)", "1073741824", id="base units"),
        pytest.param(requested('<Processors group="1">4</Processors>'),
                     "sss:min(Requested/Processors)", "NaN", id="groups out of balance"),
        pytest.param("<Processors>4</Processors>", "sss:max(Processors)", "4",
                     id="a job without Requested"),
        pytest.param("", "sss:min(.)", "NaN", id="a job is no amount"),
        pytest.param(requested("<Feature>ib</Feature>"), "sss:min(Requested/Feature)", "NaN",
                     id="a feature is no amount"),
        pytest.param("<Node aggregation='Range'>n[01-03]</Node>", "count(sss:nodes(Node))", "3",
                     id="range"),
        pytest.param("<Node aggregation='List'>a, b,a</Node>", "count(sss:nodes(Node))", "2",
                     id="a set has each once"),
        pytest.param("<Node aggregation='Range'>n[1-9]</Node>", "sss:nodes(Node) = 'n5'", "true",
                     id="any of them"),
        pytest.param("<Node aggregation='Range'>n[9-1]</Node>", "count(sss:nodes(Node))", "0",
                     id="no range"),
        pytest.param("<Node aggregation='Pattern'>n.*</Node>", "count(sss:nodes(Node))", "0",
                     id="a pattern has no names"),
        pytest.param("<Node aggregation='Range'>n[9-1]</Node><Node>n1</Node>",
                     "count(sss:nodes(Node))", "1", id="behind a list that is none"),
        pytest.param("<Node>n[1-2]</Node>", "string(sss:nodes(Node))", "n[1-2]",
                     id="one name without aggregation"),
        pytest.param("", "count(sss:nodes('n[1-4]'))", "4", id="a literal range"),
    ],
)  # fmt: skip
def test_functions_give(inside, expression, expected):
    assert texts(expression, job(inside)) == [expected]


@pytest.mark.parametrize(
    "requests, delivered, expected",
    [
        (FROM_4 + TO_8, "<Processors>6</Processors>", True),
        (FROM_4 + TO_8, "<Processors>9</Processors>", False),
        ('<Memory units="GB">1</Memory>', "<Memory>1024</Memory>", True),
        ('<Memory units="GB">1</Memory>', "<Processors>4</Processors>", False),
        ('<Duration op="LE">60</Duration>', "<Duration>59</Duration>", True),
        ("<Duration>60</Duration>", "<Duration>59</Duration>", False),
        ('<Processors group="1">4</Processors>', "<Processors>4</Processors>", False),
        (FROM_4, "", False),
    ],
)
def test_satisfied_compares_what_was_delivered_exactly(requests, delivered, expected):
    source = job(f"{requested(requests)}<Delivered>{delivered}</Delivered>")
    assert texts("sss:satisfied(.)", source) == [str(expected).lower()]
    assert (texts("//Job[sss:satisfied(.)]/Id", source) == ["1"]) is expected


def test_satisfied_without_a_request_asks_for_what_the_job_says_of_itself():
    source = job("<Processors>4</Processors><Delivered><Processors>4</Processors></Delivered>")
    assert texts("sss:satisfied(.)", source) == ["true"]
    assert texts("sss:satisfied(//Nobody)", source) == ["false"]


@pytest.mark.parametrize(
    "around, name",
    [("Job", "Id"), ("JobDefaults", "Id"), ("Wrapper", "Id"), ("Delivered", "JobId"),
     ("TaskGroup", "JobId")],
)  # fmt: skip
def test_an_element_has_the_present_name_of_where_it_stands(around, name):
    [element] = etree.fromstring(f"<{around}><JobId>1</JobId></{around}>")
    assert functions.as_property(element).name == name
    assert functions.as_property(etree.fromstring("<JobId>1</JobId>")).name == "Id"


def test_functions_see_defaults_and_present_names_on_the_resolved_job():
    assert texts("//Job[sss:min(Requested/Memory) = sss:bytes('1 GB')]", GROUP) == []
    resolved = "//Job[sss:min(Requested/Memory) = sss:bytes('1 GB')]/Id"
    assert texts(resolved, GROUP, effective=True) == ["a"]
    assert texts("//Job[sss:seconds(Duration) = 3600]/Id", GROUP, effective=True) == ["a"]
    assert texts("//Job[sss:seconds(WallDuration) = 3600]/JobId", GROUP) == ["a"]


def test_nodes_that_were_made_stand_in_the_job_but_nowhere_in_the_document():
    source = b"\n" + job("<Node aggregation='Range'>n[1-2]</Node>")
    found = [
        (match.text, match.xml, match.job, match.line, match.path)
        for match in compile("sss:nodes(Node)").run(source)
    ]
    assert found == [
        ("n1", "<Node>n1</Node>", "1", 2, None),
        ("n2", "<Node>n2</Node>", "1", 2, None),
    ]
    ((text, where),) = [
        (match.text, match.path) for match in compile("sss:nodes('n7')/text()").run(source)
    ]
    assert (text, where) == ("n7", None)


def test_too_many_nodes_are_refused_before_any_is_made_and_the_next_job_is_asked():
    many = job("<Node aggregation='Range'>n[1-999999]</Node>")
    errors = []
    source = many + b"\n" + job("<Node>n1</Node>")
    assert texts("count(sss:nodes(Node))", source, on_error=errors.append) == ["1"]
    assert [error.finding.line for error in errors] == [1]
    with pytest.raises(UnreadableDocument, match="100000 names"):
        texts("count(sss:nodes(Node))", many)


@pytest.mark.parametrize(
    "expression, position, said",
    [
        ("sss:time('2026-01-31')", 9, "a time with its zone such as 2026-01-31T00:00Z"),
        ("sss:bytes('2 XB')", 10, "one of the units B, KB"),
        ("sss:seconds('soon')", 12, "a duration in whole seconds"),
        ("sss:byte(Memory)", 0, "did you mean sss:bytes?"),
        ("seconds(Duration)", 0, "did you mean sss:seconds?"),
        ("sss:bytes()", 0, "0 arguments of sss:bytes(); expected 1"),
        ("sss:min(4)", 8, "a number as argument of sss:min(); expected a node set"),
        ("//sss:Job", 2, "expected another prefix for elements"),
    ],
)
def test_what_a_function_can_never_read_is_said_with_its_place(expression, position, said):
    with pytest.raises(NotAQuery) as raised:
        compile(expression)
    assert raised.value.position == position
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "text",
    ["2 gib", "2E", "2 E", "1.5k", "2048", "1e3 MB", "+2 DB", "2\u00a0GB", "2 XB", "GB", "2 GB 1"],
)
def test_a_size_means_the_same_in_queries_in_offers_and_in_conditions(text):
    """Without a unit it is in bytes for a query, and in the unit of the property elsewhere."""
    asked = functions.size(text)
    try:
        offered = float(offer({"Memory": text}).facts["Memory"][0].bytes)
    except BadOffer:
        offered = nan
    stated = functions.size_of("Memory", text)
    assert [offered, stated] == pytest.approx(
        [asked if units.with_unit(text) else asked * units.UNITS["MB"]] * 2, rel=0, nan_ok=True
    )


def test_another_prefix_may_be_bound_to_the_functions():
    query = compile("f:bytes(Memory)", {"f": functions.NAMESPACE})
    assert [match.text for match in query.run(job("<Memory>1</Memory>"))] == ["1048576"]


def test_functions_stream_where_their_argument_does():
    assert compile("//Job[sss:satisfied(.)]/Id").streams
    assert compile("sss:max(Requested/Processors) > 4").streams
    assert not compile("sss:bytes(//Memory)").streams


def test_a_query_with_functions_travels_and_is_shared_by_threads():
    query = pickle.loads(pickle.dumps(compile("//Job[sss:bytes(Memory) = 1048576]/Id")))
    source = job("<Memory>1</Memory>")
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda _: [match.text for match in query.run(source)], range(64))
    assert set(map(tuple, answers)) == {("1",)}


@given(
    st.decimals(0, 10**9, places=3),
    st.sampled_from([*units.UNITS][:6]),
)
def test_bytes_are_the_exact_amount_rounded_once(amount, unit):
    exact = units.bytes_of(str(amount), unit)
    source = job(f'<Memory units="{unit}">{amount}</Memory>')
    assert texts("sss:bytes(Memory)", source) == [number(float(exact))]


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_nodes_are_what_was_folded_into_a_range(numbers):
    written = [f"n{each}" for each in numbers]
    item = nodes.joined(written)
    kind = f' aggregation="{item.attributes["aggregation"]}"' if item.attributes else ""
    source = job(f"<Node{kind}>{item.text}</Node>")
    assert texts("sss:nodes(Node)", source) == list(dict.fromkeys(written))


def aware(policy, inside, number=1):
    delivered = "<Delivered><Processors>4</Processors></Delivered>"
    stated = f'awarenessPolicy="{policy}"' if policy else ""
    return f"<Job {stated}><Id>{number}</Id>{requested(inside)}{delivered}</Job>"


GPU = "<Processors>4</Processors><GPU>2</GPU>"
APPROX = '<Processors op="APPROX">4</Processors>'
VERSIONS = ("1.0", "2.0", "3.1")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("policy", ["Warn", "Ignore"])
@pytest.mark.parametrize("inside", [GPU, APPROX])
def test_what_is_not_understood_counts_as_absent_where_the_policy_lets_it(policy, inside, version):
    source = aware(policy, inside).encode()
    for expression, expected in [
        ("sss:satisfied(.)", "true"),
        ("sss:min(Requested/Processors)", "4"),
        ("sss:max(Requested/Processors)", "4"),
    ]:
        (found,) = compile(expression, version=version).run(source)
        assert found.text == expected


def test_a_policy_around_a_job_holds_for_its_request():
    source = f'<JobGroup awarenessPolicy="Warn">{aware("", GPU)}</JobGroup>'.encode()
    assert texts("//Job[sss:satisfied(.)]/Id", source) == ["1"]
    source = f'<Wrapper awarenessPolicy="Warn">{aware("", GPU)}</Wrapper>'.encode()
    with pytest.raises(UnreadableDocument):
        texts("//Job[sss:satisfied(.)]/Id", source)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "expression",
    ["sss:satisfied(.)", "not(sss:satisfied(.))", "sss:min(Requested/*[1])",
     "sss:max(Requested/*[1])", "//Job[not(sss:satisfied(.))]/Id"],
)  # fmt: skip
def test_a_rejected_request_has_no_value_and_all_that_is_not_understood_is_told(
    expression, version
):
    told = []
    source = (aware("", GPU.replace(">4", ' op="APPROX">4', 1)) + "\n" + aware("", FROM_4)).encode()
    found = list(compile(expression, version=version).run(source, on_error=told.append))
    assert [match.unit_line or match.line for match in found] in ([], [2])
    (error,) = told
    for each in ("op 'APPROX'", "/Requested/Processors/@op", "element GPU", "/Requested/GPU"):
        assert each in str(error)


def test_the_place_of_what_is_rejected_is_in_its_job_group():
    source = f"<JobGroup>{aware('', FROM_4)}{aware('', GPU)}</JobGroup>".encode()
    with pytest.raises(UnreadableDocument, match=r"/JobGroup/Job\[2\]/Requested/GPU"):
        texts("//Job[sss:satisfied(.)]", source)
