"""Prefixes mean the same behind a value as before it, wherever they are declared and used."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sssjob.document import dumps, from_tree, loads
from sssjob.document.canonical import canon

PREFIXES = ["p", "q", "r"]
URIS = ["urn:1", "urn:2", "urn:3"]
MEANT = re.compile(r"(?<![\w.\-])([pqr]):")


def meaning(element):
    """An element with what each prefix of its texts stands for, whatever it is called."""

    def said(text, scope):
        return MEANT.sub(lambda found: f"{{{scope.get(found[1])}}}", text or "")

    scope = element.nsmap
    if not isinstance(element.tag, str):
        return element.text
    return (
        element.tag, {name: said(value, scope) for name, value in sorted(element.attrib.items())},
        said(element.text, scope),
        [(meaning(child), said(child.tail, scope)) for child in element],
    )  # fmt: skip


@st.composite
def strangers(draw, depth=3, names=("p:T", "q:T r:x", "a", "1:2", "pp:q", "p.q:x")):
    """An element that no table knows, with prefixes declared anywhere in it."""
    declared = draw(st.dictionaries(st.sampled_from(PREFIXES), st.sampled_from(URIS), max_size=2))
    scope = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in declared.items())
    name = draw(st.sampled_from(["x", "y", *(f"{prefix}:z" for prefix in declared)]))
    type_ = draw(st.sampled_from(["", *(f' t="{each}"' for each in names)]))
    text = draw(st.sampled_from(["", *names]))
    inner = draw(st.lists(strangers(depth=depth - 1), max_size=2)) if depth else []
    return f"<{name}{scope}{type_}>{text}{''.join(inner)}</{name}>"


@st.composite
def jobs(draw):
    """A job with such elements beside and inside of what it says, and around it."""
    outer = draw(st.dictionaries(st.sampled_from(PREFIXES), st.sampled_from(URIS), max_size=2))
    own = draw(st.dictionaries(st.sampled_from(PREFIXES), st.sampled_from(URIS), max_size=2))
    inside = draw(st.lists(strangers(), min_size=1, max_size=3))
    task = draw(st.lists(strangers(), max_size=1))
    declared = [
        "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in each.items()) for each in (outer, own)
    ]
    return (
        f"<Data{declared[0]}><Job{declared[1]}><Id>1</Id><Comment>p:x</Comment>{''.join(inside)}"
        f"<TaskGroup>{''.join(task)}<Extension>q:x</Extension></TaskGroup></Job></Data>"
    )


def job_of(document):
    root = etree.fromstring(document)
    return root if root.tag == "Job" else root[0]


@given(jobs())
def test_a_job_means_the_same_when_it_is_written(document):
    job = job_of(document)
    written = dumps(from_tree(job))
    assert meaning(etree.fromstring(written)) == meaning(job)
    assert dumps(loads(written)) == written


@given(jobs())
def test_a_canonical_job_means_the_same_and_is_its_own_canonical_form(document):
    job = from_tree(job_of(document))
    written = dumps(canon(job), namespace="")
    again = dumps(canon(loads(written)), namespace="")
    assert again == written
    assert texts(etree.fromstring(written)) == texts(job_of(document))


def texts(element):
    """What prefixes stand for, in any order: the canonical form sorts."""
    return sorted(
        str(meaning(each)[1:3])
        for each in element.iter(etree.Element)
        if len(each.attrib) or each.text
    )


@pytest.mark.parametrize(
    "inside",
    [
        '<a xmlns:p="urn:1" t="p:T"/>',
        '<a xmlns:p="urn:1" t="p:T"/><a xmlns:p="urn:2" t="p:T"/>',
        '<a xmlns:p="urn:1" t="p:T"><b xmlns:p="urn:2">p:T</b></a>',
        '<q:a xmlns:q="urn:1"><q:b xmlns:q="urn:2">q:T</q:b>q:U</q:a>',
    ],
    ids=["one", "two of one name", "one in the other", "of elements, too"],
)
def test_prefixes_that_are_declared_inside_a_job_are_kept(inside):
    document = f"<Job><Id>1</Id><Extension>{inside}</Extension></Job>"
    for written in (dumps(loads(document)), dumps(canon(loads(document)), namespace="")):
        assert meaning(etree.fromstring(written)) == meaning(etree.fromstring(document))
