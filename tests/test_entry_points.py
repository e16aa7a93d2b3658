"""Whether distributions may declare entry points, asked without importing what reads them."""

import os
import sys
from importlib.machinery import PathFinder

from sssjob.entry_points import may_be_declared


def test_without_such_entry_points_nobody_looks_for_them_in_detail(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [each for each in sys.meta_path if each is PathFinder])
    install(tmp_path / "other-1.dist-info", "[console_scripts]\nother = other:main\n")
    assert not may_be_declared("sssjob.formats")
    install(tmp_path / "more-1.dist-info", "[ sssjob.formats ]\nother = other:LAYOUT\n")
    assert may_be_declared("sssjob.formats")
    assert not may_be_declared("sssjob.systems")
    (tmp_path / "more-1.dist-info" / "entry_points.txt").unlink()
    (tmp_path / "more-1.dist-info").rename(tmp_path / "more-2.dist-info")
    assert not may_be_declared("sssjob.formats")
    sys.path.append(str(tmp_path / "missing"))
    assert not may_be_declared("sssjob.formats")
    (tmp_path / "some.egg").write_bytes(b"")  # in which nobody looks
    assert may_be_declared("sssjob.formats")


def install(info, declared):
    """A distribution of nothing but what it declares."""
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (info / "entry_points.txt").write_text(declared)


def test_what_distributions_declare_is_read_once(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])  # libraries that others test add theirs
    install(tmp_path / "other-1.dist-info", "[console_scripts]\nother = other:main\n")
    may_be_declared("sssjob.formats")
    monkeypatch.setattr("os.open", None)
    assert not may_be_declared("sssjob.systems")


def test_a_directory_is_listed_again_when_it_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    seen = []
    listed = os.listdir
    monkeypatch.setattr("os.listdir", lambda folder: seen.append(folder) or listed(folder))
    os.utime(tmp_path, (1, 1))  # long ago
    assert [may_be_declared("sssjob.formats") for _ in range(3)] == [False] * 3
    assert seen == [str(tmp_path)]
    install(tmp_path / "more-1.dist-info", "[sssjob.formats]\nother = other:LAYOUT\n")
    assert may_be_declared("sssjob.formats")  # changed now: another change may have the same time
    assert may_be_declared("sssjob.formats")
    assert seen == [str(tmp_path)] * 3


def test_it_is_known_where_no_usual_finder_looks(monkeypatch):
    class OtherFinder:
        def find_distributions(self, context):
            return iter(())

    monkeypatch.setattr(sys, "path", [])
    monkeypatch.setattr(sys, "meta_path", [PathFinder])
    assert not may_be_declared("sssjob.systems")
    monkeypatch.setattr(sys, "meta_path", [PathFinder, OtherFinder()])
    assert may_be_declared("sssjob.systems")


def test_the_finder_of_importlib_metadata_looks_where_the_usual_one_does(tmp_path, monkeypatch):
    """Dask imports it, and each job of a translation asks."""
    backport = type("MetadataPathFinder", (), {"__module__": "importlib_metadata"})
    backport.find_distributions = lambda self, context: iter(())
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.setattr(sys, "meta_path", [PathFinder, backport()])
    assert not may_be_declared("sssjob.systems")
    install(tmp_path / "more-1.dist-info", "[sssjob.systems]\nother = other:SYSTEM\n")
    assert may_be_declared("sssjob.systems")
