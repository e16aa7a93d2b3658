import os
import sys

import pytest
from waiting import HANG, growing

from sssjob import commands
from sssjob.commands import CommandFailed, CommandLimits


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


def ended_by_time(text, begun):
    """Run a program that hangs once it has made a file, and give what is told of it."""
    for seconds in growing(0.5):
        with pytest.raises(CommandFailed, match=f"within {seconds:g} seconds"):
            python(text, CommandLimits(seconds, size=100_000))
        if begun.exists():
            return
    pytest.fail("it did not begin")


@pytest.mark.parametrize("before, after", [
    pytest.param("pass", "signal.pause()", id="hangs"),
    pytest.param("os.close(1); os.close(2)", "signal.pause()", id="hangs-silently"),
    pytest.param("os.fork() and os._exit(0)", "signal.pause()", id="its-child-hangs"),
    pytest.param("pass", "while True: os.write(2, b'x' * 999)", id="complains"),
])  # fmt: skip
def test_a_command_is_held_to_its_time(tmp_path, before, after):
    begun = tmp_path / "begun"
    ended_by_time(f"import os, signal\n{before}\nopen({str(begun)!r}, 'w')\n{after}", begun)


def test_a_command_is_held_to_its_size():
    with pytest.raises(CommandFailed, match="more than 100000 bytes"):
        python("while True: print('x' * 9999)", CommandLimits(HANG, size=100_000))


def test_no_child_of_an_ended_command_is_left(tmp_path):
    alive, begun = tmp_path / "alive", tmp_path / "begun"
    os.mkfifo(alive)
    text = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        f"    writer = open({str(alive)!r}, 'wb', 0)\n"
        f"    open({str(begun)!r}, 'w')\n"
        f"    time.sleep({HANG})\n"
        "    writer.write(b'alive')\n"
        "signal.pause()"
    )
    reader = os.open(alive, os.O_RDONLY | os.O_NONBLOCK)
    ended_by_time(text, begun)
    os.set_blocking(reader, True)
    assert os.read(reader, 9) == b""  # its end: nobody is left who could write
    os.close(reader)


def test_a_command_is_given_what_it_reads_however_much():
    given = b"x" * 300_000
    assert commands.run(("cat",), "backend", given=given) == given


def test_all_that_a_command_said_is_kept():
    with pytest.raises(CommandFailed) as caught:
        python("import sys; print('one\\ntwo', file=sys.stderr); sys.exit(3)")
    assert (caught.value.said, caught.value.reason) == ("one\ntwo", "one two")


CONDOR_Q = """Error:\x20

Extra Info: You probably saw this error because the condor_schedd is not
running on the machine you are trying to query. If the condor_schedd is not
running, the Condor system will not be able to find an address and port to
connect to and satisfy this request. Please make sure the Condor daemons are
running and try again.

Extra Info: If the condor_schedd is running on the machine you are trying to
query and you still see the error, the most likely cause is that you have
setup a personal Condor, you have not defined SCHEDD_NAME in your
condor_config file, or something is wrong with your SCHEDD_ADDRESS_FILE
setting. You must define either or both of those settings in your config
file, or you must use the -name option to condor_q. Please see the Condor
manual for details on SCHEDD_NAME and SCHEDD_ADDRESS_FILE.
"""


@pytest.mark.parametrize("said, expected", [
    pytest.param(
        CONDOR_Q,
        "Error: Extra Info: You probably saw this error because the condor_schedd is not running on"
        " the machine you are trying to query. If the condor_schedd is not running, the Condor"
        " system will not be able to find an address and port to connect to and satisfy this"
        " request.",
        id="long",
    ),
    pytest.param("x" * 400, "x" * 297 + "...", id="without a sentence"),
    pytest.param("v1.2 " * 100, ("v1.2 " * 100)[:297] + "...", id="dots that end nothing"),
    pytest.param("a\n\n \t\nb  c\n", "a b c", id="several lines"),
    pytest.param("a\x1b[2Jb", "a␛[2Jb", id="what steers a terminal"),
    pytest.param(
        'Traceback (most recent call last):\n  File "b.py", line 1\nKeyError: 2\n', "KeyError: 2",
        id="traceback",
    ),
    pytest.param("", "", id="nothing"),
])  # fmt: skip
def test_one_line_says_what_a_person_understands(said, expected):
    assert commands.on_one_line(said) == expected
