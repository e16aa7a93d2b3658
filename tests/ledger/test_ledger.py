"""What a ledger keeps: each run once, its last version, whatever happens to those who write."""

import json
import multiprocessing
import os
import shutil
from itertools import chain, permutations

import pytest

pytest.importorskip("duckdb")

import pyarrow.parquet as pq
from draws import share
from killing import killed
from ledger_runs import FIRST, run, runs

from sssjob.errors import DamagedStore, FullStore, OtherStore, UnusableStore
from sssjob.ledger import ledger, manifest, places


@pytest.fixture
def kept(tmp_path):
    return ledger.create(tmp_path / "usage")


# What is there, what arrives, and what is kept of it: (id, machine, submit, start, end, wall).
CASES = {
    "the same twice": ([FIRST], [FIRST], [("7", "c", 1, 5, 9, 4)], (0, 0, 1)),
    "a later version": (
        [FIRST], [run(7, start=5, end=8, wall=3)], [("7", "c", 1, 5, 8, 3)], (0, 1, 0),
    ),
    "another cluster": (
        [FIRST], [run(7, "d", start=5, end=9, wall=4)],
        [("7", "c", 1, 5, 9, 4), ("7", "d", 1, 5, 9, 4)], (1, 0, 0),
    ),
    "no machine told: it may be this one": (
        [FIRST], [run(7, "", start=5, end=9, wall=4)], [("7", None, 1, 5, 9, 4)], (0, 1, 0),
    ),
    "a requeued run": (
        [FIRST], [run(7, start=20, end=30, wall=10)],
        [("7", "c", 1, 5, 9, 4), ("7", "c", 1, 20, 30, 10)], (1, 0, 0),
    ),
    "an id of another year": (
        [FIRST], [run(7, submit=2, start=5, end=9, wall=4)],
        [("7", "c", 1, 5, 9, 4), ("7", "c", 2, 5, 9, 4)], (1, 0, 0),
    ),
    "it waited, and runs": ([run(7)], [run(7, start=5)], [("7", "c", 1, 5, None, None)], (0, 1, 0)),
    "it ran, and ended": ([run(7, start=5)], [FIRST], [("7", "c", 1, 5, 9, 4)], (0, 1, 0)),
    "it ended, and an older look comes": (
        [FIRST], [run(7, start=5)], [("7", "c", 1, 5, 9, 4)], (0, 0, 1),
    ),
    "it ended, and one that waits comes": ([FIRST], [run(7)], [("7", "c", 1, 5, 9, 4)], (0, 0, 1)),
    "it goes on, and an older look comes": (
        [run(7, start=5, wall=9)], [run(7, start=5, wall=4)], [("7", "c", 1, 5, None, 9)], (0, 0, 1)
    ),
    "it goes on": (
        [run(7, start=5, wall=4)], [run(7, start=5, wall=9)], [("7", "c", 1, 5, None, 9)], (0, 1, 0)
    ),
    "tasks that wait, the same": (
        [run("7_[3-9]")], [run("7_[3-9]")], [("7_[3-9]", "c", 1, None, None, None)], (0, 0, 1),
    ),
    "tasks that wait, and of another submission": (
        [run("7_[3-9]")], [run("7_4", submit=2, start=5)],
        [("7_4", "c", 2, 5, None, None), ("7_[3-9]", "c", 1, None, None, None)], (1, 0, 0),
    ),
    "tasks that wait, and others": (
        [run("7_[3-9]")], [run("7_2", start=5), run("77_4", start=5)],
        [("77_4", "c", 1, 5, None, None), ("7_2", "c", 1, 5, None, None),
         ("7_[3-9]", "c", 1, None, None, None)], (2, 0, 0),
    ),
    "tasks that waited, of a list that was cut": (
        [run("7_[3,5,...]")], [run("7_44", start=5)], [("7_44", "c", 1, 5, None, None)], (0, 1, 0),
    ),
    "without times, the same": (
        [run(7, submit=None, wall=4)], [run(7, submit=None, wall=4)],
        [("7", "c", None, None, None, 4)], (0, 0, 1),
    ),
    "without times, another": (
        [run(7, submit=None, wall=4)], [run(7, submit=None, wall=5)],
        [("7", "c", None, None, None, 4), ("7", "c", None, None, None, 5)], (1, 0, 0),
    ),
}  # fmt: skip


