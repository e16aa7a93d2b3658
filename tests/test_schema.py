"""The published schemas: they compile everywhere, and they say what the tables say."""

import re
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import xmlschema
from draws import examples
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob import resources, schema, spec

XS = "{http://www.w3.org/2001/XMLSchema}"
NAMES = {"": "sssjob", spec.NAMESPACE: "sssjob-sssrmap"}
VALID = sorted((Path(__file__).parent / "data" / "valid").glob("*.xml"))
UNITS = "descendant-or-self::*[local-name()='Job' or local-name()='JobGroup']"
OUTERMOST = f"{UNITS}[not(ancestor::*[local-name()='JobGroup'])]"

SCHEMA = etree.parse(resources.schema("sssjob")).getroot()


@cache
def libxml2(namespace):
    return etree.XMLSchema(file=resources.schema(NAMES[namespace]))


@cache
def python(namespace):
    return xmlschema.XMLSchema(resources.schema(NAMES[namespace]))


def verdicts(element):
    """What libxml2 and xmlschema say about one element, by the schema of its namespace."""
    alone = etree.fromstring(etree.tostring(element, with_tail=False))
    namespace = etree.QName(alone).namespace or ""
    return libxml2(namespace).validate(alone), python(namespace).is_valid(alone)


@pytest.mark.parametrize("namespace", NAMES)
def test_each_schema_compiles_in_both_libraries(namespace):
    assert libxml2(namespace) is not None
    assert python(namespace).target_namespace == namespace
    assert set(python(namespace).elements) == set(CONTAINERS[:7])


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_valid_documents_are_valid_in_both_libraries(path):
    jobs = etree.parse(path).xpath(OUTERMOST)
    assert jobs
    for job in jobs:
        assert verdicts(job) == (True, True), libxml2(etree.QName(job).namespace or "").error_log


def test_the_lists_are_those_that_the_tables_make():
    text = resources.schema("sssjob").read_text("utf-8")
    assert schema.made(text) == text, "run: make tables"


def test_a_row_that_is_added_to_a_table_is_missing_in_the_schema(monkeypatch):
    text = schema.made(resources.schema("sssjob").read_text("utf-8"))
    rows = (*spec.CREDENTIALS, spec.CREDENTIALS[-1]._replace(name="Phase"))
    monkeypatch.setitem(spec.TABLES, "Table 3", rows)
    phase = '<xs:element name="Phase"      type="StringProperty">'
    assert phase not in text
    assert phase in schema.made(text)


def test_valid_documents_hold_every_element_and_attribute_of_the_tables():
    elements = [node for path in VALID for node in etree.parse(path).iter("{*}*")]
    missing = spec.names() - {etree.QName(node).localname for node in elements}
    assert not missing, f"tests/data/valid/every-property.xml: no {sorted(missing)}"
    held = {
        (place, name)
        for node in elements
        for name in node.attrib
        for place in (
            "*",
            etree.QName(node).localname,
            f"{etree.QName(node.getparent()).localname}/*" if node.getparent() is not None else "",
        )
    }
    rows = [(place, row.name) for row in spec.ATTRIBUTES for place in row.on]
    carried = {name for _, name in held}
    assert carried >= {name for _, name in rows}
    assert not {row for row in rows if "/*" in row[0] or row[0] == "*"} - held


# --- what the schema says, walked ------------------------------------------------------------


def named(kind, name):
    return SCHEMA.find(f"{XS}{kind}[@name='{name}']")


def elements(node):
    """Every element declaration below a node of the schema, through groups and references."""
    for child in node:
        if child.tag == f"{XS}element":
            yield named("element", child.get("ref")) if child.get("ref") else child
        elif child.tag == f"{XS}group":
            yield from elements(named("group", child.get("ref")))
        elif child.tag in (f"{XS}sequence", f"{XS}choice"):
            yield from elements(child)


