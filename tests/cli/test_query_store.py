"""``sssjob query`` on a store: the answers of files, and the plan in words."""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import odd_jobs
import pytest
from click.testing import CliRunner
from waiting import HANG

from sssjob import store
from sssjob.cli import sssjob

JOBS = [
    b"<Job><Id>1</Id><User>amy</User><Charge>12.5</Charge><Shell>/bin/sh</Shell></Job>",
    b"<Job><Id>2</Id><User>bob</User><Charge>1e6</Charge><Memory units='GB'>2</Memory></Job>",
    b"<JobGroup><Id>g</Id><JobDefaults><User>amy</User></JobDefaults><Job><Id>3</Id></Job></JobGroup>",
]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with store.open("jobs.db", create=True) as jobs, jobs.change() as change:
        for document in JOBS:
            change.put(document)
    (tmp_path / "jobs.xml").write_bytes(b"<Jobs>\n" + b"\n".join(JOBS) + b"\n</Jobs>")

    def run(*arguments):
        result = CliRunner().invoke(sssjob, ["query", *arguments])
        return result.exit_code, result.stdout, result.stderr

    return run


@pytest.mark.parametrize(
    "arguments",
    [
        ["//Job[User='amy']/Id"],
        ["//Job[Charge > 12]/Charge"],
        ["--effective", "//Job[User='amy']/Id"],
        ["--xml", "//Job[Shell]"],
        ["--xml", "//Job/User"],
        ["--xml", "//Job[Memory]/Memory/@units"],
        ["--whole", "//Job/Shell"],
        ["--count", "//Job"],
        ["--quiet", "//Job[User='eve']"],
        ["--limit", "1", "//Job/Id"],
        ["--columns", "Id,User", "--sort=-Id", "//Job"],
        ["--columns", "Id,sss:bytes(Memory)", "--sort", "User,-Charge", "--limit", "2", "//Job"],
        ["--columns", "Id,Charge", "--sort=-Charge", "//Job[Charge]/User"],
        ["--columns", "../Id,.", "//Job/Charge"],
        ["--json", "--columns", "Id,Charge,User", "//Job"],
        ["--jsonl", "--columns", "Id,Charge", "--sort", "Charge", "//Job[User='amy']"],
        ["--sort=-Id", "//Job/Id"],
        ["--sort", "Charge", "--limit", "1", "//Job[Charge]/Id"],
        ["--sort=-Id", "--effective", "--xml", "//Job[User='amy']"],
        ["--whole", "--limit", "1", "//Job[Charge > 12]/Charge"],
        ["--whole", "--sort=-Id", "//Job/Id"],
        ["--count", "//Job[User='amy']"],
        ["--count", "--limit", "1", "//Job"],
        ["--count", "--effective", "//Job[User='amy']/Id"],
        ["--count", "--quiet", "//Job[User='eve']"],
        ["Charge"],
        ["Charge > 13"],
        ["--xpath", "3.1", "//Job[matches(User, '^a')]/Id"],
        ["sum(//Job[User='amy']/Charge) div count(//Job[User='amy'])"],
        ["--csv", "--columns", "Id", "//Job[not(Charge)]"],
        ["count(//Job[User='amy'])"],
        ["sum(//Job/Charge)"],
        ["--count", "//Jobb"],
    ],
    ids=" ".join,
)
def test_a_store_answers_as_the_file_of_its_documents(run, arguments):
    assert run(*arguments, "jobs.db") == run(*arguments, "jobs.xml")


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
@pytest.mark.parametrize("options", [[], ["--limit", "1"], ["--sort=-Charge"], ["--effective"]])
def test_matches_of_a_store_are_those_of_the_file_but_for_where_they_stand(run, form, options):
    def found(source):
        code, out, _ = run(form, *options, "//Job[User='amy' or Charge]/Id", source)
        matches = json.loads(out) if form == "--json" else [*map(json.loads, out.splitlines())]
        assert [each.pop("file") for each in matches] == [source] * len(matches)
        for each in matches:
            each["path"] = each["path"].removeprefix("/Jobs")
            del each["line"]  # a store counts the lines of each document
        return code, matches

    assert found("jobs.db") == found("jobs.xml")


