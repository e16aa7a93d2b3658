# ruff: noqa: E501 (a case is a line)
import json
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner
from forcing import forced

from sssjob.cli import sssjob
from sssjob.delivery.runs import fold_run
from sssjob.document import dumps, loads
from sssjob.model import Delivered, Job, Property
from sssjob.translate import read

STATUS = Path(__file__).parent.parent / "data/status"
JOB = """<Job><Id>7</Id><Name>scan</Name><Executable>/bin/echo</Executable><Queue>main</Queue>
<Dependency condition="OnExit" code="3">5</Dependency>
<Requested><Processors>4</Processors><Duration>3600</Duration></Requested></Job>"""
SCRIPT = "#!/bin/bash\n#SBATCH -n 4 --mem=4G\nmodule load x\nsrun ./a.out\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.xml").write_text(JOB)
    (tmp_path / "job.sh").write_text(SCRIPT)

    def called(*words, **options):
        return CliRunner().invoke(sssjob, ["translate", *words], catch_exceptions=False, **options)

    called.path = tmp_path
    return called


def test_a_job_becomes_a_script_and_the_script_the_same_job(run):
    done = run("job.xml", "--to", "sbatch", "-o", "made.sh")
    assert (done.exit_code, done.stdout) == (0, "")
    assert (
        "job.xml:2: warning: Dependency '5' in sbatch: nothing waits for an exit code"
        in done.stderr
    )
    back = loads(run("made.sh", "--to", "sss").stdout)
    assert {item.name: item.text for item in back.properties} == {
        item.name: item.text for item in loads(JOB).properties
    }


def test_a_script_that_people_write_becomes_a_valid_message_and_comes_back(run):
    done = run("job.sh", "--to", "sss", "-o", "out.xml")
    assert done.exit_code == 0
    assert '<File id="script">#!/bin/bash\nmodule load x\n' in (run.path / "out.xml").read_text()
    assert CliRunner().invoke(sssjob, ["validate", "out.xml"]).exit_code == 0
    assert run("out.xml", "--to", "sbatch", "--no-residual").stdout == (
        "#!/bin/bash\n#SBATCH --ntasks=4\n#SBATCH --mem-per-cpu=1G\nmodule load x\nsrun ./a.out\n"
    )


def test_reject_writes_nothing_and_lists_everything(run):
    (run.path / "job.xml").write_text(JOB.replace("<Job>", '<Job awarenessPolicy="Reject">'))
    done = run("job.xml", "--to", "sbatch", "-o", "made.sh", "--losses", "lost")
    assert done.exit_code == 1
    assert not (run.path / "made.sh").exists()
    assert "error: Dependency '5'" in done.stderr
    lost = [json.loads(line) for line in (run.path / "lost").read_text().splitlines()]
    assert {row["path"] for row in lost} == {"/Job/Id", "/Job/Dependency"}
    assert lost[0].keys() == {"job", "path", "value", "target", "reason", "done"}


@pytest.mark.parametrize("around", ["{}", "<JobGroup><Id>g</Id>{}</JobGroup>"])
@pytest.mark.parametrize("target", ["sss", "sbatch"])
def test_what_a_run_of_a_job_was_given_is_among_the_losses(run, around, target):
    asked = Job.of(Id=7, Executable="/bin/true")
    given = Property("ResourceLimit", 60, {"name": "CPUTime"})
    ran = fold_run(asked, Job((Property("Id", 7), given, Delivered((Property("Duration", 9),)))))
    (run.path / "ran.xml").write_text(around.format(dumps(ran.job)))
    done = run("ran.xml", "--to", target, "--losses", "lost")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "ResourceLimit" not in done.stdout
    lost = [json.loads(line) for line in (run.path / "lost").read_text().splitlines()]
    dropped = {row["path"]: row["value"] for row in lost if row["done"] == "dropped"}
    assert dropped == {"/Job/ResourceLimit": "60", "/Job/Delivered/Duration": "9"}


def test_several_jobs_are_several_files(run):
    group = f"<JobGroup><Id>g</Id>{JOB}{JOB.replace('<Id>7', '<Id>../8')}</JobGroup>"
    (run.path / "job.xml").write_text(group)
    done = run("job.xml", "--to", "sbatch")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "2 jobs are 2 files for sbatch" in done.stderr
    assert "add --output-dir DIR, which gets all of them; or --select 7 for" in done.stderr
    assert run("job.xml", "--to", "sbatch", "--output-dir", "out").exit_code == 0
    assert sorted(file.name for file in (run.path / "out").iterdir()) == ["%2E.%2F8.sh", "7.sh"]
    assert run("job.xml", "--to", "sbatch", "--select", "7").stdout.startswith("#!/bin/sh\n")


