"""Every report fits 40 columns where COLUMNS says so, and loses nothing by that."""

import re

import pytest
from click.testing import CliRunner
from command_tree import commands
from json_commands import CALLS, prepare

from sssjob.cli import sssjob
from sssjob.drawing.columns import cells

# What they print is a document or a file, which is written as it is.
DOCUMENTS = {
    "repair",
    "store export",
    "features install",
    "query",
    "store query",
    "ledger query",
    "diff",
    "ledger export",
    "ledger sql",
}
EXAMPLE = re.compile(r" +\S+$").match  # of a document that explain shows: it has no blank
CHANGING = {"features left", "features show", "features set"}  # as time goes on
TABLES = {"status": "--table examples/status/qstat.json"}
MORE = [
    ("show", "--explain examples/requested/workflow.xml"),
    ("layout", "examples/requested/layout.xml"),
    ("graph", "--exit a=1 examples/requested/dependencies.xml"),
    ("profile", ""),
    ("explain", "Memory preference E-MIXED"),
    ("match", "examples/requested/workflow.xml --offers examples/requested/offers.json"),
    (
        "lcginfo estimate",
        "--explain --lrms examples/lcginfo/lrmsinfo --caps examples/lcginfo/vomaxjobs",
    ),
    ("lcginfo estimate", "--plot --lrms examples/lcginfo/lrmsinfo"),
    ("report", "--plot --by user examples/slurm/sacct.txt"),
    ("report", "--plot --by user,queue,state --histogram wait examples/slurm/sacct.txt"),
    ("translate", "--explain --to all examples/translate/job.sh"),
    ("features job", "--explain --dry-run examples/requested/workflow.xml --select 4"),
    ("translate", "--explain --to pbs examples/translate/job.sh"),
    ("examples", ""),
    ("schema", ""),
    ("transform", "--list"),
]  # fmt: skip
REPORTS = [
    *((name, TABLES.get(name, words)) for name, calls in CALLS.items() for words in calls),
    *MORE,
]


HELPED = [
    *{words[:-1]: 0 for words, _ in commands(sssjob)},
    *(words for words, _ in commands(sssjob)),
]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = tmp_path_factory.mktemp("narrow")
    prepare(made)
    return made


@pytest.mark.parametrize(
    ("name", "words"),
    [pytest.param(*row, id=" ".join(row)) for row in REPORTS if row[0] not in DOCUMENTS],
)
def test_a_report_fits_40_columns_and_loses_nothing(name, words, place, monkeypatch):
    monkeypatch.chdir(place)
    command = [*name.split(), *words.split()]

    def printed(columns):
        return CliRunner(env={"COLUMNS": columns}).invoke(sssjob, command).stdout

    wide, narrow = printed(None), printed("40")
    assert not [line for line in narrow.splitlines() if cells(line) > 40 and not EXAMPLE(line)]
    letters = re.sub(r"[\W_]", "", narrow)  # words that were broken are whole again
    if name not in CHANGING and "--plot" not in words:  # a short axis has fewer numbers
        lost = {word for word in re.findall(r"[^\W_]+", wide) if word not in letters}
        assert not lost


def test_a_pipe_gets_lines_of_any_length_and_so_does_a_file(place, tmp_path, monkeypatch):
    monkeypatch.chdir(place)
    command = ["graph", "examples/requested/dependencies.xml"]
    wide = CliRunner(env={"COLUMNS": None}).invoke(sssjob, command).stdout
    assert max(map(len, wide.splitlines())) > 100
    CliRunner(env={"COLUMNS": "40"}).invoke(sssjob, [*command, "-o", str(tmp_path / "file")])
    assert (tmp_path / "file").read_text() == wide


def test_levels_of_a_deep_tree_that_do_not_fit_have_their_number(tmp_path):
    deep = (
        "".join(f"<e{at}>" for at in range(9))
        + "x"
        + "".join(f"</e{at}>" for at in range(8, -1, -1))
    )
    (tmp_path / "deep.xml").write_text(f"<Job><Id>1</Id>{deep}</Job>")
    command = ["show", str(tmp_path / "deep.xml")]
    lines = CliRunner(env={"COLUMNS": "40"}).invoke(sssjob, command).stdout.splitlines()
    assert max(map(len, lines)) <= 40
    assert [line.strip("│├└─ ") for line in lines[5:]] == [
        "e4",
        "6: e5",
        "7: e6",
        "8: e7",
        "9: e8 x",
    ]


# Commands that are copied stay as they are, and so do words without blanks that are too long.
EXAMPLES = re.compile(r"^ *(?:Example|sssjob ).*?(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
COPIED = re.compile(r"\s*\S+$").match


@pytest.mark.parametrize(
    "words", [pytest.param(row, id=" ".join(row) or "sssjob") for row in HELPED]
)
def test_the_help_of_a_command_fits_40_columns_and_loses_nothing(words):
    def helped(columns):
        return CliRunner(env={"COLUMNS": columns}).invoke(sssjob, [*words, "--help"]).stdout

    wide, narrow = helped("200"), helped("40")
    lines = EXAMPLES.sub("", narrow).splitlines()
    assert not [line for line in lines if cells(line) > 40 and not COPIED(line)]
    letters = re.sub(r"[\W_]", "", narrow)
    assert not {word for word in re.findall(r"[^\W_]+", wide) if word not in letters}


@pytest.mark.parametrize(
    "words",
    [
        "validate missing.xml",
        "validate --nothing",
        "translate --to nowhere x",
        "valdate x",
        "show missing.xml",
        "report missing.txt",
        "examples examples",
    ],
)
def test_a_message_fits_40_columns(words, place, monkeypatch):
    monkeypatch.chdir(place)

    def said(columns):
        return CliRunner(env={"COLUMNS": columns}).invoke(sssjob, words.split()).stderr

    wide, narrow = said("400"), said("40")
    assert not [line for line in narrow.splitlines() if cells(line) > 40 and not COPIED(line)]
    assert "".join(wide.split()) == "".join(narrow.split())


def test_the_place_of_a_message_and_its_words_stay_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "a name of several words that is longer than a line.xml"
    (tmp_path / name).write_text("<Job><Id>1</Id><Phase>Requested</Phase></Wrong>")
    told = CliRunner(env={"COLUMNS": "40"}).invoke(sssjob, ["validate", name]).stderr.splitlines()
    assert told[0].startswith(f"{name}:1:")
    assert max(map(len, told[1:3])) <= 40


def test_a_group_without_a_command_still_shows_its_help():
    runner = CliRunner(env={"COLUMNS": "40"})
    shown, helped = (
        runner.invoke(sssjob, words).output for words in (["store"], ["store", "--help"])
    )
    assert shown == helped
