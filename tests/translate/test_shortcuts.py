# ruff: noqa: E501 (a row is a line)
"""What is not asked of rules, and not read back, is what they would say (decision 256)."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from job_parts import OWN, REQUESTED, document, picked
from plain_jobs import jobs, told

from sssjob import Job, Property, Requested
from sssjob.translate import Settings, engine, form, read, translator
from sssjob.translate.form import SubmitForm
from sssjob.translate.outlines import Outlines
from sssjob.translate.translator import Translator

SCRIPTS = ("sbatch", "pbs", "torque", "sge", "lsf")
SETTINGS = (Settings(), Settings(memory_scope="task"), Settings(unstated="Reject"))
TEXTS = (
    "a", "batch", "-a", "a b", " a", "a,b", "a@b", "a:b", "a%j", "{{Id}}", "$HOME", "x\\y", "/o/p", "a[1]",
    "7", "07", "0", "-7", "4294967295", "9999999999", "1.5", "7_1", "12345", "", " ", "é", "\xa0", "'", "a\nb", "#x",
)  # fmt: skip
NAMES = (
    "Name", "Project", "Queue", "Partition", "Machine", "QualityOfService", "Reservation", "InitialWorkingDirectory",
    "InputFile", "OutputFile", "ErrorFile", "Dependency", "Priority", "Shell", "Executable", "Arguments",
)  # fmt: skip


def asked_and_read_back(job, to, settings, monkeypatch):
    """What is said of a job where each rule is asked, and all is read back."""
    with monkeypatch.context() as patch:
        patch.setattr(form, "_verbatim", lambda rule, names, once: ())
        patch.setattr(SubmitForm, "doubtful", Translator.doubtful)
        patch.setattr(engine, "_OUTLINES", Outlines())
        patch.setattr(translator(to), "_writing", {})
        return told(job, to, settings)


def one_of_a_kind(pick, to):
    """A job that says each of some names once, and asks for little."""
    texts = {name: pick(TEXTS) for name in NAMES if pick((True, False))}
    texts |= {"Executable": pick(("/bin/true", "run", *TEXTS))}
    variables = [Property.read("Variable", pick(TEXTS), {"name": pick(("A", "B"))})] * pick((0, 1))
    inside = Property("Environment", pick(("", "", "x")), {}, variables)
    items = [Property.read(name, text, {}) for name, text in texts.items()]
    kept = {"type": to, "name": pick(sorted(translator(to).form.syntax.takes))}
    items += [Property("Extension", pick(("", "x", "NONE")), kept)] * pick((0, 0, 1))
    amounts = Requested.of(NodeCount=pick((1, 4)), Memory=pick((1, 3)), Duration=60)
    return Job((*items, *([inside] * pick((0, 1))), *([amounts] * pick((0, 1)))))


@pytest.mark.parametrize("to", SCRIPTS)
def test_a_job_is_written_as_if_each_rule_had_been_asked_and_all_was_read_back(to, monkeypatch):
    pick = random.Random(18).choice
    monkeypatch.setattr(engine, "_OUTLINES", Outlines())
    found = [*(job for _ in range(6) for job in jobs(pick))]
    found += [one_of_a_kind(pick, to) for _ in range(200)]
    for place, job in enumerate(found):
        settings = SETTINGS[place % 3]
        told(job, to, settings)  # so that its outline is known
        asked = asked_and_read_back(job, to, settings, monkeypatch)
        assert told(job, to, settings) == asked, job.items


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("to", SCRIPTS)
def test_each_text_is_written_as_if_its_rule_had_been_asked(to, name, monkeypatch):
    monkeypatch.setattr(engine, "_OUTLINES", Outlines())
    for text in (*TEXTS, "/bin/true"):
        texts = {"Executable": "/bin/true", name: text}
        job = Job(tuple(Property.read(name, text, {}) for name, text in texts.items()))
        told(job, to, Settings())
        asked = asked_and_read_back(job, to, Settings(), monkeypatch)
        assert told(job, to, Settings()) == asked, text


@pytest.mark.parametrize("to", SCRIPTS)
@given(own=picked(OWN, 6), asked=picked(REQUESTED, 4))
def test_jobs_of_all_parts_are_written_so(to, own, asked):
    job = document(own, asked)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "_OUTLINES", Outlines())
        told(job, to, Settings())
        assert told(job, to, Settings()) == asked_and_read_back(job, to, Settings(), patch)


def test_what_is_plain_is_neither_asked_of_rules_nor_read_back(monkeypatch):
    job = Job((
        Property("Executable", "/bin/true"), Property("Name", "a"), Property("Queue", "q"), Property("Project", "p"),
    ))  # fmt: skip
    monkeypatch.setattr(engine, "_OUTLINES", Outlines())
    first = told(job, "sbatch", Settings())
    monkeypatch.setattr(form, "_body", None)
    monkeypatch.setattr(form.ScriptReading, "say", None)
    assert told(job, "sbatch", Settings()) == first


@pytest.mark.parametrize("source", SCRIPTS)
@given(st.data())
def test_a_script_is_read_as_if_every_rule_had_been_asked(source, data):
    syntax = translator(source).form.syntax
    values = st.sampled_from(
        ("", "1", "x", "4G", "1:00:00", "BEGIN,x", "afterok:7", "e", "o", "-1")
    )
    names = data.draw(st.lists(st.sampled_from(sorted(syntax.takes)), max_size=6))
    lines = [f"{syntax.prefix} {name} {data.draw(values)}" for name in names]
    script = "\n".join(("#!/bin/sh", *lines, "exec /bin/true", "")).encode()
    found = [*read(script, source)]
    with pytest.MonkeyPatch.context() as patch:
        rules = [rule.read for rule in translator(source)._rules]
        patch.setattr(translator(source), "_readers", lambda names: rules)
        assert [*read(script, source)] == found


def test_the_same_options_mean_what_the_settings_say(monkeypatch):
    for scope, size in (("job", 8), ("node", 4), ("job", 8)) * 2:  # all are --nodes=2 --mem=4G
        memory = Property("Memory", size, {"units": "GB"})
        job = Job((Property("Executable", "/bin/true"), Requested.of(memory, NodeCount=2)))
        settings = Settings(memory_scope=scope)
        first = told(job, "sbatch", settings)
        assert "--mem=4G" in first[0]
        assert "sssjob: Requested" not in first[0]
        assert told(job, "sbatch", settings) == first
        assert asked_and_read_back(job, "sbatch", settings, monkeypatch) == first
