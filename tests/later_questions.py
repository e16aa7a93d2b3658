"""Questions of XPath 2.0 and later for a store, and what elementpath finds in its documents.

The documents are those of ``odd_jobs``: nodes of every class that columns may tell wrongly. What
is asked holds every form of comparison against every class of literal, those that are errors for
some documents, too.
"""

from itertools import product

import odd_jobs
from hypothesis import strategies as st
from lxml import etree

from sssjob.errors import LimitExceeded, UnreadableDocument

GENERAL = odd_jobs.OPS
VALUE = ("eq", "ne", "lt", "le", "gt", "ge")
OPS = (*GENERAL, *VALUE)
TEXTS = tuple(f"'{text}'" for text in odd_jobs.TEXTS)
NUMBERS = (
    "7", "8", "0", "-7", "7.0", "7.5", "0.1", "0.10", "7e0", "1e-1", "-0.0", "7.000000000000001",
    str(2**53), str(2**53 + 1), "1e400", "1" + "0" * 400, "7 * 1024", "14 div 2", "0e0 div 0",
)  # fmt: skip
SEQUENCES = ("('7', 'soon')", "(7, 8)", "('amy', 7)", "()", "('7')", "(true(), 7)")
OTHERS = ("true()", "1 div 0", "sss:bytes('7 GB')", "xs:integer(7)", "current-date()")
LITERALS = (*TEXTS, *NUMBERS, *SEQUENCES, *OTHERS)
OF_NODES = ("string", "number", "count", "sss:bytes", "sss:seconds", "sss:time", "data", "sum")


def predicates(path):
    """What can be asked of a job about a path: every form, operator and class of literal."""
    yield from (
        path, f"not({path})", f"boolean({path})", f"exists({path})", f"empty({path})",
        f"{path}/..", f"{path}[1]", f"exists(({path} | Name))", f"empty({path}[@units])",
    )  # fmt: skip
    for op, literal in product(OPS, LITERALS):
        yield f"{path} {op} {literal}"
        yield f"not({path} {op} {literal})"
        yield f"{path}[. {op} {literal}]"
        yield f"some $x in {path} satisfies $x {op} {literal}"
    for op, literal in product(OPS, LITERALS[::3]):
        yield f"{literal} {op} {path}"
        yield f"every $x in {path} satisfies $x {op} {literal}"
        yield f"{path}[@units = 'GB'] {op} {literal}"
        yield f"Name = 'x' and {path} {op} {literal}"
        yield f"{path} {op} {literal} or Id = 'd7'"
        yield f"if ({path} {op} {literal}) then exists(Id) else Name = 'x'"
        yield f"if (exists({path})) then {path} {op} {literal} else true()"
        yield f"({path} | Name) {op} {literal}"
        for name in OF_NODES:
            yield f"{name}({path}) {op} {literal}"
            yield f"not({name}({path}) {op} {literal})"
    for op, count in product(OPS, odd_jobs.COUNTS):
        yield f"count({path}) {op} {count}"
        yield f"count({path}[. = '7']) {op} {count}"
    for literal in TEXTS:
        yield f"starts-with({path}, {literal})"
        yield f"contains({path}, {literal})"
        yield f"not(contains({path}, {literal}))"
        yield f"ends-with({path}, {literal})"
        yield f"{path}[. = {literal} or @units eq {literal}]"
        yield f"{path}[not(. = {literal})][contains(., {literal})]"
        yield f"upper-case({path}) = {literal}"
    yield f"matches({path}, '^7')"


def relations(one, other):
    """What can be asked of a job about two paths."""
    for op in OPS:
        yield f"{one} {op} {other}"
        yield f"not({one} {op} {other})"
        yield f"{one}[. = '7'] {op} {other}"
        yield f"{one} {op} {other}[@units or . != 8]"
        yield f"{one} = 7 and {other} {op} 7"
        yield f"{one} = 7 or {other} {op} 7"
        yield f"some $x in {one} satisfies $x {op} {other}"
        yield f"some $x in {one}, $y in {other} satisfies $x {op} $y"
        yield f"every $x in {one}[. = 7] satisfies $x/@units {op} 'GB'"


