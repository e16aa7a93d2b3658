"""What every command must have: help with an example, a test and a place in the docs."""

import re
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from command_tree import commands

from sssjob.cli import SECTIONS, options, spans, sssjob
from sssjob.cli.commands import DRAW, MAY_BE_EMPTY
from sssjob.cli.options import Renamed
from sssjob.cli.ranges import NumberRange, WholeNumber

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]


COMMANDS = dict(commands(sssjob))
every_command = pytest.mark.parametrize("words", COMMANDS, ids=" ".join)


@every_command
def test_a_command_shows_an_example_of_itself_and_says_how_it_ends(words):
    epilog = COMMANDS[words].epilog or ""
    called = {f"sssjob {' '.join(words)}", f"sssjob {words[-1]}"}  # one may go by two names
    assert any(call in epilog for call in called), "epilog: no example that calls it"
    assert "Exit code" in epilog, "epilog: no line with its exit codes"


@every_command
def test_a_command_has_a_test(words):
    called = f'"{words[-1]}"'
    tests = (path for path in (ROOT / "tests").rglob("test_*.py") if path != Path(__file__))
    assert any(called in path.read_text(encoding="utf-8") for path in tests), (
        f"no test has {called}"
    )


@every_command
def test_a_command_stands_on_a_page_about_its_group(words):
    group, name = f"sssjob {words[0]}", re.compile(rf"\b{re.escape(words[-1])}\b")
    texts = (path.read_text(encoding="utf-8") for path in PAGES)
    assert any(group in text and name.search(text) for text in texts), f"no page has {words[-1]}"


@pytest.mark.parametrize(
    "words, meant",
    [
        (["valdate"], "validate"),
        (["store", "imprt"], "import"),
        (["features", "instal"], "install"),
        (["features", "Set", "shutdowntime", "+1h"], "set"),
    ],
    ids=["a command", "of a group", "of a group with a default", "with arguments"],
)
def test_a_command_that_is_misspelt_gets_advice(words, meant):
    result = CliRunner().invoke(sssjob, words)
    assert result.exit_code == 2
    assert f"Did you mean '{meant}'?" in result.stderr


@pytest.mark.parametrize("command", ["layout", "query", "store log", "show"])
def test_a_command_without_a_picture_names_those_that_draw_one(command):
    result = CliRunner().invoke(sssjob, [*command.split(), "--svg", "a.svg", "job.xml"])
    assert result.exit_code == 2
    drawing = {
        " ".join(words)
        for words, found in commands(sssjob)
        if any("--svg" in option.opts for option in found.params)
    }
    assert {*DRAW} == drawing
    assert "Did you mean" not in result.stderr
    assert all(name in " ".join(result.stderr.split()) for name in DRAW)


def test_a_file_that_is_nearly_called_like_a_command_is_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("instal").write_text("<Job><Id>1</Id></Job>")
    assert "Did you mean" not in CliRunner().invoke(sssjob, ["features", "instal"]).stderr


def test_every_command_stands_in_a_section_of_the_help():
    shown = CliRunner().invoke(sssjob, ["--help"]).output
    for title, rows in SECTIONS.items():
        assert f"\n{title}:\n" in shown
        for name, text in rows.items():
            assert f"  {name} " in shown
            assert text in shown


@every_command
def test_the_limits_of_a_number_are_words_in_help_and_messages(words):
    for option in COMMANDS[words].params:
        limits = (getattr(option.type, "min", None), getattr(option.type, "max", None))
        if limits == (None, None):
            continue
        assert isinstance(option.type, WholeNumber | NumberRange)
        least, most = limits
        told = f"{least} or more" if most is None else f"{least} to {most}"
        with COMMANDS[words].make_context("x", [], resilient_parsing=True) as context:
            assert f"{told}]" in option.get_help_record(context)[1]
            with pytest.raises(click.BadParameter, match=f"not in the range {re.escape(told)}"):
                option.type.convert(str(least - 1), option, context)


@pytest.mark.parametrize(
    "words, told",
    [
        (["translate", "job.sh"], "'--to'. Choose from: condor, "),
        (["submit", "job.xml"], "'--to'. Choose from: condor, "),
        (
            ["translate", "job.sh", "--to", "nope"],
            "'nope' is no known form of jobs; known: condor, ",
        ),
        (["convert", "--to", "sacct", "x"], "records of Slurm are read (--from sacct) and not"),
        (["convert", "--to", "qacct", "x"], "records of Grid Engine are read (--from qacct)"),
        (["store", "export", "--to", "slurm", "x"], "sssjob translate --to slurm writes scripts"),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else None,
)
def test_a_form_that_is_missing_or_not_known_is_answered_with_those_there_are(words, told):
    result = CliRunner().invoke(sssjob, words)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in " ".join(result.stderr.split())
    assert "condor-q" not in result.stderr  # which is only read


@every_command
def test_of_options_with_one_value_the_one_with_a_default_is_the_last(words):
    """Before click 8.2.2 the last one that is not given decides, and a flag would say None."""
    owners = {}
    for option in COMMANDS[words].params:
        owners.setdefault(option.name, []).append(option.to_info_dict()["default"])
    for name, defaults in owners.items():
        assert not any(defaults[:-1]), name


RENAMED = {
    (words, option.former): option
    for words, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, Renamed)
}


