"""Opening: paths, bytes and streams, compressed or not, whole or damaged."""

import bz2
import gzip
import io
import lzma
import random
import tracemalloc

import pytest
import zstandard
from counting import calls

import sssjob
from sssjob import store
from sssjob.document import opened, tree
from sssjob.document.files import of_text, span
from sssjob.errors import InvalidValue, UnreadableDocument

DATA = b"<Jobs>" + b"".join(b"<Job><Id>%d</Id></Job>" % n for n in range(20_000)) + b"</Jobs>"
KINDS = [
    pytest.param(bytes, id="plain"),
    pytest.param(gzip.compress, id="gzip"),
    pytest.param(bz2.compress, id="bzip2"),
    pytest.param(lzma.compress, id="xz"),
    pytest.param(zstandard.compress, id="zstd"),
]
PACKED = KINDS[1:]


class Dripping(io.RawIOBase):
    """A stream that gives a few bytes at a time, as pipes do."""

    def __init__(self, data):
        self.data, self.chance = io.BytesIO(data), random.Random(1)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self.data.readinto(memoryview(buffer)[: self.chance.randrange(1, 3000)])


def everything(source):
    with opened(source) as stream:
        return b"".join(iter(lambda: stream.read(4096), b""))


@pytest.mark.parametrize("pack", KINDS)
def test_the_same_bytes_come_out_of_every_source(pack, tmp_path):
    packed = pack(DATA)
    path = tmp_path / "jobs"
    path.write_bytes(packed)
    for source in (packed, path, str(path), io.BytesIO(packed), Dripping(packed)):
        assert everything(source) == DATA


@pytest.mark.parametrize("pack", KINDS)
def test_documents_can_be_read_from_every_source(pack):
    assert sum(1 for _ in tree.units(Dripping(pack(DATA)))) == 20_000


@pytest.mark.parametrize("pack", PACKED)
def test_packed_files_may_stand_one_after_the_other(pack):
    data = pack(b"<Job>1</Job>\n") + pack(b"<Job>2</Job>")
    assert [element.text for element in tree.units(data)] == ["1", "2"]


def test_a_stream_of_the_caller_stays_open():
    for stream in (io.BytesIO(DATA), Dripping(gzip.compress(DATA))):
        with opened(stream) as one:
            one.read(10)
        assert not stream.closed


@pytest.mark.parametrize("pack", PACKED)
@pytest.mark.parametrize("kept", [0.1, 0.5, 0.99])
def test_a_truncated_file_is_told_from_a_whole_one(pack, kept):
    packed = pack(random.Random(2).randbytes(200_000).hex().encode())
    with pytest.raises(UnreadableDocument, match="ends before its end"):
        everything(packed[: int(len(packed) * kept)])


PADDED = [gzip.compress, lzma.compress]


@pytest.mark.parametrize("pack", PADDED)
def test_the_padding_of_gzip_and_xz_is_no_garbage(pack):
    data = pack(b"<Job>1</Job>") + b"\0" * 4000 + pack(b"<Job>2</Job>") + b"\0" * 4
    assert everything(data) == b"<Job>1</Job><Job>2</Job>"


@pytest.mark.parametrize("pack", PADDED)
def test_padding_is_read_in_slices_of_which_none_is_kept(pack):
    packed = pack(b"<Job>1</Job>")
    with opened(io.BytesIO(packed + b"\0" * 4_000_000)) as one:
        tracemalloc.start()
        try:
            assert one.read() == b"<Job>1</Job>"
            assert tracemalloc.get_traced_memory()[1] < 1_000_000
        finally:
            tracemalloc.stop()
    assert calls(lambda: everything(packed + b"\0" * 400_000)) < 20_000


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 65_537, 262_144])
@pytest.mark.parametrize("fill", [b"a", b"ab1", None])
def test_gzip_of_every_size_comes_back(size, fill):
    data = random.Random(size).randbytes(size) if fill is None else (fill * size)[:size]
    packed = gzip.compress(b"<Job/>" + data)
    assert everything(packed * 3) == (b"<Job/>" + data) * 3
    with opened(io.BufferedReader(_Bytewise(packed))) as stream:
        assert stream.read() == b"<Job/>" + data
    for kept in (1, 8, 9):  # bytes that are missing
        with pytest.raises(UnreadableDocument, match="ends before its end"):
            everything(packed[:-kept])


DAMAGED = [
    pytest.param(gzip.compress(DATA) + b"garbage behind it", id="garbage after gzip"),
    pytest.param(gzip.compress(DATA)[:-8] + b"\0" * 8, id="a wrong checksum in gzip"),
    pytest.param(bz2.compress(DATA) + b"garbage behind it", id="garbage after bzip2"),
    pytest.param(lzma.compress(DATA) + b"garbage behind it", id="garbage after xz"),
    pytest.param(zstandard.compress(DATA) + b"garbage behind it", id="garbage after zstd"),
    pytest.param(b"\x1f\x8bnot gzip at all", id="only the magic of gzip"),
    pytest.param(b"BZh9 no bzip2 at all", id="only the magic of bzip2"),
    pytest.param(b"\xfd7zXZ\x00not xz at all", id="only the magic of xz"),
    pytest.param(b"\x28\xb5\x2f\xfdno zstd at all", id="only the magic of zstd"),
]


