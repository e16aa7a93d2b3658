"""What is in a text is in the job, kept, or told: nothing that is read is swallowed.

Each value of a specification is replaced by others that nobody expects there, and each object,
list and element gets one more: what was put in has to be found in the job, in its files, in an
Extension, or in a finding; a value that stands for none of these must at least matter.
"""

import copy
import json
from collections import Counter
from functools import cache

import pytest
from lxml import etree
from translated import FULL

from sssjob.document import dumps, loads
from sssjob.translate import Settings, read, translate

MARK = "MARKED123"
HOSTILE = (
    MARK, 987654321, -987654321, 1.2345, True, [MARK], {"zz": MARK}, [77, {"zz": MARK}],
    {"set": True, "infinite": True, "number": 77}, {"set": MARK, "number": 77},
)  # fmt: skip
# What a job that our writer makes does not have.
MORE = {
    "slurmrest": {"job": {
        "array": "1-9", "licenses": "a:1", "distribution": "cyclic", "open_mode": ["APPEND"],
        "mail_type": ["END", "FAIL"], "prefer": "x", "excluded_nodes": "n7", "minimum_cpus": 3,
        "deadline": 1900000000, "memory_per_cpu": {"set": True, "infinite": False, "number": 5},
        "nice": 5, "requeue": True, "dependency": "afterok:1,singleton",
    }},
    "psij": {"pre_launch": "/x", "attributes": {"project_name": "p",
                                                "custom_attributes": {"slurm.qos": "x"}}},
}  # fmt: skip
# A value that says what is meant without it, too.
SAME = {
    ("psij", ("inherit_environment",), True),
    ("flux-canonical", ("version",), 987654321),  # RFC 14 gives no number
    ("flux-canonical", ("version",), -987654321),
}


@cache
def text(target):
    """A job with everything, as a target takes it."""
    found = translate(loads(FULL), target, Settings(residual=False)).text
    if target == "jsdl":
        return found
    form = json.loads(found)
    merge(form, MORE.get(target, {}))
    return json.dumps(form)


def merge(form, more):
    for name, value in more.items():
        if isinstance(value, dict) and name in form:
            merge(form[name], value)
        else:
            form[name] = value


@cache
def read_from(target, data):
    """The jobs of a text with their files, and what is told."""
    found = [*read(data.encode(), target, Settings(residual=False))]
    jobs = "".join(f"{dumps(each.job)}{dict(each.files)}" for each in found if each.job)
    return jobs, tuple(item.message for each in found for item in each.findings)


def is_seen(target, data):
    jobs, told = read_from(target, data)
    return MARK in jobs or any(MARK in message for message in told)


def tells_more(target, data, than):
    return Counter(read_from(target, data)[1]) - Counter(read_from(target, than)[1])


def places(value, path=()):
    yield path, value
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for name, each in inner:
        yield from places(each, (*path, name))


def changed(form, path, change):
    form = copy.deepcopy(form)
    inside = form
    for name in path[:-1]:
        inside = inside[name]
    change(inside, path[-1])
    return json.dumps(form)


def with_more(form):
    """Each object and list with one more value, and the place."""
    for path, value in places(form):
        for extra in (MARK, {"zz": MARK}):
            grown = {**value, "zz_unknown": extra} if isinstance(value, dict) else (
                [*value, extra] if isinstance(value, list) else None)  # fmt: skip
            if grown is not None:

                def put(inside, name, grown=grown):
                    inside[name] = grown

                yield path, changed(form, path, put) if path else json.dumps(grown)


@pytest.mark.parametrize("target", ["slurmrest", "psij", "flux", "flux-canonical"])
def test_what_an_object_or_a_list_has_more_is_kept_or_told(target):
    form = json.loads(text(target))
    lost = [path for path, data in with_more(form) if not is_seen(target, data)
            and not tells_more(target, data, text(target))]  # fmt: skip
    assert lost == []


@pytest.mark.parametrize("target", ["slurmrest", "psij", "flux", "flux-canonical"])
def test_a_value_of_json_that_nobody_expects_is_in_the_job_or_told(target):
    form, lost = json.loads(text(target)), []
    for path, value in places(form):
        if not path:
            continue
        without = changed(form, path, lambda inside, name: inside.pop(name))
        for other in HOSTILE:

            def put(inside, name, other=other):
                inside[name] = other

            data = changed(form, path, put)
            same = type(other) is type(value) and other == value
            if same or is_seen(target, data) or tells_more(target, data, without):
                continue
            known = isinstance(other, (str, int, float)) and (target, path, other) in SAME
            as_without = read_from(target, data) == read_from(target, without)
            if (as_without and not known) or MARK in data:
                lost.append((path, other))
    assert lost == []


