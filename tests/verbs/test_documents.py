"""Whatever was named, as documents: directories, stores, pipes, and records of batch systems."""

import bz2
import gzip
import io
import lzma
import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from sssjob import loads, store
from sssjob.document.sources import NamedSource, UnusableSource
from sssjob.verbs.documents import by_format, documents, recognised

JOB = "<Job><Id>{}</Id><Duration>60</Duration></Job>\n"
SACCT = "JobID|State|ElapsedRaw|NCPUS\n7|COMPLETED|60|1\n8|COMPLETED\n9|FAILED|5|1\n"


def source(given):
    return NamedSource(str(given), given)


def ids(found):
    """The Ids of the jobs in sources."""
    made = []
    for each in found:
        data = each.given.read() if hasattr(each.given, "read") else each.given.read_bytes()
        made.append(loads(data).id)
    return made


def pipe(data):
    end, write = os.pipe()
    os.write(write, data)
    os.close(write)
    return f"/dev/fd/{end}"


def test_a_file_and_a_stream_of_documents_are_themselves(tmp_path):
    (tmp_path / "a.xml").write_text(JOB.format("a"))
    given = [source(tmp_path / "a.xml"), NamedSource("<stdin>", io.BytesIO(b"<Job/>"))]
    assert list(documents(given)) == given


def test_a_directory_is_the_documents_in_it(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("b.xml", "in/c.sss", "a.txt"):
        (tmp_path / name).write_text(JOB.format(name))
    assert ids(documents([source(tmp_path)])) == ["b.xml", "in/c.sss"]


def test_a_directory_with_no_document_is_a_source_so_that_who_reads_it_says_so(tmp_path):
    assert list(documents([source(tmp_path)])) == [source(tmp_path)]


def test_each_document_of_a_store_is_a_source_that_names_it(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load("".join(map(JOB.format, "ab")).encode())
    found = list(documents([source(tmp_path / "jobs.db")]))
    assert [each.name for each in found] == [f"{tmp_path}/jobs.db: Job {name}" for name in "ab"]
    assert ids(found) == ["a", "b"]


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_records_are_jobs_and_what_is_bad_is_told(tmp_path, packed):
    (tmp_path / "log").write_bytes(packed(SACCT.encode()))
    told = []
    found = list(documents([source(tmp_path / "log")], lambda name, item: told.append(item.line)))
    assert [each.name for each in found] == [f"{tmp_path}/log:2", f"{tmp_path}/log:4"]
    assert ids(found) == ["7", "9"]
    assert told == [1, 3]  # what they were read as, and the bad one


def test_records_of_a_pipe_are_read_from_their_beginning(tmp_path):
    name = Path(pipe(SACCT.encode()))
    assert ids(documents([source(name)])) == ["7", "9"]


def test_a_stream_of_documents_is_looked_at_only_as_far_as_it_has_come():
    end, write = os.pipe()
    os.write(write, b"<Job>")  # and nothing more: a look at what is not there would wait for ever
    with open(end, "rb") as stream, ExitStack() as stack:
        given = NamedSource("<stdin>", stream)
        assert recognised(given, stack) == (None, given)
    os.close(write)


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"text", b"\xef\xbb\xbf<Job/>", "<Job/>".encode("utf-16"), b"<a/>"]
)  # fmt: skip
def test_what_is_no_known_record_is_left_to_who_reads_documents(tmp_path, data):
    (tmp_path / "file").write_bytes(data)
    with ExitStack() as stack:
        assert recognised(source(tmp_path / "file"), stack) == (None, source(tmp_path / "file"))


def test_what_is_not_there_is_left_to_who_reads_it(tmp_path):
    assert list(documents([source(tmp_path / "nothing")])) == [source(tmp_path / "nothing")]


def test_sources_of_one_format_stay_together(tmp_path):
    for name, text in {"a": SACCT, "b": SACCT, "c": JOB, "d": SACCT}.items():
        (tmp_path / name).write_text(text)
    with ExitStack() as stack:
        found = [
            (name, [each.given.name for each in some])
            for name, some in by_format(
                [source(tmp_path / name) for name in "abcd"], stack, lambda *_: None
            )
        ]
    assert found == [("slurm", ["a", "b"]), ("sss", ["c"]), ("slurm", ["d"])]


LIVE = Path(__file__).parents[1] / "data/status/qstat-xml/jobs.xml"


class Slow(io.RawIOBase):
    """A stream that first gives what a writer happened to have written."""

    def __init__(self, data, first):
        self._parts = [data[:first], data[first:]]

    def readable(self):
        return True

    def readinto(self, buffer):
        data = self._parts.pop(0) if self._parts else b""
        if len(data) > len(buffer):
            self._parts.insert(0, data[len(buffer) :])
        buffer[: len(data[: len(buffer)])] = data[: len(buffer)]
        return min(len(data), len(buffer))


COMPRESSED = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("compress", COMPRESSED.values(), ids=COMPRESSED)
@pytest.mark.parametrize("size", [1, 1 << 16], ids=["a byte first", "at once"])
def test_what_comes_compressed_through_a_pipe_is_told_and_given_from_its_beginning(compress, size):
    many = "".join(f"{number}|COMPLETED|{number * 7919 % 997}\n" for number in range(20_000))
    for text, wanted in ((SACCT + many, "slurm"), (JOB.format(1), None), ("", None)):
        data = compress(text.encode())
        stream = io.BufferedReader(Slow(data, size))
        with ExitStack() as stack:
            found, given = recognised(NamedSource("<stdin>", stream), stack)
            assert (found and found.format.name) == wanted
            assert given.given.read() == data


def test_of_what_is_compressed_and_damaged_its_reader_tells():
    data = gzip.compress(SACCT.encode())[:30]
    with ExitStack() as stack:
        found, given = recognised(
            NamedSource("<stdin>", io.BufferedReader(io.BytesIO(data))), stack
        )
    assert (found, given.given.read()) == (None, data)


@pytest.mark.parametrize("tag", [b"<Job><", b"<Job><Job_", b"<Job><Job_Id>"])
def test_live_jobs_are_told_wherever_a_pipe_breaks_off_in_a_tag(tag):
    data = LIVE.read_bytes()
    stream = io.BufferedReader(Slow(data, data.index(tag) + len(tag)))
    with ExitStack() as stack, pytest.raises(UnusableSource, match="sssjob status"):
        recognised(NamedSource("<stdin>", stream), stack)


@pytest.mark.parametrize("text", [
    "<Job><Id>1</Id><Job_Id>1.srv</Job_Id></Job>", "<Job/>", "<Job",
    "<JobGroup><Job><Name>a</Name><Extension><JobDefinition/></Extension></Job></JobGroup>",
    "<Data><s:Job xmlns:s='urn:x'><s:Id>1</s:Id></s:Job></Data>",
], ids=str)  # fmt: skip
def test_a_job_with_names_of_others_further_on_is_a_document(tmp_path, text):
    (tmp_path / "a.xml").write_text(text)
    with ExitStack() as stack:
        assert recognised(source(tmp_path / "a.xml"), stack)[0] is None
