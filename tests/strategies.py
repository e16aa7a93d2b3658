"""Generated job objects: every container, property and attribute of the tables, and odd company.

``documents`` gives elements as the tables have them, ``mutants`` those with faults, strangers and
white space where nobody puts any.
"""

# ruff: noqa: E501 (a row of a table is a line)
from copy import deepcopy
from functools import cache

from hypothesis import strategies as st
from lxml import etree

from sssjob import spec

ROOTS = [row.name for row in spec.CONTAINERS if row.name not in ("Requested", "Delivered")][:-1]
FOREIGN = "urn:example:site"
SPACE = ["", " ", "\n", "\t ", "\n    "]

# What XML 1.0 has, with everything that needs escaping likely.
CHARACTERS = st.one_of(
    st.sampled_from("&<>\"'\r\n\t ]-é€\u00a0\u0085\u2028\U0001f600"),
    st.characters(
        codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="\ufffe\uffff"
    ),
)
TEXT = st.text(CHARACTERS, max_size=12)
SECONDS = st.one_of(
    st.integers(0, 2**32 - 1).map(str), st.sampled_from(["+7", "007", "-0", "4294967295"])
)

IDS = st.text("abc.019", min_size=1, max_size=6)
WORDS = st.text("ab -?\n&<", max_size=6)
SPACES = st.sampled_from(SPACE)
TAILS = st.one_of(SPACES, TEXT)
DIGITS = st.integers(0, 9)
CHOICE = st.booleans()
REFERENCES = st.sampled_from(["job77", " job123", "ü-1\n"])
NAMESPACES = st.sampled_from(spec.NAMESPACES)
VALUES = {
    "": st.just(""),
    spec.STRING: TEXT,
    spec.INTEGER: st.one_of(
        st.integers(-(10**12), 10**12).map(str), st.sampled_from(["+16", "-0", "007"])
    ),
    spec.FLOAT: st.one_of(
        st.decimals(-(10**6), 10**6, places=3).map(str),
        st.sampled_from(["1.", ".5", "+2", "-0", "1e3", "2.5E-10", "1.890", "12"]),
    ),
    spec.BOOLEAN: st.sampled_from(["true", "false"]),
    spec.DATETIME: SECONDS,
    spec.DURATION: SECONDS,
}
ODD = st.one_of(
    TEXT,
    st.sampled_from([
        "", " ", "NaN", "-INF", "INF", "1,024", "0x10", "1_000", "١٢", "1e5", "-1", "1.5", "True", "FALSE",
        "1", "0", "2GB", "01:00:00", "1-02:24:13", "2003-04-28T19:21:53Z", "4294967296", "9" * 30,
        "GE", " GE ", "ge", "APPROX", "List", "Keep, Merge", "keep", "Reject", "Warn", "Ignore", "ignore",
        "KB", "kb", "GiB", "USD", "Used", "0.5", "64", "Myrinet", "١",
    ]),
)  # fmt: skip


# Attributes whose meaning binds the text of their element, which is any here.
AGREEING = {
    ("Feature", "aggregation"): ["List"],
    ("Node", "aggregation"): ["List"],
    ("Feature", "delimiter"): [",", ";"],
    ("Node", "delimiter"): [",", ";"],
    ("TaskDistribution", "type"): ["Rule"],
}


@cache
def lists(words):
    return st.lists(st.sampled_from(words), min_size=1, max_size=3).map(",".join)


@cache
def attribute(row, element):
    if row.name == "units" and element in ("Memory", "Swap", "Disk"):
        return st.sampled_from(["B", "KB", "MB", "GB", "DB"])
    if row.name == "consumptionRate":
        return st.sampled_from(["0", "0.63", ".5", "1"])
    if row.name in ("count", "preference"):
        return st.integers(1, 99).map(str)
    if row.name == "group":
        return st.just("0")
    if (element, row.name) in AGREEING:
        return st.sampled_from(AGREEING[element, row.name])
    if row.words:
        return lists(row.values)
    return st.sampled_from(row.values) if row.values else VALUES[row.type]


# Texts that their attributes make more than texts.
FITTING = {
    "List": "ib,ssd", "Pattern": "n[0-9]+", "Range": "n[1-5]", "Match": "n.*",
    "Rule": "RoundRobin", "TasksPerNode": "2", "ProcessorsPerTask": "1", "Geometry": "{1,4}{2}{3,5}",
}  # fmt: skip


# Each strategy is made once: Hypothesis examines it anew whenever it is made.
@cache
def few_of(words, least=0, most=2, unique=True):
    return st.lists(st.sampled_from(words), min_size=least, max_size=most, unique=unique)


@cache
@st.composite
def properties(draw, name, row, category=""):
    node = etree.Element(name)
    carried = spec.attributes(name, category)
    optional = draw(few_of(tuple(sorted(carried))))
    for key in dict.fromkeys((*optional, *spec.required(name))):
        node.set(key, draw(attribute(carried[key], name)))
    if name == "Dependency" and "code" in node.keys():  # noqa: SIM118 (lxml)
        node.set("condition", "OnExit")
    if name == "Environment":
        variables = draw(VARIABLES)
        node.extend({variable.get("name"): variable for variable in variables}.values())
    elif name == "NotificationList":
        node.text = draw(lists(spec.NOTIFICATIONS))
    elif name == "Id":
        node.text = draw(IDS)
    else:
        space = "" if row.type in ("", spec.STRING) else draw(SPACES)
        node.text = space + draw(VALUES[row.type]) + space
    if name == "TaskDistribution":
        node.text = "RoundRobin"
    if node.get("delimiter") == "":
        del node.attrib["delimiter"]
    for key in ("op", "aggregation", "type"):
        if row.type == spec.STRING and node.get(key) in FITTING:
            node.text = FITTING[node.get(key)]
    return node


