"""HTCondor's library as an engine: it says what ours says, and cannot harm who asks."""

import pytest
from classad_cases import _agree, _excused, cases
from classads_oracle import classad2
from click.testing import CliRunner

from sssjob.classads import evaluate, library
from sssjob.classads.library import Library, LibraryFailed
from sssjob.classads.parser import expression, plain
from sssjob.classads.values import ERROR, UNDEFINED, RelTime
from sssjob.cli import sssjob

pytestmark = pytest.mark.skipif(classad2 is None, reason="HTCondor's bindings are not installed")

JOB = "[RequestMemory = 1024; Requirements = TARGET.Memory >= RequestMemory && TARGET.Arch == x]"
SLOT = '[Name = "slot1"; Memory = 4096; Arch = "X86_64"]'


@pytest.fixture(scope="module")
def engine():
    with Library() as found:
        yield found


def test_both_engines_answer_alike(engine):
    asked = 0
    for text, my, target in cases(300, 11):
        ads = plain(my), plain(target)
        ours = evaluate.evaluate(expression(text), *ads, now=0)
        # The library has lists half evaluated, or crashes over them: differences() knows where.
        if isinstance(ours, tuple) or "time()" in text or "evalIn" in text or "}." in text:
            continue
        said = []
        try:
            theirs = engine.evaluate(expression(text), *ads, remark=said.append)
        except LibraryFailed:
            continue
        if said:  # no answer: an exception of its bindings
            assert theirs is ERROR
            continue
        ours = ours.seconds if isinstance(ours, RelTime) else ours
        assert _excused(text, ours, theirs) or _agree(ours, theirs), (text, my, target)
        asked += 1
    assert asked > 200


SHIFTED = [
    f"{left} {op} {right}"
    for left in (-7, -1000, -1, 0, 7, 9223372036854775807) for op in ("<<", ">>", ">>>")
    for right in (-65, -64, -2, -1, 0, 1, 3, 63, 64, 65, 66)
]  # fmt: skip
JOINED = [
    f"join({words})"
    for words in ('"x", {"", ""}', '"x", "", ""', '"x", {"", "", "b"}', '"x", {"a", ""}',
                  '"x", {"", "a", ""}', '"x", {""}', '"x", {}', '{"", ""}', '"", {"", "a"}')
]  # fmt: skip


@pytest.mark.parametrize("text", [*SHIFTED, *JOINED])
def test_shifts_and_joined_texts_are_those_of_the_library(engine, text):
    node = expression(text)
    assert _agree(evaluate.evaluate(node), engine.evaluate(node))


def test_values_of_each_kind_come_back(engine):
    for text in ("1", "-1.5", '"a\\n\\"b"', "true", "undefined", "{ 1, { 2 } }", "[a = 1]", "absTime(5, 0)"):  # noqa: E501 # fmt: skip
        node = expression(text)
        assert _agree(evaluate.evaluate(node), engine.evaluate(node)), text
    assert engine.evaluate(expression("TARGET.x"), plain("[]"), plain("[y = 1]")) is UNDEFINED


def test_a_library_that_ends_its_process_ends_one_question(engine, monkeypatch):
    monkeypatch.setattr(library, "_PROGRAM", "raise SystemExit")
    with Library() as broken, pytest.raises(LibraryFailed, match="over 1 \\+ 1"):
        broken.evaluate(expression("1 + 1"))
    monkeypatch.undo()
    process = engine._running()
    process.kill()
    process.wait()
    with pytest.raises(LibraryFailed):
        engine.evaluate(expression("1"))
    assert engine.evaluate(expression("1 + 1")) == 2


def run(*words, data=None):
    return CliRunner().invoke(sssjob, ["condor", *words], input=data)


def test_eval_and_why_can_ask_the_library(tmp_path):
    (tmp_path / "slot").write_text(SLOT)
    result = run("eval", "--htcondor", "Memory * 2", "--my", str(tmp_path / "slot"))
    assert (result.exit_code, result.stdout) == (0, "8192\n")
    why = [run("why", *option, "-", str(tmp_path / "slot"), data=JOB)
           for option in ((), ("--htcondor",))]  # fmt: skip
    assert why[0].stdout == why[1].stdout
    assert "TARGET.Arch == x is undefined" in why[1].stdout
    assert [each.exit_code for each in why] == [1, 1]
    result = run("eval", "--htcondor", "--now", "5", "time()")
    assert result.exit_code == 2
