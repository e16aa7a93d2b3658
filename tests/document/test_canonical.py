"""The canonical form: what says the same is written the same."""
# ruff: noqa: E501 (a row of a table is a line)

from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

import sssjob
from sssjob import expression
from sssjob.check.awareness import items
from sssjob.document import dumps, from_tree, loads, read
from sssjob.document.canonical import canon
from sssjob.model import Job, Property, Requested

VALID = sorted((Path(__file__).parents[1] / "data" / "valid").glob("*.xml"))
SPACE = "http://www.scidac.org/ScalableSystems/SSSRMAP"


def canonical(text, **options):
    return dumps(canon(loads(text), **options))


# fmt: off
FORMS = [
    # what is written, and its canonical form inside <Job>
    pytest.param("<JobId> 1 </JobId>", "<Id>1</Id>", id="an older name, and white space around"),
    pytest.param("<User>a</User><Id>1</Id>", "<Id>1</Id><User>a</User>", id="printed order"),
    pytest.param("<Zebra>z</Zebra><Ape/><User>a</User>", "<User>a</User><Ape/><Zebra>z</Zebra>",
                 id="unknown elements behind, by name"),
    pytest.param("<Zebra> <b/> x</Zebra>", "<Zebra> <b/> x</Zebra>", id="unknown elements keep their text"),
    pytest.param("<Memory>1024</Memory>", '<Memory units="GB">1</Memory>', id="the default unit made explicit"),
    pytest.param('<Memory units="MB">1536</Memory>', '<Memory units="MB">1536</Memory>', id="the largest whole unit"),
    pytest.param('<Memory units="MB">1935.36</Memory>', '<Memory units="GB">1.89</Memory>', id="1.89 GB (8.3)"),
    pytest.param('<Memory units="GiB">2</Memory>', '<Memory units="GB">2</Memory>', id="a loose unit"),
    pytest.param('<Memory units="pages">02</Memory>', '<Memory units="pages">2</Memory>', id="a unit that is none"),
    pytest.param("<Memory>much</Memory>", "<Memory>much</Memory>", id="an amount that is none"),
    pytest.param('<Charge units="USD">12.7500</Charge>', '<Charge units="USD">12.75</Charge>', id="a currency"),
    pytest.param("<Charge>2.541E4</Charge>", "<Charge>25410</Charge>", id="an exponent"),
    pytest.param("<ExitCode>+007</ExitCode>", "<ExitCode>7</ExitCode>", id="an integer"),
    pytest.param("<Interactive>True</Interactive>", "<Interactive>true</Interactive>", id="a Boolean"),
    pytest.param("<StartTime>2003-04-28T19:21:53Z</StartTime>", "<StartTime>1051557713</StartTime>", id="a time"),
    pytest.param("<Duration>01:00:00</Duration>", "<Duration>3600</Duration>", id="a duration"),
    pytest.param('<Dependency condition="OnSuccess" designator="JobId">b</Dependency><Dependency>a</Dependency>',
                 "<Dependency>a</Dependency><Dependency>b</Dependency>", id="defaults of attributes"),
    pytest.param('<Memory context="Available">1</Memory>', '<Memory units="MB">1</Memory>', id="context"),
    pytest.param('<Delivered><Memory context="Used">1</Memory></Delivered>',
                 '<Delivered><Memory units="MB">1</Memory></Delivered>', id="context of what was delivered"),
    pytest.param('<Delivered><Network context="Used">:</Network></Delivered>',
                 '<Delivered><Network context="Used">:</Network></Delivered>', id="no older name of NetworkAdapter"),
    pytest.param('<Feature aggregation="List" delimiter=",">a,b</Feature>',
                 '<Feature aggregation="List">a,b</Feature>', id="the usual delimiter"),
    pytest.param('<Node aggregation="List" delimiter=" ">a b</Node>',
                 '<Node aggregation="List" delimiter=" ">a b</Node>', id="a blank is a delimiter"),
    pytest.param('<OutputFile redirectList="Merge, Append">f</OutputFile>',
                 '<OutputFile redirectList="Append,Merge">f</OutputFile>', id="words in printed order"),
    pytest.param('<ResourceLimit type="Hard" name="cpu">9</ResourceLimit>',
                 '<ResourceLimit name="CPUTime" type="Hard">9</ResourceLimit>', id="the name of a limit"),
    pytest.param('<Environment><Variable name="B">2</Variable><!-- --><Variable name="A">1</Variable></Environment>',
                 '<Environment><Variable name="A">1</Variable><Variable name="B">2</Variable></Environment>', id="variables"),
    pytest.param('<Requested awarenessPolicy="Reject"><User>a</User></Requested>',
                 "<Requested><User>a</User></Requested>", id="the policy that holds anyway"),
    pytest.param('<Requested awarenessPolicy="Warn"><User awarenessPolicy="Reject">a</User></Requested>',
                 '<Requested awarenessPolicy="Warn"><User awarenessPolicy="Reject">a</User></Requested>',
                 id="a policy that differs from the one around it"),
    pytest.param("<!-- c --><?pi x?><Id>1</Id>", "<Id>1</Id>", id="comments"),
    pytest.param("<Delivered><User>a</User><Queue>q</Queue></Delivered>",
                 "<Delivered><Queue>q</Queue><User>a</User></Delivered>", id="what was delivered has no order"),
    pytest.param('<Delivered><User group="1">b</User><Queue group="-1">q</Queue><User>a</User></Delivered>',
                 '<Delivered><User group="1">b</User><Queue group="-1">q</Queue><User>a</User></Delivered>',
                 id="bags keep theirs"),
    pytest.param("<TaskGroup><Name>b</Name></TaskGroup><TaskGroup><Name>a</Name></TaskGroup><TaskGroup> 7</TaskGroup>",
                 "<TaskGroup>7</TaskGroup><TaskGroup><Name>a</Name></TaskGroup><TaskGroup><Name>b</Name></TaskGroup>",
                 id="task groups by name, references by id"),
]

