"""One File that many jobs name is written beside each, as far as that is in proportion."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.document import attached

COMMANDS = {
    "canon": ["canon"],
    "canon with comments": ["canon", "--comments"],
    "lines": ["show", "--to", "sss-lines"],
    "gold": ["show", "--to", "sss", "--dialect", "gold"],
}
STORES = COMMANDS | {
    "export": ["store", "export"],
    "export as JSON": ["store", "export", "--to", "json"],
    "show": ["show", "--to", "sss"],
    "translate": ["translate", "--to", "sss"],
}


@pytest.fixture
def written(tmp_path, monkeypatch):
    monkeypatch.setattr(attached, "GIVEN", 5000)

    def write(command, jobs, size):
        named = "".join(f"<Job><Id>{n}</Id><Executable>#f</Executable></Job>" for n in range(jobs))
        file = tmp_path / "jobs.xml"
        file.write_text(f"<Data>{named}<File id='f'>{'x' * size}</File></Data>")
        result = CliRunner().invoke(sssjob, [*command, str(file)])
        assert result.exit_code == 0
        return result.stdout, result.stderr, file.stat().st_size

    return write


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_few_jobs_have_their_file_beside_each(command, written):
    out, said, _ = written(command, 5, 1000)
    assert out.count("x" * 1000) == 5
    assert not said


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("jobs", [6, 20])
def test_what_goes_beyond_is_left_out_and_told_of_each(command, jobs, written, monkeypatch):
    monkeypatch.setattr(attached, "GIVEN_FOR_EACH", 0)
    out, said, _ = written(command, jobs, 1000)
    assert out.count("x" * 1000) == 5
    assert out.count("<Executable>#f</Executable>") == jobs
    told = [line for line in said.splitlines() if "warning: Files that Job" in line]
    assert len(told) == jobs - 5
    assert "are left out: more than 0 MiB of Files beside the job objects" in told[0]


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("jobs", [150, 300])
def test_what_is_written_is_in_proportion_to_what_was_read(command, jobs, written):
    out, _, size = written(command, jobs, 100 * jobs)
    assert len(out) < 110 * size


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of so many jobs that name one File, with others that name another."""
    monkeypatch.setattr(attached, "GIVEN", 5000)
    monkeypatch.setattr(attached, "GIVEN_FOR_EACH", 0)

    def made(jobs, size):
        file = tmp_path / "jobs.xml"
        file.write_text(document(jobs, size))
        address = str(tmp_path / "jobs.db")
        assert CliRunner().invoke(sssjob, ["store", "import", address, str(file)]).exit_code == 0
        return address

    return made


def document(jobs, size):
    named = "".join(f"<Job><Id>{n}</Id><Executable>#f</Executable></Job>" for n in range(jobs))
    return f"<Data>{named}<File id='f'>{'x' * size}</File></Data>"


@pytest.mark.parametrize("command", STORES.values(), ids=STORES)
@pytest.mark.parametrize("jobs", [5, 6, 20])
def test_files_of_a_store_are_bound_as_those_of_a_file(command, jobs, store):
    result = CliRunner().invoke(sssjob, [*command, store(jobs, 1000)])
    assert result.stdout.count("x" * 1000) == 5
    assert result.stdout.count("#f") == jobs
    told = [line for line in result.stderr.splitlines() if "Files that Job" in line]
    assert len(told) == jobs - 5
    assert all("are left out: more than 0 MiB of Files beside the job objects" in x for x in told)
    assert result.exit_code == ("export" in command and jobs > 5)


def test_an_export_without_some_files_tells_what_has_them_all(store):
    address = store(20, 1000)
    result = CliRunner().invoke(sssjob, ["store", "export", address])
    assert result.stderr.endswith("; --to sss writes each File once\n")
    result = CliRunner().invoke(sssjob, ["store", "export", "--to", "sss", address])
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("x" * 1000) == 1


def test_what_is_in_proportion_to_a_store_is_written(store, monkeypatch):
    monkeypatch.setattr(attached, "GIVEN_FOR_EACH", 100)
    result = CliRunner().invoke(sssjob, ["store", "export", store(150, 15_000)])
    assert result.exit_code == 1
    assert 100 * 15_000 <= len(result.stdout) < 110 * len(document(150, 15_000))


def test_a_job_is_not_translated_without_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(attached, "GIVEN", 5000)
    monkeypatch.setattr(attached, "GIVEN_FOR_EACH", 0)
    file = tmp_path / "jobs.xml"
    file.write_text(document(6, 1000))
    result = CliRunner().invoke(sssjob, ["translate", "--to", "sss", str(file)])
    assert result.stdout.count("x" * 1000) == 5
    assert "#f" in result.stdout
    assert "more than 0 MiB of Files beside the job objects" in result.stderr
    assert result.exit_code == 1


def test_a_job_is_translated_with_the_files_that_it_names_and_no_others():
    files = "".join(f"<File id='f{n}'>{n}</File>" for n in range(3))
    jobs = "".join(f"<Job><Id>{n}</Id><Executable>#f{n}</Executable></Job>" for n in range(3))
    result = CliRunner().invoke(
        sssjob, ["translate", "--to", "sss", "-"], input=f"<Data>{jobs}{files}</Data>"
    )
    assert result.stdout.count("<File") == 3
