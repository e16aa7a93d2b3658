"""A cluster of Dask does what processes of this machine do, also where workers are lost."""

import json
import logging
from importlib.util import find_spec
from pathlib import Path

import pytest
import work as tasks
from click.testing import CliRunner

pytest.importorskip("distributed")
pytest.importorskip("duckdb")

import dask
from distributed import LocalCluster
from object_store import served

from sssjob import clusters
from sssjob.cli import sssjob
from sssjob.errors import UnusableCluster, UnusableInput, WorkFailed
from sssjob.workers import PartWork, Workers

EXAMPLES = Path(__file__).parents[2] / "examples"
SUBMIT = 1_795_168_800
SACCT = EXAMPLES / "slurm" / "sacct.txt"


@pytest.fixture(scope="module")
def bucket():
    """A bucket of an object store that workers know, too; "" where there is none."""
    if not all(map(find_spec, ("moto", "s3fs"))):
        yield ""
        return
    with served() as found:
        yield found


@pytest.fixture(scope="module")
def address(bucket):
    """The scheduler of two workers, each a process of one thread, which are started anew."""
    with (
        clusters.running_loop() as loop,
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=60, loop=loop
        ) as cluster,
    ):
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def crew(address):
    with clusters.connected(address) as found:
        yield found


def given(crew, name, parts, *arguments, **options):
    with Workers(PartWork(f"work:{name}", arguments), crew) as some:
        return list(some.in_order(parts, **options))


@pytest.mark.parametrize("size", [0, 1, 2, 50, 1000])
def test_results_stand_beside_their_parts_in_the_order_of_these(crew, size):
    found = given(crew, "squares", range(size), 1)
    assert found == [(number, number * number + 1) for number in range(size)]


def test_no_more_is_taken_than_is_sent_and_what_waits_is_known(crew):
    taken = []

    def parts():
        for number in range(100):
            taken.append(number)
            yield number

    with Workers(PartWork("work:squares"), crew) as some:
        for number, (part, _) in enumerate(some.in_order(parts())):
            assert part == number
            assert some.waiting == taken[number + 1 :]


def test_every_worker_works(crew, tmp_path):
    """Also where one of them is late: the other waits for it."""
    assert len({made for _, made in given(crew, "meeting", range(40), str(tmp_path), 2)}) == 2


def test_bytes_of_a_result_come_as_they_are(crew):
    found = given(crew, "doubled_apart", (bytes([number]) * (1 << 20) for number in range(7)))
    assert [(size, bytes(data)) for _, (size, data) in found] == [
        (1 << 20, bytes([number]) * (2 << 20)) for number in range(7)
    ]


def test_what_the_work_raises_is_raised_in_its_turn(crew):
    with Workers(PartWork("work:failing", (5, tasks.no_input)), crew) as some:
        found = some.in_order(range(20))
        assert [next(found) for _ in range(5)] == [(number, number) for number in range(5)]
        with pytest.raises(UnusableInput, match="no header"):
            next(found)
    with pytest.raises(WorkFailed, match="Untravelled"):
        given(crew, "failing", range(20), 5, tasks.untravelled)


