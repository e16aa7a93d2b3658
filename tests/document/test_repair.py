"""Broken documents: advice on each cause, and repair where one repair is possible."""
# ruff: noqa: E501 (a row of a table is a line)

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from strategies import ANY

from sssjob.document import loads, read, repair, tree
from sssjob.document.parsing import SourcePlace
from sssjob.document.repair import NotRepairable, advise
from sssjob.document.repair.advisor import Advisor
from sssjob.document.repair.source import Source
from sssjob.errors import UnreadableDocument

DATA = Path(__file__).parents[1] / "data"
SPACE = "http://www.scidac.org/ScalableSystems/SSSRMAP"


def repaired(text):
    return repair.repair(text.encode()).data.decode()


def advice(text):
    return list(advise(text.encode()))


def raw(name):
    return (DATA / "raw" / f"{name}.xml").read_bytes()


# fmt: off
PRINTED = [
    #            example                     changes by rule       lines of those that are no quotes
    pytest.param("1.3-very-simple-example",  {},                   [],       id="simple"),
    pytest.param("1.3-moderate-example",     {"a": 12},            [],       id="moderate"),
    pytest.param("1.3-elaborate-example",    {"a": 26, "b": 2},    [15, 67], id="elaborate"),
    pytest.param("8.1-requested-examples",   {"a": 20, "b": 1},    [9],      id="the four of 8.1"),
]
# fmt: on


@pytest.mark.parametrize("name, rules, lines", PRINTED)
def test_the_examples_as_printed_are_repaired(name, rules, lines):
    done = repair.repair(raw(name))
    assert Counter(change.rule for change in done.changes) == rules
    assert [change.line for change in done.changes if change.rule != "a"] == lines
    assert list(tree.documents(done.data))


@pytest.mark.parametrize("name", ["1.3-moderate-example", "1.3-elaborate-example"])
def test_the_repaired_examples_are_the_corrected_ones(name):
    _, _, corrected = (DATA / "valid" / f"{name}.xml").read_text().partition("-->\n")
    assert repair.repair(raw(name), groups=True).text == corrected


def test_the_four_examples_of_requests_become_four_documents():
    found = list(tree.documents(repair.repair(raw("8.1-requested-examples")).data))
    assert [len(root) for root, _ in found] == [3, 2, 4, 2]


def test_swapped_groups_are_turned_for_who_asks():
    done = repair.repair(raw("1.3-elaborate-example"), groups=True)
    turned = [change[1:] for change in done.changes if change.rule == "g"]
    assert turned == [(77, 28, "-1", "1"), (78, 38, "1", "-1")]
    assert '<Processors group="1">12<' in done.text
    good = (DATA / "valid" / "8.1-requested-and-8.2-delivered-3.xml").read_bytes()
    assert repair.repair(good, groups=True) == (good, ())


# Section by section what a tool should say of the printed examples, and of their like.
# fmt: off
SAID = [
    pytest.param("1.3-moderate-example", [
        (18, 20, 'typographic quote U+201D instead of " around the value of op on Processors (12 in this document)', 'write "'),
    ], id="quotes, once and counted"),
    pytest.param("1.3-elaborate-example", [
        (13, 22, 'typographic quote U+201D instead of " around the value of name on Variable (26 in this document)', 'write "'),
        (15, 5, "<Environment> opens inside <Environment> (line 12), which cannot nest", "missing '/'?"),
        (67, 19, "<Memory> reopened right after its text", "write </Memory>"),
    ], id="the cause, not its consequences"),
    pytest.param("8.1-requested-examples", [
        (2, 18, 'typographic quote U+201D instead of " around the value of op on Processors (20 in this document)', 'write "'),
        (9, 1, "<Requested> opens inside <Requested> (line 6), which cannot nest", "missing '/'?"),
    ], id="several documents"),
    pytest.param("1.3-very-simple-example", [], id="nothing to say"),
]

