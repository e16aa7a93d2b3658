"""Generated documents of a store and generated queries about them, made to meet each other.

Few names and few values, so that most comparisons hold now and then; and what makes queries
hard: values that repeat, are no numbers, or are spelled in another way, comments inside values,
both namespaces, older names, defaults, jobs in strange places.
"""

from hypothesis import strategies as st
from lxml import etree

from sssjob import spec

TEXTS = ("amy", "bob", "am", "", " amy", "7", "7.0", "O'Neil")
NUMBERS = ("0", "1", "2", "2.0", " 2 ", "10", "1e1", "-1", "0.1", "0.30", "soon", "", "+2")
UNITS = ("GB", "MB", "B", "parsecs")
WORDS = ("Idle", "Running", "Max", "GB", "OnExit")
LEAVES = {
    "Id": TEXTS, "User": TEXTS, "Name": TEXTS, "State": WORDS, "Hold": WORDS, "Dependency": TEXTS,
    "Charge": NUMBERS, "ExitCode": NUMBERS, "StartTime": NUMBERS, "EndTime": NUMBERS,
    "Processors": NUMBERS, "Memory": NUMBERS, "Duration": NUMBERS, "Node": TEXTS, "Shell": TEXTS,
    "UserId": TEXTS, "wallclockLimit": NUMBERS, "Application": TEXTS,
}  # fmt: skip
ATTRIBUTES = {"units": UNITS, "metric": WORDS, "condition": WORDS, "op": ("GE", "LE")}
BLOCKS = ("Requested", "Delivered", "TaskGroup", "Task")


def leaf(name, text, attributes=(), odd=0):
    node = etree.Element(name, dict(attributes))
    node.text = text or None
    if odd == 1:
        node.append(etree.Comment("in"))
        node[-1].tail = "2"
    elif odd == 2:
        etree.SubElement(node, "b").text = "1"
    return node


@st.composite
def leaves(draw):
    name = draw(st.sampled_from(sorted(LEAVES)))
    attributes = draw(
        st.dictionaries(st.sampled_from(sorted(ATTRIBUTES)), st.none(), max_size=2).flatmap(
            lambda names: st.fixed_dictionaries(
                {name: st.sampled_from(ATTRIBUTES[name]) for name in names}
            )
        )
    )
    odd = draw(st.sampled_from((0,) * 12 + (1, 2)))
    return leaf(name, draw(st.sampled_from(LEAVES[name])), attributes, odd)


def block(name, children):
    node = etree.Element(name)
    node.extend(children)
    return node


def copies(nodes):
    return [etree.fromstring(etree.tostring(node)) for node in nodes]


inner = st.builds(
    block, st.sampled_from(("Requested", "Delivered")), st.lists(leaves(), max_size=4)
)
tasks = st.builds(block, st.just("Task"), st.lists(leaves(), max_size=2))
task_groups = st.builds(
    block, st.just("TaskGroup"), st.lists(st.one_of(leaves(), tasks, inner), max_size=3)
)
defaults = st.builds(
    block,
    st.sampled_from(("JobDefaults", "TaskGroupDefaults", "TaskDefaults")),
    st.lists(leaves(), max_size=2),
)
job_children = st.lists(st.one_of(leaves(), leaves(), inner, task_groups), max_size=7)
jobs = st.one_of(
    st.builds(block, st.just("Job"), job_children),
    st.builds(block, st.just("Job"), job_children),
    st.builds(
        lambda one, more: block("Job", [*one, *more]), job_children, st.lists(defaults, max_size=1)
    ),
    st.builds(leaf, st.just("Job"), st.sampled_from(TEXTS)),
)
groups = st.builds(
    lambda own, more: block("JobGroup", [*own, *more]),
    st.lists(leaves(), max_size=2),
    st.lists(st.one_of(jobs, jobs, jobs, defaults), max_size=4),
)
strange = st.builds(
    lambda name, one, two: block(name, [one, block("Site", [two])]),
    st.sampled_from(("Job", "JobGroup")), leaves(), st.one_of(jobs, groups),
)  # fmt: skip


