"""A battery for the columns of a store: every kind of column, against every class of odd row.

For one path at a time: documents whose nodes there are of every class that columns may tell
wrongly, and expressions that hold the path against every class of literal in every form. Each
document is one text, so that any XPath can be asked what is true.
"""

from dataclasses import dataclass
from itertools import product

from hypothesis import strategies as st

from sssjob import spec

# Paths by the kind of their columns; those of one kind are asked for different things.
PATHS = (
    # texts, and texts of attributes and of what stands deeper
    "User", "Id", "Requested/User", "TaskGroup/Name",
    "TaskGroup/Task/Node", "Dependency", "Delivered/Memory/@units", "Dependency/@condition",
    # one number; several, of which the lowest and the highest are kept; amounts of both kinds
    "Charge", "StartTime", "Duration", "Processors",
    "Requested/Processors", "Requested/Duration", "Delivered/Processors", "Delivered/Duration",
    "Memory", "Requested/Memory", "Delivered/Memory", "Delivered/Swap",
    # how many there are, and no column at all, on every level
    "Requested", "Delivered", "TaskGroup", "Shell",
    "Requested/Shell", "TaskGroup/Task", "Charge/@units", "User/b",
)  # fmt: skip

_BEYOND = str(2**53 + 1)
_HUGE = "1" + "0" * 400
_LONG = "7" * 500
WORDS = (
    "", "  \n", "7", "7.0", " 7 ", "07", "+7", "7e0", "-7", "0", "-0", "0.1", "0.10", "soon", "amy",
    "NaN", "INF", "-INF", "Infinity", "UNLIMITED", "INFINITY", "00:00:07", "1970-01-01T00:00:07Z",
    "7 GB", _BEYOND, str(2**53), _HUGE, f"-{_HUGE}", f"0.{'0' * 400}1", _LONG,
)  # fmt: skip
SEVERAL = (
    ("7", "8"), ("7", "7"), ("8", "7", "9"), ("7", "7", "7"), ("", "7"), ("7", ""), ("soon", "7"),
    ("7", "soon"), ("soon", "amy"), ("amy", "soon", "7"), ("7", "07"), ("NaN", "INF"), (_LONG, "7"),
    ("7", _LONG), tuple(str(number) for number in range(300)),
)  # fmt: skip
# What stands in the place of a node, whose name is {0}.
SHAPES = (
    "<{0}>7<b>1</b></{0}>", "<{0}><b>7</b></{0}>", "<{0}><b/>7</{0}>", "<{0}><!--c-->7</{0}>",
    "<{0}>7<!--c-->8</{0}>", "<{0}>7<?p i?></{0}>", "<{0}><![CDATA[7]]></{0}>", "<{0}>&#55;</{0}>",
    "<{0}>so<b>on</b></{0}>", "<{0}/>",
    "<{0} units='GB'>7</{0}>", "<{0} units='parsecs'>7</{0}>", "<{0} units=''>7</{0}>",
    "<{0} units='GB'>soon</{0}>", "<{0} units='GB'>7</{0}><{0} units='MB'>8</{0}>",
    "<{0} units='GB'>7</{0}><{0}>7</{0}>", "<{0}>7</{0}><{0} units='GB' metric='Max'>7</{0}>",
    "<{0} x:units='GB' xmlns:x='urn:x'>7</{0}>", "<{0} condition='7'>7</{0}>",
    "<x:{0} xmlns:x='urn:x'>7</x:{0}>", "<x:{0} xmlns:x='urn:x'>7</x:{0}><{0}>8</{0}>",
    "<Site><{0}>7</{0}></Site>", "<Site><{0}>7</{0}></Site><{0}>8</{0}>",
    "<{0}><{0}>7</{0}></{0}>", "<!--<{0}>7</{0}-->", "text <{0}>7</{0} > text",
)  # fmt: skip

