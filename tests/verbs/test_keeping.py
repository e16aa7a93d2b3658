"""What records become is in a store what it would be had it been read from the documents."""

import io

import pytest
from mutated_records import READ, SOURCES

from sssjob import store
from sssjob.document import loads
from sssjob.document.sources import NamedSource
from sssjob.document.text import on_one_line
from sssjob.records.record import Options
from sssjob.verbs import keeping
from sssjob.verbs.convert import Conversion


def conversion(path, format_, processes=1):
    return Conversion((NamedSource("log", path),), format_, Options(), processes=processes)


def kept(path, format_, processes=1):
    with store.open(str(path.with_suffix(f".{processes}")), create=True) as jobs:
        told = []
        for name, found in keeping.of_sources(conversion(path, format_, processes)):
            jobs.keep(found, name=name, on_error=told.append)
        return [it.finding.code for it in told], *tables(jobs)


def read(path, format_):
    lines = (on_one_line(text) + "\n" for text in conversion(path, format_).texts())
    texts = io.BytesIO("".join(lines).encode())
    with store.open(str(path.with_suffix(".read")), create=True) as jobs:
        told = []
        jobs.load(texts, name="log", on_error=told.append)
        return [it.finding.code for it in told], *tables(jobs)


def tables(jobs):
    rows = jobs.engine.fetch("SELECT * FROM job ORDER BY document, place")
    return [(it.identity, it.document) for it in jobs.documents()], rows


@pytest.mark.parametrize("format_", SOURCES)
def test_documents_with_their_rows_are_kept_as_those_that_are_read(format_, tmp_path):
    for number, name in enumerate(SOURCES[format_]):
        path = tmp_path / str(number)
        path.write_bytes(READ[name])
        found = kept(path, format_)
        assert found == read(path, format_)
        assert found[1]


def test_so_they_are_by_several_processes(tmp_path):
    path = tmp_path / "log"
    path.write_bytes(READ["slurm/22.05/all-steps-epoch.txt"])
    assert kept(path, "slurm", 2) == kept(path, "slurm")


def test_a_document_without_an_id_is_told_and_the_others_are_kept(tmp_path):
    texts = ("<Job><Id>1</Id></Job>", "<Job><Name>a</Name></Job>", "<Job><Id>2</Id></Job>")
    read = [keeping.DocumentRows.of(loads(text)) for text in texts]
    found = [keeping.ready(line, rows) for line, rows in enumerate(read, start=11)]
    told = []
    with store.open(str(tmp_path / "jobs.db"), create=True) as jobs:
        counts = jobs.keep(found, on_error=told.append)
    assert (counts.new, counts.bad) == (2, 1)
    assert [(it.finding.line, it.finding.column, it.finding.code) for it in told] == [
        (12, 0, "E-MISSING")
    ]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_is_told_of_a_record_names_its_line(processes, tmp_path):
    path, told = tmp_path / "log", []
    done, other, older = "7|COMPLETED|9|20|30", "8|COMPLETED|9|20|30", "7|RUNNING|9|20|Unknown"
    with store.open(str(tmp_path / "jobs.db"), create=True) as jobs:
        for rows in ((done,), (other, older)):
            path.write_text("\n".join(("JobID|State|Submit|Start|End", *rows, "")))
            for name, found in keeping.of_sources(conversion(path, "slurm", processes)):
                jobs.keep(found, name=name, on_warning=told.append)
    assert [(found.line, found.code) for found in told] == [(3, "W-USELESS")]
