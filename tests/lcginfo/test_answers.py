import sys

import pytest

from sssjob.commands import CommandFailed
from sssjob.lcginfo import answers
from sssjob.lcginfo.config import BadConfig, Config
from sssjob.lcginfo.snapshot import UnusableOutput

LRMS = """\
nactive 4
nfree 1
now 1000
schedCycle 120
{'queue': 'long', 'state': 'running', 'group': 'atlsgm', 'start': 1.0, 'maxwalltime': 5000.0}
"""


def printing(text, status=0):
    return (sys.executable, "-c", f"import sys; sys.stdout.write({text!r}); sys.exit({status})")


def gather(lrms=LRMS, caps=None, status=0, **config):
    remarks = []
    commands = {"lrms_backend_cmd": printing(lrms)}
    if caps is not None:
        commands["vo_max_jobs_cmd"] = printing(caps, status)
    return answers.gather(Config(**commands, **config), remarks.append), remarks


def test_commands_are_run_and_their_answers_put_together():
    site, remarks = gather(caps="{'atlsgm': 3}")
    (row,) = answers.answers(site)
    assert not remarks
    assert (row.queue, row.vo, row.running, row.free, row.ert, row.wrt) == (
        "long", "atlsgm", 1, 1, 60, 120,
    )  # fmt: skip


def test_a_bad_job_is_left_out_and_counted_and_the_rest_is_answered():
    site, remarks = gather(LRMS + "{'queue': 'x'}\n")
    assert site.running() == 1
    assert [remark.severity for remark in remarks] == ["error", "error"]
    assert remarks[1].message == "lrmsinfo: jobs that cannot be read: 1"


def test_an_idle_site_is_an_answer():
    assert answers.answers(gather("nactive 4\nnfree 4\nnow 5\n")[0]) == ()


@pytest.mark.parametrize("lrms", [
    pytest.param("", id="nothing"),
    pytest.param("qstat: cannot connect\n", id="a-message"),
    pytest.param("{'queue': 'x'\n", id="only-bad-jobs"),
])  # fmt: skip
def test_output_of_which_nothing_can_be_made_is_an_error(lrms):
    with pytest.raises(UnusableOutput):
        gather(lrms)


@pytest.mark.parametrize("caps, status, message", [
    pytest.param("{}", 3, "VO max jobs backend command returned 3", id="failed"),
    pytest.param("{'a': 1", 0, "the caps cannot be read", id="cut-off"),
])  # fmt: skip
def test_caps_that_cannot_be_had_are_an_error(caps, status, message):
    with pytest.raises((CommandFailed, UnusableOutput), match=message):
        gather(caps=caps, status=status)


def test_a_command_that_is_not_there_is_an_error():
    with pytest.raises(CommandFailed, match="Error running LRMS backend command"):
        answers.gather(Config(lrms_backend_cmd=("/no/such/lrmsinfo",)))
    with pytest.raises(BadConfig, match="lrms_backend_cmd is not set"):
        answers.gather(Config())


def test_given_texts_stand_for_commands():
    site = answers.gather(Config(), printed=LRMS.encode(), given={"atlsgm": 1})
    assert site.free("atlsgm") == 0
