"""A real Slurm with slurmdbd says which jobs there were, and what was used: audits agree, and tell.

Where no cluster can be started, the tests say why.
"""

import json

import pytest
import slurm_cluster
from batch_jobs import COMMAND
from daemons import started
from waiting import until

pytestmark = pytest.mark.interop

UTC = {"TZ": "UTC", "SLURM_TIME_FORMAT": "%s"}
COLUMNS = "JobID,JobIDRaw,Cluster,State,ExitCode,Submit,Start,End,ElapsedRaw,NCPUS,TotalCPU"
LIST = ("sacct", "-aDPX", "-S", "now-1days", "-E", "now", "-o", COLUMNS)
HOURS = 3 * 3600
# sreport knows hours that are over: the jobs are made to have run some hours ago.
EARLIER = f"""
update sssjob_job_table set time_submit = time_submit - {HOURS}, time_start = time_start - {HOURS},
    time_end = time_end - {HOURS}, time_eligible = if(time_eligible, time_eligible - {HOURS}, 0);
update sssjob_event_table set time_start = time_start - {HOURS};
"""
LONGER = "update sssjob_job_table set time_end = time_end + 5 where id_job = 2;"


@pytest.fixture(scope="module")
def cluster():
    """A cluster on which three jobs of 1, 2 and 3 processors ran some hours ago."""
    place = started(slurm_cluster.start)
    try:
        for processors in (1, 2, 3):
            place.run(
                "sbatch", "--wait", "--output=/dev/null", "--chdir=/tmp", f"-n{processors}",
                "--wrap=sleep 1",
            )  # fmt: skip
        place.answers(*LIST, holds=lambda printed: printed.count("COMPLETED") >= 3)
        (server,) = (each for each in place.daemons if each.args[0] == "slurmdbd")
        server.terminate()
        server.wait()
        place.daemons.remove(server)
        database(place, EARLIER)
        place.daemon("slurmdbd", "-D")  # it adds up what is over when it begins
        place.answers("sacctmgr", "-n", "show", "cluster")
        (place.root / "work/all.txt").write_text(listed(place))
        yield place
    finally:
        place.stop()


def database(place, text):
    place.run("mariadb", "--no-defaults", "-uroot", "-S", place.root / "sql.socket", "slurm",
              stdin=text)  # fmt: skip


def listed(place):
    return place.run(*LIST, env=UTC)


def audited(place, *arguments):
    words = (COMMAND, "audit", "--ask", "slurm", "--since", "2020", *arguments)
    return place.run(*words, check=False, env=UTC)


def test_all_that_Slurm_lists_was_read(cluster):
    shown = audited(cluster, cluster.root / "work/all.txt").splitlines()
    assert shown[-1].split()[-7:] == ["3", "3", *"00000"], cluster.logs()
    assert shown[1].startswith("sssjob ")


def test_a_list_without_its_last_job_is_truncated(cluster):
    some = cluster.root / "work/some.txt"
    lines = (cluster.root / "work/all.txt").read_text().splitlines(keepends=True)
    some.write_text("".join(lines[:-1]))
    assert "\ntruncated: sssjob 3 (submitted " in audited(cluster, some)


@pytest.mark.parametrize("report", ["Utilization", "AccountUtilizationByUser"])
def test_processor_seconds_are_those_of_sreport(cluster, report):
    asking = ("sreport", "-P", "-t", "Seconds", "cluster", report, "start=now-1days", "end=now")
    cluster.answers(*asking, holds=lambda printed: "\nsssjob|" in printed)
    file = cluster.root / f"work/{report}.txt"
    file.write_text(cluster.run(*asking, env=UTC))
    shown = audited(cluster, "--against", file, cluster.root / "work/all.txt")
    assert f"\nagrees: {file}: sssjob, " in shown, file.read_text()[:400]


def test_what_is_changed_in_the_database_later_is_told(cluster):
    database(cluster, LONGER)
    shown = audited(cluster, cluster.root / "work/all.txt")
    assert "\nchanged: sssjob 2 (submitted " in shown
    assert "EndTime " in shown


def test_a_report_of_a_ledger_has_the_seconds_of_sreport(cluster):
    asking = ("sreport", "-P", "-t", "Seconds", "cluster", "AccountUtilizationByUser", "start={}",
              "end={}")  # fmt: skip
    hour = int(cluster.run("date", "+%s")) // 3600 * 3600
    since, until = hour - 6 * 3600, hour
    asked = [
        word.format(cluster.run("date", "-u", "-d", f"@{at}", "+%Y-%m-%dT%H:%M:%S").strip())
        for word, at in zip(asking, (0,) * 6 + (since, until), strict=True)
    ]
    printed = cluster.run(*asked, env=UTC).splitlines()
    names = next(line for line in printed if line.startswith("Cluster|")).split("|")
    rows = [dict(zip(names, line.split("|"), strict=True)) for line in printed if "|" in line]
    wanted = {row["Login"]: int(row["Used"]) for row in rows if row["Login"] not in ("", "Login")}
    usage = cluster.root / "work/usage"
    cluster.run(COMMAND, "ledger", "ingest", usage, cluster.root / "work/all.txt", env=UTC)
    text = "SELECT DISTINCT user FROM usage"
    users = cluster.run(COMMAND, "ledger", "sql", usage, text).split()[1:]
    window = ("--since", since, "--until", until)
    report = json.loads(cluster.run(COMMAND, "ledger", "report", "--json", *window, usage))
    assert [*wanted.values()] == [report["total"]["processor_seconds"]], (printed, users)


PROFILE = """\
workers = 2
memory_mib = 1000
interface = "lo"
queue = "main"
"""


def test_dask_works_on_the_nodes_of_the_cluster(cluster):
    work = cluster.root / "work"
    (work / "cluster.toml").write_text(PROFILE)
    lines = (work / "all.txt").read_text().splitlines()
    header, first = lines[0], lines[1].partition("|")[2]
    (work / "many.txt").write_text(
        "\n".join([header, *(f"{number}|{first}" for number in range(20_000))]) + "\n"
    )
    for name, words in {"alone": (), "together": ON_SLURM}.items():
        cluster.run("/bin/sh", "-c", f'cd work && "$0" "$@" > {name}.sss', COMMAND, "convert",
                    "--from", "slurm", *words, "many.txt", env=UTC)  # fmt: skip
    assert (work / "together.sss").read_bytes() == (work / "alone.sss").read_bytes()

    def workers():  # slurmdbd may hear of a job behind its end
        told = cluster.run("sacct", "-aPXn", "-o", "JobName,Partition", env=UTC)
        return told.splitlines().count("sssjob|main")

    assert until(lambda: workers() >= 2)
    assert workers() == 2


ON_SLURM = ("--cluster", "slurm", "--cluster-profile", "cluster.toml")