VARIABLES = st.lists(properties("Variable", spec.ENVIRONMENT[0]), max_size=3)


@cache
@st.composite
def blocks(draw, name):
    """A container with a few properties, each once, in any order, and perhaps blocks."""
    if spec.CONTAINER[name].reference and name not in ROOTS[:1] and draw(DIGITS) == 0:
        node = etree.Element(name)
        node.text = draw(REFERENCES)
        return node
    category = name if name in (spec.REQUESTED, spec.DELIVERED) else ""
    known = spec.properties(name)
    chosen = draw(few_of(tuple(sorted(set(known) - {"Id"})), 1, 5, not category))
    if name in ("Job", "JobGroup"):
        chosen += [
            "Id",
            *(["Duration"] if "Duration" in known and "Duration" not in chosen else []),
        ]
    children = [draw(properties(each, known[each], category)) for each in chosen]
    for inner, wildcard in spec.blocks(name).items():
        count = draw(st.integers(1 if wildcard == "+" else 0, 1 if wildcard == "?" else 2))
        if wildcard == "+" or draw(st.integers(0, 2)) == 0:
            children += [draw(blocks(inner)) for _ in range(count)]
    for number, child in enumerate(children):
        for own in child.findall("Id"):  # the jobs of a group, and so on, have ids of their own
            own.text += f".{number}"
    node = etree.Element(name)
    node.extend(draw(st.permutations(children)))
    return node


@cache
def any_of(roots):
    return st.sampled_from(roots).flatmap(blocks)


@cache
@st.composite
def documents(draw, roots=tuple(ROOTS)):
    """An element as the tables have it, in one of the recognised namespaces."""
    root = draw(any_of(roots))
    return in_namespace(root, draw(NAMESPACES), draw(CHOICE))


@cache
@st.composite
def mutants(draw, roots=tuple(ROOTS)):
    """A document with up to four changes, each of which may be a fault."""
    root = draw(any_of(roots))
    for change in draw(few_of(tuple(CHANGES), 1, 4, False)):
        inside = [node for node in root.iter("{*}*")]
        change(draw, draw(st.sampled_from(inside)))
    namespace = draw(NAMESPACES)
    if draw(DIGITS) == 0:
        for node in root.iter("{}*"):
            if draw(CHOICE):
                node.tag = f"{{{spec.NAMESPACE}}}{node.tag}"
    return in_namespace(root, namespace, draw(CHOICE))


def in_namespace(root, namespace, default):
    """The same elements in a namespace that is the default one or has a prefix."""
    if not namespace:
        return root
    for node in root.iter("{}*"):
        node.tag = f"{{{namespace}}}{node.tag}"
    new = etree.Element(root.tag, root.attrib, {None if default else "s": namespace})
    new.text = root.text
    new.extend(deepcopy(list(root)))
    return etree.fromstring(etree.tostring(new))


NAMES = st.sampled_from(sorted(
    spec.names() | {row.name for row in spec.ALIASES}
    | {"Phase", "Proccessors", f"{{{FOREIGN}}}Mood", f"{{{FOREIGN}}}Job"}
))  # fmt: skip
ATTRIBUTES = st.sampled_from(sorted(
    {row.name for row in spec.ATTRIBUTES}
    | {"mood", f"{{{FOREIGN}}}mood", "{http://www.w3.org/XML/1998/namespace}lang", f"{{{spec.NAMESPACE}}}op"}
))  # fmt: skip


def rename(draw, node):
    if node.getparent() is not None:
        node.tag = draw(NAMES)


def new_text(draw, node):
    node.text = draw(ODD)


def new_attribute(draw, node):
    node.set(draw(ATTRIBUTES), draw(ODD))


def delete(draw, node):
    if node.getparent() is not None:
        node.getparent().remove(node)


def repeat(draw, node):
    if node.getparent() is not None:
        node.addnext(deepcopy(node))


def nest(draw, node):
    child = etree.SubElement(node, draw(NAMES))
    child.text = draw(ODD)
    child.tail = draw(TAILS)
    if draw(CHOICE):
        etree.SubElement(child, draw(NAMES)).tail = draw(TEXT)


def note(draw, node):
    words = draw(WORDS).replace("--", "").replace("?>", "").rstrip("-")
    made = etree.Comment(words) if draw(CHOICE) else etree.ProcessingInstruction("pi", words)
    made.tail = draw(TAILS)
    node.insert(draw(st.integers(0, len(node))), made)


def padding(draw, node):
    if len(node):
        node.text = draw(SPACES)
        for child in node:
            child.tail = draw(SPACES)


CHANGES = [rename, new_text, new_attribute, delete, repeat, nest, note, padding]
ANY = st.one_of(documents(), mutants())


_POLICIES = ("Reject", "Warn", "Ignore")


@st.composite
def policed(draw):
    """A document with faults, in which some elements state a policy, legal or not."""
    root = draw(mutants())
    nodes = list(root.iter("{*}*"))
    stated = st.sampled_from([*_POLICIES, *_POLICIES, "ignore", "", " Warn"])
    for node in draw(st.lists(st.sampled_from(nodes), max_size=4)):
        node.set("awarenessPolicy", draw(stated))
    return etree.fromstring(etree.tostring(root))