def attributes(node):
    """Every attribute declaration of a complex type, through groups and base types."""
    for child in node:
        if child.tag == f"{XS}attribute":
            yield child
        elif child.tag == f"{XS}attributeGroup":
            yield from attributes(named("attributeGroup", child.get("ref")))
        elif child.tag == f"{XS}simpleContent":
            extension = child.find(f"{XS}extension")
            yield from attributes(extension)
            base = named("complexType", extension.get("base"))
            yield from attributes(base) if base is not None else ()


def data_type(name):
    """The data type of section 2.2 on which a type of the schema rests; "" for containers."""
    complex_type = named("complexType", name)
    if complex_type is None:
        return {"Words": spec.STRING, "Notifications": spec.STRING}.get(name, name)
    extension = complex_type.find(f"{XS}simpleContent/{XS}extension")
    return "" if extension is None else data_type(extension.get("base"))


def vocabulary(attribute):
    """The values of a closed attribute, and whether it holds a list of them."""
    pattern = attribute.find(f".//{XS}pattern")
    if pattern is not None:
        return tuple(dict.fromkeys(re.findall(r"[A-Z]\w+", pattern.get("value")))), True
    return tuple(node.get("value") for node in attribute.iter(f"{XS}enumeration")), False


def as_row(attribute):
    values, words = vocabulary(attribute)
    kind = attribute.get("type") or spec.STRING
    required = attribute.get("use") == "required"
    return kind, spec.MUST if required else spec.MAY, values, words


CONTAINERS = [container.name for container in spec.CONTAINERS]
PLACES = [(container, name) for container in CONTAINERS for name in spec.properties(container)]


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_holds_what_the_tables_say_and_nothing_more(container):
    declared = {node.get("name") for node in elements(named("complexType", container))}
    assert declared == set(spec.properties(container)) | set(spec.blocks(container))


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_container_has_the_attributes_of_the_tables(container):
    found = {node.get("name"): as_row(node) for node in attributes(named("complexType", container))}
    assert found == {name: expected(row) for name, row in spec.attributes(container).items()}


@pytest.mark.parametrize("container", CONTAINERS)
def test_text_is_allowed_where_references_are(container):
    mixed = named("complexType", container).get("mixed") == "true"
    assert mixed == spec.CONTAINER[container].reference


@pytest.mark.parametrize(("container", "name"), PLACES, ids="/".join)
def test_a_property_has_the_type_and_the_attributes_of_its_row(container, name):
    category = container if container in (spec.REQUESTED, spec.DELIVERED) else ""
    row = spec.properties(container)[name]
    types = {
        node.get("type")
        for node in elements(named("complexType", container))
        if node.get("name") == name
    }
    assert len(types) == 1
    kind = types.pop()
    assert data_type(kind) == row.type
    found = {node.get("name"): as_row(node) for node in attributes(named("complexType", kind))}
    rows = spec.attributes(name, category)
    assert found == {attribute: expected(row) for attribute, row in rows.items()}


def expected(row):
    return row.type, row.appearance, row.values, row.words


def test_notifications_are_the_words_of_the_text():
    assert vocabulary(named("simpleType", "Notifications")) == (spec.NOTIFICATIONS, True)


TABLES = [
    ("JobGroupProperties", spec.JOB_GROUP),
    ("JobProperties", spec.JOB),
    ("StructuredProperties", spec.STRUCTURED),
    ("Credentials", spec.CREDENTIALS),
    ("ConsumableResources", spec.CONSUMABLES),
    ("TaskGroupProperties", spec.TASK_GROUP),
    ("TaskProperties", spec.TASK),
    ("EnvironmentProperties", spec.ENVIRONMENT),
]


@pytest.mark.parametrize(("group", "table"), TABLES, ids=[group for group, _ in TABLES])
def test_a_group_prints_its_table_in_order_with_the_words_of_its_rows(group, table):
    declared = list(elements(named("group", group)))
    names = [node.get("name") for node in declared]
    assert names == [row.name for row in table if row.name in names]
    # Id is placed by the containers; Name and Node are those of an earlier table.
    assert {row.name for row in table} - set(names) <= {"Id", "Name", "Node"}
    rows = {row.name: row for row in table}
    for node in declared:
        row = rows[node.get("name")]
        text = node.findtext(f"{XS}annotation/{XS}documentation")
        assert text == (
            f"{row.description} ({row.section}; {row.appearance}, support {row.compliance})."
        )