REQUESTS = [
    # what is requested, and its canonical form
    pytest.param('<User op="EQ">a</User><Queue conj="And" group="0">q</Queue>', "<Queue>q</Queue><User>a</User>", id="defaults"),
    pytest.param("<Processors>4</Processors><Memory>1024</Memory>",
                 '<Memory units="GB">1</Memory><Processors>4</Processors>', id="And in printed order"),
    pytest.param('<User group="1">a</User><User conj="Or" group="-1">b</User><Queue>q</Queue>',
                 '<Queue>q</Queue><User group="1">a</User><User conj="Or" group="-1">b</User>', id="a group"),
    pytest.param('<User>b</User><User conj="Or">a</User>', '<User>a</User><User conj="Or">b</User>', id="Or by text"),
    pytest.param('<Queue group="2">q</Queue><User group="-2">a</User>', "<Queue>q</Queue><User>a</User>", id="idle groups"),
    pytest.param('<Processors conj="Nand" op="GE">8</Processors>', '<Processors op="LT">8</Processors>', id="a negation"),
    pytest.param('<Memory preference="1">512</Memory><Memory preference="2">1024</Memory>',
                 '<Memory units="GB" preference="2">1</Memory><Memory units="MB" preference="1">512</Memory>', id="preferences"),
    pytest.param('<Queue group="1">q</Queue><User op="EQ">a</User>',
                 '<Queue group="1">q</Queue><User>a</User>', id="groups that do not balance keep their order"),
    pytest.param('<Queue group="1" preference="1">q</Queue><Queue preference="2">r</Queue><User group="-1">u</User><Processors>4</Processors>',
                 '<Queue group="1" preference="2">r</Queue><Queue preference="1">q</Queue><User group="-1">u</User><Processors>4</Processors>',
                 id="preferences are weighed against those in their brackets, which stay"),
    pytest.param('<Queue group="1" preference="1">q</Queue><Queue conj="Or" preference="2">r</Queue><User conj="Or" group="-1">u</User><Processors conj="Or">4</Processors>',
                 '<Queue group="1" preference="1">q</Queue><Queue conj="Or" preference="2">r</Queue><User conj="Or" group="-1">u</User><Processors conj="Or">4</Processors>',
                 id="and in those of an Or"),
    pytest.param('<Processors>4</Processors><Queue group="1" preference="1">q</Queue><Queue group="-1" preference="2">r</Queue>',
                 '<Queue preference="2">r</Queue><Queue preference="1">q</Queue><Processors>4</Processors>', id="brackets of one preference alone"),
    pytest.param('<Processors>4</Processors><User group="1">q</User><Queue group="-1">r</Queue>',
                 "<Queue>r</Queue><User>q</User><Processors>4</Processors>", id="brackets of And in And say nothing"),
    pytest.param('<Processors conj="Or" group="1">4</Processors><User group="-1">q</User><Queue conj="Or">r</Queue>',
                 '<Queue>r</Queue><User conj="Or" group="1">q</User><Processors group="-1">4</Processors>', id="And in Or, each in printed order"),
    pytest.param('<Queue preference="-1">q</Queue><Queue preference="2">r</Queue>',
                 '<Queue preference="2">r</Queue><Queue preference="-1">q</Queue>', id="the heaviest preference first, whatever its sign"),
]
# fmt: on


