"""Damage in a ledger is found, and its files become few, whatever happens meanwhile."""

import os
import shutil
import time

import pytest

pytest.importorskip("duckdb")

from killing import killed
from ledger_runs import FIRST, run, runs

from sssjob.errors import DamagedStore, OtherStore, UnusableStore
from sssjob.ledger import columns, ledger, manifest, rollup, upkeep
from sssjob.ledger.manifest import Input
from sssjob.ledger.report import roll_up


@pytest.fixture
def kept(tmp_path):
    """Two files of a month, of which one has a row that was replaced, and one of those that run."""
    found = ledger.create(tmp_path / "usage")
    found.add([FIRST, run(8, start=5, end=9)])
    found.add([run(7, start=5, end=8, wall=3), run(9, start=5)])
    return found


def test_a_whole_ledger_has_no_faults(kept):
    assert upkeep.check(kept)[:3] == ([], 3, [])


def test_a_byte_that_changed_is_found_in_each_kind_of_file(kept):
    now = kept.manifest()
    for file in (now.files[0], now.gone[0]):
        path = kept.home / file.path
        whole = path.read_bytes()
        path.write_bytes(whole[:9] + bytes([whole[9] ^ 1]) + whole[10:])
        (fault,) = upkeep.check(kept).faults
        assert str(fault).startswith(f"{path}: is not what was written")
        path.unlink()
        (fault,) = upkeep.check(kept).faults
        assert str(fault).startswith(f"{path}: No such file")
        path.write_bytes(whole)


def test_an_older_manifest_that_is_torn_is_found(kept):
    manifest.path_of(kept.home, 1).write_text("{}")
    (fault,) = upkeep.check(kept).faults
    assert "00000001.json: is torn or was changed" in str(fault)


def test_what_a_writer_left_behind_is_told_apart(kept):
    left = kept.home / "usage" / "1970-01" / "left.parquet"
    left.write_bytes(b"")
    assert upkeep.check(kept)[:3] == ([], 3, [left])


def test_compacting_changes_no_row_and_leaves_one_file_for_each_month(kept):
    before, was = runs(kept), runs(ledger.opened(kept.home, 1))
    assert upkeep.compact(kept) == (3, 2)
    now = kept.manifest()
    assert runs(kept) == before
    assert (now.rows, now.gone, [file.gone for file in now.files]) == (3, (), [0, 0])
    assert runs(ledger.opened(kept.home, 1)) == was
    assert upkeep.check(kept)[:3] == ([], 3, [])
    assert (upkeep.compact(kept), kept.manifest()) == ((2, 2), now)
    assert kept.add([run(7, start=5, end=8, wall=3)]) == (0, 0, 1)
    assert kept.add([run(8, start=5, end=8)]) == (0, 1, 0)


def test_a_month_of_many_rows_is_several_files(kept, monkeypatch):
    monkeypatch.setattr(upkeep, "ROWS", 10)
    for first in (100, 200, 300):
        kept.add([run(first + number, start=5, end=9) for number in range(8)])
    before = runs(kept)
    upkeep.compact(kept)
    months = [(file.path.split("/")[1], file.rows) for file in kept.manifest().files]
    assert [rows for month, rows in months if month == "1970-01"] == [10, 10, 6]
    assert runs(kept) == before


def test_a_torn_file_is_not_written_again(kept):
    path = kept.home / kept.manifest().files[0].path
    path.write_bytes(b"")
    with pytest.raises(DamagedStore, match="is torn"):
        upkeep.compact(kept)
    assert kept.manifest().number == 2


def test_somebody_who_commits_meanwhile_is_noticed(kept, monkeypatch):
    commit = manifest.commit

    def late(home, found):
        monkeypatch.setattr(manifest, "commit", commit)
        (home / "lock").rename(home / "other lock")
        ledger.opened(home).add([run(20, start=5, end=9)])
        commit(home, found)

    monkeypatch.setattr(manifest, "commit", late)
    upkeep.compact(kept)
    assert [row[0] for row in runs(kept)] == ["20", "7", "8", "9"]
    assert len(kept.manifest().files) == 2


