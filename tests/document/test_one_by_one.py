"""The jobs of a large group are those that are read of the whole group."""

import pytest
from hypothesis import given
from lxml import etree
from strategies import documents, mutants

from sssjob.document import one_by_one
from sssjob.errors import Finding
from sssjob.translate.sss import TRANSLATOR, Message

ONE = "<Job><Id>{0}</Id><Executable>/bin/true</Executable></Job>"
MANY = "".join(map(ONE.format, range(4)))
PLAIN = {
    "jobs": f"<JobGroup>{MANY}</JobGroup>",
    "none": "<JobGroup><Id>1</Id></JobGroup>",
    "defaults before": f"<JobGroup><JobDefaults><User>a</User></JobDefaults>{MANY}</JobGroup>",
    "defaults behind": f"<JobGroup>{MANY}<JobDefaults><User>a</User></JobDefaults></JobGroup>",
    "two defaults": f"<JobGroup><JobDefaults><User>a</User></JobDefaults>{MANY}"
    "<JobDefaults><User>b</User></JobDefaults></JobGroup>",
    "a policy": f'<JobGroup awarenessPolicy="Warn"><Foo/>{MANY}</JobGroup>',
    "text and comments": f"<JobGroup> a <!-- c --><?p i?>{MANY} b\n\n{MANY}</JobGroup>",
    "references": f"<JobGroup><Job>7</Job>{MANY}<Job> 8 </Job></JobGroup>",
    "jobs inside": f"<JobGroup><Job><Id>1</Id>{MANY}</Job><Site>{MANY}</Site></JobGroup>",
    "a namespace": f'<JobGroup xmlns="http://www.scidac.org/ScalableSystems/SSSRMAP">{MANY}</JobGroup>',
    "a declaration": f'<?xml version="1.0" encoding="UTF-8"?>\n<JobGroup>\n{MANY}</JobGroup>\n',
    "signs": "<JobGroup><Job><Id>é\u2028\U0001f600&amp;</Id></Job></JobGroup>",
    "task groups": "<JobGroup><JobDefaults><TaskGroupDefaults><User>a</User></TaskGroupDefaults>"
    "</JobDefaults><Job><Id>1</Id><TaskGroup><TaskCount>2</TaskCount></TaskGroup></Job></JobGroup>",
}
ODD = {
    "a job": ONE,
    "a wrapper": f"<Data>{MANY}</Data>",
    "files": f'<Data><JobGroup>{MANY}</JobGroup><File id="a">x</File></Data>',
    "two documents": f"<JobGroup>{MANY}</JobGroup>\n<JobGroup>{MANY}</JobGroup>",
    "no end": f"<JobGroup>{MANY}",
    "rest behind": f"<JobGroup>{MANY}</JobGroup>x",
    "a fault in the last job": f"<JobGroup>{MANY}<Job><Id>1</Job></JobGroup>",
    "no prefix": f"<JobGroup>{MANY}<x:Foo/></JobGroup>",
    "a prefix": f'<JobGroup xmlns:x="urn:x">{MANY}<x:Foo/></JobGroup>',
    "groups inside": f"<JobGroup>{MANY}<JobGroup>{MANY}</JobGroup></JobGroup>",
    "a stranger": f'<JobGroup>{MANY}<Job xmlns="urn:x"><Id>1</Id></Job></JobGroup>',
    "a document type": f"<!DOCTYPE JobGroup><JobGroup>{MANY}</JobGroup>",
    "much beside": f"<JobGroup>{'<!-- c -->' * 99}{MANY}</JobGroup>",
    "long texts": f"<JobGroup><Id>{'x' * 20_000}</Id>{MANY}</JobGroup>",
    "an id twice": '<JobGroup><Job xml:id="a"/><Job xml:id="a"/></JobGroup>',
    "another encoding": f'<?xml version="1.0" encoding="UTF-16"?><JobGroup>{MANY}</JobGroup>',
}


def read(data):
    return [
        found if isinstance(found, Finding) else (found, found.job.line, found.job.prefixes)
        for found in TRANSLATOR.load(data)
    ]


def both(data):
    """What is read one by one, or None; and what is read of the whole."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(one_by_one, "LARGE", 0)
        apart = one_by_one.groups(data) is not None
        found = read(data)
        patch.setattr(one_by_one, "LARGE", 1 << 60)
        assert one_by_one.groups(data) is None
        return found if apart else None, read(data)


@pytest.mark.parametrize("name", PLAIN)
def test_a_group_is_read_one_by_one_as_it_is_whole(name):
    apart, whole = both(PLAIN[name].encode())
    assert apart == whole
    assert all(type(found[0]) is Message for found in apart)


@pytest.mark.parametrize("name", ODD)
def test_what_is_not_plain_is_read_whole(name):
    apart, whole = both(ODD[name].format("7").encode())
    assert apart is None
    assert whole


@given(documents(("JobGroup",)))
def test_any_group_is_read_one_by_one_as_it_is_whole(tree):
    apart, whole = both(etree.tostring(tree))
    assert apart in (None, whole)


@given(mutants(("JobGroup",)))
def test_a_group_with_faults_is_read_one_by_one_as_it_is_whole(tree):
    apart, whole = both(etree.tostring(tree))
    assert apart in (None, whole)


def test_no_more_than_one_job_is_held(monkeypatch):
    monkeypatch.setattr(one_by_one, "LARGE", 0)
    held = []
    monkeypatch.setattr(one_by_one, "from_tree", lambda group: held.append(len(group)))
    assert [*one_by_one.groups(f"<JobGroup><Id>g</Id>{MANY}</JobGroup>".encode())] == [None] * 4
    assert held == [2] * 4