def test_every_alternative_is_a_file_if_that_is_asked_for(run):
    more = '<Processors preference="1">4</Processors><Processors preference="2">8</Processors>'
    (run.path / "job.xml").write_text(JOB.replace("<Processors>4</Processors>", more))
    assert run("job.xml", "--to", "sbatch", "--all", "--output-dir", "out").exit_code == 0
    texts = {file.name: file.read_text() for file in (run.path / "out").iterdir()}
    assert "--ntasks=8" in texts["7.sh"]
    assert "--ntasks=4" in texts["7.2.sh"]


def test_a_table_tells_what_each_target_makes_of_a_property(run):
    lines = run("job.xml", "--to", "all", "--explain").stdout.splitlines()
    at = lines.index("/Job/Requested/Duration '3600'")
    assert "  sbatch     #SBATCH --time=01:00:00" in lines[at:]
    at = lines.index("/Job/Dependency '5'")
    assert "  sbatch     - nothing waits for an exit code" in lines[at:]


@pytest.mark.parametrize(("words", "said"), [
    (["job.xml", "--to", "sbtach"], "did you mean sbatch?"),
    (["nothing.xml", "--to", "sbatch"], "nothing.xml"),
    (["-", "--to", "sbatch"], "the document is empty"),
    (["job.sh", "--from", "sss", "--to", "sbatch"], "job.sh"),
])  # fmt: skip
def test_what_cannot_be_done_is_told(run, words, said):
    done = run(*words, input="")
    assert done.exit_code in (1, 2)
    assert said in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(("file", "jobs"), [
    ("qstat-xml/jobs.xml", 4), ("qstat-json/jobs.json", 4), ("sge-xml/list-and-details.xml", 5),
    ("squeue-json/odd.json", 5), ("scontrol/odd.txt", 4), ("condor-q/odd.json", 2),
])  # fmt: skip
def test_what_a_batch_system_shows_is_recognised_and_becomes_job_objects(run, file, jobs):
    source = STATUS / file
    done = run(str(source), "--to", "sss")
    assert done.stdout.count("<Job>") == jobs
    named = run(str(source), "--from", file.partition("/")[0], "--to", "sss")
    assert (named.stdout, named.exit_code) == (done.stdout, done.exit_code)
    assert run(str(source), "--to", file.partition("/")[0]).exit_code == 2


def test_a_warning_about_a_record_is_no_job_that_is_not_written(run):
    done = run(str(STATUS / "qstat-xml/jobs.xml"), "--to", "sss")
    assert (done.exit_code, "is not written" in done.stderr) == (0, False)
    assert "warning" in done.stderr


def test_a_directive_that_is_no_option_is_told_and_the_exit_code_says_so(run):
    script = "#!/bin/sh\n#SBATCH --job-name=sim run\nexec /bin/date\n"
    done = run("-", "--to", "sbatch", input=script)
    assert (done.exit_code, done.stdout) == (1, script)
    assert "<stdin>:2: error: #SBATCH: 'run' is not an option" in done.stderr


@pytest.mark.parametrize("word", ["hetjob", "packjob"])
@pytest.mark.parametrize("target", ["sss", "sbatch", "pbs"])
def test_a_job_of_several_components_is_no_job_of_the_last_one(run, word, target):
    script = f"#!/bin/sh\n#SBATCH -n 4\n#SBATCH {word}\n#SBATCH -n 2\nsrun a : b\n"
    done = run("-", "--from", "sbatch", "--to", target, input=script)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"<stdin>:3: error: {word}: a job of several components is not read" in done.stderr


def test_each_row_of_the_table_of_a_script_has_lines_or_a_reason(run):
    script = "#!/bin/bash\n#SBATCH -J scan -n 8 --mem=4G --mail-type=END\nsrun ./scan\n"
    Path("job.sh").write_text(script)
    table = run("job.sh", "--to", "all", "--explain").stdout
    assert "#SBATCH --job-name=scan" in table
    assert "a script is a file of its own" in table
    assert not [line for line in table.splitlines() if line.endswith(" -")]


@pytest.mark.parametrize("policy", ["Warn", "Reject"])
@pytest.mark.parametrize(("more", "told"), [
    ('<Feature>a</Feature><Feature conj="Or">b</Feature>', "Feature 'b' in pbs: of another alternative"),
    ('<Feature>a</Feature><Feature preference="-1">b</Feature>', "Feature 'b' in pbs: a preference, which need not be met"),
])  # fmt: skip
def test_what_is_not_written_of_a_choice_is_told_and_refuses_nothing(run, more, told, policy):
    text = f'<Job awarenessPolicy="{policy}"><Id>1</Id><Executable>/a</Executable><Requested>{more}</Requested></Job>'
    done = run("-", "--to", "pbs", input=text)
    assert (done.exit_code, "a=True" in done.stdout, told in done.stderr) == (0, True, True)