@pytest.mark.parametrize("written, expected", FORMS)
def test_what_says_the_same_is_written_the_same(written, expected):
    assert canonical(f"<Job>{written}</Job>") == f"<Job>{expected}</Job>"


@pytest.mark.parametrize("written, expected", REQUESTS)
def test_requests_are_written_as_every_reader_takes_them(written, expected):
    form = canonical(f"<Job><Requested>{written}</Requested></Job>")
    assert form == f"<Job><Requested>{expected}</Requested></Job>"


def test_several_requests_are_one_expression_if_they_can_be_read():
    wishes = "<Requested><User>a</User></Requested><Requested><Queue>q</Queue></Requested>"
    older = "<Job><requestedProcessors>4</requestedProcessors></Job>"
    assert canonical(f"<Job>{wishes}</Job>") == (
        "<Job><Requested><Queue>q</Queue><User>a</User></Requested></Job>"
    )
    assert canonical(older) == "<Job><Requested><Processors>4</Processors></Requested></Job>"
    broken = wishes.replace("<Queue>", "<Queue group='1'>")
    assert len(canon(loads(f"<Job>{broken}</Job>")).blocks(Requested)) == 2


def test_equal_requests_become_one_that_asks_twice():
    wish = "<Requested><User>a</User></Requested>"
    assert len(canon(loads(f"<Job>{wish * 2}</Job>")).requested) == 2


def test_namespaces_and_prefixes_make_no_difference():
    job = f'<s:Job xmlns:s="{SPACE}" xmlns:x="urn:x"><s:Id>1</s:Id><x:Mood/></s:Job>'
    other = f'<Job xmlns="{SPACE}" xmlns:y="urn:x"><y:Mood/><Id xmlns="">1</Id></Job>'
    assert canonical(job) == canonical(other)
    assert canonical(f'<Job xmlns="{SPACE}"><Id>1</Id></Job>') == "<Job><Id>1</Id></Job>"


def test_comments_stay_with_what_they_precede_for_who_asks():
    text = "<Job><!--who--><User>a</User><!--which--><Id>1</Id><!--end--></Job>"
    assert canonical(text, comments=True) == (
        "<Job><!--which--><Id>1</Id><!--who--><User>a</User><!--end--></Job>"
    )


def test_an_instruction_keeps_its_blanks_behind_its_target():
    text = "<Job><?say   a  b ?><Id>1</Id></Job>"
    assert canonical(text, comments=True) == "<Job><?say a  b?><Id>1</Id></Job>"