REPAIRS = [
    #            broken, repaired, rules
    pytest.param('<Job><Id>1</Id><Memory units=“GB”>2</Memory></Job>', '<Job><Id>1</Id><Memory units="GB">2</Memory></Job>', "aa", id="left and right quotes"),
    pytest.param('<Job><Id>1</Id><Memory units=„GB″>2</Memory></Job>', '<Job><Id>1</Id><Memory units="GB">2</Memory></Job>', "aa", id="low quotes and primes"),
    pytest.param("<Job><Id>1</Id><Memory units=‘GB’>2</Memory></Job>", "<Job><Id>1</Id><Memory units='GB'>2</Memory></Job>", "aa", id="single quotes"),
    pytest.param('<Job><Id>1</Id><Memory units="GB” op="GE">2</Memory></Job>', '<Job><Id>1</Id><Memory units="GB" op="GE">2</Memory></Job>', "a", id="one of two quotes"),
    pytest.param('<Job mood="“x” y" b=”z”><Name>job’s “x”</Name></Job>', '<Job mood="“x” y" b="z"><Name>job’s “x”</Name></Job>', "aa", id="quotes that are data stay"),
    pytest.param('<?xml version=”1.0”?><Job><Id>1</Id></Job>', '<?xml version="1.0"?><Job><Id>1</Id></Job>', "aa", id="quotes in a declaration"),
    pytest.param("<Job><Id>1<Id></Job>", "<Job><Id>1</Id></Job>", "b", id="a mistyped end tag"),
    pytest.param(f'<s:Job xmlns:s="{SPACE}"><s:Id>1<s:Id></s:Job>', f'<s:Job xmlns:s="{SPACE}"><s:Id>1</s:Id></s:Job>', "b", id="one with a prefix"),
    pytest.param("<Job><Id>1</Id><Memory>1<Memory><Swap>2<Swap></Job>", "<Job><Id>1</Id><Memory>1</Memory><Swap>2</Swap></Job>", "bb", id="two of them"),
    pytest.param('<Job><Memory>1<Memory metric="Max">2</Memory></Job>', '<Job><Memory>1</Memory><Memory metric="Max">2</Memory></Job>', "c", id="a missing end tag before its like"),
    pytest.param("<Job><Memory>1<Memory>2</Memory></Job>", "<Job><Memory>1</Memory><Memory>2</Memory></Job>", "c", id="a second value"),
    pytest.param("<Job><Id>1\n<Name>x</Name></Job>", "<Job><Id>1</Id>\n<Name>x</Name></Job>", "c", id="a value followed by a sibling"),
    pytest.param("<Job><Id>1</Job>", "<Job><Id>1</Id></Job>", "c", id="a value followed by the end of its parent"),
    pytest.param('<Job><Id>1<Name>x<User>u</Job>', "<Job><Id>1</Id><Name>x</Name><User>u</User></Job>", "ccc", id="several values"),
    pytest.param('<Environment><Variable name="a">1<Variable name="b">2</Environment>', '<Environment><Variable name="a">1</Variable><Variable name="b">2</Variable></Environment>', "cc", id="variables"),
    pytest.param('<Job><TaskGroup><Name>a</Name><TaskGroup mood="x"><Name>b</Name></TaskGroup></Job>', '<Job><TaskGroup><Name>a</Name></TaskGroup><TaskGroup mood="x"><Name>b</Name></TaskGroup></Job>', "c", id="a container before its like"),
    pytest.param('<Job>\n <TaskGroup>\n  <Name>a</Name>\n  <Memory>1</Memory>\n <TaskGroup mood="x">\n </TaskGroup>\n</Job>', '<Job>\n <TaskGroup>\n  <Name>a</Name>\n  <Memory>1</Memory>\n </TaskGroup><TaskGroup mood="x">\n </TaskGroup>\n</Job>', "c", id="the lines tell where it ends"),
    pytest.param("<Jobs><Job><Id>1</Id><Job><Id>2</Id></Job></Jobs>", "<Jobs><Job><Id>1</Id></Job><Job><Id>2</Id></Job></Jobs>", "c", id="a job before its like"),
    pytest.param("<Job\u00a0mood='x'\u00a0><Id>1</Id></Job\u00a0>", "<Job mood='x' ><Id>1</Id></Job >", "ddd", id="no-break spaces"),
    pytest.param("<Job><Name>a\u00a0b</Name><Memory\u00a0/></Job>", "<Job><Name>a\u00a0b</Name><Memory /></Job>", "d", id="no-break spaces in text stay"),
    pytest.param('<Job m="a&b"><Id>AT&T & c; &amp; &#65; &#x41;</Id><!-- & --><![CDATA[&]]></Job>', '<Job m="a&amp;b"><Id>AT&amp;T &amp; c; &amp; &#65; &#x41;</Id><!-- & --><![CDATA[&]]></Job>', "eee", id="bare &"),
    pytest.param('\n \ufeff<?xml version="1.0"?>\n<Job/>', '<?xml version="1.0"?>\n<Job/>', "f", id="blanks and a mark before the declaration"),
]

