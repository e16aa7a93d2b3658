"""The engine, with a target of JSON that holds a name and a number of nodes."""

import json
import subprocess
import sys

import pytest

import sssjob
from sssjob import registry
from sssjob.document import loads
from sssjob.errors import UnusableInput, finding
from sssjob.model import Job, Property, Requested
from sssjob.translate import Done, Read, Settings, Translator, Untranslatable, read, translate
from sssjob.translate.quoting import posix, safe


class Toy(Translator):
    name = "toy"

    def compose(self, asked, settings):
        form = {"toy": 1}
        if item := asked.one("Name"):
            form["name"] = safe(item.text)
        if bounds := asked.bounds("NodeCount"):
            form["nodes"] = int(bounds.hi or bounds.lo)
            if bounds.lo != bounds.hi:
                asked.approximate("NodeCount", "the most of a range")
        return form

    def dump(self, form):
        return json.dumps(form)

    def load(self, data):
        for line in data.splitlines():
            try:
                yield json.loads(line)
            except ValueError as error:
                yield finding("E-TYPE", str(error))

    def job(self, form, settings):
        items = [Property("Name", form["name"])] if "name" in form else []
        if "nodes" in form:
            items.append(Requested((Property("NodeCount", form["nodes"]),)))
        return Read(Job(tuple(items)))

    def keep(self, form, lines):
        return {**form, "kept": list(lines)}

    def kept(self, form):
        return tuple(form.get("kept", ()))

    def recognises(self, head):
        return "toy" if head.startswith(b'{"toy"') else ""


TOY = Toy()


@pytest.fixture(autouse=True)
def known(monkeypatch):
    rows = {"toy": registry.Target("toy", f"{__name__}:TOY", "a toy")}
    monkeypatch.setattr(registry, "all_targets", lambda: rows)
    monkeypatch.setattr(registry, "targets", lambda: rows)


FULL = """<Job awarenessPolicy="Warn"><Id>7</Id><Name>a</Name><Queue>long</Queue>
  <Dependency code="2" condition="OnExit">4</Dependency><Extension name="x">a
b</Extension><Requested><NodeCount op="GE">2</NodeCount><NodeCount op="LE">4</NodeCount>
  </Requested><Delivered><NodeCount>3</NodeCount></Delivered></Job>"""


def test_a_job_comes_back_from_a_target_as_it_was():
    job = loads(FULL)
    text, losses = translate(job, "toy")
    (back,) = read(text.encode())
    assert not back.findings
    assert {item.name: item for item in back.job.properties} == {
        item.name: item for item in job.properties
    }
    assert list(back.job.requested) == list(job.requested)
    assert list(back.job.delivered) == list(job.delivered)
    assert dict(back.job.attributes) == {"awarenessPolicy": "Warn"}
    assert {loss.path.rpartition("/")[2]: loss.done for loss in losses} == {
        "Id": Done.RESIDUAL, "Queue": Done.RESIDUAL, "Dependency": Done.RESIDUAL,
        "Extension": Done.RESIDUAL, "NodeCount": Done.RESIDUAL,
    }  # fmt: skip


def test_nothing_is_kept_without_a_residual():
    text, losses = translate(loads(FULL), "toy", Settings(residual=False))
    assert json.loads(text) == {"toy": 1, "name": "a", "nodes": 4}
    assert {loss.done for loss in losses} == {Done.DROPPED, Done.APPROXIMATED}


def test_what_stands_in_a_target_that_was_edited_holds():
    form = json.loads(translate(loads(FULL), "toy").text)
    form["nodes"] = 9
    (back,) = read(json.dumps(form).encode())
    assert [item.text for item in back.job.requested] == ["9"]
    assert [each.code for each in back.findings] == ["W-DISAGREE"]
    assert back.job["Queue"].text == "long"


@pytest.mark.parametrize(
    "line", ["Name", "Name - <Job", "Name - <JobGroup><Id>1</Id></JobGroup>", "Name - <a/>", ""]
)
def test_a_residual_that_is_none_is_told(line):
    (back,) = read(json.dumps({"toy": 1, "nodes": 1, "kept": [line]}).encode())
    assert [each.code for each in back.findings] == ["W-DISAGREE"]
    assert back.job.requested.text("NodeCount") == "1"


def test_reject_gives_no_output_and_the_whole_list():
    job = loads(FULL.replace("Warn", "Reject").replace("<Queue>", "<Queue awarenessPolicy='Warn'>"))
    with pytest.raises(Untranslatable) as refused:
        translate(job, "toy")
    named = [loss.path for loss in refused.value.losses if loss.refuses]
    assert named == ["/Job/Dependency", "/Job/Extension"]
    assert "/Job/Queue" in [loss.path for loss in refused.value.losses]


def test_ignore_says_nothing():
    assert translate(loads(FULL.replace("Warn", "Ignore")), "toy").losses == ()


def test_a_broken_form_is_a_finding_and_the_rest_goes_on():
    found = list(read(b'{"toy": 1}\n{\n{"toy": 2, "name": "b"}'))
    assert [each.job and each.job.get("Name") for each in found] == ["", None, "b"]


def test_an_unknown_name_is_told_with_those_that_are_known():
    with pytest.raises(UnusableInput, match="toy"):
        translate(Job(), "tyo")
    with pytest.raises(UnusableInput):
        list(read(b"nothing"))


@pytest.mark.parametrize("text", ["a\nb", "a\rb", "a\0b"])
def test_line_ends_and_nul_never_get_into_a_directive(text):
    for write in (safe, posix):
        with pytest.raises(ValueError, match="line ends"):
            write(text)


@pytest.mark.parametrize("text", ["it's", "$HOME", "`x`", '"', "", "\\"])
def test_a_quoted_word_is_what_it_was_for_a_shell(text):
    done = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s' {posix(text)}"], capture_output=True, check=True, text=True
    )
    assert done.stdout == text


def test_functions_of_the_package_stay_functions_beside_modules_of_their_name():
    code = (
        "import sssjob\nfor _ in range(2): assert callable(sssjob.fold), sssjob.fold\n"
        "import sssjob.translate.engine\nassert callable(sssjob.translate)\n"
        "from sssjob.translate import losses\nassert losses.Loss"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert sssjob.translate is translate


def test_no_name_of_a_translation_is_told_twice(monkeypatch):
    monkeypatch.undo()
    with pytest.raises(UnusableInput) as told:
        translate(Job(), "nothing")
    names = str(told.value).partition(": ")[2].partition(";")[0].split(", ")
    assert len(names) == len(set(names))
