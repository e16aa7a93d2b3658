from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sssjob.formats import maui
from sssjob.lcginfo import caps
from sssjob.lcginfo.names import vomap
from sssjob.lcginfo.snapshot import UnusableOutput
from sssjob.systems.gridengine import caps as gridengine
from sssjob.systems.slurm import caps as slurm

DATA = Path(__file__).parents[1] / "data" / "lcginfo"
ASSOCIATIONS = (
    "Account|User|GrpJobs|GrpTRES\natlas||20|\natlas|amy|5|\ncms|||cpu=7,mem=2T\nops|||\n"
)
QUOTAS = """{
   name         vo_limits
   description  NONE
   enabled      TRUE
   limit        name one projects atlas to slots=100
   limit        users {@lhcb,!amy} queues {long.q} to slots=10
   limit        users * to slots=1
   limit        hosts {*} to slots=$num_proc
}
{
   name         off
   enabled      FALSE
   limit        projects ops to slots=3
}
"""


def test_caps_of_groups_of_one_vo_are_added_up():
    found = caps.read((DATA / "text" / "vo-max-jobs").read_text())
    assert found == {"atlasprod": 20, "atlas": 30, "lhcb": 0}
    assert vomap(["atlasprod: atlas"]).caps(found) == {"atlas": 50, "lhcb": 0}


@given(st.dictionaries(st.text(), st.integers(0, 10**9)))
def test_caps_that_are_written_read_back(found):
    assert caps.read(caps.write(found)) == found


@pytest.mark.parametrize("text, found", [
    pytest.param("{}", {}, id="nothing-known"),
    pytest.param("{ 'grp' : 5,}", {"grp": 5}, id="one-line-of-Grid-Engine"),
    pytest.param("{'a': 5} {'b': 6}", {"a": 5}, id="the-first-dictionary"),
    pytest.param("{'a': 5.0, 'b}': 1}", {"a": 5, "b}": 1}, id="a-whole-float-and-a-brace"),
])  # fmt: skip
def test_forms_of_vo_max_jobs(text, found):
    assert caps.read(text) == found


@pytest.mark.parametrize("cap", ["-1", "1.5", "'many'", "None", "True"])
def test_a_cap_that_is_none_is_reported_and_left_out(cap):
    remarks = []
    assert caps.read(f"{{'a': {cap}, 'b': 0}}", remarks.append) == {"b": 0}
    assert "'a'" in remarks[0].message


@pytest.mark.parametrize("text", ["", "none", "{'a': 5", "{'a': {}}", "{'a': exit()}"])
def test_caps_that_cannot_be_read_are_an_error(text):
    with pytest.raises(UnusableOutput):
        caps.read(text)


def test_maui_takes_the_hard_limit_and_leaves_groups_without_one_out():
    text = (DATA / "maui" / "diagnose-g.txt").read_text()
    assert maui.caps(text) == {"atlsgm": 200, "lhcb": 40, "old": 8}


def test_slurm_takes_the_limits_of_accounts_not_of_their_users():
    assert slurm.read(ASSOCIATIONS) == {"atlas": 20, "cms": 7}
    real = (DATA / "slurm-22.05" / "sacctmgr-assoc.txt").read_text()
    assert slurm.read(real) == {}
    with pytest.raises(UnusableOutput):
        slurm.read("atlas||20|\n")


def test_grid_engine_takes_enabled_quotas_of_projects_and_users():
    assert gridengine.read(QUOTAS) == {"atlas": 100, "lhcb": 10}
