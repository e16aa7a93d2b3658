import pytest

from sssjob.lcginfo.names import normal, vomap


@pytest.mark.parametrize("name, spelling", [
    pytest.param("atlas", "atlas", id="a-VO"),
    pytest.param("/VO=a/GROUP=/a/ROLE=p", "/a/Role=p", id="of-the-text"),
    pytest.param("/a/ROLE=p/Capability=NULL", "/a/Role=p", id="capability-of-NULL"),
    pytest.param("/a/Role=NULL/Capability=NULL", "/a", id="role-of-NULL"),
    pytest.param("/a/b/c", "/a/b/c", id="groups"),
    pytest.param("/VO=a/GROUP=/a/b", "/a/b", id="group-of-the-text"),
    pytest.param("/VO=a", "/a", id="VO-of-the-text"),
    pytest.param("/A/role=P", "/A/Role=P", id="names-keep-their-case"),
])  # fmt: skip
def test_spellings_of_one_FQAN_are_one(name, spelling):
    assert normal(name) == spelling
    assert normal(spelling) == spelling


def test_a_map_says_what_it_does_not_understand():
    remarks = []
    found = vomap(
        ["", "# all", "a : x", "no colon", "b:/x/Role=r:1", "a : y", ": z"], remarks.append
    )
    assert found.entries == {"a": "y", "b": "/x/Role=r:1"}
    assert [remark.line for remark in remarks] == [4, 6, 7]
    assert found("other") == "other"