def test_names_of_files_are_those_of_who_asks(crew, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("log").write_bytes(b"12345")
    assert given(crew, "sizes", ["log"]) == [("log", 5)]


def test_a_file_that_only_this_machine_has_is_told(crew, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").touch()
    with pytest.raises(UnusableCluster, match=r"log: a worker does not see this file"):
        given(crew, "absent", ["log"])


def answered(*words):
    found = CliRunner().invoke(sssjob, [*map(str, words)])
    return found.exit_code, found.stdout


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Records of several parts, with irregular lines, and small files beside them."""
    folder = tmp_path_factory.mktemp("logs")
    header = "JobID|Cluster|User|Account|State|Submit|Start|End|ElapsedRaw|NCPUS|WorkDir\n"
    jobs = (
        f"{at}|c|u{at % 7}|chem|COMPLETED|{SUBMIT + at}|{SUBMIT + at + 60}|{SUBMIT + 99 * at}|"
        f"{98 * at}|{at % 5}|{'/' * 60}\n{'torn|' * (at % 1000 == 0)}\n"
        for at in range(10_000)
    )
    (folder / "large.txt").write_text(header + "".join(jobs))
    (folder / "small.txt").write_bytes(SACCT.read_bytes())
    return folder


@pytest.mark.parametrize(("told", "level"), [({}, logging.CRITICAL), ({"distributed": "debug"}, 5)])
def test_a_command_is_silent_of_connections_unless_dask_is_told_to_log(
    address, logs, monkeypatch, told, level
):
    for name in ("distributed", "distributed.client"):
        monkeypatch.setattr(logging.getLogger(name), "level", 5)
    query = "query", "//Job/Id", "--cluster", address
    with dask.config.set(logging=told):
        assert answered(*query, logs / "small.txt")[0] == 0
    for name in ("distributed.batched", "distributed.client"):
        assert logging.getLogger(name).getEffectiveLevel() == level


@pytest.mark.parametrize("words", [
    ("convert", "--from", "slurm"),
    ("convert", "--from", "slurm", "--to", "sss"),
    ("report", "--from", "slurm", "--json", "--by", "user,day"),
    ("query", "//Job[Delivered/Processors > 1]/Id"),
    ("query", "--count", "//Job[State='Failed']"),
], ids=" ".join)  # fmt: skip
def test_a_command_prints_what_it_prints_by_one_process(address, logs, words):
    name, *rest = words
    files = sorted(logs.iterdir())
    found = answered(name, "--cluster", address, *rest, *files)
    assert found == answered(name, "--workers", 1, *rest, *files)
    assert found[1]


@pytest.mark.parametrize("is_far", [False, True], ids=["directory", "object-store"])
def test_a_ledger_has_the_same_runs_and_the_same_reports(address, bucket, logs, tmp_path, is_far):
    here, there = tmp_path / "here", f"{bucket}/there" if is_far else tmp_path / "there"
    if is_far and not bucket:
        pytest.skip("needs moto and s3fs")
    told = [
        answered("ledger", "ingest", "--from", "slurm", "--json", *more, home, *logs.iterdir())
        for home, more in ((here, ()), (there, ("--cluster", address)))
    ]
    assert told[0] == told[1]
    assert json.loads(told[0][1])["new"] > 5000
    asked = "SELECT * EXCLUDE (source) FROM usage ORDER BY ALL"
    assert answered("ledger", "sql", here, asked) == answered("ledger", "sql", there, asked)
    for by in (("--by", "user,month"), ("--by", "day", "--since", "2026-11-20T12:00")):
        report = answered("ledger", "report", "--json", *by, here)
        assert report == answered("ledger", "report", "--json", *by, "--cluster", address, there)
        assert report[0] == 0
    words = "query", "--count", "//Job[Delivered/Duration > 500000]"
    found = answered(*words, here)
    assert found == answered(*words, "--cluster", address, there)
    assert found[0] == 0


@pytest.mark.parametrize("words, expected", [
    (("--cluster", "tcp://127.0.0.1:1"), "tcp://127.0.0.1:1: "),
    (("--cluster", "nonsense://x"), "cluster nonsense://x: "),
    (("--cluster", "tcp://a..b:1"), "cluster tcp://a..b:1: its host is no name"),
    (("--cluster-profile", "p.toml"), "needs --cluster"),
    (("--cluster", "tcp://127.0.0.1:1", "--workers", "3"), "has workers already"),
    (("--cluster", "slurm", "--cluster-profile", "none.toml"), "none.toml"),
])  # fmt: skip
def test_a_cluster_that_is_none_is_told(words, expected, monkeypatch):
    monkeypatch.setattr(clusters, "_ANSWER", 1)
    found = CliRunner().invoke(sssjob, ["convert", *words, str(SACCT)])
    assert (found.exit_code, found.stdout) == (2, "")
    assert expected in found.stderr


def test_workers_of_another_version_are_refused(address, monkeypatch):
    monkeypatch.setattr(clusters, "__version__", "0.0")
    refused = pytest.raises(
        UnusableCluster, match=r"^cluster tcp:\S+: workers have sssjob .*, and this is 0\.0"
    )
    with refused, clusters.connected(address):
        pass


# These end workers, which takes those behind them some seconds.


def test_a_lost_worker_costs_its_parts_only(crew, tmp_path):
    found = given(crew, "ended_once", range(300), str(tmp_path), 150)
    assert found == [(number, number) for number in range(300)]
    assert (tmp_path / "ended").exists()


def test_a_part_that_ends_each_worker_is_named(crew):
    with pytest.raises(UnusableCluster, match=r"log:40: several workers ended"):
        given(crew, "ended", [40], 40, 9, place=lambda part: f"log:{part}")
    assert given(crew, "squares", range(9)) == [(number, number**2) for number in range(9)]