@pytest.mark.parametrize(
    "properties",
    [
        ('<Memory metric="Average">1</Memory>', '<Memory metric="Max">2</Memory>'),
        ('<Memory metric="Max">1</Memory>', '<Memory metric="Max">2</Memory>'),
        ("<Memory>1</Memory>", '<Memory metric="Max">2</Memory>'),
    ],
)
def test_what_was_delivered_is_a_set_whose_order_says_nothing(properties):
    written = [
        canonical(f"<Job><Id>1</Id><Delivered>{''.join(each)}</Delivered></Job>")
        for each in (properties, properties[::-1])
    ]
    assert written[0] == written[1]


def test_strangers_stand_before_what_is_inside_and_keep_their_order():
    text = (
        '<JobGroup xmlns:x="urn:x"><JobDefaults><User>a</User></JobDefaults><Id>g</Id>'
        "<x:Mood>b</x:Mood><Able/><x:Mood>a</x:Mood></JobGroup>"
    )
    found = [item.name.rpartition("}")[2] for item in canon(loads(text)).items]
    assert found == ["Id", "Able", "Mood", "Mood", "JobDefaults"]
    assert [each.text for each in canon(loads(text)).properties.all("{urn:x}Mood")] == ["b", "a"]


@pytest.mark.parametrize(
    "inside, comments, expected",
    [
        ("<Mood>a<b/>c<!--x-->d</Mood>", False, "<Mood>a<b/>cd</Mood>"),
        ("<Mood>a<b/>c<!--x-->d</Mood>", True, "<Mood>a<b/>c<!--x-->d</Mood>"),
        ("<Mood>a<!--x-->d<b/><!--y-->e</Mood>", False, "<Mood>ad<b/>e</Mood>"),
        (
            '<Environment><x/><!--c--><Variable name="z">1</Variable>'
            '<Variable name="a">2</Variable></Environment>',
            True,
            '<Environment><Variable name="a">2</Variable><Variable name="z">1</Variable>'
            "<x/><!--c--></Environment>",
        ),
        (
            '<Environment><!--c--><y/><x/><Variable name="a">2</Variable></Environment>',
            True,
            '<Environment><Variable name="a">2</Variable><x/><y/><!--c--></Environment>',
        ),
    ],
)
def test_texts_meet_where_a_comment_goes_and_variables_stand_first(inside, comments, expected):
    assert canonical(f"<Job>{inside}</Job>", comments=comments) == f"<Job>{expected}</Job>"


def test_comments_keep_their_blanks():
    text = "<Job><!--  two   words  --><Id>1</Id></Job>"
    assert canonical(text, comments=True) == text


def test_defaults_are_applied_for_who_asks():
    text = "<JobGroup><Id>g</Id><Job><Id>1</Id></Job><JobDefaults><User>a</User></JobDefaults></JobGroup>"
    kept = "<JobGroup><Id>g</Id><JobDefaults><User>a</User></JobDefaults><Job><Id>1</Id></Job></JobGroup>"
    assert canonical(text) == kept
    assert canonical(text, effective=True) == (
        "<JobGroup><Id>g</Id><Job><Id>1</Id><User>a</User></Job></JobGroup>"
    )


def test_jobs_stand_in_the_order_that_people_count_in():
    jobs = "".join(f"<Job><Id>{n}</Id></Job>" for n in (10, 9, "b", "a"))
    group = canon(loads(f"<JobGroup><Id>g</Id>{jobs}</JobGroup>"))
    assert [job.id for job in group.jobs] == ["9", "10", "a", "b"]


@pytest.mark.parametrize(
    "block", [block for path in VALID for block in read(path)], ids=lambda block: block.id
)
def test_the_canonical_form_of_a_good_document_is_its_own(block):
    form = canon(block)
    assert canon(form) == form
    for indent in (False, True):
        assert canon(loads(dumps(form, indent=indent))) == form


