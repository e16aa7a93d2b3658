"""The house holds: imports go down, and the command starts without the world."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest
from waiting import HANG

ROOT = Path(__file__).parents[1]

# Give the command its arguments as the shell does, then say what was imported on the way.
ASK = """
import sys
from sssjob.__main__ import main
sys.argv = {}
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_imports_keep_to_the_floors():
    linter = Path(sys.executable).with_name("lint-imports")
    result = run(linter, "--no-cache", "--config", ROOT / "pyproject.toml")
    assert result.returncode == 0, result.stdout


def rooms_there():
    """The modules and packages of the library; what only starts it is no room."""
    found = {each.stem for each in (ROOT / "sssjob").iterdir()
             if each.suffix == ".py" or (each / "__init__.py").is_file()}  # fmt: skip
    return found - {"__init__", "__main__", "_version"}


def contract(id_):
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (found,) = (each for each in table["contracts"] if each["id"] == id_)
    return found


def layers():
    """The rooms of each layer of the contract about floors, from the top."""
    return [set(re.findall(r"\w+", layer)) for layer in contract("floors")["layers"]]


def named(id_):
    return {name.removeprefix("sssjob.") for name in contract(id_)["source_modules"]}


def test_the_contract_about_floors_names_every_room_once():
    found = [room for layer in layers() for room in layer]
    assert sorted(found) == sorted(rooms_there())


@pytest.mark.parametrize(
    ("id_", "rooms_"),
    [
        ("library", lambda: rooms_there() - {"cli", "drawing", "web"}),
        ("bridge", lambda: set().union(*layers()[-3:]) - {"schema"}),  # which writes one
    ],
)
def test_no_room_is_missing_from_a_contract_that_lists_them(id_, rooms_):
    assert named(id_) == rooms_()


def test_the_version_is_told_without_importing_trees_or_colours():
    result = run(sys.executable, "-c", ASK.format(["sssjob", "--version"]))
    imported = {name.partition(".")[0] for name in result.stderr.split()}
    assert result.returncode == 0, result.stderr
    assert "0.1.0" in result.stdout
    assert "sssjob" in imported
    assert not imported & {"click", "lxml", "rich", "zstandard"}


# What a command of one small document leaves alone: it is slow to import, and few need it.
NEVER = {"sssjob.check.peer", "sssjob.query", "sssjob.workers"}


@pytest.mark.parametrize(
    ("command", "left"),
    [
        ("validate", NEVER | {"rich", "sssjob.check.awareness", "sssjob.document.document"}),
        ("graph", NEVER | {"sssjob.check.findings", "sssjob.document.bundle"}),
        ("show", NEVER | {"sssjob.check", "sssjob.graph"}),
    ],
)
def test_a_command_of_one_plain_document_imports_what_that_needs(tmp_path, command, left):
    path = tmp_path / "job.xml"
    path.write_text("<Job><Id>1</Id></Job>\n")
    result = run(sys.executable, "-c", ASK.format(["sssjob", command, str(path)]))
    imported = set(result.stderr.split())
    assert result.returncode == 0, result.stderr
    assert "sssjob.document" in imported
    assert sorted(imported & left) == []


def rooms():
    """The rooms of the page, with the modules that it names in each.

    A floor has a name and rooms below each other, or is one room.
    """
    page = (ROOT / "docs" / "architecture.md").read_text()
    room, is_room, found = "", False, {}
    for line in filter(None, page.split("```text")[1].split("```")[0].splitlines()):
        floor, text = line[:14].strip(), line[14:]
        if floor:
            is_room = floor.endswith(("/", ".py"))
        name = floor[2:] if floor and is_room else text.split()[0]
        if (floor and is_room) or (not is_room and text[0] != " "):
            room = name.rstrip("/")
        found.setdefault(room, set())
        if not room.endswith(".py"):
            found[room] |= set(re.findall(r"(?<![\w/.])\w+\.py", text))
    return found


def test_the_page_names_every_room_and_only_modules_that_are_there():
    home = ROOT / "sssjob"
    packages = {path.parent.name for path in home.glob("*/__init__.py")}
    modules = {path.name for path in home.glob("[a-z]*.py")}
    named = rooms()
    assert packages | modules == set(named)
    for room in packages:
        there = {path.name for path in (home / room).rglob("*.py")}
        assert named[room] <= there, f"{room}: {sorted(named[room] - there)}"


def test_a_line_of_the_picture_can_be_read_without_scrolling():
    page = (ROOT / "docs" / "architecture.md").read_text()
    assert max(map(len, page.split("```text")[1].split("```")[0].splitlines())) <= 122


def test_the_page_on_the_first_change_names_what_is_there():
    page = (ROOT / "docs" / "first-change.md").read_text()
    paths = re.findall(r"`((?:sssjob|tests|conformance|schemas)/[\w./-]+)`", page)
    told = [path for path in paths if not re.search(r"NAME|CODE", path)]
    assert [path for path in told if not (ROOT / path).exists()] == []
    named = re.findall(r"`([A-Z_]{3,})` of `([\w./]+\.py)`", page.replace("\n   ", " "))
    there = [each for each in named if re.search(rf"\b{each[0]}\b", (ROOT / each[1]).read_text())]
    assert there == named
    assert ("SECTIONS", "sssjob/cli/__init__.py") in named


# Strings of JSON, Python and ClassAds: where a part of theirs fails midway, so does all.
POSSESSIVE = {
    "classads/as_json.py", "classads/chunks.py", "classads/long.py", "classads/tokens.py",
    "lcginfo/literal.py", "records/json_objects.py", "systems/condor/accounting/ads.py",
}  # fmt: skip
SET_OF_SIGNS = "[\\w.~!$&'()*+,;=-]"  # which is no group