def test_compacting_that_is_killed_changes_nothing_or_all(kept, tmp_path):
    before, moment, ended = runs(kept), 0, False
    while not ended:
        home = tmp_path / str(moment)
        shutil.copytree(kept.home, home)
        copy = ledger.opened(home)
        ended = killed(lambda copy=copy: upkeep.compact(copy), moment)
        assert runs(copy) == before
        assert upkeep.check(copy).faults == []
        moment += 29
    assert moment > 29


def test_a_whole_ledger_is_not_repaired(kept):
    assert upkeep.repair(kept) == ([], 0, 3)
    assert kept.manifest().number == 2


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b""), lambda path: path.unlink()])
def test_a_damaged_file_is_left_out_and_its_runs_can_be_put_in_again(kept, harm):
    before, now = runs(kept), kept.manifest()
    read = Input("log", 1, "d", "slurm")
    kept.commit(columns.table([]), [read], "ingest")
    file = next(each for each in now.files if each.gone)
    harm(kept.home / file.path)
    found = upkeep.repair(kept)
    assert [each.store for each in found.faults] == [str(kept.home / file.path)]
    assert (found.lost, found.runs) == (1, 2)
    assert [row[0] for row in runs(kept)] == ["7", "9"]
    assert not kept.manifest().has_read(read)
    assert upkeep.check(kept).faults == []
    again = [FIRST, run(8, start=5, end=9), run(7, start=5, end=8, wall=3), run(9, start=5)]
    assert kept.add(again) == (1, 0, 3)
    assert runs(kept) == before


def test_without_the_list_of_replaced_rows_no_run_counts_twice(kept):
    (gone,) = kept.manifest().gone
    (kept.home / gone.path).write_bytes(b"PAR1")
    found = upkeep.repair(kept)
    assert (len(found.faults), found.lost, found.runs) == (2, 1, 2)
    assert [row[0] for row in runs(kept)] == ["7", "9"]
    assert kept.manifest().gone == ()
    assert upkeep.check(kept).faults == []


def _harm(kept, number):
    path = manifest.path_of(kept.home, number)
    path.write_bytes(path.read_bytes()[:-9])
    return path


def test_where_the_newest_manifest_is_damaged_the_one_before_it_counts_and_the_log_brings_all_back(
    kept,
):
    before, was = runs(kept), runs(ledger.opened(kept.home, 1))
    read = Input("log", 1, "d", "slurm")
    path = _harm(kept, 2)
    with pytest.raises(DamagedStore):
        kept.manifest()
    found = upkeep.repair(kept)
    assert [each.store for each in found.faults] == [str(path)]
    assert (found.lost, found.runs, runs(kept)) == (0, 2, was)
    assert (kept.manifest().number, manifest.numbers(kept.home)) == (3, [0, 1, 3])
    assert not kept.manifest().has_read(read)
    assert upkeep.repair(kept).faults == upkeep.check(kept).faults == []
    assert path.with_name("00000002.json.damaged").exists()
    assert kept.add([run(7, start=5, end=8, wall=3), run(9, start=5)]) == (1, 1, 0)
    assert runs(kept) == before


def test_several_damaged_manifests_are_passed_over_and_damaged_files_with_them(kept):
    for number in (1, 2):
        _harm(kept, number)
    assert (len(upkeep.repair(kept).faults), runs(kept)) == (2, [])
    kept.add([FIRST])
    _harm(kept, 0)
    (file,) = kept.manifest().files
    (kept.home / file.path).write_bytes(b"")
    assert [len(upkeep.repair(kept).faults), len(upkeep.repair(kept).faults)] == [2, 0]


def test_an_older_manifest_that_is_damaged_costs_no_run_and_no_commit(kept):
    before = runs(kept)
    _harm(kept, 1)
    found = upkeep.repair(kept)
    assert (len(found.faults), found.lost, found.runs, kept.manifest().number) == (1, 0, 3, 2)
    assert (runs(kept), upkeep.check(kept).faults) == (before, [])


def test_a_ledger_without_a_whole_manifest_or_of_a_later_version_is_not_repaired(kept):
    for number in (0, 1, 2):
        _harm(kept, number)
    with pytest.raises(DamagedStore):
        upkeep.repair(kept)
    path = manifest.path_of(kept.home, 2)
    path.write_bytes(b'{"kind": "sssjob ledger", "version": 99, "digest": ""}\n{}\n')
    with pytest.raises(OtherStore):
        upkeep.repair(kept)
    assert manifest.numbers(kept.home) == [0, 1, 2]


