"""Which File a job object means: the same one whoever reads the document."""

import io
import itertools
from unittest import mock

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from sssjob import store
from sssjob.cli import sssjob
from sssjob.document import guesses, read
from sssjob.document.attached import Attached
from sssjob.document.bundle import bundles
from sssjob.submission import InFile

JOB, FILE, LINE = "job", "file", "line"
INNER = st.recursive(
    st.lists(st.sampled_from([JOB, FILE, LINE]), max_size=4),
    lambda inner: st.lists(st.one_of(inner, st.sampled_from([JOB, FILE, LINE])), max_size=5),
    max_leaves=12,
)
TWO = [[JOB, FILE], [JOB, FILE]]


def written(tree):
    """A document: each job has an Id, and each File says which it is."""
    ids, contents = itertools.count(1), itertools.count(1)

    def of(tree):
        if tree == JOB:
            return f"<Job><Id>{next(ids)}</Id><Executable>#a</Executable></Job>"
        if tree == FILE:
            return f'<File id="a">{next(contents)}</File>'
        return "\n" if tree == LINE else f"<Data>{''.join(map(of, tree))}</Data>"

    return of(tree)


def meant(text):
    """What each job means, told by trying: the way up from it, each time all that is there."""
    root = etree.fromstring(text)
    holders = {each for job in root.iter("Job") for each in job.iterancestors()}

    def owner(file):
        return next((each for each in file.iterancestors() if each in holders), None)

    found = {}
    for job in root.iter("Job"):
        seen = [file for up in job.iterancestors()
                for file in (*up.findall("File"), *(each for each in up.iter("File")
                                                    if owner(each) is up))]  # fmt: skip
        found[job.findtext("Id")] = seen[0].text.encode() if seen else None
    return found


def contents(found):
    return {id_: next(iter(files), None) for id_, files in found}


@given(INNER.filter(lambda tree: JOB in str(tree)))
@example(TWO)
@example([[JOB], [JOB, FILE]])
@example([[FILE], JOB])
@example([[FILE], JOB, FILE])
@example([LINE, [LINE, JOB, LINE, JOB, LINE], [LINE, JOB, FILE]])
def test_every_reader_gives_a_job_the_file_of_its_own_message(tmp_path_factory, tree):
    text = written(tree)
    expected = meant(text)
    by_message = (
        (block.id, [each.files[id_].content for id_ in each.files])
        for each in bundles(text.encode())
        for block in each.blocks
    )
    assert contents(by_message) == expected
    attached = Attached(io.BytesIO(text.encode()))
    one_by_one = ((each.id, [file.content for file in attached.of(each)])
                  for each in read(attached.stream))  # fmt: skip
    assert contents(one_by_one) == expected
    place = tmp_path_factory.mktemp("meant")
    (place / "jobs.xml").write_text(text)
    held = InFile(place / "jobs.xml").held()
    assert contents((block.id, [*files.values()]) for block, files, _ in held) == expected
    for size in (1, 100, guesses.SIZE):
        with (
            mock.patch.object(guesses, "SIZE", size),
            store.open(place / f"{size}.db", create=True) as jobs,
        ):
            jobs.load(text.encode())
            stored = [(each.identity.id, jobs.files(each).values()) for each in jobs.documents()]
            assert contents(stored) == expected


@pytest.mark.parametrize(
    "command", [("canon", "--lines"), ("canon", "--lines", "--comments"),
                ("show", "--to", "sss-lines"), ("show", "--deref", "--to", "sss-lines")],
    ids=" ".join,
)  # fmt: skip
def test_messages_on_one_line_keep_their_files_apart(command, tmp_path):
    text = written(TWO).removeprefix("<Data>").removesuffix("</Data>")
    result = CliRunner().invoke(sssjob, [*command, "-"], input=text)
    assert result.exit_code == 0, result.stderr
    found = ((each.blocks[0].id, [each.files["a"].content])
             for each in bundles(result.stdout.encode()))  # fmt: skip
    assert contents(found) == {"1": b"1", "2": b"2"}


def test_a_job_behind_the_last_line_that_libxml2_counts_has_its_file():
    lines = "\n" * 40_000
    text = f"<All>{''.join(f'{lines}{written([JOB, FILE])}' for _ in range(4))}</All>"
    attached = Attached(io.BytesIO(text.encode()))
    assert [[file.content for file in attached.of(each)] for each in read(attached.stream)] == [
        [b"1"]
    ] * 4


def test_a_second_file_of_one_message_is_told_and_one_of_another_message_is_none():
    [first, second] = bundles(written(TWO).encode())
    assert {each.code for each in first.findings} == {"W-SHELL"}
    assert second.findings == ()
    [found] = bundles(written([JOB, FILE, [FILE]]).encode())
    assert [each.code for each in found.findings] == ["E-DUP", "W-SHELL"]
