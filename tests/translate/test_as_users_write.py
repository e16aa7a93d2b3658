"""Scripts as people write them mean the same when they are written again."""

import pytest
from translated import comes_back, script

from sssjob.document import loads
from sssjob.translate import Settings, read, translate

SYSTEMS = [("pbs", "#PBS"), ("torque", "#PBS"), ("sge", "#$")]


def again(source, options, target, first="#!/bin/sh"):
    """Directives of a script that is read and written, and the reasons of what is told."""
    (found,) = read(f"{first}\n{options}\nrun\n".encode(), source)
    done = translate(found.job, to=target, settings=Settings(files=found.files, residual=False))
    lines = [line for line in done.text.splitlines() if line.startswith(("#PBS", "#$", "#SBATCH"))]
    return lines, [loss.reason for loss in done.losses]


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2701151200", "202701151200.00"),  # [[CC]YY]MMDDhhmm[.SS]
        ("2701151200.30", "202701151200.30"),
        ("202701151200", "202701151200.00"),
        ("01151200", "01151200"),  # the year is that in which it is submitted
        ("01151200.30", "01151200.30"),
    ],
)
def test_how_many_digits_a_time_has_tells_what_they_are(system, mark, value, written):
    lines, _ = again(system, f"{mark} -a {value}", system)
    assert f"{mark} -a {written}" in lines


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize("to", ["amy@x.org,bob@x.org", "amy", "amy,bob@x.org"])
def test_mail_goes_to_whom_the_script_names(system, mark, to):
    lines, _ = again(system, f"{mark} -m be -M {to}", system)
    assert f"{mark} -M {to}" in lines


def test_several_addresses_of_mail_are_those_of_another_system_too():
    lines, told = again("pbs", "#PBS -m e -M amy@x.org,bob@x.org", "sbatch")
    assert "#SBATCH --mail-user=amy@x.org,bob@x.org" in lines
    assert not told


@pytest.mark.parametrize(("system", "mark"), SYSTEMS)
@pytest.mark.parametrize("first", ["#!/bin/sh", "#!/bin/bash -l"])
def test_a_shell_that_is_not_that_of_the_first_line_stays_the_shell(system, mark, first):
    lines, told = again(system, f"{mark} -S /bin/bash", system, first)
    assert [line for line in lines if " -S " in line] == [f"{mark} -S /bin/bash"]
    assert not told
    _, told = again(system, f"{mark} -S /bin/bash", "sbatch", first)
    assert told == ["there is no option for it"]


@pytest.mark.parametrize("option", ["--mem=", "--export=", "--dependency=", "--comment="])
def test_an_empty_value_of_slurm_is_none_that_is_missing(option):
    (found,) = read(script("#SBATCH", ["--job-name=a", option, "--requeue"]), "sbatch")
    text = translate(found.job, "sbatch", Settings(residual=False)).text
    assert f"#SBATCH {option}\n" in text
    comes_back(found.job, "sbatch")


def kept(source, options, first="#!/bin/sh"):
    """The options of a script that stay as they are."""
    (found,) = read(f"{first}\n{options}\nrun\n".encode(), source)
    return {
        (item.attributes["name"], item.text)
        for item in found.job.properties.all("Extension")
        if item.attributes["name"] != "order"
    }


@pytest.mark.parametrize(
    "value", ["ALL,A", "ALL,A=1,B", "ALL,A=x,y", "NONE,A", "A", "A=1,B", "NIL", "ALL,1A=2"]
)
def test_a_list_of_variables_is_read_as_a_whole_or_stays_as_it_is(value):
    assert kept("sbatch", f"#SBATCH --export={value}") == {("--export", value)}
    lines, _ = again("sbatch", f"#SBATCH --export={value}", "sbatch")
    assert lines == [f"#SBATCH --export={value}"]
    _, told = again("sbatch", f"#SBATCH --export={value}", "sge")
    assert told == ["there is no option for it"]


def test_of_several_lists_of_variables_the_last_one_counts_and_the_others_are_told():
    text = b"#!/bin/sh\n#SBATCH --export=A=1\n#SBATCH --export=B=2\nrun\n"
    (found,) = read(text, "sbatch")
    assert [each.message for each in found.findings] == [
        "--export A=1 does not count: --export B=2 stands behind it"
    ]


@pytest.mark.parametrize("name", ["h", "hostname"])
@pytest.mark.parametrize(
    "value", ["n1*|n2", "n1*|n2*", "!n1*", "(n1|n2)&!m?", "(n*)&!m1|x", "@all"]
)
def test_hosts_that_no_request_can_say_stay_by_the_name_that_they_have(name, value):
    assert kept("sge", f"#$ -l {name}={value}") == {(f"-l {name}", value)}
    lines, _ = again("sge", f"#$ -l {name}={value}", "sge")
    assert f"#$ -l {name}={value}" in lines


@pytest.mark.parametrize("value", ["lx*", "lx-amd64|lx?", "!lx-x86", "a&b"])
def test_a_pattern_of_an_architecture_is_none(value):
    assert kept("sge", f"#$ -l arch={value}") == {("-l arch", value)}


@pytest.mark.parametrize(("value", "text"), [("no", "false"), ("yes", "true"), ("n", "false")])
def test_whether_a_job_of_grid_engine_runs_again_has_two_spellings(value, text):
    (found,) = read(f"#!/bin/sh\n#$ -r {value}\nrun\n".encode(), "sge")
    assert found.job.get("Restartable") == text