def test_a_repair_of_a_manifest_that_is_killed_can_be_done_again(kept, tmp_path):
    was = runs(ledger.opened(kept.home, 1))
    _harm(kept, 2)
    moment, ended = 0, False
    while not ended:
        home = tmp_path / str(moment)
        shutil.copytree(kept.home, home)
        copy = ledger.found(home)
        ended = killed(lambda copy=copy: upkeep.repair(copy), moment)
        upkeep.repair(copy)
        assert (runs(copy), upkeep.check(copy).faults) == (was, [])
        moment += 7
    assert moment > 14


def old(kept, seconds):
    for path in kept.home.rglob("*.parquet"):
        os.utime(path, (time.time() - seconds,) * 2)


def test_what_only_older_commits_need_is_counted_and_forgotten(kept):
    roll_up(kept)
    before = runs(kept)
    assert upkeep.check(kept).older == (0, 0)
    upkeep.compact(kept)
    roll_up(kept)
    files, size = upkeep.check(kept).older
    assert files == 2 + 1 + 2 * 2 * 2  # of rows, of those replaced, and the rollups of the first
    assert size > 0
    now = kept.manifest()
    assert upkeep.forget(kept, 1, time.time()) == (0, 0)
    old(kept, 7)
    first = manifest.newest(kept.home, 0).written
    assert upkeep.forget(kept, 1, first + 86_400) == (0, 0)
    old(kept, 3 * 86_400)
    assert upkeep.forget(kept, 1, now.written + 86_401) == (files, size)
    assert upkeep.check(kept) == ([], 3, [], (0, 0))
    assert (runs(kept), kept.manifest(), manifest.numbers(kept.home)) == (before, now, [now.number])
    with pytest.raises(UnusableStore, match="has no manifest 1"):
        ledger.opened(kept.home, 1)
    assert kept.add([run(8, start=5, end=8)]) == (0, 1, 0)


def test_a_file_that_a_writer_may_still_commit_is_not_removed(kept):
    left = kept.home / "usage" / "1970-01" / "left.parquet"
    left.write_bytes(b"")
    assert upkeep.forget(kept, 0, time.time()) == (0, 0)
    os.utime(left, (time.time() - 86_500,) * 2)
    assert upkeep.forget(kept, 0, time.time())[0] == 1
    assert not left.exists()
    assert upkeep.check(kept)[:3] == ([], 3, [])


def test_a_clock_that_jumps_changes_no_order_of_commits(tmp_path, monkeypatch):
    kept = ledger.create(tmp_path / "usage")
    for wall, now in ((4, 2e9), (5, 0), (6, 3e9)):
        monkeypatch.setattr(ledger.time, "time", lambda now=now: now)
        kept.add([run(7, start=5, end=9, wall=wall)])
        assert [row[-1] for row in runs(kept)] == [wall]
    assert [row[-1] for row in runs(ledger.opened(kept.home, 2))] == [5]
    upkeep.forget(kept, 1, 2e9)  # what is from the future stays, and so does the newest
    assert manifest.numbers(kept.home)[-2:] == [1, 3]
    assert [row[-1] for row in runs(kept)] == [6]


def test_nothing_is_forgotten_beside_a_damaged_manifest(kept):
    manifest.path_of(kept.home, 1).write_text("{}")
    with pytest.raises(DamagedStore):
        upkeep.forget(kept, 0, time.time() + 1e9)
    assert manifest.numbers(kept.home) == [0, 1, 2]


def test_rollups_of_an_earlier_version_are_forgotten_and_their_directories_with_them(kept):
    kept.add([FIRST])
    roll_up(kept)
    (now, *_) = sorted((kept.home / rollup.FOLDER).rglob("*.parquet"))
    former = kept.home / rollup.FOLDER / "run-2" / now.name
    former.parent.mkdir()
    former.write_bytes(now.read_bytes())
    assert upkeep.check(kept).strays == [former]
    assert upkeep.forget(kept, 9, time.time()).files == 0  # somebody may write it now
    assert upkeep.forget(kept, 9, time.time() + 86_401).files == 1
    assert not former.parent.exists()
    assert now.exists()
