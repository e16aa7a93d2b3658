"""How a store answers a query is told in words, and for programs."""

import pytest

from sssjob import store
from sssjob.query import compile


@pytest.fixture
def jobs(tmp_path):
    with store.open(str(tmp_path / "jobs.db"), create=True) as opened, opened.change() as change:
        change.put(b"<Job><Id>1</Id><User>amy</User><EndTime>9</EndTime></Job>")
        yield opened


@pytest.mark.parametrize(
    ("text", "version", "plans", "words"),
    [
        ("//Job[User = 'amy' and EndTime > 5]", "1.0", ["exact"],
         ["\"user\" = 'amy'", '"end_time" > 5)']),
        ("sum(//Job[EndTime > 5.5]/Charge)", "1.0", ["exact"], ['"end_time" > 5.5 AND']),
        ("//Memory", "1.0", ["nothing"], []),
        ("(count(//Job[User = 'amy']), //Job[EndTime > 5])", "3.1", ["exact", "exact"],
         ["where \"user\" = 'amy'", 'where "end_time" > 5']),
    ],
)  # fmt: skip
def test_the_condition_is_told_with_its_values(jobs, text, version, plans, words):
    found = jobs.explain(compile(text, None, version))
    told = "\n".join(map(str, found))
    assert [each.as_dict["plan"] for each in found] == plans
    assert "?" not in told
    assert all(word in told for word in words)
    for each in found:
        known, (first, *rest) = each.as_dict, str(each).split("\n")
        assert first == str(each.level) + (f", because {known['why']}" if known["why"] else "")
        assert [line.partition(" ")[0] for line in rest] == ["where"] * bool(known["where"])
        assert (known["values"] is None) is (known["where"] is None)
        assert known["where"] is None or known["where"].count("?") == len(known["values"])


def test_what_stood_in_the_way_is_told(jobs):
    [found] = jobs.explain(compile("//Job[position() = 1]"))
    assert ", because " in str(found)
    assert found.as_dict["why"] == found.why != ""