@pytest.mark.parametrize(("system", "mark", "join"), [
    ("pbs", "#PBS", "oe"), ("torque", "#PBS", "oe"), ("sge", "#$", "y"), ("sge", "#$", "yes"),
])  # fmt: skip
def test_the_file_of_errors_means_nothing_where_both_outputs_are_one(system, mark, join):
    options = f"{mark} -o o.txt\n{mark} -e e.txt\n{mark} -j {join}"
    assert kept(system, options) == {("-e", "e.txt")}
    lines, told = again(system, options, system)
    assert f"{mark} -o o.txt" in lines
    assert f"{mark} -j {join[:2].replace('yes'[:2], 'y')}" in lines
    assert not told
    lines, _ = again(system, options, "sbatch")
    assert lines == ["#SBATCH --output=o.txt"]


@pytest.mark.parametrize("system", ["pbs", "torque"])
def test_both_outputs_in_the_file_of_errors_are_in_that_file(system):
    options = "#PBS -o o.txt\n#PBS -e e.txt\n#PBS -j eo"
    assert kept(system, options) == {("-o", "o.txt")}
    lines, _ = again(system, options, "sbatch")
    assert lines == ["#SBATCH --output=e.txt"]
    (found,) = read(b"#!/bin/sh\n#PBS -j eo\nrun\n", system)
    assert "-j eo: the file has the same name as that of the output" in [
        each.message for each in found.findings
    ]


@pytest.mark.parametrize("system", ["pbs", "torque"])
def test_the_host_to_which_a_file_is_brought_is_kept_beside_the_file(system):
    assert kept(system, "#PBS -o host:/a/b") == {("host of OutputFile", "host")}
    lines, told = again(system, "#PBS -o host:/a/b", system)
    assert "#PBS -o host:/a/b" in lines
    assert not told
    lines, told = again(system, "#PBS -o host:/a/b", "sbatch")
    assert (lines, told) == (["#SBATCH --output=/a/b"], ["there is no option for it"])
    assert kept(system, "#PBS -o host:b") == {("-o", "host:b")}


@pytest.mark.parametrize("system", ["pbs", "torque"])
def test_a_host_without_its_file_or_that_is_none_is_told(system):
    extension = f'<Extension type="{system}" name="host of OutputFile">'
    for more, reason in (
        (f"{extension}h</Extension>", "no file is named that is brought there"),
        (f"<OutputFile>/o</OutputFile>{extension}a b</Extension>", "it is no name of a host"),
    ):
        job = loads(f"<Job>{more}<Executable>/bin/x</Executable></Job>")
        found = translate(job, system)
        assert [loss.reason for loss in found.losses] == [reason]


@pytest.mark.parametrize("system", ["pbs", "torque"])
def test_a_name_with_a_colon_is_refused_where_that_means_a_host(system):
    lines, told = again("sbatch", "#SBATCH --output=a:b", system)
    assert not [line for line in lines if " -o " in line]
    assert told == ["':' is not a plain text there: it stands for something else"]


@pytest.mark.parametrize(("source", "option", "value"), [
    ("sbatch", "--clusters", "c1,c2"),
    ("sbatch", "--clusters", "all"),
    ("sbatch", "--reservation", "r1,r2"),
    ("lsf", "-clusters", "c1+1"),
    ("lsf", "-cwd", "/scratch/%J"),
])  # fmt: skip
def test_a_value_that_means_several_is_no_name(source, option, value):
    mark, joint = ("#SBATCH", "=") if source == "sbatch" else ("#BSUB", " ")
    assert kept(source, f"{mark} {option}{joint}{value}") == {(option, value)}


@pytest.mark.parametrize(("name", "text", "targets"), [
    ("Queue", "a,b", ("sbatch", "sge", "pbs", "torque")),
    ("Queue", "a@b", ("sge", "pbs", "torque")),
    ("Queue", "a*", ("sge",)),
    ("Machine", "a,b", ("sbatch", "pbs", "torque", "lsf")),
    ("Machine", "all", ("sbatch", "lsf")),
    ("Reservation", "a,b", ("sbatch",)),
    ("Architecture", "x*", ("sge",)),
    ("InitialWorkingDirectory", "/a/%J", ("lsf",)),
])  # fmt: skip
def test_a_name_that_would_mean_several_there_is_not_written(name, text, targets):
    job = loads(f"<Job><Id>1</Id><Executable>/bin/x</Executable><{name}>{text}</{name}></Job>")
    for target in targets:
        done = translate(job, target, Settings(residual=False))
        assert text not in done.text, target
        assert [loss.path for loss in done.losses if loss.path != "/Job/Id"] == [f"/Job/{name}"]


def test_selections_of_lsf_hold_together():
    (found,) = read(b'#!/bin/sh\n#BSUB -R "select[a]"\n#BSUB -R "select[b]"\nrun\n', "lsf")
    assert [item.text for item in found.job.requested.all("Feature")] == ["a", "b"]
    assert not found.findings


def test_of_two_options_of_what_slurm_waits_for_the_last_one_counts():
    text = b"#!/bin/sh\n#SBATCH -d afterok:1\n#SBATCH -d afterok:2\nrun\n"
    (found,) = read(text, "sbatch")
    assert [item.text for item in found.job.properties.all("Dependency")] == ["2"]
    assert [each.message for each in found.findings] == [
        "--dependency afterok:1 does not count: --dependency afterok:2 stands behind it"
    ]


@pytest.mark.parametrize(("source", "option"), [
    ("pbs", "-l walltime"), ("pbs", "-l select"), ("pbs", "-W depend"), ("torque", "-l nodes"),
    ("torque", "-l mem"), ("torque", "-W x"),
])  # fmt: skip
def test_an_option_without_the_value_that_it_needs_stays_as_it_is(source, option):
    mark = "#$" if source == "sge" else "#PBS"
    assert kept(source, f"{mark} {option}") == {(option, "")}
