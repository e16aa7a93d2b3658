"""Streamed answers are those of libxml2 on the whole document, for any document and query."""

import copy
import re
import string

import pytest
from draws import examples
from hypothesis import HealthCheck, assume, example, given
from hypothesis import strategies as st
from lxml import etree

from sssjob import spec
from sssjob.document import tree
from sssjob.query import NotAQuery, compile, syntax
from sssjob.query.parser import parse
from sssjob.query.xpath import Query

NAMES = ("Job", "JobGroup", "Id", "Requested", "Delivered", "Processors", "TaskGroup", "Jobs")
ATTRIBUTES = ("units", "op")
TEXTS = ("", "1", "2", "16", "Idle")

names = st.sampled_from(NAMES)


def elements(inner):
    return st.builds(
        _element,
        names,
        st.dictionaries(st.sampled_from(ATTRIBUTES), st.sampled_from(TEXTS), max_size=1),
        st.sampled_from(TEXTS),
        st.lists(inner, max_size=4),
    )


def _element(name, attributes=(), text="", children=()):
    element = etree.Element(name, dict(attributes))
    element.text = text or None
    for child in children:
        element.append(copy.deepcopy(child))
    return element


documents = st.recursive(elements(st.builds(_element, names)), elements, max_leaves=25)

axes = st.sampled_from((
    *("child::", "", "", "", "descendant::", "descendant-or-self::", "self::", "parent::"),
    *("attribute::", "following-sibling::", "preceding-sibling::", "ancestor::", "following::"),
))  # fmt: skip
tests = st.one_of(names, names, st.sampled_from(("*", "node()", "text()", *ATTRIBUTES)))
separators = st.sampled_from(("/", "/", "//"))


def steps(predicates):
    named = st.builds("{}{}{}".format, axes, tests, st.one_of(st.just(""), st.just(""), predicates))
    return st.one_of(named, named, named, st.sampled_from((".", "..", "@units", "@*")))


def paths(predicates):
    return st.builds(
        lambda start, first, rest: start + first + "".join(map("".join, rest)),
        st.sampled_from(("/", "//", "//", "", ".//")),
        steps(predicates),
        st.lists(st.tuples(separators, steps(predicates)), max_size=3),
    )


def expressions(predicates):
    way = paths(predicates)
    value = st.one_of(
        way,
        st.sampled_from(("1", "2", "'16'", "position()", "last()", "string()", "name()")),
        st.builds("{}({})".format, st.sampled_from(("count", "sum", "string", "not", "name")), way),
    )
    signs = st.sampled_from(("=", "!=", "<", ">=", "and", "or", "+", "-", "*", "mod"))
    return st.one_of(
        value,
        st.builds("{} {} {}".format, value, signs, value),
        st.builds("{} | {}".format, way, way),
        st.builds("({})[{}]".format, way, value),
        st.builds("-{}".format, value),
    )


predicates = st.recursive(
    st.sampled_from(("[1]", "[last()]", "[Id]", "[Processors > 1]", "[@units]", "[. = '16']")),
    lambda inner: st.builds("[{}]".format, expressions(inner)),
    max_leaves=3,
)
entries = st.builds(  # most of these stream
    "{}{}{}{}".format,
    st.sampled_from(("//", "/Jobs/", "/*/", "/", "/descendant-or-self::", "//*/", "//JobGroup/")),
    st.sampled_from(("Job", "JobGroup")),
    st.one_of(st.just(""), predicates),
    st.one_of(st.just(""), st.builds("{}{}".format, separators, paths(predicates))),
).map(lambda text: text.replace("///", "//").replace("////", "//"))


def is_query(text):
    try:
        compile(text)
    except NotAQuery:
        return False
    return True


queries = st.one_of(
    entries, st.builds("{} | {}".format, entries, entries), expressions(predicates)
).filter(is_query)
entries = entries.filter(is_query)


def as_text(result):
    if isinstance(result, list):
        return [item if isinstance(item, str) else etree.tostring(item, with_tail=False).decode()
                for item in result]  # fmt: skip
    return [repr(result)]


def libxml2(expression, root, namespaces=None):
    """The plain answers on a whole tree; of a relative expression at each outermost job object."""
    xpath = etree.XPath(expression, smart_strings=False, namespaces=namespaces)
    if not Query(expression, namespaces or {}).is_relative:
        return as_text(xpath(root))
    outermost = (
        "descendant-or-self::*[self::Job or self::JobGroup]"
        "[not(ancestor::Job or ancestor::JobGroup)]"
    )
    units = [root] if root.tag in spec.CONTAINER else root.xpath(outermost)
    return [text for unit in units for text in as_text(xpath(unit))]


def ours(query, data, **options):
    found = []
    for match in query.run(data, places=False, **options):
        found.extend(as_text([match.found] if match.is_node else match.found))
    return found


def in_namespace(root, which):
    """The same tree with every element, or those chosen, in the namespace of SSSRMAP."""
    new = copy.deepcopy(root)
    for index, element in enumerate(new.iter()):
        if which(index):
            element.tag = f"{{{spec.NAMESPACE}}}{element.tag}"
    return new


def without_namespace(texts):
    return [re.sub(rf' xmlns(:\w+)?="{spec.NAMESPACE}"|\bns\d+:', "", text) for text in texts]


usual = examples(75, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])


@usual
@given(documents, queries)
def test_answers_are_those_of_libxml2(root, expression):
    data = etree.tostring(root)
    query = compile(expression)
    assert ours(query, data) == libxml2(expression, tree.parse(data))


