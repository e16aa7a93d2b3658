import os
import sys

import pytest

from sssjob import commands
from sssjob.commands import CommandFailed, Limits


def python(text, limits=None):
    return commands.run((sys.executable, "-c", text), "backend", limits)


def test_what_a_command_prints_is_what_is_given():
    assert python("print('x' * 100000, end='')") == b"x" * 100000
    assert commands.run(("cat", os.devnull), "backend") == b""


def test_nothing_is_given_to_a_shell():
    assert commands.run(("echo", "$HOME;", "`id`"), "backend") == b"$HOME; `id`\n"


@pytest.mark.parametrize("text, message", [
    pytest.param("import sys; sys.exit(3)", "backend returned 3", id="status"),
    pytest.param("exit('no licence')", "backend returned 1: no licence", id="said"),
    pytest.param("import os; os.kill(os.getpid(), 9)", "backend returned -9", id="killed"),
])  # fmt: skip
def test_a_command_that_fails_says_how(text, message):
    with pytest.raises(CommandFailed) as caught:
        python(text)
    assert str(caught.value) == message


@pytest.mark.parametrize("arguments", [("/no/such/program",), ("",), (os.devnull,), ("a\0b",)])
def test_a_command_that_cannot_be_run_says_so(arguments):
    with pytest.raises(CommandFailed, match="Error running backend"):
        commands.run(arguments, "backend")


SLEEP = "import os, signal; {}; signal.pause()"
LATE = "within 0.5 seconds"


@pytest.mark.parametrize("text, message", [
    pytest.param("while True: print('x' * 9999)", "more than 100000 bytes", id="floods"),
    pytest.param(SLEEP.format("pass"), LATE, id="hangs"),
    pytest.param(SLEEP.format("os.close(1); os.close(2)"), LATE, id="hangs-silently"),
    pytest.param(SLEEP.format("os.fork() and os._exit(0)"), LATE, id="its-child-hangs"),
    pytest.param("import os\nwhile True: os.write(2, b'x' * 999)", LATE, id="complains"),
])  # fmt: skip
def test_a_command_is_held_to_its_limits(text, message):
    with pytest.raises(CommandFailed, match=message):
        python(text, Limits(seconds=0.5, size=100_000))


def test_no_child_of_an_ended_command_is_left(tmp_path):
    alive = tmp_path / "alive"
    os.mkfifo(alive)
    text = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        f"    writer = open({str(alive)!r}, 'wb', 0)\n"
        "    time.sleep(60)\n"
        "    writer.write(b'alive')\n"
        "signal.pause()"
    )
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(CommandFailed):
        python(text, Limits(seconds=0.5))
    os.set_blocking(reader, True)
    assert os.read(reader, 9) == b""  # its end: nobody is left who could write
    os.close(reader)


def test_a_command_is_given_what_it_reads_however_much():
    given = b"x" * 300_000
    assert commands.run(("cat",), "backend", given=given) == given


def test_all_that_a_command_said_is_kept():
    with pytest.raises(CommandFailed) as caught:
        python("import sys; print('one\\ntwo', file=sys.stderr); sys.exit(3)")
    assert (caught.value.said, caught.value.reason) == ("one\ntwo", "two")
