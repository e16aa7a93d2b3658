"""A former version that is damaged does not hide the others of its document."""

import sqlite3

from click.testing import CliRunner

from sssjob import store
from sssjob.cli import sssjob


def test_the_log_and_the_export_of_an_id_go_on(tmp_path):
    path = tmp_path / "jobs.db"
    with store.open(path, create=True) as jobs:
        for state in ("Idle", "Running", "Completed"):
            jobs.load(f"<Job><Id>1</Id><State>{state}</State></Job>".encode())
    with sqlite3.connect(path) as there:
        changed = there.execute("UPDATE former SET data = x'deadbeef' WHERE version = 1")
        assert changed.rowcount == 1
    there.close()

    def run(*words):
        return CliRunner().invoke(sssjob, ["store", *words[:1], str(path), *words[1:]])

    told = run("log", "1")
    assert told.exit_code == 0, told.output
    assert told.stdout.count("\n") == 3
    assert "damaged" in told.stderr
    for version, state in ((), "Completed"), (("--version", "2"), "Running"):
        found = run("export", "1", *version)
        assert found.exit_code == 0, found.output
        assert state in found.stdout
    wrong = run("export", "1", "--version", "1")
    assert wrong.exit_code == 1, wrong.output
    assert "damaged" in wrong.stderr
