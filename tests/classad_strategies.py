"""Generated values, expressions and ads, with what needs quoting likely."""

from hypothesis import strategies as st

from sssjob.classads import tree
from sssjob.classads.values import ERROR, UNDEFINED, Ad

NAMES = st.one_of(
    st.sampled_from(["Memory", "RequestMemory", "a", "b", "Cpus", "x1", "_y", "my_Name"]),
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True),
).filter(lambda name: name.lower() not in (
    "is", "isnt", "true", "false", "undefined", "error", "parent", "my", "target", "other",
))  # fmt: skip
TEXTS = st.text(
    st.one_of(
        st.sampled_from("\"'\\ /;()[]{}<>&\té€n0"),
        st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn", "Co")),
    ),
    max_size=8,
)
# A backslash at the end has no place in the long form but at the end of a line.
SAFE_TEXTS = TEXTS.map(lambda text: text.rstrip("\\"))
INTEGERS = st.integers(-(2**63), 2**63 - 1)
REALS = st.one_of(
    st.floats(-1e15, 1e15, allow_nan=False).map(lambda number: float(f"{number:.15g}")),
    st.sampled_from([0.0, 0.5, 1.0, 1e-7, 1e300]),
)
SCALARS = st.one_of(
    INTEGERS, st.integers(-3, 9), REALS, SAFE_TEXTS, st.booleans(),
    st.sampled_from([UNDEFINED, ERROR]),
)  # fmt: skip
OPERATORS = [op for level in tree.LEVELS for op in level]
FUNCTIONS = {
    1: ["isUndefined", "isError", "int", "real", "string", "size", "toLower", "toUpper", "floor",
        "ceiling", "min", "max", "split", "isString", "isInteger", "isReal", "isBoolean", "isList"],
    2: ["member", "stringListMember", "strcat", "stringListIMember"],
    3: ["ifThenElse", "strcat"],
}  # fmt: skip


def _longer(parts):
    lists = st.builds(tree.Listing, st.lists(parts, max_size=3).map(tuple))
    calls = [
        st.builds(tree.Call, st.sampled_from(names), st.tuples(*[parts] * count))
        for count, names in FUNCTIONS.items()
    ]
    return st.one_of(
        st.builds(tree.Binary, st.sampled_from(OPERATORS), parts, parts),
        st.builds(tree.Unary, st.sampled_from("-+!~"), parts.map(tree.Grouped)),
        st.builds(tree.Grouped, parts),
        st.builds(tree.Conditional, parts, parts, parts),
        st.builds(tree.Conditional, parts, st.none(), parts),
        lists,
        st.builds(tree.Subscript, lists, parts),
        *calls,
    )  # fmt: skip


def expressions(scalars=SCALARS, names=NAMES):
    """Trees of every kind of node."""
    leaves = st.one_of(
        st.builds(tree.Literal, scalars),
        st.builds(tree.AttributeReference, st.none(), names),
        st.builds(
            tree.AttributeReference,
            st.sampled_from(
                [tree.AttributeReference(None, "MY"), tree.AttributeReference(None, "TARGET")]
            ),
            names,
        ),
    )
    return st.recursive(leaves, _longer, max_leaves=12)


def values(texts=SAFE_TEXTS):
    """What an attribute can be."""
    scalars = st.one_of(INTEGERS, REALS, texts, st.booleans(), st.sampled_from([UNDEFINED, ERROR]))
    compound = st.builds(
        lambda op, name, number: tree.Binary(
            op, tree.AttributeReference(None, name), tree.Literal(number)
        ),
        st.sampled_from(OPERATORS), NAMES, st.integers(0, 99),
    )  # fmt: skip
    return st.recursive(
        st.one_of(scalars, compound),
        lambda parts: st.one_of(
            st.lists(parts, max_size=3).map(tuple),
            st.dictionaries(NAMES, parts, max_size=3).map(Ad),
        ),
        max_leaves=5,
    )


def ads(texts=SAFE_TEXTS):
    """Ads of up to six attributes."""
    return st.dictionaries(NAMES, values(texts), min_size=1, max_size=6).map(Ad)