@pytest.mark.parametrize("packed", DAMAGED)
def test_a_damaged_file_is_refused_with_its_cause(packed):
    with pytest.raises(UnreadableDocument, match="compressed data is damaged") as failure:
        list(tree.units(packed))
    assert failure.value.finding.code == "E-XML"


class _Bytewise(io.RawIOBase):
    """A pipe whose writer gives a byte at a time."""

    def __init__(self, data):
        self._stream = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._stream.readinto(memoryview(buffer)[:1])


@pytest.mark.parametrize(
    "data", [b"<Job/>", gzip.compress(b"<Job/>", mtime=0), b"B", b"BZ", b"SQL"]
)
def test_a_stream_that_gives_a_byte_at_a_time_is_recognised(data):
    whole = gzip.decompress(data) if data[:1] == b"\x1f" else data
    with opened(io.BufferedReader(_Bytewise(data))) as stream:
        assert stream.read() == whole


def test_a_store_is_no_document(tmp_path):
    with store.open(tmp_path / "jobs.db", create=True) as jobs:
        jobs.load(b"<Job><Id>1</Id></Job>")
    with pytest.raises(UnreadableDocument, match="store export"), opened(tmp_path / "jobs.db"):
        pass


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_call_takes_bytes_of_every_kind(kind):
    data = kind(b"<Job><Id>1</Id></Job>")
    assert sssjob.loads(data) == next(sssjob.read(data))
    assert sssjob.is_valid(data)


@pytest.mark.parametrize("source", [None, 7, ["a"], object()])
def test_what_is_no_document_is_told(source):
    for call in (sssjob.loads, sssjob.validate, lambda source: list(sssjob.read(source))):
        with pytest.raises(InvalidValue, match="a document: bytes, a path, or a binary stream"):
            call(source)


@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_text_is_an_empty_document_for_each_call(text):
    with pytest.raises(sssjob.UnreadableDocument, match="the document is empty"):
        sssjob.loads(text)
    with pytest.raises(sssjob.InvalidJob, match="the document is empty"):
        sssjob.validate(text)


@pytest.mark.parametrize("outer", PACKED)
@pytest.mark.parametrize("inner", PACKED)
def test_what_is_compressed_twice_is_refused_as_such(outer, inner):
    with pytest.raises(UnreadableDocument, match="compressed twice"), opened(outer(inner(DATA))):
        pass


@pytest.mark.parametrize("name", ["a\0b", "\ud800\0", b"a\0".decode()])
def test_what_no_file_can_be_called_is_told(name):
    with pytest.raises(InvalidValue, match="the name of a file"):
        list(sssjob.read(name))


def test_a_directory_is_no_document(tmp_path):
    with pytest.raises(IsADirectoryError, match="name a file in it"), opened(tmp_path):
        pass


@pytest.mark.parametrize(
    "text", ["<Job/>", " \n<Job/>", "\ufeff<Job/>", "\ufeff \t\r\n<Job/>", " ", ""]
)
def test_a_text_that_begins_with_a_tag_is_a_document(text):
    assert of_text(text) == text.encode()


@pytest.mark.parametrize("given", ["jobs.xml", "a<b", b"<Job/>", None])
def test_any_other_is_a_path_or_what_it_was(given):
    assert of_text(given) is given


def test_a_part_of_a_file_is_read_while_the_file_is_what_it_was(tmp_path):
    path = tmp_path / "jobs.xml"
    path.write_bytes(b"<Jobs><Job/></Jobs>")
    with open(path, "rb") as stream:
        whole = span(path, stream)
    assert (whole.path, whole.whole) == (str(path), 19)
    part = whole._replace(start=6, size=6)
    assert part.read() == b"<Job/>"
    path.write_bytes(b"<Jobs><Jo")
    for gone in (part, part._replace(inode=part.inode + 1), part._replace(device=part.device + 1)):
        with pytest.raises(OSError, match="changed while it was read"):
            gone.read()
    path.unlink()
    assert whole.whole == 0


def test_only_a_regular_file_that_is_read_as_it_is_has_parts(tmp_path):
    path = tmp_path / "jobs.xml.gz"
    path.write_bytes(gzip.compress(b"<Job/>"))
    with opened(path) as stream:
        assert span(path, stream) is None
    with open(path, "rb") as stream:
        assert span(b"<Job/>", stream) is None
        assert span(io.BytesIO(), stream) is None
    with open("/dev/null", "rb") as stream:
        assert span("/dev/null", stream) is None