@pytest.mark.parametrize("category", [spec.REQUESTED, spec.DELIVERED])
def test_a_category_prints_its_properties_in_the_order_of_the_tables(category):
    declared = [node.get("name") for node in elements(named("group", f"{category}Properties"))]
    assert declared == list(spec.properties(category))


# --- what the schema does --------------------------------------------------------------------

JUDGED = [
    pytest.param("<Job><Id>1</Id></Job>", True, id="a job with an id"),
    pytest.param("<Job><User>a</User></Job>", False, id="a job without an id"),
    pytest.param("<Job><Id>1</Id><User>a</User><Id>2</Id></Job>", False, id="two ids"),
    pytest.param("<Job> job123</Job>", True, id="a reference"),
    pytest.param("<JobGroup><Id>g</Id></JobGroup>", False, id="a group without jobs"),
    pytest.param("<JobGroup><Job>1</Job></JobGroup>", False, id="a group without an id"),
    pytest.param("<JobGroup><Job>1</Job><Id>g</Id><Job>2</Job></JobGroup>", True, id="any order"),
    pytest.param("<Job><Id>1</Id><Requested/></Job>", False, id="nothing requested"),
    pytest.param("<Job><Id>1</Id><Environment/></Job>", True, id="an empty environment"),
    pytest.param("<Job><Id>1</Id><JobDefaults/></Job>", False, id="defaults in a job"),
    pytest.param("<Job><Id>1</Id><Memory>NaN</Memory></Job>", False, id="not a number"),
    pytest.param("<Job><Id>1</Id><Memory>INF</Memory></Job>", False, id="infinite"),
    pytest.param("<Job><Id>1</Id><Memory> +.5e3 </Memory></Job>", True, id="an exponent"),
    pytest.param("<Job><Id>1</Id><Memory>1,024</Memory></Job>", False, id="a thousands comma"),
    pytest.param("<Job><Id>1</Id><StartTime>-1</StartTime></Job>", False, id="before the epoch"),
    pytest.param("<Job><Id>1</Id><StartTime>5e9</StartTime></Job>", False, id="time as a float"),
    pytest.param("<Job><Id>1</Id><Interactive>True</Interactive></Job>", False, id="True"),
    pytest.param("<Job><Id>1</Id><Requested><State>x</State></Requested></Job>", False, id="State"),
    pytest.param('<Job><Id>1</Id><Memory op="GE">1</Memory></Job>', False, id="op by itself"),
    pytest.param(
        '<Job><Id>1</Id><Delivered><Memory op="GE">1</Memory></Delivered></Job>', False,
        id="op delivered",
    ),
    pytest.param('<Job><Id>1</Id><ErrorFile redirectList="Keep, Merge"/></Job>', True, id="words"),
    pytest.param('<Job><Id>1</Id><ErrorFile redirectList="keep"/></Job>', False, id="a wrong word"),
    pytest.param('<Job xmlns:x="urn:x" x:a="1"><Id>1</Id></Job>', False, id="a foreign attribute"),
    pytest.param('<Job xml:lang="en"><Id>1</Id></Job>', True, id="an attribute of XML"),
    pytest.param('<Job><Id>1</Id><a xmlns="urn:x"/></Job>', False, id="a foreign element"),
    pytest.param('<Job><Id>1</Id><User xmlns="urn:x">a</User></Job>', False, id="another User"),
]  # fmt: skip


@pytest.mark.parametrize("namespace", NAMES)
@pytest.mark.parametrize(("document", "valid"), JUDGED)
def test_both_libraries_judge_alike(document, valid, namespace):
    root = etree.fromstring(document)
    if namespace:
        for node in root.iter("{}*"):
            node.tag = f"{{{namespace}}}{node.tag}"
    assert verdicts(root) == (valid, valid)


