"""sssjob condor ad, job, features, eval: what they print, and how they end."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from sssjob.classads import forms
from sssjob.cli import sssjob

DATA = Path(__file__).parent.parent / "data"
JOB, SLOT = DATA / "condor" / "job.ad", DATA / "condor" / "machine.ad"
XML = (
    "<Job><Id>7.0</Id><Executable>/bin/true</Executable>"
    "<Requested><Processors>2</Processors></Requested></Job>"
)


def run(*arguments, given=None):
    return CliRunner().invoke(sssjob, ["condor", *map(str, arguments)], input=given)


@pytest.mark.parametrize("form", forms.FORMS)
def test_a_job_is_written_as_an_ad_in_every_form_and_comes_back(form):
    written = run("ad", "--format", form, "-", given=XML)
    assert written.exit_code == 0
    [ad] = forms.read_text(written.stdout)
    assert ad["RequestCpus"] == 2
    again = run("job", "--lines", "-", given=written.stdout)
    assert again.exit_code == 0
    assert "<Id>7.0</Id>" in again.stdout
    assert "<Processors>2</Processors>" in again.stdout


def test_an_ad_without_its_document_is_a_job_too():
    written = run("ad", "--no-document", "-", given=XML)
    assert "SSSJobXML" not in written.stdout
    assert "<Processors>2</Processors>" in run("job", "-", given=written.stdout).stdout


def test_task_groups_are_ads_of_one_job_in_every_form():
    group = "<TaskGroup><Name>{}</Name><Requested><NodeCount>{}</NodeCount></Requested></TaskGroup>"
    text = XML.replace("</Job>", group.format("a", 2) + group.format("b", 3) + "</Job>")
    text = text.replace("<Requested><Processors>2</Processors></Requested>", "", 1)
    for form in forms.FORMS:
        written = run("ad", "--format", form, "--no-document", "-", given=text)
        assert [ad["MinHosts"] for ad in forms.read_text(written.stdout)] == [2, 3]
        again = run("job", "--lines", "-", given=written.stdout).stdout
        assert again.count("<TaskGroup>") == 2
        assert again.count("<Job>") == 1
        whole = run("ad", "--format", form, "-", given=text).stdout
        assert run("job", "--lines", "-", given=whole).stdout.strip() == text


def test_defaults_are_applied_and_one_of_many_can_be_chosen():
    group = (
        "<JobGroup><Id>g</Id><JobDefaults><Executable>/bin/x</Executable></JobDefaults>"
        "<Job><Id>a</Id></Job><Job><Id>b</Id></Job></JobGroup>"
    )
    found = run("ad", "--no-document", "--select", "b", "-", given=group)
    [ad] = forms.read_text(found.stdout)
    assert (ad["SSSJobId"], ad["Cmd"]) == ("b", "/bin/x")


def test_what_htcondor_cannot_be_told_is_said_on_standard_error():
    found = run("ad", "-", given="<Job><Id>7</Id></Job>")
    assert "<stdin>:1: error: a job without Executable cannot be run" in found.stderr
    assert "ClusterId = 7" in found.stdout


def test_features_are_the_values_of_both_directories():
    found = run("features", "--job-ad", JOB, "--machine-ad", SLOT, "--json")
    assert found.exit_code == 0
    values = json.loads(found.stdout)
    assert values["machine"]["total_cpu"] == "8"
    assert values["job"]["max_rss_bytes"] == str(128 << 20)
    lines = run("features", "--machine-ad", "-", given=SLOT.read_text())
    assert "$MACHINEFEATURES/total_cpu  8\n" in lines.stdout


# fmt: off
WORTH = [
    (("1 + 2 * 3",), "7"),
    (("-1 - -2",), "1"),
    (("-RequestCpus", "--my", JOB), "-1"),
    (("undefined && false",), "false"),
    (('strcat("a", 1.5)',), '"a1.500000000000000E+00"'),
    (("Requirements", "--my", JOB, "--target", SLOT), "true"),
    (("TARGET.Memory", "--my", JOB, "--target", SLOT), "128"),
    (("Owner", "--my", JOB), '"alice"'),
    (("nothing",), "undefined"),
    (("time()", "--now", "5"), "5"),
    ((r'"C:\d"', "--old"), r'"C:\\d"'),
]
# fmt: on


@pytest.mark.parametrize("arguments, value", WORTH)
def test_a_value_is_printed_in_the_new_syntax(arguments, value):
    found = run("eval", *arguments)
    assert (found.exit_code, found.stdout) == (0, value + "\n")


def test_an_expression_or_an_ad_comes_from_standard_input():
    assert run("eval", "-", given="1 + 1\n").stdout == "2\n"
    assert run("eval", "a", "--my", "-", given="a = 3\n").stdout == "3\n"


def test_a_function_that_is_not_known_is_said():
    found = run("eval", "nosuch(1)")
    assert found.stdout == "error\n"
    assert "the function nosuch is not known" in found.stderr


# fmt: off
BAD = [
    (("eval", '"open'), "", "not closed"),
    (("eval", "a", "--my", "-"), "just words\n", "<stdin>:1: error: no attribute"),
    (("eval", "a", "--my", "-"), "", "expected one ad, found 0"),
    (("eval", "-", "--my", "-"), "", "cannot be two ads"),
    (("features",), "", "an ad is needed"),
    (("features", "--job-ad", "nowhere.ad"), "", "No such file"),
    (("ad", "-"), "<Job>", "error:"),
    (("job", "-"), "A = 1\nB = (\n", "<stdin>:2: error:"),
    (("job", "-"), b"\x1f\x8b", "<stdin>: error: the compressed data ends before its end"),
    (("job", SLOT), "", "machine.ad: error: an ad of type Machine, where"),
    (("eval", "--mine", "a"), "", "unexpected extra argument"),
]
# fmt: on


@pytest.mark.parametrize("arguments, given, reason", BAD)
def test_what_cannot_be_read_is_said_with_its_place_and_ends_with_2(arguments, given, reason):
    found = run(*arguments, given=given)
    assert found.exit_code == 2
    assert reason in found.stderr
    assert "Traceback" not in found.stderr


def test_nothing_to_write_ends_with_1():
    assert run("job", "-", given="").exit_code == 1


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_a_question_about_no_slot_is_answered_with_that(tmp_path, words):
    (tmp_path / "slots.ad").write_text("")
    told = run("why", JOB, tmp_path / "slots.ad", *words)
    assert told.exit_code == 1
    assert "no ad of a slot is in it" in told.stderr


@pytest.mark.parametrize("policy, is_told", [("Warn", True), ("Reject", True), ("Ignore", False)])
def test_odd_defaults_are_told_with_an_ad_unless_they_may_be_ignored(policy, is_told):
    for text in (
        f'<JobGroup awarenessPolicy="{policy}"><Id>g</Id><JobDefaults><Name>x</Name></JobDefaults>'
        f"{XML}</JobGroup>",
        XML.replace("<Job>", f'<Job awarenessPolicy="{policy}">').replace(
            "</Job>", "<TaskGroupDefaults><Name>x</Name></TaskGroupDefaults><TaskGroup/></Job>"
        ),
    ):
        done = run("ad", "-", given=text)
        assert ("W-TEMPLATE" in done.stderr) is is_told
        assert "JobUniverse = 5" in done.stdout