def test_no_possessive_group_can_fail_midway():
    """Python 3.11.0 to 3.11.4 go on from there: a document was lost.

    ``(...|(?!))*+`` fails where it began; ``(?>(...)*)`` would, too, and remember each round.
    """
    found = set()
    for path in (ROOT / "sssjob").rglob("*.py"):
        text = path.read_text("utf-8").replace(SET_OF_SIGNS, "")
        text = text.replace("|(?!))*+", "")
        if re.search(r"\)[*+?]\+", text):
            found.add(path.relative_to(ROOT / "sssjob").as_posix())
    assert found == POSSESSIVE


def test_only_one_module_says_how_many_cases_a_run_draws():
    files = (ROOT / "tests").rglob("*.py")
    saying = {path.name for path in files if "max_examples" in path.read_text("utf-8")}
    mine = {"conftest.py", "draws.py", "test_draws.py", Path(__file__).name}
    assert saying == mine, "a test says @examples(N) of tests/draws.py"


# What imports by name, and what it may name: rows of tables, what workers are given, rooms below.
BY_NAME = {
    "__init__.py": "its own names", "classads/functions.py": "modules of its room",
    "cli/commands.py": "commands", "dotted.py": "the one way for all others",
    "registry.py": "systems and formats", "verbs/confined.py": "what a room without rights needs",
    "workers.py": "a function and its module, as a pickle would",
}  # fmt: skip
ABOVE = {"NOTEBOOK", "EDITING", "INSIDE"}


def test_what_an_import_linter_cannot_see_stands_in_one_place():
    found, named = set(), set()
    for path in (ROOT / "sssjob").rglob("*.py"):
        text = path.read_text("utf-8")
        if re.search(r"\b(?:import_module|__import__)\b", text):
            found.add(path.relative_to(ROOT / "sssjob").as_posix())
        named |= set(re.findall(r"\bloaded\(([A-Z]\w*)\)", text))
    assert found == BY_NAME.keys()
    assert named <= ABOVE, "a name of a room above stands in sssjob/dotted.py"


# Names of classes that stand more than once, by the reason.
_RULE = "a rule about it: in translate what systems share, in a system its own"
_PUBLIC = "public in more than one room, each about its own subject"
REPEATED = {
    **dict.fromkeys(("Amounts", "Environment", "Slots", "Waits"), _RULE),
    **dict.fromkeys(("Difference", "Layout", "Pattern", "Reason", "Record", "Request"), _PUBLIC),
    **dict.fromkeys(("And", "Not", "Or"), "operators: of a request, and of a condition on columns"),
    "Column": "of a table: of a ledger, and of a store",
    "Field": "of a record, and of a table of a database",
    "Key": "of $JOBFEATURES, and of a signature",
    "Measure": "what reports add up, and what the file of a system measures",
    "Nodes": "of a placement, and the option of TORQUE",
    "Op": "of SSSRMAP, and of a condition on columns",
    "Option": "of a script, of a message, and of a configuration",
    "ReadTransaction": "what stores promise, and what each database makes of it",
    "Rule": "of folding, and of translating",
    "Status": "of a batch system, and of a response",
    "View": "of a document by a server, and of a store in a browser",
}


def test_a_class_at_the_top_of_a_module_has_a_name_of_its_own():
    """``_Part`` counts as ``Part``: whoever reads two rooms takes both for one."""
    trees = (ast.parse(path.read_bytes()) for path in (ROOT / "sssjob").rglob("*.py"))
    classes = (
        {node.name for node in tree.body if isinstance(node, ast.ClassDef)} for tree in trees
    )
    found = Counter(name.lstrip("_") for names in classes for name in names)
    assert sorted(name for name, times in found.items() if times > 1) == sorted(REPEATED)


# What does have to be given up sooner, and why; in the words of its call.
IMPATIENT = {
    ("daemons.py", "daemon.wait(3)"): "a clean-up: what does not end when told is killed",
}


def impatient_calls(tree):
    """Calls that give up after a number of seconds below HANG that has no name.

    What a ``while`` asks again and again is the pace of a loop, and gives nothing up.
    """
    paces = {id(node) for loop in ast.walk(tree) if isinstance(loop, ast.While)
             for node in ast.walk(loop.test)}  # fmt: skip
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and id(call) not in paces:
            seconds = [each.value for each in call.keywords if each.arg == "timeout"]
            if getattr(call.func, "attr", "") in {"wait", "settimeout", "result", "join"}:
                seconds += call.args[:1]
            if any(isinstance(each, ast.Constant) and isinstance(each.value, int | float)
                   and each.value < HANG for each in seconds):  # fmt: skip
                yield ast.unparse(call)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("future.result(60)", ["future.result(60)"]),
        ("get(url, timeout=0.5)", ["get(url, timeout=0.5)"]),
        ("future.result(HANG); ', '.join('ab'); run(timeout=None); done.wait()", []),
        ("while not stop.wait(0.01): pass", []),
        ("while True: stop.wait(1)", ["stop.wait(1)"]),
    ],
)
def test_what_gives_up_early_is_seen(text, told):
    assert [*impatient_calls(ast.parse(text))] == told


def test_no_test_gives_up_before_something_hangs():
    """A busy machine takes as long as it takes; a limit that is what is tested has a name."""
    tests = ROOT / "tests"
    found = {(str(path.relative_to(tests)), call) for path in tests.rglob("*.py")
             for call in impatient_calls(ast.parse(path.read_text()))}  # fmt: skip
    assert found == {*IMPATIENT}