def answers(path):
    """What can be asked for, other than the Id of a job that a predicate is true of."""
    for entry in ("//Job", "//JobGroup/Job", "//JobGroup", "/Job", "descendant-or-self::Job"):
        yield from (entry, f"{entry}/{path}", f"{entry}[{path}]", f"{entry}[empty({path})]")
        yield from (f"{entry}/{path} ! string()", f"{entry}/({path}, Id)", f"{entry}[7 * 0 + 1]")
        yield f"for $j in {entry}[{path} = 7] return $j/Id"
        yield f"{entry}/string-join({path}, '+')"
        for literal in ("7", "'7'", "'soon'", "''", "-7"):
            yield f"{entry}[{path} = {literal}]"
            yield f"{entry}[not({path} = {literal})]/{path}"
            yield f"{entry}/{path}[. = {literal}]"
            yield f"{entry}[{path} != {literal}] | {entry}[not({path})]"
    yield from (path, f"{path}[. = 7]", f"{path} = 7", f"self::Job[{path} eq '7']/Id")


@st.composite
def meetings(draw):
    """Documents with odd rows of several classes at once, and questions that meet them."""
    few, jobs = draw(odd_jobs.crowds())
    return jobs, draw(st.lists(_questions(few), min_size=10, max_size=10))


def _questions(paths):
    ways = st.sampled_from(paths)
    ops, literals = st.sampled_from(OPS), st.sampled_from(LITERALS)
    called = st.builds("{}({})".format, st.sampled_from(OF_NODES), ways)
    narrowed = st.builds("{}[. {} {}]".format, ways, ops, literals)
    sides = st.one_of(ways, ways, called, narrowed)
    satisfied = st.builds("$x {} {}".format, ops, st.one_of(literals, ways))
    plain = st.one_of(
        ways,
        narrowed,
        st.builds("{} {} {}".format, sides, ops, literals),
        st.builds("{} {} {}".format, literals, ops, sides),
        st.builds("{} {} {}".format, ways, ops, st.sampled_from(TEXTS)),
        st.builds("count({}) {} {}".format, ways, ops, st.sampled_from(odd_jobs.COUNTS)),
        st.builds("{}({}, {})".format, st.sampled_from(("starts-with", "contains")), ways,
                  st.sampled_from(TEXTS)),
        st.builds("{} {} {}".format, sides, ops, sides),
        st.builds("{} $x in {} satisfies ({})".format, st.sampled_from(("some", "every")),
                  st.one_of(ways, narrowed), satisfied),
    )  # fmt: skip
    combined = odd_jobs.joined(plain, _chosen)
    return st.one_of(
        st.builds("//Job[boolean({})]/Id".format, combined),
        st.builds("//Job[({})]/{}".format, plain, ways),
        st.builds("//Job[boolean({})][not({})]".format, combined, plain),
        st.builds("//Job[boolean({})] ! {}".format, combined, sides),
        st.builds("for $j in //Job[boolean({})]/{} return string($j)".format, combined, ways),
    )


def _chosen(inner):
    return st.builds("if ({}) then boolean({}) else not({})".format, inner, inner, inner)


class Truth:
    """Documents, and what elementpath finds in each: texts, or the error that it raises."""

    def __init__(self, given):
        self.given = [each.given.encode() for each in given]
        self._roots = [etree.fromstring(each) for each in self.given]

    def found(self, query):
        return [said(query.asked_of, root) for root in self._roots]


def said(ask, *arguments, **options):
    """The texts of matches, or the error."""
    try:
        return [match.text for match in ask(*arguments, **options)]
    except (LimitExceeded, UnreadableDocument) as error:
        return str(error)