@pytest.mark.parametrize(("name", "targets"), [
    ("Processors", ("sbatch", "pbs", "torque", "condor", "slurmrest", "flux")),
    ("NodeCount", ("pbs", "torque", "condor", "psij", "flux")),
])  # fmt: skip
def test_the_end_of_a_range_that_is_asked_for_is_told_by_its_name(run, name, targets):
    for op, end in (("LE", "the most of a range"), ("GE", "the least of a range")):
        text = f'<Job><Id>1</Id><Executable>/a</Executable><Requested><{name} op="{op}">4</{name}></Requested></Job>'
        for target in targets:
            assert end in run("-", "--to", target, input=text).stderr, target


def test_of_what_is_alike_the_first_is_told_and_how_much_more_there_is(run):
    options = "".join(f"#SBATCH --odd{number}\n" for number in range(1000))
    given = f"#!/bin/sh\n{options}exec /bin/true\n".encode()
    read = run("-", "--to", "sss", input=given)
    assert len(read.stderr.splitlines()) == 21
    assert "<stdin>: warning: and 980 more like these [W-UNKNOWN]" in read.stderr
    written = run("-", "--to", "sge", "--losses", "lost.jsonl", input=read.stdout)
    assert "and 980 more like these at /Job/Extension [E-LOSS]" in written.stderr
    lost = Path("lost.jsonl").read_text().splitlines()
    assert len([line for line in lost if "/Job/Extension" in line]) == 1000


def test_a_script_stands_beside_what_runs_programs_only(run):
    alone = run("job.sh", "--to", "condor")
    assert alone.exit_code == 1
    assert "-o or --output-dir writes it beside" in alone.stderr
    for target in ("condor", "psij", "dagman"):
        assert run("job.sh", "--to", target, "-o", f"x.{target}").exit_code == 0
    for name in ("x.condor.sh", "x.psij.sh", "x.dagman.job.sh"):
        script = run.path / name
        assert script.read_text() == "#!/bin/bash\nmodule load x\nsrun ./a.out\n"
        assert script.stat().st_mode & 0o111 == 0o111
    assert "executable = ./x.condor.sh\n" in Path("x.condor").read_text()
    back = run("x.condor", "--to", "sss").stdout
    assert "<Executable>./x.condor.sh</Executable>" in back


def test_each_job_has_a_script_of_its_own_beside_it(run):
    jobs = "".join(f"<Job><Id>{id_}</Id><Executable>#s</Executable></Job>" for id_ in "ab")
    given = f'<Data><JobGroup>{jobs}</JobGroup><File id="s">true\n</File></Data>'
    assert run("-", "--to", "condor", "--output-dir", "d", input=given).exit_code == 0
    assert sorted(each.name for each in Path("d").iterdir()) == [
        "a.sub",
        "a.sub.sh",
        "b.sub",
        "b.sub.sh",
    ]
    assert Path("d/b.sub.sh").read_text() == "#!/bin/sh\ntrue\n"


@pytest.mark.parametrize("target", ["flux", "flux-canonical", "slurmrest", "jsdl"])
@pytest.mark.parametrize("content", [b"#!/bin/bash\ntrue\n", b"#!/usr/bin/env python3\nprint(1)\n"])
def test_a_script_travels_inside_where_there_is_a_place(run, target, content):
    (run.path / "s.sh").write_bytes(
        content[: content.index(b"\n") + 1] + b"#SBATCH -n1\n" + content[content.index(b"\n") + 1 :]
    )
    written = run("s.sh", "--from", "sbatch", "--to", target).stdout
    (found,) = read(written.encode())
    assert found.job.get("Executable") == "#script"
    assert found.files == {"script": content}