@examples(80)
@given(ANY, st.booleans(), st.booleans())
def test_the_canonical_form_of_any_document_is_its_own(element, comments, effective):
    form = canon(from_tree(element), comments=comments, effective=effective)
    assert canon(form, comments=comments, effective=effective) == form
    assert canon(loads(dumps(form)), comments=comments) == form


NAMES = st.sampled_from(["User", "Queue", "Feature", "Memory", "Processors"])
OPS = st.sampled_from(["EQ", "NE", "LT", "GE", "Match"])
CONJUNCTIONS = st.sampled_from(["", "And", "Or", "Nand", "Nor"])


@st.composite
def requests(draw):
    """The properties of a Requested whose groups balance."""
    items = []
    depth = 0
    count = draw(st.integers(1, 7))
    for index in range(count):
        last = index == count - 1
        group = -depth if last else draw(st.integers(-depth, 2))
        depth += group
        attributes = {"op": draw(OPS), "conj": draw(CONJUNCTIONS), "group": str(group)}
        if draw(st.integers(0, 3)) == 0:
            attributes["preference"] = draw(st.sampled_from(["1", "2", "-1"]))
        kept = {name: value for name, value in attributes.items() if value}
        items.append(Property(draw(NAMES), draw(st.sampled_from("12")), kept))
    return tuple(items)


@examples(120)
@given(requests())
def test_the_canonical_form_of_a_request_is_its_own(items):
    form = canon(Job((Requested(items),)))
    assert canon(form) == form
    assert canon(Job((Requested(expression.write(expression.parse(items))),))) == form


XSI = "http://www.w3.org/2001/XMLSchema-instance"


@pytest.mark.parametrize(
    "content",
    ['<Extension xsi:type="p:T"/>', "<Extension>p:val</Extension>", "<Note>see (p:val)</Note>",
     '<p:x y="1">p:z</p:x>', "<Extension><inner>p:val</inner></Extension>"],
)  # fmt: skip
@pytest.mark.parametrize("uri", ["urn:p", "http://www.scidac.org/ScalableSystems/SSSRMAP"])
@pytest.mark.parametrize("indent", [True, False])
@pytest.mark.parametrize("namespace", ["", None])
def test_a_prefix_that_a_text_means_stays_bound(content, uri, indent, namespace):
    text = f'<Job xmlns:p="{uri}" xmlns:q="urn:q" xmlns:xsi="{XSI}"><Id>7</Id>{content}</Job>'
    [block] = sssjob.read(text.encode())
    written = dumps(canon(block), indent=indent, namespace=namespace)
    assert etree.fromstring(written).nsmap.get("p") == uri
    assert "urn:q" not in written
    [again] = sssjob.read(written.encode())
    assert dumps(canon(again), indent=indent, namespace=namespace) == written


def test_a_policy_that_is_none_hides_none_that_stands_inside():
    group = loads(
        "<JobGroup awarenessPolicy='Ignore'><Id>g</Id><Job awarenessPolicy='Never'><Id>1</Id>"
        "<Queue awarenessPolicy='Reject' x='1'>q</Queue></Job></JobGroup>"
    )
    assert [each.policy for each in items(canon(group))] == ["Reject", "Reject"]


def test_what_is_requested_stands_where_the_first_of_it_stood():
    job = loads(
        "<Job>\n<Id>1</Id>\n<Requested><Memory>1</Memory></Requested>\n"
        "<Requested><Queue>a</Queue></Requested></Job>"
    )
    [requested] = canon(job).blocks(Requested)
    assert (requested.line, [each.name for each in requested.properties]) == (
        3, ["Queue", "Memory"]
    )  # fmt: skip


@pytest.mark.parametrize("effective", [True, False])
def test_a_prefix_stays_bound_where_defaults_are_applied(effective):
    group = loads(
        '<JobGroup xmlns:p="urn:p"><JobDefaults><User>a</User></JobDefaults><Job><Id>1</Id>'
        "<Extension>p:val</Extension></Job></JobGroup>"
    )
    assert canon(group, effective=effective).prefixes == {"p": "urn:p"}