@usual
@given(documents, queries, st.integers(0, 2**16))
def test_a_namespace_of_the_standard_changes_no_answer(root, expression, bits):
    # name() says what prefix was written, so that it may differ.
    assume("name(" not in expression)
    mixed = in_namespace(root, lambda index: bits == 0 or bits >> index % 16 & 1)
    query = compile(expression)
    plain = ours(query, etree.tostring(root))
    assert without_namespace(ours(query, etree.tostring(mixed))) == plain


@usual
@given(documents, entries)
def test_what_streams_gives_what_the_whole_tree_gives(root, expression):
    query = compile(expression)
    assume(query.streams)
    data = etree.tostring(root)
    whole = [match.text for match in query.run(data, whole=True)]
    assert [match.text for match in query.run(data)] == whole


COMPANY = (
    "<!-- note -->", "<?site hold?>", "<![CDATA[16]]>", " 16 ",
    '<x:Mood xmlns:x="urn:x" x:a="1">2</x:Mood>',
    "<Id/>", '<Id xmlns="urn:x">1</Id>',
    '<Processors units="16" x:op="2" xmlns:x="urn:x">1</Processors>',
    "&lt;&#65;", '<Job xml:lang="en"><Id> 1 </Id></Job>', "\n  ",
)  # fmt: skip
wide = st.one_of(
    queries,
    st.builds(
        "{}/{}".format,
        entries,
        st.sampled_from((
            "comment()", "processing-instruction()", "processing-instruction('site')", "node()",
            "x:Mood/@x:a", "@*", "*[@x:op]", "x:*", "descendant-or-self::node()", "text()[2]",
            "*[normalize-space() = '16']", "Id[. = 1]", "node()[last()]", "*[lang('en')]",
        )),
    ),
)  # fmt: skip


def in_company(root, places):
    """The same document with comments, instructions, strangers and texts at some places."""
    text = etree.tostring(root, encoding="unicode")
    tags = [found.end() for found in re.finditer(r"<[^>]+(?<!/)>", text)][:-1]
    chosen = {place % len(tags): what for place, what in places} if tags else {}
    for place in sorted(chosen, reverse=True):
        text = text[: tags[place]] + COMPANY[chosen[place]] + text[tags[place] :]
    return text.replace("\n", " ").encode()


ONE, TWO = (etree.fromstring(f"<Job><Id>{n}</Id></Job>") for n in (1, 2))

companies = st.lists(st.tuples(st.integers(0, 30), st.integers(0, len(COMPANY) - 1)), max_size=6)


@usual
@given(st.lists(st.tuples(documents, companies), min_size=1, max_size=4), wide)
def test_answers_are_those_of_libxml2_in_any_company(rows, expression):
    query = compile(expression, {"x": "urn:x"})
    # Each document on a line of its own: those of job objects are read at once.
    lines = [in_company(root, sorted(set(places))) for root, places in rows]
    expected = [
        text
        for line in lines
        for text in libxml2(expression, tree.parse(line), namespaces={"x": "urn:x"})
    ]
    assert ours(query, b"\n".join(lines)) == expected


@usual
@given(
    st.lists(documents, min_size=2, max_size=4), st.one_of(entries, queries),
    st.sampled_from(("1.0", "2.0", "3.1")), st.booleans(),
)  # fmt: skip
@example([ONE, TWO], "/Job/Id[1]", "3.1", False)
@example([ONE, TWO], "/*/Job/Id", "3.1", False)
@example([ONE, TWO], "/Job/Id", "1.0", True)
@example([ONE, TWO], "//Job[/Job/Id = 2]/Id", "2.0", True)
def test_a_document_is_asked_beside_others_as_it_is_alone(roots, expression, version, effective):
    try:
        query = compile(expression, None, version)
    except NotAQuery:  # one of libxml2 that later versions refuse
        return
    assume(not query.has_one_answer)
    lines = [etree.tostring(root) for root in roots]
    found, refused = answers(query, b"\n".join(lines), effective=effective)
    alone = [answers(query, line, effective=effective) for line in lines]
    assert found == [each for of_one, _ in alone for each in of_one]
    assert refused == [each for _, of_one in alone for each in of_one]


def answers(query, data, **options):
    """What is found, and what is refused."""
    errors = []
    found = [
        (match.path, match.text) for match in query.run(data, on_error=errors.append, **options)
    ]
    return found, [(error.finding.code, error.finding.message) for error in errors]


@usual
@given(queries)
def test_what_is_printed_is_read_as_the_same(expression):
    tree_ = parse(expression)
    assert parse(str(tree_)) == tree_


@usual
@given(st.text(string.ascii_letters[:4] + "/[]()@*|.-='\"1 :,$<!", max_size=12))
def test_what_is_accepted_is_what_libxml2_accepts(text):
    try:
        etree.XPath(text)(etree.Element("a"))
        accepted = True
    except etree.XPathError:
        accepted = False
    try:
        compile(text)
        understood = True
    except ValueError:
        understood = False
    assert understood == accepted


@pytest.mark.parametrize("name", syntax.FUNCTIONS)
def test_every_function_is_one_of_libxml2(name):
    _, least, _, of_nodes = syntax.FUNCTIONS[name]
    arguments = ["." if of_nodes else "1", "'b'", "'c'"][:least]
    compile(f".//*[{name}({', '.join(arguments)})]")
