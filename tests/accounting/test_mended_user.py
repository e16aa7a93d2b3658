"""A record of a job again, with another user: another run of HTCondor, else one that was mended.

A GlobalJobId tells a job of HTCondor, and not that an Id is spelled like a part of one.
"""

import json
from itertools import permutations

import pytest
from click.testing import CliRunner
from engines import address  # noqa: F401 (a fixture)
from summed import call, sums

from sssjob.cli import sssjob

ONE = "s#7.1#1700000000"


def of_grid_engine(user, task="1"):
    return (
        f"main.q:n1:amy:{user}:a:7:sge:0:1700000000:1700000100:1700000700:0:0:600:1.5:0.5:4716.0"
        ":0:0:0:0:808:1:0:328.0:32:0:0:0:7:11:physics:defaultdepartment:NONE:1"
        f":{task}:2.0:0.0:0.0:-l h_rt=3600:0.0:NONE:0.0:0:0\n"
    )


def of_pbs(user):
    return (
        f"11/14/2023 22:25:00;E;7[1].srv;user={user} group=g jobname=a queue=q ctime=1700000000"
        " qtime=1700000000 etime=1700000000 start=1700000100 exec_host=n1/0*0 end=1700000700"
        " Exit_status=0 resources_used.ncpus=1 resources_used.walltime=00:10:00 run_count=1\n"
    )


def ad(user):
    told = {
        "GlobalJobId": ONE, "ClusterId": 7, "ProcId": 1, "Owner": user, "JobStatus": 4,
        "QDate": 1700000000, "JobCurrentStartDate": 1700000100, "CompletionDate": 1700000700,
        "RemoteWallClockTime": 600, "CpusProvisioned": 1,
    }  # fmt: skip
    return json.dumps(told) + "\n"


def document(user, one=""):
    known = f"<GlobalId>{one}</GlobalId>" if one else ""
    return (
        f"<Job><Id>7.1</Id>{known}<SubmitTime>1700000000</SubmitTime>"
        "<StartTime>1700000100</StartTime><EndTime>1700000700</EndTime>"
        f"<Delivered><Duration>600</Duration><User>{user}</User></Delivered></Job>\n"
    )


# Two records of a job, of amy and of bob, and of how many runs they are.
TWO = {
    "a task of Grid Engine": ([of_grid_engine("amy"), of_grid_engine("bob")], 1),
    "a job of Grid Engine": ([of_grid_engine("amy", "0"), of_grid_engine("bob", "0")], 1),
    "a task of PBS": ([of_pbs("amy"), of_pbs("bob")], 1),
    "documents that tell no system": ([document("amy"), document("bob")], 1),
    "a job of HTCondor": ([ad("amy"), ad("bob")], 2),
    "documents of HTCondor": ([document("amy", ONE), document("bob", ONE)], 2),
    "one that tells that it is of HTCondor": ([document("amy", ONE), document("bob")], 2),
    "a report about a job of HTCondor": ([ad("amy"), document("bob")], 2),
}  # fmt: skip


@pytest.fixture(params=TWO.values(), ids=TWO)
def two(request, tmp_path):
    """Files with a record each, and of how many runs they are."""
    texts, runs = request.param
    return written(texts, tmp_path), (runs, runs * 600)


def written(texts, folder):
    files = [folder / f"{at}.{'xml' if text[0] == '<' else 'log'}" for at, text in enumerate(texts)]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    return files


def test_reports_and_what_is_converted_have_one_run_or_two(two, tmp_path):
    files, wanted = two
    for order in permutations(files):
        assert sums("report", *order) == sums("report", "--workers", 2, *order) == wanted
        call("convert", "-o", tmp_path / "jobs.sss", *order)
        assert sums("report", tmp_path / "jobs.sss") == wanted


@pytest.mark.parametrize(
    ("format_", "record", "runs"),
    [("sge", of_grid_engine, 1), ("pbs", of_pbs, 1), ("condor", ad, 2)],
)
def test_a_log_that_is_converted_as_it_grows_has_one_run_or_two(tmp_path, format_, record, runs):
    log, made = tmp_path / "log", [tmp_path / "1.sss", tmp_path / "2.sss"]
    for user, target in zip(("amy", "bob"), made, strict=True):
        with log.open("a") as file:
            file.write(record(user))
        call("convert", "--from", format_, "--state", tmp_path / "state", "-o", target, log)
    assert sums("report", *made) == (runs, runs * 600)


def test_a_ledger_has_one_run_or_two(two, tmp_path):
    files, wanted = two
    for at, order in enumerate(permutations(files)):
        both, apart = tmp_path / f"both-{at}", tmp_path / f"apart-{at}"
        call("ledger", "ingest", both, *order)
        for file in order:
            call("ledger", "ingest", apart, file)
        assert sums("report", both) == sums("report", apart) == wanted


def test_a_store_has_one_run_or_two_however_they_come(two, tmp_path, address):  # noqa: F811
    files, wanted = two
    for file in files:
        call("store", "import", address, file)
    assert sums("report", address) == wanted
    for at, order in enumerate(permutations(files)):
        call("store", "import", tmp_path / f"{at}.db", *order)
        assert sums("report", tmp_path / f"{at}.db") == wanted


def test_what_is_delivered_to_a_store_with_another_user_is_of_the_run_that_it_has(two, tmp_path):
    (first, second), (runs, _) = two
    jobs = tmp_path / "jobs.db"
    call("store", "import", jobs, first)
    delivered = CliRunner().invoke(
        sssjob, ["deliver", "--overwrite", "--record", str(second), str(jobs)]
    )
    assert runs == 2 or delivered.exit_code == 0
    assert sums("report", jobs) == (1, 600)
    user = call("query", "string(/Job/Delivered/User)", jobs).stdout.strip()
    assert runs == 2 or user == "bob"


# That only one side tells a GlobalJobId tells an audit no user apart.
@pytest.mark.parametrize(
    "name", [name for name in TWO if not name.startswith(("one ", "a report"))]
)
def test_an_audit_misses_what_is_another_run_and_tells_what_was_mended(name, tmp_path):
    texts, runs = TWO[name]
    first, second = written(texts, tmp_path)
    words = "audit", "--json", "--against", first, second
    total = json.loads(CliRunner().invoke(sssjob, [*map(str, words)]).stdout)["total"]
    assert total["missing"] == total["unlisted"] == runs - 1
    assert total["changed"] == 2 - runs