def test_a_directory_a_store_and_records_are_the_documents_in_them(run):
    (run.path / "jobs").mkdir()
    other = JOB.replace("<Id>7", "<Id>8").replace("/bin/echo", "#s")
    (run.path / "jobs" / "a.xml").write_text(JOB)
    (run.path / "jobs" / "b.xml").write_text(
        f"<Data>{other}<File id='s'>#!/bin/sh\ntrue\n</File></Data>"
    )
    stored = CliRunner().invoke(sssjob, ["store", "import", "jobs.db", "jobs"])
    assert stored.exit_code == 0, stored.stderr
    done = run("jobs", "--to", "sbatch", "--output-dir", "one")
    assert done.exit_code == 0
    assert "jobs/a.xml:2: warning: Dependency '5'" in done.stderr
    again = run("jobs.db", "--to", "sbatch", "--output-dir", "two")
    assert again.exit_code == 0
    assert "jobs.db: Job 7:2: warning: Dependency '5'" in again.stderr
    written = [sorted((path.name, path.read_text()) for path in (run.path / each).iterdir())
               for each in ("one", "two")]  # fmt: skip
    assert [name for name, _ in written[0]] == ["7.sh", "8.sh"]
    assert "\ntrue\n" in written[0][1][1]
    assert written[0] == written[1]
    explained = run("jobs.db", "--select", "7", "--to", "sbatch", "--explain").stdout
    assert explained == run("job.xml", "--to", "sbatch", "--explain").stdout


def test_records_are_translated_and_a_bad_one_is_told(run):
    line = "{}|amy|COMPLETED|1700000000|1700000060|16\n"
    rows = "".join(map(line.format, (7, "x")))
    (run.path / "sacct.txt").write_text(f"JobID|User|State|Start|End|NCPUS\n{rows}")
    done = run("sacct.txt", "--to", "sss")
    assert done.exit_code == 1
    assert loads(done.stdout).id == "7"
    assert done.stderr == (
        "sacct.txt:1: notice: recognised as slurm by a header line with JobID\n"
        "sacct.txt:3: error: 'x' is no job id\n"
    )


def test_what_is_neither_document_nor_script_nor_records_is_refused_by_name(run):
    (run.path / "jobs").mkdir()
    (run.path / "jobs" / "a.xml").write_text("neither")
    done = run("jobs", "--to", "sbatch")
    assert done.exit_code == 2
    assert (
        "jobs/a.xml: neither a job object nor a script of a known batch system; name what it is: --from"
        in done.stderr
    )


def test_nothing_is_written_where_two_jobs_have_one_id(run):
    jobs = "".join(JOB.replace("<Id>7", f"<Id>{id_}") for id_ in (7, 8, 7))
    (run.path / "job.xml").write_text(f"<JobGroup><Id>g</Id>{jobs}</JobGroup>")
    done = run("job.xml", "--to", "sbatch", "--output-dir", "out")
    assert (done.exit_code, "two jobs have the id 7" in done.stderr) == (2, True)
    assert not (run.path / "out").exists()


def test_the_directory_of_many_scripts_is_forced_to_disk_once(run, monkeypatch):
    synced = forced(monkeypatch)
    jobs = "".join(JOB.replace("<Id>7", f"<Id>{number}") for number in range(100))
    (run.path / "job.xml").write_text(f"<JobGroup><Id>g</Id>{jobs}</JobGroup>")
    assert run("job.xml", "--to", "sbatch", "--output-dir", "out").exit_code == 0
    assert len([*(run.path / "out").iterdir()]) == 100
    assert synced == [stat.S_IFREG] * 100 + [stat.S_IFDIR]


def test_an_option_that_is_lost_is_told_once_with_its_line(tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --sitewide=3\n#SBATCH --time=soon\n./x\n")
    done = CliRunner().invoke(sssjob, ["translate", "--to", "pbs", str(script)])
    told = [line for line in done.stderr.splitlines() if "--sitewide" in line]
    assert told == [
        f"{script}:2: warning: --sitewide '3' of sbatch in pbs: what this option asks for is not understood "
        "(kept for the way back only) at /Job/Extension (SSS 9.0) [E-LOSS]"
    ]
    why = [line for line in done.stderr.splitlines() if "--time" in line]
    assert any("'soon' is not" in line for line in why)  # the reason is told beside the loss
    same = CliRunner().invoke(sssjob, ["translate", "--to", "sbatch", str(script)])
    assert f"{script}:2: warning: --sitewide 3 is kept as it is" in same.stderr


def test_a_misspelt_option_is_told_with_the_one_that_is_meant(tmp_path):
    script = tmp_path / "job.sh"
    script.write_text("#!/bin/sh\n#SBATCH --tiem=5 --mem-bind=local --nodes=two\n")
    done = CliRunner().invoke(sssjob, ["translate", "--to", "pbs", str(script)])
    first, *rest = (each.partition(": ")[2] for each in done.stderr.splitlines())
    assert first.startswith("warning: --tiem 5 is kept as it is: ")
    assert first.endswith("; did you mean --time? [W-UNKNOWN]")
    assert len(rest) == 3  # what becomes of each
    assert "--nodes 'two' of sbatch in pbs: what this option asks for is not understood" in rest[-1]
