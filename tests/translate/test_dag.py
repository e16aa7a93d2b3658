# ruff: noqa: E501 (a case is a line)
"""Jobs that wait for each other as a DAG of HTCondor."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from translated import comes_back, wrapped

from sssjob.document import loads
from sssjob.document.canonical import canon
from sssjob.document.sources import NamedSource
from sssjob.systems.condor.dag import DAGMAN, job_id, node_name
from sssjob.translate import Settings, read, translate
from sssjob.verbs.translate import TranslationTask, run


def job(id_, *waits):
    found = "".join(
        f'<Dependency condition="{condition}"{more}>{text}</Dependency>'
        for text, condition, more in waits
    )
    return f"<Job><Id>{id_}</Id><Executable>/bin/true</Executable>{found}</Job>"


def written(*jobs):
    """The text of a DAG, and what was told of its jobs."""
    data = f"<JobGroup><Id>g</Id>{''.join(jobs)}</JobGroup>".encode()
    source = NamedSource("jobs.xml", io.BytesIO(data))
    found = list(run(TranslationTask("dagman"), iter((source,))))
    losses = [loss for each in found for loss in each.losses if not loss.fact]
    return "".join(each.text for each in found), losses


OK, BAD, ANY = (("a", f"On{word}", "") for word in ("Success", "Failure", "Exit"))
CODE = ("a", "OnExit", ' code="3"')


@pytest.mark.parametrize(("waits", "script"), [
    (OK, ""), (BAD, "SCRIPT POST a /usr/bin/test $RETURN -ne 0\n"),
    (ANY, "SCRIPT POST a /usr/bin/test $RETURN -ge -2147483648\n"),
    (CODE, "SCRIPT POST a /usr/bin/test $RETURN -eq 3\n"),
])  # fmt: skip
def test_who_waits_is_a_child_and_its_parent_ends_as_it_has_to(waits, script):
    text, losses = written(job("b", waits), job("c", waits), job("a"))
    assert losses == []
    assert text.count("PARENT a CHILD ") == 2
    assert text.count("SCRIPT") == bool(script)
    assert script in text
    back = list(read(text.encode()))
    assert [canon(each.job) for each in back] == [
        canon(loads(each)) for each in (job("b", waits), job("c", waits), job("a"))
    ]
    assert not [found for each in back for found in each.findings]


@pytest.mark.parametrize("jobs", [
    (job("b", OK), job("c", BAD), job("a")),
    (job("b", ("nowhere", "OnSuccess", "")),),
    (job("a", ("b", "OnSuccess", "")), job("b", OK)),
    (job("a", OK),),
    (job("b", ("a", "OnStart", "")), job("a")),
    (job("b", ("a", "OnSuccess", ' designator="JobName"')), job("a")),
    (job("b", ("a", "OnExit", ' code="x"')), job("a")),
])  # fmt: skip
def test_what_a_dag_cannot_say_is_told_and_comes_back(jobs):
    text, losses = written(*jobs)
    assert {loss.path for loss in losses} == {"/Job/Dependency"}
    back = list(read(text.encode()))
    assert [canon(each.job) for each in back] == [canon(loads(each)) for each in jobs]


def test_a_job_alone_waits_for_nobody_in_its_dag():
    found = loads(job("b", OK))
    text, losses = translate(found, "dagman")
    assert "PARENT" not in text
    assert [loss.path for loss in losses] == ["/Job/Dependency"]
    comes_back(found, "dagman")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_node_has_a_name_that_dagman_takes_and_tells_the_id(id_):
    name = node_name(id_)
    assert name.isascii()
    assert not {" ", ".", "+", "\n"}.intersection(name)
    assert job_id(name) == (id_ or "job")


@pytest.mark.parametrize(("text", "lines"), [
    ("JOB a {\nexecutable = /a\n", [1]), ("JOB a x.sub\nJOB b {\nodd\nexecutable = /a\n}\n", [1, 3]),
    ("RETRY a 3\nJOB a {\nexecutable = /a\n}\nPARENT x CHILD y\n", [1]),
    ("JOB n_ff {\n# sssjob: Name - <Job\nexecutable = /a\n}\n", [2]),
    ("\nSCRIPT POST a /bin/x $RETURN\nJOB a {\nexecutable = /a\n}", [2]),
])  # fmt: skip
def test_what_is_not_read_of_a_dag_is_told_with_its_line(text, lines):
    found = [each for item in read(text.encode(), "dagman") for each in item.findings]
    assert [each.line for each in found] == lines, found


@pytest.mark.parametrize("line", [
    "JOB a a.sub", "job\ta\ta.sub", "JOB a a.sub DIR there", "JOB a ../a.sub NOOP DONE", "JOB a a.sub\r",
])  # fmt: skip
def test_a_dag_of_submit_files_is_recognised_and_its_nodes_are_told(line):
    found = list(read(f"# mine\n{line}\nPARENT a CHILD b\n".encode()))
    assert [each.job for each in found] == [None]
    assert [(each.code, each.line) for each in found[0].findings] == [("E-REF", 2)]
    assert "is left out" in found[0].findings[0].message


@pytest.mark.parametrize("line", [
    "FINAL z z.sub", "SERVICE s s.sub", "PROVISIONER p p.sub", "SPLICE d d.dag DIR x", "SUBDAG EXTERNAL d d.dag",
])  # fmt: skip
def test_nodes_of_other_files_are_told_beside_those_that_are_read(line):
    found = list(read(f"JOB a {{\nexecutable = /a\n}}\n{line}\n".encode()))
    assert [each.job.id for each in found if each.job] == ["a"]
    assert [(told.code, told.line) for each in found for told in each.findings] == [("E-REF", 4)]


@pytest.mark.parametrize(
    "text", ["Job <7>, Job Name <a>\n", "JOB a\n", "JOB a b c\n", "JOBS a b\n"]
)
def test_other_texts_are_no_dag(text):
    assert DAGMAN.recognises(text.encode()) == ""


def test_a_text_of_a_job_is_no_line_of_a_dag():
    for end in ("\n", "\r"):
        inner = f"<Name>a{end}}}{end}SCRIPT POST b /bin/x</Name><Queue>b{end}}}</Queue>"
        text, _ = translate(loads(wrapped(inner)), "dagman", Settings(unstated="Ignore"))
        assert not [line for line in text.splitlines() if line.strip() == "}" and line != "}"]
        assert text.count("\n}\n") == 1
        assert "\nSCRIPT" not in text


def test_the_order_of_a_long_chain_takes_one_walk():
    jobs = [
        loads(job(f"j{n}", *([(f"j{n - 1}", "OnSuccess", "")] if n else []))) for n in range(5000)
    ]
    assert len(DAGMAN.context(jobs)) == 5000


def test_a_node_is_one_job():
    inner = '<Extension type="condor" name="queue">5</Extension>'
    text, losses = translate(loads(wrapped(inner)), "dagman")
    assert [loss.reason for loss in losses if not loss.fact] == ["a node is one job"]
    assert "queue" not in text.replace('name="queue"', "")
    comes_back(loads(wrapped(inner)), "dagman")