def grown(element, form):
    """An element with what nobody expects in it or behind it."""
    other = f"{{{etree.QName(element).namespace}}}zz"
    if form in ("child", "foreign"):
        etree.SubElement(element, other if form == "child" else "{urn:zz}zz").text = MARK
    elif form == "attribute":
        element.set("zz", MARK)
    elif form == "value":
        for name in element.attrib:
            element.set(name, MARK)
    elif form == "text":
        element.text = MARK
    elif form == "tail":
        element.tail = MARK
    elif form == "again":
        more = copy.deepcopy(element)
        for each in more.iter("*"):
            if not len(each):
                each.text = MARK
        element.addnext(more)
    elif not len(element):
        element.text = form


@pytest.mark.parametrize(
    "form",
    ["child", "foreign", "attribute", "value", "text", "tail", "again", "-987654321", "1.5e1.5"],
)
def test_what_an_element_of_jsdl_has_more_is_in_the_job_or_told(form):
    root, lost = etree.fromstring(text("jsdl").encode()), []
    plain = etree.tostring(root, encoding="unicode")
    for place, element in enumerate([*root.iter("*")]):
        if element is root and form in ("tail", "again"):
            continue
        other = copy.deepcopy(root)
        grown([*other.iter("*")][place], form)
        data = etree.tostring(other, encoding="unicode")
        seen = is_seen("jsdl", data) or tells_more("jsdl", data, plain)
        if data != plain and not seen and form not in read_from("jsdl", data)[0]:
            lost.append(element.tag)
    assert lost == []


def test_a_fault_in_one_definition_costs_that_value():
    """Two amounts that cannot be read raised, and no job of the document was read."""
    data = text("jsdl").replace("<jsdl:LowerBound>2<", "<jsdl:LowerBound>few<")
    (found,) = read(data.encode(), "jsdl")
    assert found.job.get("Name") == "run me"
    assert [each.message for each in found.findings] == ["'few' is not a number in LowerBound"]


def test_a_constraint_of_flux_that_is_no_list_is_kept():
    """It raised TypeError."""
    form = json.loads(text("flux"))
    form["attributes"]["system"]["constraints"] = {"and": 5}
    (found,) = read(json.dumps(form).encode(), "flux")
    again = json.loads(translate(found.job, "flux").text)
    assert again["attributes"]["system"]["constraints"] == {"and": 5}


@pytest.mark.parametrize(
    "target, path, value",
    [
        ("slurmrest", ("job", "distribution"), "block"),
        ("slurmrest", ("job", "mail_type"), ["END", "FAIL"]),
        ("slurmrest", ("job", "dependency"), "afterok:1,singleton"),
        ("slurmrest", ("job", "open_mode"), ["TRUNCATE"]),
        ("flux", ("attributes", "system", "dependencies"), [
            {"type": "in", "scope": "user", "scheme": "afterok", "value": "17"},
            {"scheme": "singleton", "value": "x"}]),
    ],
)  # fmt: skip
def test_what_is_kept_of_a_list_is_written_back_behind_what_the_job_says(target, path, value):
    form = json.loads(text(target))
    inside = form
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = value
    (found,) = read(json.dumps(form).encode(), target)
    again = json.loads(translate(found.job, target, Settings(residual=False)).text)
    for name in path:
        again = again[name]
    assert again == value


def test_a_range_of_slots_of_flux_is_one_of_processors():
    """It was left out."""
    slot = {"type": "slot", "count": {"min": 2, "max": 4, "operator": "+", "operand": 1},
            "label": "t", "with": [{"type": "core", "count": 3}]}  # fmt: skip
    form = {"version": 999, "resources": [slot], "tasks": [{"command": ["x"], "slot": "t"}],
            "attributes": {"system": {}}}  # fmt: skip
    (found,) = read(json.dumps(form).encode(), "flux-canonical")
    terms = [(item.name, item.attributes["op"], item.text) for item in found.job.requested]
    assert terms == [("Processors", "GE", "6"), ("Processors", "LE", "12")]
    assert not found.findings


GROUP = """<JobGroup><Id>g</Id>{}</JobGroup>""".format(
    "".join(f"<Job><Id>j{n}</Id><Executable>/bin/date</Executable></Job>" for n in range(3))
)


def test_a_group_is_documents_of_jsdl_behind_each_other_which_are_read_each_by_itself():
    texts = [translate(job, "jsdl").text for job in loads(GROUP).jobs]
    whole = "".join(texts)
    assert [each.job.id for each in read(whole.encode())] == ["j0", "j1", "j2"]
    cut = whole.replace("</jsdl:Application>", "", 1).replace(">Id - <", ">Id + <")
    found = [*read(cut.encode())]
    assert [each.job.id if each.job else None for each in found] == [None, "j1", "j2"]
    (fault,) = found[0].findings
    assert fault.line <= texts[0].count("\n") + 1
    spoiled = whole.replace("kept>", "left>")
    lines = [item.line for each in read(spoiled.encode()) for item in each.findings]
    assert lines == [place for place, line in enumerate(spoiled.splitlines(), 1) if "left>" in line]
