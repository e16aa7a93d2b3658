"""Validating by workers: the findings, lines and order of one process."""

import io
from pathlib import Path
from unittest import mock

import pytest
from draws import examples
from hypothesis import given
from hypothesis import strategies as st

from sssjob.check.vocabulary import of_level
from sssjob.document import guesses, sources
from sssjob.document.repair import advisor
from sssjob.document.sources import NamedSource
from sssjob.verbs.validate import Validation

pytestmark = pytest.mark.usefixtures("ready_workers")

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("*.xml"))
JOB = "<Job><Id>{}</Id>{}<Duration>9</Duration></Job>\n"
JOBS = [
    JOB.format(number, inner)
    for number, inner in enumerate((
        "", "<Memory>512</Memory>", "<Phase>x</Phase>", "\n <Name>\n</Name>", "<Memory/>",
        '<Processors op="GE">soon</Processors>', "<Duration>2</Duration>", "<Job>4</Job>",
    ))
]  # fmt: skip
ODD = ("<Job>", "<!-- a\n<Job>\n-->\n", "text", "<Job><Id>7</Job>\n", "<Job Id='&nope;'/>\n", "\n")
WHO = {"all": Validation(), "minimal": Validation(of_level("minimal"))}


def findings(who, source, processes, size=300):
    with mock.patch.object(guesses, "SIZE", size), who.workers(processes) as workers:
        return list(who.findings(source, workers=workers))


@examples(12)
@given(
    st.sampled_from(list(WHO)),
    st.sampled_from([("", ""), ("<Jobs>\n", "</Jobs>"), ("<J awarenessPolicy='Warn'>\n", "</J>")]),
    st.lists(st.sampled_from((*JOBS, *JOBS, *JOBS, *ODD)), min_size=8, max_size=60),
)  # fmt: skip
def test_findings_are_those_of_one_process(who, wrapper, parts):
    data = (wrapper[0] + "".join(JOBS + parts) + wrapper[1]).encode()
    one, two = (
        findings(WHO[who], NamedSource("jobs", io.BytesIO(data)), count) for count in (1, 2)
    )  # fmt: skip
    assert two == one
    assert one


BROKEN = (
    "<Job><Id>x</Idd></Job>\n", "<Job><Id>x&#1;</Id></Job>\n", "<Job><Id>x</Job>\n",
    "<Job><Id a=”1”>x</Id></Job>\n", "<Job><Id>a & b</Id></Job>\n", "junk between\n",
)  # fmt: skip


@examples(10)
@given(
    st.sampled_from([("", ""), ("<Jobs>\n", "</Jobs>")]),
    st.sampled_from(BROKEN), st.integers(2, 350), st.sampled_from([100_000, 1 << 22]),
)  # fmt: skip
def test_a_broken_line_is_explained_alike_however_far_was_read(wrapper, line, number, kept):
    lines = [JOB.format(1, f"<Name>{'n' * 300}</Name>")] * 400  # more than is read at once
    lines[number] = line
    data = (wrapper[0] + "".join(lines) + wrapper[1]).encode()
    with mock.patch.object(advisor, "KEPT_LIMIT", kept):
        one, two = (
            [each.as_dict() for each in findings(
                WHO["all"], NamedSource("jobs", io.BytesIO(data)), count, 10_000
            )]
            for count in (1, 2)
        )  # fmt: skip
    assert two == one
    assert {each["line"] for each in one} <= {number + 1 + bool(wrapper[0])}


def test_lines_in_a_sentence_count_from_the_start_of_the_stream():
    data = (JOBS[0] + BROKEN[0]).encode()
    (found,) = findings(WHO["all"], NamedSource("jobs", io.BytesIO(data)), 1)
    assert found.message == "</Idd> where <Id> (line 2) is open"


def test_what_needs_saying_once_is_said_once_for_all_parts(tmp_path):
    path = tmp_path / "jobs.xml"
    path.write_text("<Jobs>\n" + JOBS[1] * 60 + "</Jobs>\n")
    found = findings(WHO["all"], NamedSource("jobs", path), 2)
    assert [each.line for each in found if each.code == "I-UNIT"] == [2]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_the_same_findings(path):
    one, two = (findings(WHO["all"], NamedSource("x", path), count, 200) for count in (1, 2))
    assert two == one


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("together", [1, 3, 50])
def test_small_files_are_checked_by_workers_in_their_order(tmp_path, monkeypatch, who, together):
    monkeypatch.setattr(sources, "_TOGETHER", together)
    named = [NamedSource("absent", tmp_path / "absent")]
    for number, text in enumerate((*JOBS, *ODD) * 3):
        path = tmp_path / f"{number}.xml"
        path.write_text(text)
        named.append(NamedSource(path.name, path))
    named[7:7] = [NamedSource("folder", tmp_path), NamedSource("-", io.BytesIO(JOBS[2].encode()))]
    (tmp_path / "large.xml").write_text("<Jobs>\n" + "".join(JOBS) * 200 + "</Jobs>")
    named.insert(20, NamedSource("large.xml", tmp_path / "large.xml"))
    assert sources.is_small(named[5])
    assert [each.name for each in named if not sources.is_small(each)] == [
        "absent", "folder", "-", "large.xml",
    ]  # fmt: skip

    def found(processes):
        named[8].given.seek(0)
        with WHO[who].workers(processes) as workers:
            return list(WHO[who].all_findings(named, workers=workers))

    assert {each.file for each in found(1)} >= {"absent", "folder", "-", "large.xml", "2.xml"}
    assert found(2) == found(1)
