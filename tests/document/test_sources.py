import gzip
import io
import os
from pathlib import Path

import pytest

from sssjob.document import sources
from sssjob.document.sources import (
    STANDARD_INPUT,
    Copied,
    NamedSource,
    RereadableSources,
    documents,
    expanded,
    files,
    grouped,
    is_small,
    named,
)
from sssjob.errors import UnusableInput


def test_a_directory_gives_its_documents_sorted_and_says_what_it_skips(tmp_path):
    for name in ("b.xml", "a.sss.gz", "sub/c.xml.zst", "sub/readme.txt", "z.sss.xz", "y.xml.bz2"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    skipped = []
    found = documents(tmp_path, on_skipped=skipped.append)
    names = [path.relative_to(tmp_path).as_posix() for path in found]
    assert names == ["a.sss.gz", "b.xml", "y.xml.bz2", "z.sss.xz", "sub/c.xml.zst"]
    assert skipped == [tmp_path / "sub/readme.txt"]


def test_a_circle_of_links_ends(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "a.xml").touch()
    (tmp_path / "gone.xml").symlink_to(tmp_path / "nowhere")
    assert list(documents(tmp_path)) == [tmp_path / "a.xml"]


def test_a_file_is_taken_whatever_its_name():
    assert list(documents(Path("jobs.txt"))) == [Path("jobs.txt")]


def test_names_are_sources_and_standard_input_is_named_once_at_most():
    stream = io.BytesIO()
    own = NamedSource(STANDARD_INPUT, stream)
    assert list(named([], stream)) == list(named(["-"], stream)) == [own]
    assert list(named(["a", "-"], stream)) == [NamedSource("a", Path("a")), own]
    with pytest.raises(UnusableInput, match="named twice"):
        named(["-", "a", "-"], stream)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("*.xml", ["[1].xml", "a.xml", "b.xml"]), ("[ab].xml", ["a.xml", "b.xml"]),
        ("[1].xml", ["[1].xml"]), ("?.sss", ["?.sss"]), ("a.xml", ["a.xml"]), ("none", ["none"]),
        ("**/*.sss", ["sub/c.sss"]),
    ],
)  # fmt: skip
def test_patterns_that_are_no_file_stand_for_the_files_they_match(
    tmp_path, monkeypatch, name, expected
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    for each in ("a.xml", "b.xml", "[1].xml", "sub/c.sss"):
        (tmp_path / each).touch()
    assert expanded([name]) == tuple(expected)
    assert expanded(["none", name]) == ("none", *expected)


def test_a_directory_that_cannot_be_read_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    for name in ("a/x.xml", "b/y.xml"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    scandir = os.scandir

    def scanned(folder):
        if folder.endswith("a"):
            raise PermissionError(13, "no", folder)
        return scandir(folder)

    monkeypatch.setattr(sources.os, "scandir", scanned)
    told = []
    assert list(documents(tmp_path, on_error=told.append)) == [tmp_path / "b/y.xml"]
    assert [error.filename for error in told] == [str(tmp_path / "a")]
    with pytest.raises(PermissionError):
        list(documents(tmp_path))


def test_a_directory_is_the_files_in_it_and_all_else_is_itself(tmp_path):
    (tmp_path / "a.xml").touch()
    stream = NamedSource("-", io.BytesIO())
    found = list(files(NamedSource("d", tmp_path)))
    assert found == [NamedSource(str(tmp_path / "a.xml"), tmp_path / "a.xml")]
    assert list(files(stream)) == [stream]


def test_only_a_file_that_is_short_and_plain_is_small(tmp_path):
    (tmp_path / "plain").write_bytes(b"<Job/>")
    (tmp_path / "packed").write_bytes(gzip.compress(b"<Job/>"))
    (tmp_path / "most").write_bytes(b" " * sources._SMALL)
    (tmp_path / "more").write_bytes(b" " * (sources._SMALL + 1))
    os.mkfifo(tmp_path / "pipe")
    names = ["plain", "packed", "most", "more", "pipe", "none", "."]
    small = [name for name in names if is_small(NamedSource(name, tmp_path / name))]
    assert small == ["plain", "most"]
    assert not is_small(NamedSource("-", io.BytesIO(b"<Job/>")))


def test_small_files_go_together_in_their_order():
    some = [NamedSource(str(number), Path(str(number))) for number in range(120)]
    groups = [each.sources for each in grouped(some)]
    assert [len(each) for each in groups] == [50, 50, 20]
    assert [each for group in groups for each in group] == some
    assert [str(each) for each in grouped(some)] == ["0", "50", "100"]
    assert list(grouped([])) == []


@pytest.mark.parametrize("data", [b"", b"abc", b"x" * 200_000])
@pytest.mark.parametrize("read_first", [0, 2, -1])
def test_a_stream_can_be_read_again_from_its_beginning(data, read_first):
    again = RereadableSources([NamedSource("-", io.BytesIO(data))])
    for source in again:
        assert source.given.read(read_first) == (data if read_first < 0 else data[:read_first])
    for _ in range(2):
        assert [source.given.read() for source in again] == [data]


def test_sources_that_were_not_come_to_are_there_the_second_time(tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    own = [NamedSource("-", io.BytesIO(b"-")), NamedSource("a", tmp_path / "a")]
    again = RereadableSources(own)
    next(iter(again))
    assert [source.name for source in again] == ["-", "a"]
    assert [source.name for source in again] == ["-", "a"]
    assert list(again)[1].given == tmp_path / "a"


def test_a_pipe_is_copied_while_it_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    os.write(writer, b"abc")
    again = RereadableSources([NamedSource("pipe", tmp_path / "pipe")])
    (source,) = again
    os.close(writer)
    assert source.given.read() == b"abc"
    assert [source.given.read() for source in again] == [b"abc"]


@pytest.mark.parametrize("size, there", [(9, True), (10, True), (11, False)])
def test_what_is_too_much_to_be_copied_is_read_once(monkeypatch, size, there):
    monkeypatch.setattr(sources, "_COPIED", 10)
    copied = Copied(io.BytesIO(b"x" * size))
    assert io.BufferedReader(copied).read() == b"x" * size
    if there:
        assert copied.again().read() == b"x" * size
    else:
        with pytest.raises(UnusableInput, match="give it as a file"):
            copied.again()