# --- generated documents ---------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=12)
INTEGERS = st.integers(-(10**12), 10**12).map(str)
SECONDS = st.integers(0, 2**32 - 1).map(str)
FLOATS = st.one_of(
    st.decimals(-(10**6), 10**6, places=3).map(str),
    st.sampled_from(["1.", ".5", "+2", "-0", " 7 ", "1e3", "2.5E-10"]),
)
VALUES = {
    spec.STRING: TEXT,
    spec.INTEGER: INTEGERS,
    spec.FLOAT: FLOATS,
    spec.BOOLEAN: st.sampled_from(["true", "false", "1", "0"]),
    spec.DATETIME: SECONDS,
    spec.DURATION: SECONDS,
}


def lists(words):
    return st.lists(st.sampled_from(words), min_size=1, max_size=3).map(",".join)


def value(row):
    if row.words:
        return lists(row.values)
    return st.sampled_from(row.values) if row.values else VALUES[row.type]


@st.composite
def properties(draw, name, kind, category):
    node = etree.Element(name)
    carried = spec.attributes(name, category)
    optional = draw(st.lists(st.sampled_from(sorted(carried)), max_size=2, unique=True))
    for attribute in (*optional, *spec.required(name)):
        node.set(attribute, draw(value(carried[attribute])))
    if name == "Environment":
        node.extend(draw(st.lists(properties("Variable", spec.STRING, ""), max_size=2)))
    else:
        node.text = draw(lists(spec.NOTIFICATIONS) if name == "NotificationList" else VALUES[kind])
    return node


@st.composite
def blocks(draw, name="Job"):
    node = etree.Element(name)
    known = spec.properties(name)
    category = name if name in (spec.REQUESTED, spec.DELIVERED) else ""
    chosen = draw(st.lists(st.sampled_from(sorted(set(known) - {"Id"})), min_size=1, max_size=4))
    children = [draw(properties(each, known[each].type, category)) for each in chosen]
    if name in ("Job", "JobGroup"):
        children.append(draw(properties("Id", spec.STRING, "")))
    for inner, wildcard in spec.blocks(name).items():
        if wildcard == "+" or draw(st.integers(0, 3)) == 0:
            children.append(draw(blocks(inner)))
    node.extend(draw(st.permutations(children)))
    return node


DOCUMENTS = st.sampled_from([name for name in CONTAINERS[:7]]).flatmap(blocks)


@examples(60)
@given(DOCUMENTS, st.sampled_from(spec.NAMESPACES))
def test_documents_made_from_the_tables_are_valid_in_both_libraries(document, namespace):
    for node in document.iter():
        node.tag = f"{{{namespace}}}{node.tag}" if namespace else node.tag
    assert verdicts(document) == (True, True), etree.tostring(document, encoding=str)


NAMES_FOR_MUTANTS = st.sampled_from([*sorted(spec.names()), "Phase", "jobId"])
TEXTS_FOR_MUTANTS = st.one_of(
    TEXT,
    st.sampled_from(["", " ", "NaN", "-INF", "1e5", "0x10", "12", "-1", "1.5", "TRUE", "List"]),
)


@st.composite
def mutants(draw):
    """A generated document with one fault, or something that looks like one."""
    root = deepcopy(draw(DOCUMENTS))
    node = draw(st.sampled_from(list(root.iter())))
    match draw(st.sampled_from(["rename", "text", "attribute", "delete", "repeat", "nest"])):
        case "rename":
            node.tag = draw(NAMES_FOR_MUTANTS)
        case "text":
            node.text = draw(TEXTS_FOR_MUTANTS)
        case "attribute":
            name = draw(st.sampled_from(sorted({row.name for row in spec.ATTRIBUTES} | {"mood"})))
            node.set(name, draw(TEXTS_FOR_MUTANTS))
        case "delete" if node.getparent() is not None:
            node.getparent().remove(node)
        case "repeat" if node.getparent() is not None:
            node.addnext(deepcopy(node))
        case _:
            etree.SubElement(node, draw(NAMES_FOR_MUTANTS)).text = draw(TEXTS_FOR_MUTANTS)
    return root


@examples(200)
@given(mutants())
def test_both_libraries_agree_about_documents_with_a_fault(document):
    accepted, also = verdicts(document)
    assert accepted == also, etree.tostring(document, encoding=str)
