"""Bytes of scripts, submit files and DAGs are told alike, each fault with its line."""
# ruff: noqa: E501 (a row of a table is a line)

import pytest

from sssjob.errors import Finding
from sssjob.translate import engine, script_text
from sssjob.translate.translator import Settings

# What a job is called, and two lines of it that are not UTF-8, in each form.
FORMS = {
    "sbatch": b"#!/bin/sh\n#SBATCH -J n\xe4\n#SBATCH -A a\xe4\n# \xe4\n/bin/date\n",
    "pbs": b"#!/bin/sh\n#PBS -N n\xe4\n#PBS -A a\xe4\n# \xe4\n/bin/date\n",
    "condor": b"executable = /bin/date\nbatch_name = n\xe4\naccounting_group = a\xe4\n# \xe4\nqueue\n",
    "dagman": b"JOB a {\nbatch_name = n\xe4\naccounting_group = a\xe4\n# \xe4\nexecutable = /bin/date\n}\n",
}
TOLD = "the line is not UTF-8"
MARK = "a byte order mark stands before the first line"


def read(name, data):
    """What the forms of a file say, and what is told of it."""
    form = engine.written(name)
    found, told = [], []
    for each in form.load(data):
        if isinstance(each, Finding):
            told.append(each)
        else:
            said = form.job(each, Settings())
            found.append(said.job)
            told += said.findings
    return found, [(each.line, each.message) for each in told if each.code in ("E-TYPE", "E-LIMIT")]


@pytest.mark.parametrize("name, data", FORMS.items(), ids=FORMS)
def test_each_line_that_is_understood_and_is_not_utf8_is_told(name, data):
    (job,), told = read(name, data)
    assert told == [(2, TOLD), (3, TOLD)]
    assert [each.text for each in job.properties.all("Name")] == ["n\N{REPLACEMENT CHARACTER}"]


@pytest.mark.parametrize("name, data", FORMS.items(), ids=FORMS)
def test_a_byte_order_mark_is_told_and_costs_nothing_of_the_job(name, data):
    plain = data.replace(b"\xe4", b"")
    (job,), told = read(name, b"\xef\xbb\xbf" + plain)
    assert told == [(1, MARK)]
    assert (job,) == tuple(read(name, plain)[0])
    assert engine.written(name).recognises(b"\xef\xbb\xbf" + plain)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("data", [b"", b" \n\n\t"], ids=["nothing", "blanks"])
def test_a_file_of_nothing_is_no_job(name, data):
    assert read(name, data) == ([], [])


@pytest.mark.parametrize("name", ["sbatch", "pbs", "condor"])
def test_what_describes_one_job_has_a_limit(name, monkeypatch):
    monkeypatch.setattr(script_text.texts, "__kwdefaults__", {"limit": 20})
    found, told = read(name, FORMS[name])
    assert not found
    assert told == [(0, script_text.TOO_LONG)]