MANY = b"".join(
    b"<Job><Id>%d</Id><User>%s</User><Charge>%d</Charge><Shell>s%d</Shell></Job>\n"
    % (place, (b"amy", b"bob", b"eve")[place % 3], place * 7 % 50, place % 4)
    for place in range(450)
)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--columns", "Id,Shell", "--sort=-Charge,Id", "--limit", "5", "//Job[Shell='s3']"],
        ["--csv", "--columns", "User,Charge", "--sort", "User", "//Job[Charge < 3]"],
        ["--sort", "Charge", "//Job[User='amy' and Shell='s1']/Id"],
        ["--whole", "--limit", "30", "//Job[Shell='s2']/Charge"],
        ["--count", "//Job[Shell='s2']"],
        ["--count", "--limit", "400", "//Job"],
        ["--xml", "--limit", "210", "//Job[Charge]/Id"],
        ["sum(//Job[User='eve']/Charge)"],
        ["sum(//Job[Shell='s1']/Charge)"],
    ],
    ids=" ".join,
)
def test_many_documents_are_asked_by_the_batch_to_the_same_end(run, arguments, tmp_path):
    (tmp_path / "many.xml").write_bytes(b"<Jobs>\n" + MANY + b"</Jobs>")
    with store.open("many.db", create=True) as jobs:
        jobs.load(tmp_path / "many.xml")
    code, out, _ = found = run(*arguments, "many.db")
    assert found == run(*arguments, "many.xml")
    assert code == 0
    assert out


def test_stores_and_files_are_asked_together(run):
    code, out, _ = run("//Job[Id='2']/User", "jobs.xml", "sqlite:jobs.db")
    assert (code, out) == (0, "jobs.xml:bob\nsqlite:jobs.db:bob\n")


def test_the_plan_is_explained(run):
    _, out, said = run("--explain", "//Job[User='amy' and Shell='/bin/sh']/Id", "jobs.db")
    assert out == "1\n"
    plan, where, counts = said.splitlines()
    assert plan == "jobs.db: columns give candidates, and documents decide"
    assert where.startswith("""jobs.db: where ("kind" <> 'JobGroup' AND "user" = 'amy' AND """)
    assert counts == (
        "jobs.db: candidates 1, certain by their columns 0; documents opened 1, to verify 1"
    )


def test_the_plan_of_one_answer_is_that_of_its_parts(run):
    text = "max(//Job/Charge) + count(//Job[User='amy'])"
    _, out, said = run("--explain", "--xpath", "3.1", text, "jobs.db")
    assert out == "1000001\n"
    first, *plans, counts = said.splitlines()
    assert first == "jobs.db: one answer for the whole store, from what is found by"
    assert plans[::3] == ["jobs.db: //Job/Charge", "jobs.db: //Job[User = 'amy']"]
    assert plans[1::3] == ["jobs.db: columns decide"] * 2
    assert counts.startswith("jobs.db: candidates 3, certain by their columns 3; documents opened")
    _, _, said = run("--explain", "--json", "--xpath", "3.1", text, "jobs.db")
    assert [json.loads(line).get("plan") for line in said.splitlines()] == ["exact", "exact", None]
    _, _, said = run("--explain", "--xpath", "3.1", text, "jobs.xml")
    assert said == "jobs.xml: one answer for all documents of this file\n"


def test_a_scan_says_what_stood_in_the_way(run):
    _, _, said = run("--explain", "--count", "//Shell", "jobs.db")
    assert said.splitlines()[0] == (
        "jobs.db: every document is read, "
        "because the path does not lead to Job or JobGroup by its name"
    )


def test_the_plan_is_told_to_programs(run):
    _, out, said = run("--explain", "--jsonl", "//Job[Charge > 100]/Id", "jobs.db")
    plan, counts = map(json.loads, said.splitlines())
    assert (plan["plan"], plan["why"], plan["values"][1]) == ("exact", None, 100.0)
    assert '"charge" > ?' in plan["where"]
    assert counts == {
        "source": "jobs.db",
        "candidates": 1,
        "certain": 1,
        "opened": 1,
        "verified": 0,
    }
    assert json.loads(out)["value"] == 2 or json.loads(out)["value"] == "2"