REFUSED = [
    #            broken, line, column, said, advice
    pytest.param("<Job><Memory>1<Memory>2</Job>", 1, 15, "<Memory> reopened", "write </Memory> instead, or write </Memory> before it", id="a second value or stray text"),
    pytest.param("<Job><Requested><Memory>5</Memory><Processors>4</Processors></Job>", 1, 6, "<Requested> (line 1) is not closed before </Job>", "before <Processors> (line 1) or before </Job>", id="an end tag that could stand in two places"),
    pytest.param('<Job><TaskGroup><Name>a</Name><Memory>1</Memory><TaskGroup mood="x"/></TaskGroup><TaskGroup></Job>', 1, 82, "<TaskGroup> (line 1) is not closed", "", id="a container"),
    pytest.param('<Job><TaskGroup><Name>a</Name><Memory>1</Memory><TaskGroup mood="x"></TaskGroup></Job>', 1, 49, "<TaskGroup> opens inside <TaskGroup>", "before <Memory> (line 1) or before <TaskGroup> (line 1)", id="two places before its like"),
    pytest.param("<Environment><Variable name='a'/><Environment><Variable name='b'/>", 1, 34, "<Environment> opens inside", "instead, or", id="variables that would stand alone"),
    pytest.param("<Job><Id><Name>x</Name></Job>", 1, 10, "<Id> (line 1) is not closed", "behind its value, or remove it", id="no value at all"),
    pytest.param("<Job><Environment><Id>1</Id><Name>n</Name></Job>", 1, 6, "<Environment> (line 1) is not closed before </Job>", "write </Environment> before </Job>", id="a first child that cannot be in it"),
    pytest.param("<Job><Id>a &nbsp; b</Id></Job>", 1, 18, "nbsp", "", id="an unknown entity"),
    pytest.param("<Job><Id>a\x01b</Id></Job>", 1, 11, "U+0001 is not a character of XML 1.0", "remove it", id="a control character"),
    pytest.param("<Job><Id>\ufffe</Id></Job>", 1, 10, "U+FFFE is not a character of XML 1.0", "remove it", id="no character at all"),
    pytest.param("<Job><Id>1</id></Job>", 1, 11, "</id> where <Id> (line 1) is open", "write </Id>", id="an end tag in other case"),
    pytest.param("<Job>\n <Id>1</Id>\n</Jobb>", 3, 1, "</Jobb> where <Job> (line 1) is open", "write </Job>", id="a misspelled end tag"),
    pytest.param("<Job/></Job>", 1, 7, "</Job> closes nothing that is open", "", id="an end tag too many"),
    pytest.param("<Job><Id>1</Id>", 1, 1, "<Job> (line 1) is not closed before the end of the document", "", id="a document that is cut off"),
    pytest.param("<Job><Memory units=GB>1</Memory></Job>", 1, 20, "the value of units on Memory has no quotes", 'write "', id="no quotes"),
    pytest.param("<Job><Memory units=«GB»>1</Memory></Job>", 1, 20, "U+00AB is no quote", 'write "', id="other quotes"),
    pytest.param("<Job><Name mood=‘it’s’/></Job>", 1, 17, "it cannot be told where the value of mood on Name ends", "write '", id="an apostrophe in quotes of its like"),
    pytest.param('<Job mood=“x "q" y”/>', 1, 11, "it cannot be told where the value of mood on Job ends", 'write "', id="quotes in quotes"),
    pytest.param("<Job><Id mood>1</Id></Job>", 1, 10, "mood in <Id> has no value", "", id="no value"),
    pytest.param("<Job><Id>a < b</Id></Job>", 1, 12, "a bare < in text", "write &lt;", id="a bare <"),
    pytest.param("<Job><Id mood='1 < 2' group='1'>x</Id></Job>", 1, 18, "a bare < in the value of mood on Id", "write &lt;", id="a < in a value"),
    pytest.param('<Job><Id mood="<">x</Id><Name mood="<<">x</Name></Job>', 1, 16, "a bare < in the value of mood on Id (2 in this document)", "write &lt;", id="values that are <"),
    pytest.param("<Job><Id mood='1>x</Id><Name mood='a'>x</Name></Job>", 1, 15, "it cannot be told where the value of mood on Id ends", "write '", id="a quote that is open"),
    pytest.param("<?xml version='1.0'\n<Job/>", 1, 1, "the tag <?xml does not end before the next <", "write ?>", id="a declaration that does not end"),
    pytest.param("<Job <Id>1</Id></Job>", 1, 1, "the tag <Job does not end before the next <", "write >", id="a tag that does not end"),
    pytest.param("<Job><Id>1</Id></Job", 1, 16, "an end tag without its end", "write >", id="an end tag that is cut off"),
    pytest.param("<Job><Id>1</Id><Memory", 1, 16, "the tag <Memory does not end", "write >", id="a tag that is cut off"),
    pytest.param("x<Job/>", 1, 1, "text outside of any element", "", id="text in front"),
    pytest.param("<Job><!-- x</Job>", 1, 6, "a comment that does not end", "write -->", id="a comment"),
    pytest.param("<Job a='1' a=’2’/>", 1, 17, "redefined", "", id="an attribute twice"),
    pytest.param("<!DOCTYPE Job><Job/>", 1, 1, "DTD", "remove <!DOCTYPE", id="a document type"),
    pytest.param("<Foo>1<Foo></Bar>", 1, 12, "</Bar> where <Foo>", "", id="names that the standard does not have"),
    pytest.param("", 0, 0, "empty", "", id="nothing"),
]
# fmt: on