def bytes_of(root, namespace):
    """The document, with every element, or every second one, in the namespace of SSSRMAP."""
    for index, element in enumerate(root.iter("*")):
        if namespace == 1 or (namespace == 2 and index % 2):
            element.tag = f"{{{spec.NAMESPACE}}}{element.tag}"
    return etree.tostring(root)


documents = st.builds(
    bytes_of,
    st.one_of(jobs, jobs, jobs, groups, strange).map(lambda root: copies([root])[0]),
    st.sampled_from((0, 0, 0, 1, 2)),
)

texts = st.sampled_from([f'"{text}"' for text in (*TEXTS, *WORDS, "2", "2.0")])
numbers = st.sampled_from(("0", "1", "2", "10", "0.1", "0.3", "-1", "1 + 1", "2 * 5", "1 div 0"))
signs = st.sampled_from(("=", "!=", "<", "<=", ">", ">="))
names = st.sampled_from(sorted(LEAVES))
simple = st.one_of(
    names,
    st.builds("{}/{}".format, st.sampled_from(BLOCKS), names),
    st.builds("{}/{}".format, st.sampled_from(("Requested", "Delivered")), names),
    st.builds("{}/@{}".format, names, st.sampled_from(sorted(ATTRIBUTES))),
    st.builds("{}/Memory/@{}".format, st.sampled_from(BLOCKS), st.sampled_from(sorted(ATTRIBUTES))),
    st.sampled_from(("TaskGroup/Task/Node", "TaskGroup/Name", ".", "*", ".//Node", "@op", "..",
                     "*/Memory", "text()", "User/text()", "Requested", "Delivered", "TaskGroup",
                     "self::Job", "JobDefaults", "Job/Id", "Memory[1]", "Memory[last()]")),
)  # fmt: skip


def paths(predicates):
    return st.one_of(
        simple,
        simple,
        st.builds("{}[{}]".format, simple, predicates),
        st.builds("{}[{}]/{}".format, st.sampled_from(BLOCKS), predicates, names),
        st.builds("({} | {})".format, simple, simple),
    )


def comparisons(predicates):
    way = paths(predicates)
    called = st.builds(
        "{}({})".format,
        st.sampled_from(("string", "number", "count", "sum", "normalize-space", "string-length",
                         "sss:bytes", "sss:seconds", "sss:time")),
        way,
    )  # fmt: skip
    value = st.one_of(texts, numbers, numbers)
    return st.one_of(
        way,
        st.builds("{} {} {}".format, way, signs, value),
        st.builds("{} {} {}".format, value, signs, way),
        st.builds("{} {} {}".format, way, signs, way),
        st.builds("{} {} {}".format, called, signs, value),
        st.builds("{} {} {}".format, called, signs, called),
        st.builds("{}({}, {})".format, st.sampled_from(("starts-with", "contains")), way, texts),
        st.sampled_from(("true()", "false()", "1 > 2", "position() = 1")),
    )


def combined(inner):
    return st.one_of(
        comparisons(inner),
        comparisons(inner),
        st.builds("not({})".format, inner),
        st.builds("boolean({})".format, inner),
        st.builds("({}) and ({})".format, inner, inner),
        st.builds("({}) or ({})".format, inner, inner),
    )


predicates = st.recursive(comparisons(st.just("Charge > 1")), combined, max_leaves=4)
entries = st.sampled_from((
    "//Job", "//Job", "//Job", "//JobGroup", "/Job", "/JobGroup", "/JobGroup/Job",
    "//JobGroup//Job", "/*/Job", "/*", "//Task", "//Job//Job", "self::Job", "self::JobGroup",
))  # fmt: skip
rests = st.one_of(st.sampled_from(("", "", "/Id", "/Id")), paths(predicates).map("/{}".format))
queries = st.one_of(
    st.builds("{}[{}]{}".format, entries, predicates, rests),
    st.builds("{}[{}][{}]".format, entries, predicates, predicates),
    st.builds("{}/{}".format, entries, paths(predicates)),
    entries,
    paths(predicates),
    st.builds("{}[{}] | {}/{}".format, entries, predicates, entries, names),
    st.builds("count({}[{}])".format, entries, predicates),
    st.builds("sum({}[{}]/{})".format, entries, predicates, names),
    st.builds("sum({}/Charge) div count({}[{}])".format, entries, entries, predicates),
    predicates,
)  # fmt: skip
