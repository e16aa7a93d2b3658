"""What the commands give of documents of any shape, packed or not, held against libxml2."""

import bz2
import gzip
import io
import lzma
from random import Random

import zstandard
from big_documents import documents, outermost, seen
from click.testing import CliRunner
from lxml import etree

from sssjob.cli import sssjob
from sssjob.document import from_tree
from sssjob.document.canonical import canon
from sssjob.document.tree import located

PACKINGS = {
    "": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}  # fmt: skip
SMALL = (300, 6000, 40_000)
LARGE = (300, 20_000, 300_000, 900_000, 1_500_000)  # beyond what one guess takes, and many parts


def sources(count, first=0, sizes=SMALL):
    """The documents of each source, and how they are packed."""
    for seed in range(first, first + count):
        random = Random(seed)
        yield documents(seed, random.choice(sizes)), [*PACKINGS][seed % len(PACKINGS)]


def compare(texts, packing, place):
    """Every command with what libxml2 finds in each whole document; how many job objects it is."""
    units = [unit for text in texts for unit in outermost(text)]
    ids = [unit.findtext("{*}Id") for unit in units]
    data = "".join(texts).encode()
    file = place / f"jobs.xml{packing}"
    file.write_bytes(PACKINGS[packing](data))

    def run(*words, codes=(0,)):
        result = CliRunner().invoke(sssjob, [str(word) for word in words])
        assert isinstance(result.exception, SystemExit | None), (words, result.exception)
        assert result.exit_code in codes, (words, result.exit_code, result.stderr[-2000:])
        return result

    def found(result):
        return [each.element for each in located(io.BytesIO(result.stdout_bytes))]

    expected = [seen(unit) for unit in units]
    written = [canon(from_tree(unit)) for unit in units]
    assert [from_tree(each) for each in found(run("canon", "--lines", file))] == written
    assert run("show", "--to", "sss", file).stdout_bytes == data
    for form in (("show", "--to", "sss-lines"), ("show", "--deref", "--to", "sss-lines")):
        again = [from_tree(_on_a_line(each)) for each in found(run(*form, file))]
        assert again == [from_tree(_on_a_line(unit)) for unit in units], form
    assert run("query", "Id", file).stdout.split() == ids
    assert run("query", "--workers", "2", "Id", file).stdout.split() == ids
    jobs = sum(1 for unit in units for _ in _jobs(unit))
    said = [run("validate", "--workers", number, file, codes=(0, 1, 2)) for number in (1, 2)]
    assert said[0].stderr == said[1].stderr
    assert said[0].exit_code < 2, said[0].stderr[-2000:]
    for number in ("1", "2"):
        store = place / f"{number}.db"
        told = run("store", "import", "--workers", number, store, file).stderr
        assert f"new {len(units)}, changed 0, unchanged 0, bad 0" in told
        assert [seen(each) for each in found(run("store", "export", store))] == expected
        assert sorted(run("query", "Id", store).stdout.split()) == sorted(ids)
        again = run("store", "import", store, file).stderr
        assert f"new 0, changed 0, unchanged {len(units)}, bad 0" in again
    converted = run("convert", "--from", "sss", file)
    assert f"converted {jobs}, " in converted.stderr
    assert run("diff", file, file).stdout == ""
    records = place / "records"
    records.write_text("JobID|State|ElapsedRaw|NCPUS\n")
    assert run("deliver", file, "--record", records, codes=(0, 1)).stdout_bytes == data
    return len(units)


def _on_a_line(unit):
    """The same where comments and instructions have no line ends, which a line cannot hold."""
    for node in unit.iter():
        if type(node.tag) is not str:
            node.text = (node.text or "").replace("\n", " ")
    return unit


def _jobs(unit):
    """The jobs of an outermost job object."""
    if etree.QName(unit).localname == "Job":
        yield unit
        return
    yield from unit.iterchildren("{*}Job")
