"""sssjob lcginfo backtest and the plot of estimate: tables, JSON, plots and exit codes."""

import json

import day_of_load
import pytest
from click.testing import CliRunner
from lxml import etree

from sssjob.cli import sssjob

JOB = (
    "<Job><Id>{entry.jobid}</Id><Group>{entry.group}</Group><Queue>{entry.queue}</Queue>"
    "<State>Completed</State><SubmitTime>{ready:.0f}</SubmitTime><StartTime>{start:.0f}</StartTime>"
    "<EndTime>{end:.0f}</EndTime><Requested><Processors>{entry.cpucount}</Processors>"
    "<Duration>{entry.maxwalltime:.0f}</Duration></Requested></Job>\n"
)


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "day.sss"
    path.write_text("".join(JOB.format(**job._asdict()) for job in day_of_load.day(1, 150)))
    return path


def run(*arguments, data=None):
    return CliRunner().invoke(sssjob, ["lcginfo", *map(str, arguments)], input=data)


def test_a_table_compares_all_estimators_and_says_what_was_assumed(log):
    result = run("backtest", "--samples", 30, log)
    assert result.exit_code == 0
    header, *rows, last = result.stdout.splitlines()
    assert header.split() == ["estimator", "jobs", "bias", "median", "error", "95%", "bounds",
                              "within", "WRT"]  # fmt: skip
    assert [row.split()[:2] for row in rows] == [
        ["simulate", "30"], ["backfill", "30"], ["basic", "30"], ["waittime", "30"],
    ]  # fmt: skip
    assert last.startswith("nearest: backfill; as near may be: simulate")
    assert result.stderr == "slots: 60, the most that were busy at one time\n"


def test_json_holds_the_numbers_and_every_sample(log):
    result = run(
        "backtest", "--json", "--samples", 5, "--slots", 60, "--estimator", "simulate", log
    )
    (trial,) = json.loads(result.stdout)
    assert result.stderr == ""
    assert trial["estimator"] == "simulate"
    assert trial["jobs"] == trial["answered"] == len(trial["samples"]) == 5
    errors = [sample["ert"] - sample["waited"] for sample in trial["samples"]]
    assert trial["bias"] == pytest.approx(sum(errors) / 5)
    assert trial["median_absolute_error"] == sorted(map(abs, errors))[2]


def test_a_configuration_maps_groups_and_caps_hold(log, tmp_path):
    (tmp_path / "conf").write_text(
        "[Main]\nvomap :\n  atlas : ATLAS\n[Scheduler]\ncycle_time: 60\n"
    )
    (tmp_path / "caps").write_text("{'atlas': 1}")
    arguments = ("backtest", "--json", "--samples", 50, "--slots", 60, "--estimator", "simulate")
    configured = (*arguments, "-c", tmp_path / "conf")
    free = json.loads(run(*configured, log).stdout)[0]["samples"]
    capped = json.loads(run(*configured, "--caps", tmp_path / "caps", log).stdout)[0]["samples"]
    assert {sample["vo"] for sample in free} == {"ATLAS", "lhcb", "dzero"}
    assert min(sample["ert"] for sample in free) == 30
    for one, other in zip(free, capped, strict=True):
        assert one["ert"] <= other["ert"] or one["vo"] != "ATLAS"
    assert free != capped


def test_slots_and_queues_are_those_of_a_lrmsinfo(log, tmp_path):
    path = tmp_path / "now"
    arguments = ("backtest", "--json", "--samples", 30, "--estimator", "backfill", "--lrms", path)
    samples = []
    for own in (0, 50):
        pools = f"pool {{'queues': 'short', 'slots': {own}}}\n"
        pools += f"pool {{'queues': 'long,short', 'slots': {60 - own}}}\n"
        path.write_text(f"nactive 60\n{pools}")
        result = run(*arguments, log)
        assert (result.exit_code, result.stderr) == (0, "")
        samples.append(json.loads(result.stdout)[0]["samples"])
    for few, more in zip(*samples, strict=True):
        if few["queue"] == "short":
            assert more["ert"] <= few["ert"]
    assert sum(each["ert"] for each in samples[0]) < sum(each["ert"] for each in samples[1])


def test_plots_go_to_the_terminal_and_to_a_file(log, tmp_path):
    path = tmp_path / "plot.svg"
    result = run("backtest", "--samples", 10, "--plot", "--svg", path, log)
    assert "• simulate   × backfill   + basic   ○ waittime" in result.stdout
    assert etree.parse(path).getroot().tag.endswith("svg")


def test_a_plot_does_not_disturb_json(log):
    result = run("backtest", "--samples", 3, "--plot", "--json", log)
    assert len(json.loads(result.stdout)) == 4
    assert "estimated wait over actual wait" in result.stderr


@pytest.mark.parametrize(
    "arguments, data, code, message",
    [
        pytest.param((), "<Job><Id>1</Id></Job>", 1, "nobody could count it", id="nothing to ask"),
        pytest.param((), "<Job>", 2, "error", id="no document"),
        pytest.param(("--estimator", "x"), "<Job/>", 2, "no known estimator", id="estimator"),
        pytest.param(("-c", "/gone"), "<Job/>", 2, "/gone: No such file", id="no configuration"),
        pytest.param(("--caps", "/gone"), "<Job/>", 2, "/gone: No such file", id="no caps"),
        pytest.param(("--svg", "/gone/x"), "<Job/>", 2, "/gone", id="no place for the plot"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, data, code, message):
    result = run("backtest", *arguments, data=data)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr


LRMS = """\
nactive 1
nfree 0
now 1000
{'queue': 'q', 'group': 'a', 'state': 'running', 'start': 400, 'maxwalltime': 3600, 'jobid': '1'}
{'queue': 'q', 'group': 'a', 'state': 'queued', 'qtime': 500, 'maxwalltime': 3600, 'jobid': '2'}
"""


def test_estimate_plots_the_simulated_queue(tmp_path):
    path = tmp_path / "queue.svg"
    result = run("estimate", "--lrms", "-", "--plot", "--svg", path, data=LRMS)
    assert result.exit_code == 0
    assert "The queue from now on, if no job came any more" in result.stdout
    assert "• waiting jobs   × busy slots" in result.stdout
    lines = list(etree.parse(path).iter("{http://www.w3.org/2000/svg}polyline"))
    assert len(lines) == 2
    plain = run("estimate", "--lrms", "-", "--json", "--plot", data=LRMS)
    assert json.loads(plain.stdout)[0]["ert"] == 1200 + 1800
