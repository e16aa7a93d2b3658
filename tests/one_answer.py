"""Questions of XPath 2.0 and later that many documents have one answer to, as one file has."""

from hypothesis import assume
from hypothesis import strategies as st

from sssjob.query import NotAQuery, compile

DOCUMENTS = (
    b"<Job><Id>1</Id><Charge>5</Charge><User>amy</User></Job>",
    b"<JobGroup><Id>g</Id><Job><Id>2</Id><Charge>7</Charge><User>bob</User></Job></JobGroup>",
    b"<Job><Id>3</Id><Charge>10</Charge><User>amy</User><Memory units='GB'>2</Memory></Job>",
)
# Each question, and its answer.
QUESTIONS = (
    ("max(//Job/Charge)", ["10"]),
    ("max(//Job/Charge) - min(//Job[User='amy']/Charge)", ["5"]),
    ("avg(//Job[Charge > 5]/Charge)", ["8.5"]),
    ("count(//Job)", ["3"]),
    ("count(//Job[User='amy']) * 10 idiv count(//Job)", ["6"]),
    ("count(//Job ! (Charge > 6))", ["3"]),
    ("sum(//Job/sss:bytes(Memory)[. = .])", ["2147483648"]),
    ("max(//Job/xs:integer(Charge))", ["10"]),
    ("distinct-values(//Job/User)", ["amy", "bob"]),
    ("string-join(//Job/Id, '+')", ["1+2+3"]),
    ("//Job/Id, //JobGroup/Id", ["1", "2", "3", "g"]),
    ("(//Job)[2]/Id", ["2"]),
    ("//Job/position()", ["1", "2", "3"]),
    ("//Job/concat(Id, ' of ', last())", ["1 of 3", "2 of 3", "3 of 3"]),
    ("//Job ! map{'of': last()}?of", ["3", "3", "3"]),
    ("//Job/(position#0())", ["1", "2", "3"]),
    ("(//Job)[last()]/Id", ["3"]),
    ("(//Job)[3] | (//Job)[1] | (//Job)[2] ! Id", ["15amy", "2", "310amy2"]),
    ("((//Job)[3] | (//Job)[1])/Id", ["1", "3"]),
    ("head(//Job/Id), tail(//Job/Id)", ["1", "2", "3"]),
    ("let $m := max(//Job/Charge) return //Job[Charge = $m]/Id", ["3"]),
    (
        "for $u in distinct-values(//Job/User) return $u || ' ' || sum(//Job[User = $u]/Charge)",
        ["amy 15", "bob 7"],
    ),
    ("sort(//Job/Id, (), function($x) { -number($x) })", ["3", "2", "1"]),
    ("some $j in //Job satisfies $j/Charge > 9", ["true"]),
    ("every $j in //Job satisfies $j/Charge > 9", ["false"]),
    ("if (//Job[Charge > 9]) then 'some' else 'none'", ["some"]),
    ("for $a in //Job, $b in //Job return $a/Id || $b/Id",
     ["11", "12", "13", "21", "22", "23", "31", "32", "33"]),
    ("fold-left(//Job/Charge, 0, function($a, $b) { $a + $b })", ["22"]),
    ("(//Job except //Job[User='amy']) ! string(Id), //Job[1][Id = 3]/Id", ["2", "3"]),
    ("deep-equal(//Job/User, ('amy', 'bob', 'amy'))", ["false"]),
    ("//Job/Charge = 7", ["true"]),
    ("//User", ["amy", "bob", "amy"]),
    ("1 + 1", ["2"]),
    ("let $x := //Job[User = 'bob'] return count($x) + count(//Job)", ["4"]),
    ("fn:count(//Job) + fn:max(//Job/Charge)", ["13"]),
    ("(//Job)[Id = //Id][last()]/Id", ["3"]),
    ("count((/)[.//Job])", ["3"]),
    ("count((/ | //Job)[position() < 3])", ["2"]),
    ("head((/, //Job))/*/Id", ["1"]),
    ("reverse((/, //Job[Id = 2]))/Id", ["2"]),
    ("tail((/ | //Job))[1]/Id", ["1"]),
    ("(//Job[Id = '1'], 'x')[2]", ["x"]),
    ("reverse(//Job[User = 'amy']/Id)[1]", ["3"]),
    ("subsequence(//Job[Id != 'x']/Id, 2, 1)", ["2"]),
    ("for $j in //Job return count(//Job)", ["3", "3", "3"]),
    ("for $j in //Job return (//Job)[1]/Id", ["1", "1", "1"]),
    ("for $a in 1 to 2 return count(//Job)", ["3", "3"]),
)  # fmt: skip
# Those that each document answers for itself: the answers stand side by side.
SIDE_BY_SIDE = (
    ("//Job except //Job[User='amy']", ["27bob"]),
    ("//Job[User='amy'] intersect //Job[Charge > 5]", ["310amy2"]),
    ("//Job[1]/Id", ["1", "2", "3"]),
    ("//Job[Charge = max(//Job/Charge)]/Id", ["1", "2", "3"]),
    ("for $j in //Job return $j/Id", ["1", "2", "3"]),
    ("//Job/Id | //JobGroup/Id", ["1", "g", "2", "3"]),
    ("count(.//Job)", ["0", "1", "0"]),
    ("max(Charge)", ["5", "10"]),
    ("(1 to 2) ! count(//Job)", ["1"] * 6),  # no node says which document is meant
    ("(1 to 2) ! (//Job)[1]/Id", ["1", "1", "2", "2", "3", "3"]),
    ("map{'n': count(//Job)}?n", ["1"] * 3),
    ("(function() { count(//Job) })()", ["1"] * 3),
    ("for $j in (//Job) return $j/Id[. = //Job/Id]", ["1", "2", "3"]),
)
# What wants numbers, of texts that are none; and what is wrong, for any number of documents.
OF_TEXTS = tuple(
    each.format(path)
    for path in ("//Job/User", "//Job[User='amy']/User", "//User/text()", "//Job/Memory/@units",
                 "(//Job/Charge, //Job/User)")
    for each in ("sum({})", "sum({}, 0)", "avg({})", "max({})", "min({})", "count(//Job) + sum({})")
)  # fmt: skip
NO_NUMBER = r"error: '(amy|GB)' is no number (at \S+ )?\(FORG0001\) \[E-TYPE\]"

