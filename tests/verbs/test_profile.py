"""What a peer would lose, as values: what the command prints."""

import io

from sssjob.check.vocabulary import of_level
from sssjob.document.sources import NamedSource
from sssjob.verbs.profile import judged

JOBS = b"""<Jobs><Job><Id>1</Id></Job>
<Job><JobId>2</JobId><Mood>fine</Mood></Job>
<Job awarenessPolicy="Ignore"><Id>3</Id><Mood>fine</Mood></Job></Jobs>"""


def named(content, name="jobs"):
    return NamedSource(name, io.BytesIO(content))


def test_each_job_object_is_judged_with_its_place():
    found = [*judged([named(JOBS), named(b"<Job><Id>4</Id></Job>", "more")], of_level("full"))]
    assert [(each.file, each.line, each.id) for each in found] == [
        ("jobs", 1, "1"), ("jobs", 2, "2"), ("jobs", 3, "3"), ("more", 1, "4"),
    ]  # fmt: skip
    assert [each.row()["accepted"] for each in found] == [True, False, True, True]
    assert found[2].verdict == "accepted, with losses"
    assert [item["outcome"] for item in found[2].row()["items"]] == ["lost in silence"]


def test_what_cannot_be_read_is_told_and_the_next_is_read(tmp_path):
    told = []
    none = NamedSource("none", tmp_path / "none")
    sources = [named(b"<Job", "bad"), none, named(b"<Job><Id>4</Id></Job>")]
    assert [each.id for each in judged(sources, of_level("full"), told.append)] == ["4"]
    assert str(told[0]).startswith("bad:1")
    assert isinstance(told[1], FileNotFoundError)