@pytest.mark.parametrize("name, said", SAID)
def test_each_cause_is_told_once_in_its_place_with_what_to_write(name, said):
    found = list(advise(raw(name)))
    assert [(each.line, each.column, each.message) for each in found] == [row[:3] for row in said]
    for each, row in zip(found, said, strict=True):
        assert each.suggestion == f"{row[3]}; sssjob repair does it"


@pytest.mark.parametrize("broken, right, rules", REPAIRS)
def test_common_mistakes_are_repaired_and_told(broken, right, rules):
    done = repair.repair(broken.encode())
    assert done.text == right
    assert "".join(change.rule for change in done.changes) == rules
    assert all(each.suggestion.endswith("sssjob repair does it") for each in advice(broken))
    for change in done.changes:
        line = broken.split("\n")[change.line - 1]
        assert change.before.split("\n")[0] == line[change.column - 1 :][: len(change.before)]


def test_of_a_value_with_a_less_than_sign_nothing_else_is_told():
    for value in ("1 < 2", "<", "a<b<c"):
        for quote in "'\"":
            broken = f"<Job><Id mood={quote}{value}{quote} group='1'>x</Id></Job>"
            (found,) = advice(broken)
            assert found.message == "a bare < in the value of mood on Id"


def test_blanks_before_a_declaration_are_told_where_the_parser_stops_whatever_stands_behind():
    broken = b"\n<?xml version='1.0'?><Jobs><Job><Id>a</Id></Job></Job>"
    with pytest.raises(UnreadableDocument) as refused:
        list(read(broken))
    with pytest.raises(NotRepairable) as failure:
        repair.repair(broken)
    at, other = failure.value.placed
    assert (at.line, at.column) == (refused.value.finding.line, refused.value.finding.column)
    assert at.message.startswith("in line 1 blanks or a byte order mark before <?xml")
    assert "in line 1 blanks" not in other.message
    assert other.message == "</Job> where <Jobs> (line 2) is open"


@pytest.mark.parametrize("broken, line, column, said, suggestion", REFUSED)
def test_what_no_rule_or_more_than_one_repairs_is_refused_with_advice(
    broken, line, column, said, suggestion
):
    with pytest.raises(NotRepairable) as failure:
        repair.repair(broken.encode())
    assert tuple(advice(broken)) == failure.value.findings
    (found,) = [each for each in failure.value.findings if said in each.message]
    assert (found.line, found.column) == (line, column)
    assert suggestion in found.suggestion
    assert "sssjob repair" not in str(failure.value)


