"""Between trees and values: older names become present ones, everything else stays."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest
from lxml import etree

from sssjob import spec
from sssjob.document import bridge, dumps, from_tree, loads, to_tree
from sssjob.document.places import attributes
from sssjob.errors import InvalidValue
from sssjob.model import Delivered, Job, Note, Property, Reference, Requested


def job(inside):
    return loads(f"<Job>{inside}</Job>")


# fmt: off
READ = [
    pytest.param("<UserId>amy</UserId>",                [Property("User", "amy")],               id="an older name"),
    pytest.param("<Network>Elan</Network>",             [Property("NetworkAdapter", "Elan")],    id="an adapter"),
    pytest.param("<Network>100</Network>",              [Property("Network", "100")],            id="an amount"),
    pytest.param('<Network metric="Max">x</Network>',   [Property("Network", "x", {"metric": "Max"})], id="a wrong amount"),
    pytest.param("<Network/>",                          [Property("Network")],                   id="nothing"),
    pytest.param("<TaskGroup> g1 </TaskGroup>",         [Reference("TaskGroup", " g1 ")],        id="a reference"),
    pytest.param("<wallclockLimit>60</wallclockLimit>", [Requested((Property("Duration", "60"),))], id="requested by name"),
    pytest.param("<Requested><requestedNodes>2</requestedNodes></Requested>",
                 [Requested((Property("NodeCount", "2"),))],                                    id="requested twice over"),
    pytest.param("<Delivered><requestedNodes>2</requestedNodes></Delivered>",
                 [Delivered((Property("requestedNodes", "2"),))],                               id="requested in Delivered"),
    pytest.param("<Memory> 1.890 </Memory>",            [Property("Memory", " 1.890 ")],         id="a number as written"),
    pytest.param("<User>a<!--c-->b</User>",             [Property("User", "ab", {}, (Note("comment", "c"),))], id="a comment in a value"),
    pytest.param("stray<!--c--><?pi x?>",               [Note("text", "stray"), Note("comment", "c"), Note("instruction", "pi x")], id="notes"),
    pytest.param("<Phase>1</Phase>",                    [Property("Phase", "1")],                id="an unknown element"),
    pytest.param('<a xmlns="urn:x">1</a>',              [Property("{urn:x}a", "1")],             id="a foreign element"),
]
# fmt: on


@pytest.mark.parametrize("inside, items", READ)
def test_an_element_is_read_as_what_it_means_and_comes_back(inside, items):
    read = job(inside)
    assert list(read.items) == items
    assert loads(dumps(read)) == read


def test_white_space_counts_where_text_stands_beside_elements():
    text = '<Job><p xmlns="urn:x">a <b>c</b> <i>d</i></p></Job>'
    assert "".join(to_tree(loads(text)).itertext()) == "a c d"


def test_a_reference_may_hold_a_comment():
    group = loads("<JobGroup><Id>g</Id><Job><!--c-->job77</Job><Job><!--c--></Job></JobGroup>")
    reference, empty = group.items[1:]
    assert (reference.id, reference.children) == ("job77", (Note("comment", "c"),))
    assert empty == Job((Note("comment", "c"),))


def test_only_job_objects_become_values():
    for text in ("<Jobs/>", "<Id/>", "<Job xmlns='urn:x'/>"):
        with pytest.raises(ValueError, match="is no job object"):
            from_tree(etree.fromstring(text))


@pytest.mark.parametrize("namespace", spec.NAMESPACES)
def test_a_namespace_can_be_asked_for(namespace):
    tree = to_tree(job("<Id>1</Id><Requested><User>a</User></Requested>"), namespace=namespace)
    assert {etree.QName(node).namespace or "" for node in tree.iter()} == {namespace}


def test_prefixes_of_the_root_stay():
    text = f'<s:Job xmlns:s="{spec.NAMESPACE}" xmlns:x="urn:x"><s:Id>1</s:Id><x:a/></s:Job>'
    assert dumps(loads(text)) == text


@pytest.mark.parametrize("count", [0, 1, 49, 50, 51, 100_000])
def test_many_attributes_have_their_values_in_a_time_that_grows_with_their_number(count):
    named = {f"{{urn:x}}a{n}" if n % 2 else f"a{n}": f"{n}&" for n in range(count)}
    written = " ".join(f'{"x:" * (n % 2)}a{n}="{n}&amp;"' for n in range(count))
    element = etree.fromstring(f'<Id xmlns:x="urn:x" {written}/>')
    assert list(attributes(element).items()) == list(named.items())


def test_many_attributes_are_written_without_looking_through_them(monkeypatch):
    given = []

    class Spy:
        def __getattr__(self, name):
            function = getattr(etree, name)
            if name not in ("Element", "SubElement"):
                return function

            def made(*arguments):
                given.append(max(len(each) for each in arguments if isinstance(each, dict)))
                return function(*arguments)

            return made

    names = [f"a{number}" for number in range(200)]
    xml = "{http://www.w3.org/XML/1998/namespace}lang"
    many = {**dict.fromkeys(names, 'a "<&>\n\t\r'), "{urn:x}b": "1", "{urn:y}b": "2", xml: "en"}
    monkeypatch.setattr(bridge, "etree", Spy())
    job = Job((Property("User", "amy", many),), many)
    made = bridge.to_tree(job)
    assert max(given) < 60
    again = bridge.from_tree(etree.fromstring(etree.tostring(made)))
    assert dict(again.attributes) == dict(again.items[0].attributes) == many


@pytest.mark.parametrize("name, value", [("a b", "1"), ("a", "\0"), ('a="1" b', "1")])
def test_many_attributes_are_those_of_xml(name, value):
    many = {**{f"a{number}": "1" for number in range(100)}, name: value}
    with pytest.raises(InvalidValue, match=r"a name of XML|that XML can hold"):
        Property("User", "amy", many)