_PATHS = st.sampled_from(
    ("//Job/Charge", "//Job/Id", "//Job[User = 'amy']/Charge", "//Job[Charge > 5]/Id", "//Charge",
     "//Job[User eq 'amy' and Charge = (5, 7)]/Charge", "//Job/Memory/@units", "//JobGroup/Job/Id",
     "//Job[not(User = 'bob')]/Charge", "//Job/nothing", "//Job[1]/Charge", "//Job[User]/Charge",
     "(//Job)[2]/Charge", "(//Job/Charge)[. > 6]", "//Job[Charge < 6.5]/User")
)  # fmt: skip
_VALUES = st.builds(
    "{}({})".format,
    st.sampled_from(("max", "min", "sum", "count", "avg", "distinct-values", "reverse", "data",
                     "exists", "empty", "head", "string-join", "not")),
    _PATHS,
)  # fmt: skip
EXPRESSIONS = st.recursive(
    st.one_of(_PATHS, _VALUES),
    lambda inner: st.one_of(
        st.builds("({}, {})".format, inner, inner),
        st.builds("count({})".format, inner),
        st.builds("({} | {})".format, _PATHS, _PATHS),
        st.builds("({} except {})".format, _PATHS, _PATHS),
        st.builds("({}) = ({})".format, inner, inner),
        st.builds("(for $x in {} return ({}, string($x)))".format, inner, inner),
        st.builds("(for $x in {} return //Job[Charge = $x]/Id)".format, inner),
        st.builds("(let $x := ({}) return count($x) + count({}))".format, inner, inner),
        st.builds("(if ({}) then {} else {})".format, _PATHS, inner, inner),
        st.builds("({})[{}]".format, inner, st.sampled_from(("1", "2", "last()", ". = '7'"))),
    ),
    max_leaves=4,
)


def compiled(text):
    """A query, unless elementpath refuses a loop whose range has a loop over the same name."""
    try:
        return compile(text, None, "3.1")
    except NotAQuery as error:
        assume("XPST0008" not in error.message)
        raise