TEXTS = (
    "7", "7.0", " 7 ", "", "soon", "UNLIMITED", "NaN", "INF", "Infinity", "amy", "7 GB", _LONG,
)  # fmt: skip
NUMBERS = (
    "7", "7.5", "0", "-0", "0.1", "-7", _BEYOND, str(2**53), _HUGE, "1 div 0", "-1 div 0",
    "0 div 0", "7 * 1024", "7 * 1024 * 1024 * 1024",
)  # fmt: skip
COUNTS = ("0", "1", "2", "3", "1.5", "-1", "300", "1 div 0", "0 div 0")
EQUAL = ("=", "!=")
OPS = (*EQUAL, "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Document:
    """A document as a store is given it, and without the namespace of SSSRMAP."""

    given: str
    plain: str


def documents(path):
    """Documents with nodes of every class at a path, each with an Id of its own."""
    found = [
        "",
        *(_nodes(path, [word]) for word in WORDS),
        *(_nodes(path, each) for each in SEVERAL),
    ]
    *blocks, name = path.split("/@")[0].split("/")
    found += [_within(blocks, shape.format(name)) for shape in SHAPES]
    if "/@" not in path:
        # In both blocks, in two of a kind, beside a group of its own, and deeper than it should.
        seven, eight = f"<{name}>7</{name}>", f"<{name}>8</{name}>"
        found += [
            f"<Requested>{seven}</Requested><Delivered>{eight}</Delivered>",
            f"<Delivered>{seven}</Delivered>{eight}<Requested>{seven}{eight}</Requested>",
            f"<Requested>{seven}</Requested><Requested>{eight}</Requested>",
            "<Requested/><Delivered/><TaskGroup/>",
            f"<TaskGroup>{seven}</TaskGroup><TaskGroup><Task>{eight}</Task></TaskGroup>",
            f"<TaskGroup><Requested>{seven}</Requested><Delivered>{eight}</Delivered></TaskGroup>",
            f"<Requested><Requested>{seven}</Requested></Requested>",
        ]
    for index, each in enumerate(found):
        yield _document("Job", f"<Id>d{index}</Id>{each}")
    # The same as jobs of a group, some of them odd, and in the namespace of SSSRMAP.
    some = found[:: max(1, len(found) // 12)]
    jobs = "".join(f"<Job><Id>g{index}</Id>{each}</Job>" for index, each in enumerate(some))
    yield _document("JobGroup", f"<Id>g</Id>{jobs}")
    yield _document("JobGroup", f"<Id>s</Id>{jobs}<Site><Job><Id>in</Id></Job></Site>")
    for index, each in enumerate(some):
        yield _document("Job", f"<Id>n{index}</Id>{each}", spec.NAMESPACE)


def _document(name, content, namespace=""):
    plain = f"<{name}>{content}</{name}>"
    declared = f' xmlns="{namespace}"' if namespace else ""
    return Document(plain.replace(name, name + declared, 1), plain)


def _nodes(path, texts):
    way, _, attribute = path.partition("/@")
    *blocks, name = way.split("/")
    if attribute:
        nodes = (f'<{name} {attribute}="{text}">7</{name}>' for text in texts)
    else:
        nodes = (f"<{name}>{text}</{name}>" for text in texts)
    return _within(blocks, "".join(nodes))


def _within(blocks, content):
    for block in reversed(blocks):
        content = f"<{block}>{content}</{block}>"
    return content


def predicates(path):
    """What can be asked of a job about a path: every form, operator and class of literal."""
    texts = [f"'{text}'" for text in TEXTS]
    literals = [*texts, *NUMBERS]
    yield from (path, f"not({path})", f"boolean({path})", f"{path}/..", f"{path}[1]", f"{path}[2]")
    for op, literal in product(OPS, literals):
        yield f"{path} {op} {literal}"
        yield f"not({path} {op} {literal})"
        yield f"{path}[. {op} {literal}]"
        yield f"number({path}) {op} {literal}"
    for op, literal in product(OPS, (*literals[::3], "true()", "false()")):
        yield f"{literal} {op} {path}"
        yield f"string({path}) {op} {literal}"
        yield f"not(string({path}) {op} {literal})"
        yield f"{path}[@units = 'GB'] {op} {literal}"
        yield f"sss:bytes({path}) {op} {literal}"
        yield f"not(sss:bytes({path}) {op} {literal})"
        yield f"sss:seconds({path}) {op} {literal}"
        yield f"sss:time({path}) {op} {literal}"
        yield f"sum({path}) {op} {literal}"
    for op, count in product(OPS, COUNTS):
        yield f"count({path}) {op} {count}"
        yield f"not(count({path}) {op} {count})"
        yield f"string-length({path}) {op} {count}"
        yield f"count({path}[. = 7]) {op} {count}"
    for literal in texts:
        yield f"starts-with({path}, {literal})"
        yield f"not(contains({path}, {literal}))"
        yield f"contains({path}, {literal})"
        yield f"normalize-space({path}) = {literal}"
        yield f"starts-with({path}[2], {literal})"
        yield f"{path}[. = {literal} or @units = {literal}]"
        yield f"{path}[. = {literal} and @units = 'GB']"
        yield f"{path}[not(. = {literal})]"
        yield f"{path}[contains(., {literal})]"
        yield f"({path} | Name) = {literal}"
        yield f"({path} = {literal}) = true()"


# Pairs of paths that are held against each other, one of each kind at least.
PAIRS = (
    ("User", "Delivered/User"), ("Charge", "Priority"), ("Requested/Memory", "Delivered/Memory"),
    ("User", "Charge"), ("Charge", "Requested/Processors"), ("Delivered/Memory", "Memory"),
    ("Shell", "User"), ("Delivered/Memory/@units", "User"), ("Requested/Shell", "Requested/Memory"),
)  # fmt: skip


def paired(one, other):
    """Documents with nodes of every class at two paths."""
    words = ("7", "7.0", "8", "", "soon", "NaN", _HUGE, _LONG)
    several = [(), *((word,) for word in words), ("7", "8"), ("8", "7"), ("6", "7", "8")]
    for index, (mine, theirs) in enumerate(product(several, several)):
        content = _nodes(one, mine) + _nodes(other, theirs)
        yield _document("Job", f"<Id>d{index}</Id>{content}")


def relations(one, other):
    """What can be asked of a job about two paths."""
    for op in OPS:
        yield f"{one} {op} {other}"
        yield f"not({one} {op} {other})"
        yield f"{one}[. = 7] {op} {other}"
        yield f"{one} {op} {other}[@units or . != 8]"
        yield f"number({one}) {op} {other}"
        yield f"count({one}) {op} count({other})"
        yield f"sss:bytes({one}) {op} sss:bytes({other})"
        yield f"({one} | Name) {op} ({other} | Queue)"
        yield f"{one} {op} 7 and not({other} {op} 'soon')"
        yield f"{one} {op} '' or count({other}) > 1"


def answers(path):
    """What can be asked for, other than the Id of a job that a predicate is true of."""
    for entry in ("//Job", "//JobGroup/Job", "//JobGroup"):
        yield from (entry, f"{entry}/{path}", f"{entry}[{path}]", f"{entry}[not({path})]")
        yield f"{entry}[count({path}) > 1]/{path}"
        for literal in ("7", "'7'", "'soon'", "''", "-7"):
            yield f"{entry}[{path} = {literal}]"
            yield f"{entry}[not({path} = {literal})]/{path}"
            yield f"{entry}/{path}[. = {literal}]"
            yield f"{entry}[{path} != {literal}] | {entry}[not({path})]"


_QUOTED = tuple(f"'{text}'" for text in TEXTS)
_OF_TEXT = ("starts-with", "contains")
_OF_NODES = (
    "string", "number", "count", "sum", "normalize-space", "string-length", "boolean", "not",
    "sss:bytes", "sss:seconds", "sss:time",
)  # fmt: skip


@st.composite
def crowds(draw):
    """A few paths, and documents with odd rows of several classes at once at these."""
    few = draw(st.lists(st.sampled_from(PATHS), min_size=1, max_size=3, unique=True))
    contents = st.lists(st.sampled_from(few).flatmap(_content), max_size=3).map("".join)
    jobs = draw(st.lists(contents, min_size=1, max_size=8).map(_numbered))
    if draw(st.booleans()):
        jobs = [_document("JobGroup", f"<Id>g</Id>{''.join(each.plain for each in jobs)}")]
    return few, jobs


@st.composite
def meetings(draw):
    """Documents with odd rows of several classes at once, and questions that meet them.

    All are about few paths, so that most questions are about something that is there.
    """
    few, jobs = draw(crowds())
    return jobs, draw(st.lists(_questions(few), min_size=10, max_size=10))


def _content(path):
    """What stands at a path, of a class of odd rows or none."""
    words = st.sampled_from((*TEXTS, *WORDS)).map(lambda word: (word,))
    nodes = st.one_of(words, words, st.sampled_from(SEVERAL)).map(lambda texts: _nodes(path, texts))
    if "@" in path:
        return nodes
    *blocks, name = path.split("/")
    shapes = st.sampled_from(SHAPES).map(lambda shape: _within(blocks, shape.format(name)))
    return st.one_of(nodes, shapes)


def joined(plain, *ways):
    """Predicates that are joined by and, or, not and predicates, and by ``ways`` of a version."""
    return st.recursive(
        plain,
        lambda inner: st.one_of(
            st.builds("not({})".format, inner),
            st.builds("({}) and ({})".format, inner, inner),
            st.builds("({}) or ({})".format, inner, inner),
            *(way(inner) for way in ways),
            st.builds("{}[{}]".format, st.sampled_from(("Requested", "TaskGroup")), inner),
        ),
        max_leaves=3,
    )


def _numbered(contents):
    return [
        _document("Job", f"<Id>d{place}</Id>{content}") for place, content in enumerate(contents)
    ]


def _questions(paths):
    ways = st.sampled_from(paths)
    ops, literals = st.sampled_from(OPS), st.sampled_from([*_QUOTED, *NUMBERS])
    called = st.builds("{}({})".format, st.sampled_from(_OF_NODES), ways)
    sides = st.one_of(ways, ways, called, st.builds("{}[. {} {}]".format, ways, ops, literals))
    plain = st.one_of(
        sides,
        st.builds("{} {} {}".format, sides, ops, literals),
        st.builds("{} {} {}".format, sides, st.sampled_from(EQUAL), st.sampled_from(_QUOTED)),
        st.builds("count({}) {} {}".format, ways, ops, st.sampled_from(COUNTS)),
        st.builds("{}({}, {})".format, st.sampled_from(_OF_TEXT), ways, st.sampled_from(_QUOTED)),
        st.builds("{} {} {}".format, sides, ops, sides),
    )
    combined = joined(plain)
    return st.one_of(
        st.builds("//Job[{}]/Id".format, combined),
        st.builds("//Job[{}]/{}".format, combined, ways),
        st.builds("//Job[{}][{}]".format, combined, plain),
    )