def test_the_plan_is_told_where_a_limit_ends_the_answer(run):
    _, _, said = run("--explain", "--limit", "1", "//Job/Id", "jobs.db")
    assert "candidates" in said.splitlines()[-1]


@pytest.mark.parametrize(
    "name, said",
    [
        ("none.db", "sssjob: error: none.db: No such file or directory\n"),
        ("sqlite:none.db", "sssjob: error: none.db: no such store\n"),
        (
            "other.db",
            "sssjob: error: other.db: a database of another program, no store of job objects\n",
        ),
    ],
)
def test_what_is_no_store_is_said_and_the_rest_is_asked(run, name, said, tmp_path):
    import sqlite3

    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (a)")
    other.close()
    assert run("--no-filename", "//Job[Id='1']/User", name, "jobs.db") == (2, "amy\n", said)


def test_a_damaged_document_is_said_and_the_rest_is_asked(run):
    with store.open("jobs.db") as jobs:
        jobs.engine.fetch("UPDATE document SET data = x'00' WHERE id = '1'")
    code, out, said = run("//Id", "jobs.db")
    assert (code, out) == (2, "2\ng\n3\n")
    assert said.startswith("jobs.db: error: jobs.db: Job 1 is damaged")


def test_a_pipe_that_has_a_name_is_read_from_its_first_byte(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(
        [sys.executable, "-m", "sssjob", "query", "//Job/Id", pipe],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as asking:  # fmt: skip
        pipe.write_bytes(b"<Job><Id>7</Id></Job>")
        printed, said = asking.communicate(timeout=HANG)
    assert (printed, said) == (b"7\n", b"")


def test_verify_asks_the_documents_and_says_where_columns_differ(run):
    arguments = ["//Job[User='amy']/Id", "jobs.db"]
    assert run("--verify", *arguments) == (0, "1\n", "")
    with store.open("jobs.db") as jobs, jobs.engine.transaction():
        jobs.engine.fetch("UPDATE job SET \"user\" = 'amy' WHERE id = '2'")
    assert run(*arguments) == (0, "1\n2\n", "")
    said = "jobs.db: error: Job 2: its columns give '2', but the document gives nothing\n"
    for more, printed in (((), "1\n"), (("--limit", "1"), "1\n"), (("--count",), "1\n"),
                          (("--quiet",), ""), (("--sort=-Id",), "1\n")):  # fmt: skip
        assert run("--verify", *more, *arguments) == (3, printed, said)
    result = CliRunner().invoke(sssjob, ["store", "settings", "jobs.db", "--verify"])
    assert (result.exit_code, result.stdout) == (0, "verify  on\n")
    assert run(*arguments) == (3, "1\n", said)
    result = CliRunner().invoke(sssjob, ["store", "settings", "jobs.db", "--json", "--no-verify"])
    assert json.loads(result.stdout) == {"store": "jobs.db", "verify": False}
    assert run(*arguments) == (0, "1\n2\n", "")


def test_verify_says_nothing_of_files(run):
    assert run("--verify", "//Job[User='amy']/Id", "jobs.xml") == (0, "1\n", "")


@pytest.mark.parametrize("path", ["User", "StartTime", "Delivered/Memory", "Requested/Processors"])
def test_odd_rows_are_printed_as_those_of_files(run, path):
    documents = [each.given for each in odd_jobs.documents(path)]
    Path("odd.xml").write_text("<Jobs>\n" + "\n".join(documents) + "\n</Jobs>\n")
    with store.open("odd.db", create=True) as jobs:
        jobs.load("odd.xml")
    for expression, options in product(
        ("//Job", f"//Job[{path}='7']/Id", f"//Job[not({path}=7)]/{path}", f"{path} = 7"),
        (["--columns", f"Id,{path}"], ["--columns", "Id", f"--sort=-{path}"], ["--count"],
         ["--sort", f"{path},Id", "--limit", "7"], ["--limit", "5"], ["--effective", "--xml"]),
    ):  # fmt: skip
        from_store, from_file = (
            run(*options, expression, "odd.db"),
            run(*options, expression, "odd.xml"),
        )
        assert from_store == from_file, (expression, options)