@pytest.mark.parametrize("which", RENAMED, ids=lambda which: " ".join((*which[0], which[1])))
def test_an_option_is_still_understood_by_its_former_name_which_help_does_not_show(which):
    (words, former), option = which, RENAMED[which]
    value = "3" if isinstance(option.type, WholeNumber) else "."
    with COMMANDS[words].make_context("x", [former, value], resilient_parsing=True) as context:
        assert context.params[option.name] == option.type.convert(value, option, context)
    shown = CliRunner().invoke(sssjob, [*words, "--help"]).output
    assert f"{former} " not in shown
    assert f"  {option.opts[0]} " in shown


def test_a_former_name_is_told_of_and_the_new_one_wins():
    document = str(ROOT / "examples" / "message.xml")
    for given in (["--jobs", "2"], ["--jobs=x", "--workers", "1"]):
        result = CliRunner().invoke(sssjob, ["validate", *given, document])
        assert result.exit_code == 0
        assert "sssjob: notice: --jobs is called --workers now\n" in result.stderr
    result = CliRunner().invoke(sssjob, ["validate", "--workers", "2", document])
    assert "notice: --jobs" not in result.stderr


def test_an_option_means_the_same_in_every_command():
    """One way to say how many processes, and none to say it with the word for documents."""
    said = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    assert "--jobs" not in said
    assert {"--workers", "--documents"} <= said


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_value_of_an_option_is_called_by_what_it_is(words):
    context = click.Context(COMMANDS[words])
    for parameter in COMMANDS[words].params:
        if isinstance(parameter, click.Option):
            record = parameter.get_help_record(context)
            assert record is None or not re.search("INTEGER|FLOAT|RANGE", record[0])


NOW = [
    words for words, command in COMMANDS.items() if "--now" in str([p.opts for p in command.params])
]


@pytest.mark.parametrize("words", NOW, ids=" ".join)
def test_the_time_may_be_said_in_seconds_or_as_people_write_it(words):
    (option,) = (each for each in COMMANDS[words].params if "--now" in each.opts)
    assert option.metavar == "TIME"
    if option.type.name == "time":
        for given in ("1795003200", "2026-11-18T12:00", "2026-11-18T13:00+01:00"):
            assert option.type.convert(given, option, None) == 1795003200
        for bad in ("-1", "soon", "1e5", "1969-01-01", "9999-99-99", ""):
            with pytest.raises(click.BadParameter, match="is no time"):
                option.type.convert(bad, option, None)


@pytest.mark.parametrize("text, zone, wanted", [
    ("now", "", "2026-03-30T10:20:30Z"),
    ("now-90", "", "2026-03-30T10:19:00Z"),
    ("now-2hours", "", "2026-03-30T08:20:30Z"),
    ("now-7days", "", "2026-03-23T10:20:30Z"),
    ("now+1week", "", "2026-04-06T10:20:30Z"),
    ("today", "", "2026-03-30T00:00:00Z"),
    ("yesterday", "", "2026-03-29T00:00:00Z"),
    ("yesterday", "Europe/Berlin", "2026-03-28T23:00:00Z"),  # that day has 23 hours
    ("tomorrow", "+02:00", "2026-03-30T22:00:00Z"),
    ("today", "-0530", "2026-03-30T05:30:00Z"),
])  # fmt: skip
def test_times_are_said_by_the_words_of_schedulers(monkeypatch, text, zone, wanted):
    now = datetime(2026, 3, 30, 10, 20, 30, tzinfo=UTC).timestamp()
    monkeypatch.setattr("time.time", lambda: now)
    assert spans.moment(text, spans.zone_of(zone)) == datetime.fromisoformat(wanted).timestamp()


@pytest.mark.parametrize("text", [
    "now-", "now7days", "now-7parsecs", "now--7days", "now-999999999999weeks", "noww", "-7days",
    "now+٣days", "last week",
])  # fmt: skip
def test_other_words_are_no_times(text):
    with pytest.raises(click.BadParameter, match="is no time"):
        options.MOMENT.convert(text, None, None)


ARGUMENTS = [
    pytest.param(words, each.name, id=f"{' '.join(words)} {each.name}")
    for words, command in COMMANDS.items()
    for each in command.params
    if isinstance(each, click.Argument) and each.name not in MAY_BE_EMPTY
]


@pytest.mark.parametrize(("words", "name"), ARGUMENTS)
def test_an_empty_argument_is_not_the_current_directory(words, name):
    arguments = [each for each in COMMANDS[words].params if isinstance(each, click.Argument)]
    given = ["" if each.name == name else "x" for each in arguments]
    done = CliRunner().invoke(sssjob, [*words, *given])
    assert done.exit_code == 2
    assert "is empty" in done.output


@pytest.mark.parametrize("words", [[], ["report"], ["features", "job"], ["features"]])
def test_help_is_a_word_as_well_as_an_option(words):
    asked, option = (
        CliRunner().invoke(sssjob, each) for each in (["help", *words], [*words, "--help"])
    )
    assert (asked.exit_code, asked.stdout) == (0, option.stdout)


def test_help_of_a_misspelt_command_has_the_same_advice():
    assert "Did you mean 'report'?" in CliRunner().invoke(sssjob, ["help", "raport"]).stderr
