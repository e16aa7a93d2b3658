"""The format of records is told by their first bytes, and what is none is told with its reason."""

import io
import sys
from types import SimpleNamespace

import pytest

from sssjob import registry
from sssjob.document import cause
from sssjob.errors import Severity, UnreadableDocument, UnusableInput
from sssjob.records import AUTO, FORMATS, recognition
from sssjob.records.recognition import TakenForRecords, recognise, recognised
from sssjob.registry import Format, Sign

LIVE = tuple(registry.all_status_formats().values())
QSTAT = b"Job Id: 1.srv\n    Job_Name = x\n    job_state = R\n"
ENDED = b"11/20/2026 14:29:34;E;1.srv;user=amy start=1 end=2\n"
SERVER = b"11/20/2026 14:29:34;0100;PBS_Server;Job;1.srv;enqueuing\n"
SCRIPT = b"#!/bin/sh\n#PBS -l walltime=1:00\n"
BINARY = b"\0\1\2\3" * 50


@pytest.mark.parametrize(
    ("head", "rows", "text"),
    [
        (ENDED, (), "pbs by lines of stamp;letter;id;text"),
        (b"\xef\xbb\xbf" + ENDED, (), "pbs by lines of stamp;letter;id;text"),
        (b"JobID|State\n1|FAILED\n", (), "slurm by a header line with JobID"),
        (b"<Job/>", (), "sss by an element Job"),
        (b"<job_info/>", (), "sss by the sign <"),
        (QSTAT, LIVE, "qstat-text by text that begins with Job Id:"),
    ],
)
def test_what_is_recognised_is_told_with_its_sign(head, rows, text):
    assert str(recognise(head, rows)) == f"recognised as {text}"


@pytest.mark.parametrize(
    ("head", "rows", "kind", "line", "text"),
    [
        (QSTAT, (), TakenForRecords, 1, "live jobs as a batch system shows them, recognised as"
         " qstat-text by text that begins with Job Id:; sssjob status reads them"),
        (SERVER, (), TakenForRecords, 1, "a log of the server, not of its accounting"),
        (ENDED, LIVE, UnusableInput, 1, "recognised as pbs by lines of stamp;letter;id;text, which"
         " sssjob convert and report read"),
        (SERVER, LIVE, UnusableInput, 0, "no known format of records begins with '11/20/2026"),
        (SCRIPT, (), UnusableInput, 1, f"{cause.SCRIPT_SAID}; {cause.SCRIPT_ADVICE}"),
        (SCRIPT, LIVE, UnusableInput, 1, f"{cause.SCRIPT_SAID}; {cause.SCRIPT_ADVICE}"),
        (BINARY, LIVE, UnusableInput, 0, cause.BINARY_SAID),
        (b"<job_info/>", LIVE, UnusableInput, 0, "no known format of records begins with '<job_"),
        (b"hello " * 20, (), UnusableInput, 0, "begins with '" + ("hello " * 10)[:60] + "'; name"),
        (b"", LIVE, UnusableInput, 0, "nothing to read"),
        (b"\xef\xbb\xbf  ", LIVE, UnusableInput, 0, "nothing to read"),
    ],
)  # fmt: skip
def test_what_is_not_recognised_is_told_with_what_it_may_be(head, rows, kind, line, text):
    with pytest.raises(UnusableInput) as caught:
        recognise(head, rows)
    assert (type(caught.value), caught.value.line) == (kind, line)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("head", "text"), [(b"", "the document is empty"), (BINARY, "neither XML nor text")]
)
def test_what_is_empty_or_no_text_is_an_unreadable_document(head, text):
    with pytest.raises(UnreadableDocument, match=text):
        recognise(head)


def test_what_was_recognised_is_a_notice_of_the_first_line_and_the_stream_is_whole_again():
    found, told, stream = recognised(io.BytesIO(ENDED))
    assert found is FORMATS["pbs"]
    assert (told.line, told.severity) == (1, Severity.NOTICE)
    assert told.message == "recognised as pbs by lines of stamp;letter;id;text"
    assert stream.read() == ENDED


def sure(name, sign, says="it"):
    """A format of others, which recognises all."""
    layout = SimpleNamespace(rows=list, recognises=lambda head: says, mistaken=lambda head: "")
    sys.modules[f"formats_of_others.{name}"] = SimpleNamespace(LAYOUT=layout)
    return Format(name, f"formats_of_others.{name}", "of others", sign)


@pytest.mark.parametrize(
    ("signs", "found"),
    [
        ({"one": Sign.COUNT, "two": Sign.NAME}, "two"),
        ({"one": Sign.NAME, "two": Sign.COUNT}, "one"),
        ({"one": Sign.COUNT, "two": Sign.COUNT}, "one"),
    ],
)
def test_of_formats_of_others_the_one_with_the_surest_sign_is_recognised(signs, found, monkeypatch):
    monkeypatch.setitem(sys.modules, "formats_of_others", SimpleNamespace())
    for name in signs:
        monkeypatch.setitem(sys.modules, f"formats_of_others.{name}", None)
    others = {name: sure(name, sign) for name, sign in signs.items()}
    monkeypatch.setattr(recognition, "formats", lambda: {**FORMATS, **others})
    assert recognise(b"kite 7 amy\n").format.name == found
    is_surer = Sign.NAME in signs.values()
    assert recognise(ENDED).format.name == (found if is_surer else "pbs")


def test_a_format_that_cannot_be_loaded_recognises_nothing_and_the_others_do():
    gone = Format("gone", "no_such_package.gone", "of a package that was taken away")
    assert recognise(ENDED, (gone, AUTO, FORMATS["pbs"])).format is FORMATS["pbs"]
    with pytest.raises(UnusableInput, match="no known format"):
        recognise(b"hello\n", (gone,))


def test_what_is_taken_for_a_format_is_refused_by_it_and_all_else_is_read_whole():
    layout = FORMATS["pbs"].load()
    assert recognition.checked(layout, io.BytesIO(ENDED)).read() == ENDED
    with pytest.raises(UnusableInput, match="line 1: a log of the server"):
        recognition.checked(layout, io.BytesIO(SERVER))