# What a listing of each night tells of an array, of which one task ran after the other.
NIGHTS = (
    [run("7_[3-5]")],
    [run("7_3", start=5), run("7_[4-5]")],
    [run("7_3", start=5, end=9), run("7_4", start=9, end=11), run("7_[5]")],
    [run("7_5", start=11, end=12)],
)


LEFT = ["7_[3-5]"], ["7_3", "7_[4-5]"], ["7_3", "7_4", "7_[5]"], ["7_3", "7_4", "7_5"]


ORDERS = [order for count in (1, 2, 3) for order in permutations(range(count))]
ORDERS += [*permutations(range(4))][:: share(8)]


@pytest.mark.explore
@pytest.mark.parametrize("nights", ORDERS, ids=str)
@pytest.mark.parametrize("is_one", [True, False], ids=["one commit", "a commit each"])
def test_tasks_that_wait_are_no_jobs_once_they_ran(kept, nights, is_one):
    told = [NIGHTS[number] for number in nights]
    for some in [[*chain(*told)]] if is_one else told:
        kept.add(some)
    assert [each[0] for each in runs(kept)] == LEFT[len(nights) - 1]
    assert kept.add([*chain(*told)]) == (0, 0, len([*chain(*told)]))


# A long list is cut, and may be told with a limit on what runs at once, and with another one.
CUT = (
    [run("7_[1-999]")],
    [run("7_[5,7,9,11,...]")],
    [run("7_[9,11,13,...]")],
    [run("7_[900-999%2]")],
)


@pytest.mark.parametrize("nights", [*permutations(range(4))][::5], ids=str)
def test_the_list_of_fewer_tasks_that_wait_counts_in_any_order(kept, nights):
    for night in nights:
        kept.add(CUT[night])
    assert [each[0] for each in runs(kept)] == ["7_[900-999%2]"]
    kept.add([run("7_[900-999%5]")])
    assert [each[0] for each in runs(kept)] == ["7_[900-999%5]"]


@pytest.mark.parametrize("before, after, left, counts", CASES.values(), ids=CASES)
def test_a_run_is_kept_once_as_it_was_told_last(kept, before, after, left, counts):
    kept.add(before)
    assert kept.add(after) == counts
    assert runs(kept) == left
    assert kept.manifest().rows == len(left)


@pytest.mark.parametrize("before, after, left, counts", CASES.values(), ids=CASES)
def test_it_is_the_same_in_one_commit(kept, before, after, left, counts):
    kept.add([*before, *after])
    assert runs(kept) == left


def test_months_are_files_of_their_own_and_no_text_is_in_a_plain_page(kept):
    kept.add([run(1), run(2, start=5, end=9), run(3, start=5, end=40 * 86_400)])
    found = kept.manifest().files
    assert [file.path.split("/")[1] for file in found] == ["1970-01", "1970-02", "open"]
    for file in found:
        group = pq.read_metadata(kept.home / file.path).row_group(0)
        for number in range(group.num_columns):
            column = group.column(number)
            if column.physical_type == "BYTE_ARRAY" and not column.has_dictionary_page:
                assert "DELTA_BYTE_ARRAY" in column.encodings


def test_a_ledger_may_be_called_like_a_pattern(tmp_path):
    kept = ledger.create(tmp_path / "a[1]*?")
    kept.add([FIRST])
    kept.add([run(7, start=5, end=8)])
    assert len(runs(kept)) == 1


def test_what_is_killed_loses_nothing_and_doubles_nothing(tmp_path):
    """At every 13th call of the system; a rerun makes it whole."""
    before, more = [run(1, start=5, end=9)], [run(1, start=5, end=8), run(2, start=5, end=9)]
    ledger.create(tmp_path / "first").add(before)
    old = [("1", "c", 1, 5, 9, None)]
    wanted = [("1", "c", 1, 5, 8, None), ("2", "c", 1, 5, 9, None)]
    moment, ended = 0, False
    while not ended:
        home = tmp_path / str(moment)
        shutil.copytree(tmp_path / "first", home)
        kept = ledger.opened(home)
        ended = killed(lambda kept=kept: kept.add(more), moment)
        assert runs(kept) in (old, wanted)
        kept.add(more)
        assert runs(kept) == wanted
        moment += 13
    assert moment > 26


