"""A ledger in an object store: the same answers as in a directory, and no commit is lost."""

from itertools import count
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("s3fs")
pytest.importorskip("moto")

from click.testing import CliRunner
from ledger_runs import FIRST, run, runs
from object_store import served

from sssjob.accounting.report import Report
from sssjob.cli import sssjob
from sssjob.errors import UnusableInput, UnusableStore
from sssjob.ledger import jobs, ledger, manifest, places, questions, upkeep
from sssjob.ledger.places import ObjectPath
from sssjob.ledger.report import add_to, roll_up

NUMBERS = count()
RECORDS = Path(__file__).parents[2] / "examples" / "slurm" / "sacct.txt"


@pytest.fixture(scope="module")
def bucket():
    with served() as address:
        yield address


@pytest.fixture
def home(bucket):
    return places.place(f"{bucket}/ledgers/{next(NUMBERS)}")


def told(kept):
    """What a ledger answers in all ways."""
    report = Report(("day",))
    add_to(report, kept, "run", pytest.fail)
    with questions.asked(kept, "SELECT id, ended FROM runs ORDER BY ALL") as answer:
        rows = [*answer.rows]
    return runs(kept), [*jobs.jobs(kept)], kept.runs(["8"]), report.groups, rows


def test_the_same_answers_as_in_a_directory(home, tmp_path):
    far, near = both = [ledger.create(place) for place in (home, tmp_path / "usage")]
    for kept in both:
        kept.add([FIRST, run(8, start=5, end=86_409, wall=7), run(9, start=5)])
        assert kept.add([run(7, start=5, end=8, wall=3)]) == (0, 1, 0)
        assert kept.add([run(8, start=5, end=86_409, wall=7)]) == (0, 0, 1)
    assert told(far) == told(near)
    assert upkeep.compact(far) == upkeep.compact(near)
    assert roll_up(far) == roll_up(near)
    assert told(far) == told(near)
    assert upkeep.check(far)[:3] == ([], 3, [])
    with (
        pytest.raises(UnusableInput),
        questions.asked(far, "SELECT * FROM read_text('s3://bucket/secret')"),
    ):
        pass


def test_damage_is_told_and_repaired(home):
    kept = ledger.create(home)
    kept.add([FIRST])
    kept.add([run(8, start=5, end=9)])
    first, second = kept.manifest().files
    (home / first.path).put(b"PAR1")
    (home / second.path).unlink()
    reasons = sorted(fault.reason for fault in kept.present(kept.manifest())[1])
    assert "No such file" in reasons[0]
    assert "is torn: 4 bytes" in reasons[1]
    manifest.path_of(home, 2).put(b"{}")
    found = upkeep.repair(kept)
    assert (len(found.faults), found.runs) == (2, 0)
    assert kept.add([FIRST]) == (1, 0, 0)


def test_who_comes_second_looks_again(home, monkeypatch):
    kept = ledger.create(home)
    commit = manifest.commit

    def late(home, found):
        monkeypatch.setattr(manifest, "commit", commit)
        ledger.opened(home).add([FIRST, run(8, start=5, end=9)])
        commit(home, found)

    monkeypatch.setattr(manifest, "commit", late)
    assert kept.add([run(7, start=5, end=8, wall=3), run(9, start=5)]) == (1, 1, 0)
    assert [row[0] for row in runs(kept)] == ["7", "8", "9"]


def lost(put, *, arrives, first):
    """An upload of a manifest whose answer is lost: it may have arrived."""

    def upload(self, data, *, is_new=False):
        if is_new and arrives:
            put(self, data, is_new=True)
        if is_new:
            raise first
        put(self, data)

    return upload


@pytest.mark.parametrize("first", [OSError(5, "lost"), FileExistsError(17, "there")])
def test_a_commit_whose_answer_is_lost_counts(home, monkeypatch, first):
    kept = ledger.create(home)
    monkeypatch.setattr(ObjectPath, "put", lost(ObjectPath.put, arrives=True, first=first))
    assert kept.add([FIRST]) == (1, 0, 0)
    assert [row[0] for row in runs(kept)] == ["7"]


def test_what_may_have_been_committed_is_not_taken_back(home, monkeypatch):
    kept = ledger.create(home)
    with monkeypatch.context() as patched:
        upload = lost(ObjectPath.put, arrives=False, first=OSError(5, "lost"))
        patched.setattr(ObjectPath, "put", upload)
        with pytest.raises(UnusableStore, match="what was committed before stays"):
            kept.add([FIRST])
    assert len(upkeep.check(kept).strays) == 1
    assert kept.add([FIRST]) == (1, 0, 0)


def test_commands_take_its_address(home, tmp_path):
    def asked(*words):
        return CliRunner().invoke(sssjob, [*map(str, words)], catch_exceptions=False)

    for place in (home, tmp_path / "usage"):
        assert asked("ledger", "ingest", place, RECORDS).stderr.endswith("unchanged 0, bad 0\n")
    for words in (
        ("ledger", "report", "--json", "--by", "day,user"), ("query", "--count", "//Job"),
        ("ledger", "export"), ("audit", "--gaps", "--json"), ("report", "--json"),
    ):  # fmt: skip
        far, near = (asked(*words, place) for place in (home, tmp_path / "usage"))
        assert far.stdout == near.stdout != "", words
    found = asked("ledger", "report", "s3://no-such-bucket/usage")
    assert (found.exit_code, found.stdout) == (2, "")
    assert "s3://no-such-bucket/usage" in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("text", ["s3://", "s3://bucket", "s3://bucket/a*", "s3://bucket/a[1]/b"])
def test_an_address_that_is_not_understood_is_refused(text):
    with pytest.raises(UnusableStore, match="s3://BUCKET/NAME is expected"):
        places.place(text)


def test_a_bucket_that_is_not_there_is_told(bucket):
    with pytest.raises((OSError, UnusableStore)):
        ledger.create(places.place("s3://other-bucket/usage"))
