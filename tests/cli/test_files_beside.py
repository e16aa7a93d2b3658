"""One File that many jobs name is written beside each, as far as that is in proportion."""

import pytest
from click.testing import CliRunner

from sssjob.cli import sssjob
from sssjob.document import attached

COMMANDS = {
    "canon": ["canon"],
    "lines": ["show", "--to", "sss-lines"],
    "gold": ["show", "--to", "sss", "--dialect", "gold"],
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