def _add(home, number):
    kept = ledger.opened(home)
    for each in range(5):
        kept.add([run(each, start=5, end=9 + number), run(100 * number + each, start=5, end=9)])


def test_two_writers_at_once_keep_what_both_wrote(tmp_path, kept):
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_add, args=(kept.home, number)) for number in (1, 2)]
    for each in writers:
        each.start()
    for each in writers:
        each.join()
    assert [each.exitcode for each in writers] == [0, 0]
    ids = [row[0] for row in runs(kept)]
    assert sorted(map(int, ids)) == [*range(5), *range(100, 105), *range(200, 205)]


def test_a_writer_that_no_lock_kept_away_is_noticed(kept, monkeypatch):
    """As on a file system without locks: somebody commits between the look and the link."""
    commit, others = manifest.commit, [run(7, start=5, end=8), run(8, start=5, end=8)]

    def late(home, found):
        monkeypatch.setattr(manifest, "commit", commit)
        os.rename(home / "lock", home / "other lock")
        ledger.opened(home).add(others)
        commit(home, found)

    monkeypatch.setattr(manifest, "commit", late)
    assert kept.add([FIRST]) == (0, 1, 0)
    assert runs(kept) == [("7", "c", 1, 5, 9, 4), ("8", "c", 1, 5, 8, None)]


def test_a_full_disk_leaves_what_was_committed(kept, monkeypatch):
    kept.add([FIRST])
    write = places.outputs.writing

    def full(path, **more):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(places.outputs, "writing", full)
    with pytest.raises(FullStore, match="what was committed before stays"):
        kept.add([run(8, start=5, end=9)])
    monkeypatch.setattr(places.outputs, "writing", write)
    assert [row[0] for row in runs(kept)] == ["7"]


def test_a_manifest_of_a_newer_version_is_refused(kept):
    path = manifest.path_of(kept.home, 0)
    head, rest = path.read_text().split("\n", 1)
    path.write_text(json.dumps({**json.loads(head), "version": manifest.VERSION + 1}) + "\n" + rest)
    with pytest.raises(OtherStore, match=f"of version {manifest.VERSION + 1}, by a newer sssjob"):
        kept.manifest()


@pytest.mark.parametrize("change", [lambda text: text[:-9], lambda text: text.replace("0", "1"),
                                    lambda text: "", lambda text: "[" * 10**5])  # fmt: skip
def test_a_torn_manifest_is_told(kept, change):
    path = manifest.path_of(kept.home, 0)
    path.write_text(change(path.read_text()))
    with pytest.raises(DamagedStore, match=r"00000000\.json: is torn or was changed"):
        kept.manifest()


def test_a_torn_file_is_told_and_the_rest_is_served(kept):
    kept.add([FIRST, run(8, start=5, end=40 * 86_400)])
    first, _ = kept.manifest().files
    path = kept.home / first.path
    path.write_bytes(path.read_bytes()[:-1])
    whole, faults = kept.present(kept.manifest())
    assert [file.path.split("/")[1] for file in whole] == ["1970-02"]
    assert "1 row of it left out" in str(faults[0])


def test_a_directory_of_other_files_becomes_no_ledger(tmp_path):
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(UnusableStore, match=r"has other files in it \(thesis.tex\)"):
        ledger.create(tmp_path)
    with pytest.raises(UnusableStore, match="is no ledger"):
        ledger.opened(tmp_path)


def test_an_older_manifest_is_the_ledger_as_it_was(kept):
    kept.add([FIRST])
    kept.add([run(7, start=5, end=8)])
    assert runs(ledger.opened(kept.home, 1)) == [("7", "c", 1, 5, 9, 4)]
    with pytest.raises(UnusableStore, match="has no manifest 9; there are 0 to 2"):
        ledger.opened(kept.home, 9)