def test_independent_mistakes_are_all_told_and_consequences_are_not():
    broken = "<Job>\n <Id>1<Id>\n <Name>a & b</Name>\n <User>x\x02</User>\n <Memory units=”GB”>2<Memory>\n</Job>"
    assert [(each.line, each.message.split()[0]) for each in advice(broken)] == [
        (2, "<Id>"), (3, "a"), (4, "U+0002"), (5, "typographic"), (5, "<Memory>"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "broken, path",
    [
        pytest.param("<Job><Memory/><Id>a & b</Id></Job>", "/Job/Id", id="an empty element before"),
        pytest.param("<Job><!-- c --><Id>a\x01b</Id></Job>", "/Job/Id", id="a comment"),
        pytest.param("<Job><Name>a</Name>c & d</Job>", "/Job", id="text behind an element"),
        pytest.param("<Job></Job></Job><Id>a & b</Id>", "/Id", id="an end tag too many"),
    ],
)
def test_what_is_wrong_in_text_is_told_with_the_path_of_its_element(broken, path):
    assert advice(broken)[-1].path == path


def test_findings_tell_the_path_of_the_element():
    broken = (
        "<Job><Id>a&b</Id><TaskGroup><Memory units=”GB”>1</Memory></TaskGroup><User>x<User></Job>"
    )
    assert [each.path for each in advice(broken)] == [
        "/Job/Id", "/Job/TaskGroup/Memory", "/Job/User",
    ]  # fmt: skip


def test_bytes_of_another_encoding_are_told_with_their_offset():
    (found,) = advise("<Job>\n<Id>é</Id>‚".encode("cp1252") + b"</Job>")
    assert found.message == "byte 0xE9 at offset 10 is not UTF-8"
    assert (found.line, found.column) == (2, 5)
    assert "ISO-8859-1" in found.suggestion
    quotes = next(advise(b"<Job><Id>\x94</Id></Job>"))
    assert "windows-1252" in quotes.suggestion


CUT = SourcePlace(start=100, line=7, column=20)


def test_places_count_from_where_the_text_was_cut_out():
    source = Source(b"<Job>\n <Id/></Job>", CUT)
    assert [source.place(index) for index in (0, 3, 6, 7)] == [(7, 20), (7, 23), (8, 1), (8, 2)]
    assert [source.index(*source.place(index)) for index in range(9)] == [*range(9)]
    assert source.excerpt(7, 21) == "<Job>\n ^"
    assert source.excerpt(8, 2) == " <Id/></Job>\n ^"
    assert source.excerpt(6, 1) == source.excerpt(9, 1) == ""


@pytest.mark.parametrize(
    "data, line, column", [(b"<Id>\xe9</Id>", 7, 24), (b"<Id>\n  \xe9</Id>", 8, 3)]
)
def test_so_does_a_byte_of_another_encoding(data, line, column):
    fault = Source(data, CUT).fault
    assert (fault.line, fault.column) == (line, column)
    assert f"at offset {100 + data.index(0xE9)}" in fault.message


@pytest.mark.parametrize("encoding", ["windows-1252", "UTF-16", "UTF-8", "utf-8-sig"])
def test_a_document_keeps_its_encoding(encoding):
    declared = encoding.replace("-sig", "").upper()
    text = f'<?xml version="1.0" encoding="{declared}"?>\n<Job><Name mood=”é”>it’s<Name></Job>'
    done = repair.repair(text.encode(encoding))
    expected = text.replace("”", '"').replace("<Name></Job>", "</Name></Job>")
    assert done.data == expected.encode(encoding)


@examples(60)
@given(ANY)
def test_a_document_that_can_be_read_is_left_as_it_is(element):
    data = etree.tostring(element)
    assert repair.repair(data) == (data, ())
    assert list(advise(data)) == []


def spoiled(text, draw):
    """A document with what word processors and fingers do to it."""
    tags = list(re.finditer(r"<[^!?/][^<>]*>", text))
    for tag in (
        reversed(draw(st.lists(st.sampled_from(tags), max_size=4, unique=True))) if tags else ()
    ):
        quotes = draw(st.sampled_from(["””", "“”", "„“", "″″"]))
        worse = re.sub(r'="([^"]*)"', rf"={quotes[0]}\1{quotes[1]}", tag[0])
        if draw(st.booleans()):
            worse = worse.replace(" ", "\u00a0")
        text = text[: tag.start()] + worse + text[tag.end() :]
    return text


@examples(60)
@given(ANY, st.data())
def test_repairing_twice_repairs_once_and_no_text_is_altered(element, data):
    text = etree.tostring(element, encoding="unicode")
    broken = spoiled(text, data.draw)
    try:
        done = repair.repair(broken.encode())
    except NotRepairable:
        assert list(advise(broken.encode()))
        return
    assert repair.repair(done.data) == (done.data, ())
    assert list(tree.parse(done.data).itertext()) == list(etree.fromstring(text).itertext())


@examples(60)
@given(st.text(st.sampled_from('<>/="”’“& \u00a0\n!?-[]aJobIdMemory1'), max_size=60), st.booleans())
def test_anything_is_repaired_or_refused_with_a_reason(text, inside):
    broken = f"<Job><Id>{text}</Id></Job>" if inside else text
    try:
        done = repair.repair(broken.encode())
    except NotRepairable:
        assert advice(broken)
        return
    assert list(tree.documents(done.data))
    assert repair.repair(done.data) == (done.data, ())


MEBIBYTE = 1 << 20

# fmt: off
HOSTILE = [
    pytest.param(b"<",                        100 * MEBIBYTE, id="100 MB of <"),
    pytest.param(b"<",                        repair.LIMIT,   id="as many as are looked at"),
    pytest.param(b"<a>",                      MEBIBYTE // 8,   id="elements in elements"),
    pytest.param(b"<Id>1",                    MEBIBYTE // 2,   id="values that do not end"),
    pytest.param(b"<a ",                      MEBIBYTE // 8,   id="tags that do not end"),
    pytest.param(b"</a>",                     1 * MEBIBYTE,   id="ends of nothing"),
    pytest.param(b"<!--",                     1 * MEBIBYTE,   id="comments that do not end"),
    pytest.param(b"&",                        MEBIBYTE // 2,   id="nothing but &"),
    pytest.param(b"\x01",                     MEBIBYTE // 8,   id="no characters at all"),
    pytest.param("<a b=”".encode(),           MEBIBYTE // 8,   id="quotes that do not end"),
    pytest.param(" b=”x’".encode(),           MEBIBYTE // 2,   id="quotes that do not match"),
    pytest.param("\u00a0".encode(),           MEBIBYTE // 2,   id="no-break spaces"),
]
# fmt: on


@pytest.mark.parametrize("piece, size", HOSTILE)
def test_hostile_input_is_refused(piece, size):
    # A quadratic way would take hours: it would be the end of the test, not its verdict.
    data = b"<a" * (piece[:1] != b"<") + piece * (size // len(piece))
    with pytest.raises(NotRepairable):
        repair.repair(data[:size])


def test_advice_on_what_is_too_large_is_the_parser_s_own(monkeypatch):
    monkeypatch.setattr(repair, "LIMIT", 10)
    (found,) = advice("<Job><Id>1</Job>")
    assert found.message == "<Id> (line 1) is not closed before </Job>"
    with pytest.raises(NotRepairable, match="are not repaired"):
        repair.repair(b"<Job><Id>1</Job>")


def test_nothing_is_repaired_where_nobody_asks():
    with pytest.raises(UnreadableDocument):
        loads(raw("1.3-moderate-example"))


WRONG = "<Job>\n<Id>1<Id>\n<Memory units=“GB”>1</Memory></Job>\n"
LINE = "<Job><Id>1</Id></Job>\n"


@pytest.mark.parametrize(
    "text, ids, told",
    [
        pytest.param(WRONG, 0, [[(2, 6), (3, 15)]], id="a document"),
        pytest.param(WRONG * 2, 0, [[(2, 6), (3, 15), (5, 6)], []], id="two, which are told once"),
        pytest.param(LINE * 2 + WRONG.replace("\n", "") + "\n", 2, [[(3, 29)] * 2], id="a line"),
        pytest.param(LINE + WRONG, 1, [[(3, 6), (4, 15)]], id="a document behind a line"),
    ],
)
@pytest.mark.parametrize("given", [str.encode, lambda text: io.BytesIO(text.encode())])
def test_each_cause_is_told_of_bytes_and_of_a_stream(text, ids, told, given):
    advisor, found = Advisor(given(text)), []

    def tell(error):
        found.append([(each.line, each.column) for each in advisor.explain(error)])

    assert len([*read(advisor.source, on_error=tell)]) == ids
    assert found == told
