"""Faults planted in a room, one at a time: which of them do its tests not notice?

    python tests/long/mutate.py ROOM [COUNT [SEED [SECONDS [ONLY]]]]

All tests of the room are collected and run once, and it is recorded which of them reach which line.
A test that makes more than MOST calls is given up there and asked no more, so that the run of a
room ends in some minutes: its quick tests are to notice what is wrong.
The code of functions is then exchanged in a process that is forked for each fault, so that nothing
is imported or collected anew, and the tests that reach the statement run, those of least work
first, until one fails. Of all faults
that the rules can plant COUNT are tried, 0 for all, in an order that SEED draws: those that were
tried when SECONDS are over are a sample, too. What is printed are the survivors: each is a missing
case of a test, or means the same as the code (EQUIVALENT). ONLY is a file with what was printed:
the survivors in it are planted again and no other faults, wherever their lines stand by now. Or it
is a module of the room (sssjob.query.order), in which alone faults are planted.
"""

import ast
import json
import math
import os
import re
import resource
import signal
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from functools import cached_property
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import Phase, settings

HOME = Path(__file__).parents[2]
WAITING = 3600  # s; a fault that lets tests wait for each other has been noticed, too
MOST = 1_000_000  # calls of a test


class Room(NamedTuple):
    """Where its modules are below sssjob/, and the tests that are to notice what is wrong there."""

    paths: tuple[str, ...]
    tests: tuple[str, ...]

    def modules(self) -> Iterator[str]:
        """The names of its modules, but for those that only say what a package has."""
        for path in self.paths:
            found = HOME / "sssjob" / path
            for file in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
                if file.name != "__init__.py":
                    yield ".".join(file.relative_to(HOME).with_suffix("").parts)

    def everything(self) -> list[str]:
        """Its tests, with the examples in its own docstrings."""
        return [
            *(f"tests/{name}" for name in self.tests),
            *(f"sssjob/{name}" for name in self.paths),
        ]


ROOMS = {
    "units": Room(("units.py",), ("test_units.py",)),
    "words": Room(
        ("units.py", "integers.py", "legality.py", "resource_names.py", "suggestions.py",
         "visible.py", "json_text.py"),
        ("test_units.py", "test_integers.py", "test_legality.py", "test_resource_names.py",
         "test_suggestions.py", "test_visible.py", "test_json_text.py"),
    ),
    "meaning": Room(
        ("expression", "defaults", "graph", "nodes.py", "executable.py", "array_indices.py",
         "mail_addresses.py", "file_names.py", "feature_rules.py", "usage.py", "measures.py",
         "spans.py", "amounts.py", "states.py", "fold.py", "matching.py"),
        ("expression", "test_expression.py", "test_defaults.py", "test_graph.py", "test_nodes.py",
         "test_executable.py", "translate/test_arrays.py", "test_file_names.py", "test_usage.py",
         "test_feature_rules.py", "test_measures.py", "accounting/test_report.py",
         "test_amounts.py", "test_states.py", "test_fold.py", "test_matching.py"),
    ),
    "document": Room(("document",), ("document",)),
    "check": Room(("check",), ("check", "verbs/test_validate.py", "test_matching.py")),
    "query": Room(
        ("query",),
        ("query", "verbs/test_query.py", "cli/test_query.py", "cli/test_query_forms.py"),
    ),
    "store": Room(("store",), ("store",)),
    "records": Room(("records",), ("accounting", "test_workers.py")),
    "rmap": Room(("rmap",), ("rmap",)),
}  # fmt: skip
# Faults that change nothing that can be seen: the module, the line as it is, what stands there
# then, and the reason.
EQUIVALENT = {
    ("sssjob.units", "if stripped.isascii() and stripped.isdigit() and len(stripped) <= DIGITS:",
     "len(stripped) < DIGITS"): "what is longer is read in the other way",
    ("sssjob.units", "zeros = (whole & -whole).bit_length() - 1  # units are powers of 2^10",
     "whole | -whole"): "the negative of the same number, which has as many bits",
    ("sssjob.suggestions", "return _FARTHEST + 1", "2"): "too far is too far",
    ("sssjob.suggestions", "return _FARTHEST + 1  # no letter behind makes it less", "2"):
     "too far is too far",
    ("sssjob.suggestions", "row = list(range(len(other) + 1))", "2"): "a place that none asks for",
    ("sssjob.resource_names", "if text[: len(_GRES[0])].lower() in _GRES:", "1"):
     "both beginnings have as many letters",
    ("sssjob.resource_names", "text = text[len(_GRES[0]) :]", "1"):
     "both beginnings have as many letters",
    ("sssjob.units", "return inf if value > 0 else -inf", "value >= 0"): "0 is a double",
    ("sssjob.units", "return inf if value > 0 else -inf", "1"): "1 is a double",
    ("sssjob.units",
     'sign, scaled = "-" * (exact < 0), str(round(abs(exact) * 10**digits)).rjust(digits + 1, "0")',
     "exact <= 0"): "0 is whole",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:", "3"):
     "what is packed in one block has no end",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:",
     "len(value) <= 2 * _BLOCK"): "what is packed in one block has no end",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:",
     "2 + _BLOCK"): "what is packed in one block has no end",
    ("sssjob.rmap.encryption",
     "if not 0 < count <= _BLOCK or padded[-count:] != bytes([count]) * count:",
     "0 <= count <= _BLOCK"): "all of it is not nothing",
    ("sssjob.rmap.encryption", "plain = opener.decompress(padded[:-count], limit + 1)", "2"):
     "one more than the limit is more than the limit",
    ("sssjob.rmap.encryption", "packed = gzip.compress(plain, mtime=0)", "1"):
     "a time that none looks at, in what is encrypted",
    ("sssjob.rmap.replies",
     "self._left: int | None = -1  # bytes of a chunk or body; -1: a line first; None: to the end",
     "2"): "what is below 0 is below 0",
    ("sssjob.rmap.keys", 'line = stream.read(_LONGEST + 1).split(b"\\n", 1)[0]', "2"):
     "one more than the limit is more than the limit",
    ("sssjob.rmap.gate", "start = part.start.search(message, 0, _AROUND)", "1"):
     "what begins with its part has no Envelope",
    ("sssjob.rmap.gate",
     "ends = list(part.end.finditer(message, max(len(message) - _AROUND, 0)))", "1"):
     "what begins with its part has no Envelope",
    ("sssjob.rmap.signature", "if len(element.attrib) > 1:", "len(element.attrib) >= 1"):
     "one attribute is in order",
    ("sssjob.rmap.replies", "self._left = -1", "2"): "what is below 0 is below 0",
    ("sssjob.rmap.replies", "self._chunked = False", "True"): "_begin says so first",
    ("sssjob.rmap.replies", "if end < 0:", "1"): "no head ends where it begins",
    ("sssjob.rmap.replies", "if end < 0:", "end <= 0"): "no head ends where it begins",
    ("sssjob.rmap.framing", "if (end := end_of_head(self._buffer)) < 0:", "1"):
     "no head ends where it begins",
    ("sssjob.rmap.framing", "if (end := end_of_head(self._buffer)) < 0:",
     "(end := end_of_head(self._buffer)) <= 0"): "no head ends where it begins",
    ("sssjob.rmap.framing", 'if (end := buffer.find(b"\\n", 0, _LINE_LIMIT)) < 0:', "1"):
     "empty lines were taken before",
    ("sssjob.rmap.framing", 'if (end := buffer.find(b"\\n", 0, _LINE_LIMIT)) < 0:',
     "(end := buffer.find(b'\\n', 0, _LINE_LIMIT)) <= 0"): "empty lines were taken before",
    ("sssjob.rmap.framing", "found, limit = -1, HEAD_LIMIT", "2"): "what is below 0 is below 0",
    ("sssjob.rmap.framing", "if self._left < 0:", "self._left <= 0"):
     "a body of which nothing is left is complete",
    ("sssjob.rmap.framing", "self._chunks = 0", "1"): "_begin says so first",
    ("sssjob.rmap.framing", "self._chunked = False", "True"): "_begin says so first",
    ("sssjob.rmap.framing",
     "self._head, self._body, self._left = None, BytesIO(), -1", "2"): "_begin says so first",
    ("sssjob.rmap.framing",
     "self._head, self._body, self._left = None, BytesIO(), -1", "1"): "_begin says so first",
    ("sssjob.check.awareness", "for child, part in zip(children, parts, strict=True):", "False"):
     "a tree has an element for each part",
    ("sssjob.check.awareness",
     "is_known = not item.namespace and bool(element_level(group.name, item.name))",
     "item.namespace"): "what is understood says nothing, and is only left out",
    ("sssjob.check.awareness",
     "elif not item.attributes and not item.children and not item.namespace:", "item.namespace"):
     "the long way says the same",
    ("sssjob.check.walk",
     "f' {key}=\"{value}\"' for key, value in zip(keys, values, strict=True) if value", "False"):
     "there is a value for each key",
    ("sssjob.fold", "self.ended = self.advances = False", "True"): "job() says both first",
}  # fmt: skip

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def faulty(node):
    """Each way in which a node can be wrong, as another node."""
    match node:
        case ast.Compare(ops=[first, *_]) if type(first) in COMPARISONS:
            other = deepcopy(node)
            other.ops[0] = COMPARISONS[type(first)]()
            yield other
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.If():
            other = deepcopy(node)
            other.test = ast.UnaryOp(ast.Not(), node.test)
            yield other
        case ast.Return(value=ast.Constant(value=None | False)):  # who asks whether hears no
            pass
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Yield(value=ast.expr()):
            yield ast.Yield(ast.Constant(None))


class Fault(NamedTuple):
    """Where a module is wrong: its line as it is, what stands there then, and its source then."""

    module: str
    line: int
    was: str
    source: str
    lines: range  # of the statement, without those that it holds
    code: str = ""

    @property
    def key(self):
        """By what it is known that it changes nothing."""
        return self.module, self.code, self.was

    def told(self, what):
        """A line about it, from which named() knows it again."""
        return f"{self.module}:{self.line}: {what}: {self.code}  ->  {self.was}"


def named(text):
    """By what the faults are known that lines of a text tell of."""
    return set(re.findall(r"(?m)^([\w.]+):\d+: [\w ]+: (.*)  ->  (.*)$", text))


def faults(module):
    """All faults of the functions of a module."""
    path = Path(import_module(module).__file__)
    text = path.read_text("utf-8")
    tree, lines = ast.parse(text), text.splitlines()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for place in places(function):
                for fault in planted(module, tree, *place):
                    yield fault._replace(code=lines[fault.line - 1].strip())


def places(function):
    """The nodes of a function's body: the lines of the statement, parent, field, index, node."""
    stack = [(range(0), function, "body")]
    while stack:
        lines, parent, field = stack.pop()
        value = getattr(parent, field)
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.FunctionDef | ast.arguments):
                continue
            own = own_lines(node) or lines
            yield own, parent, field, index, node
            stack += [(own, node, name) for name in node._fields if name != "annotation"]


def own_lines(node):
    """The lines of a statement, without those of statements that it holds; none of what is none."""
    if isinstance(node, ast.match_case):
        return range(node.pattern.lineno, node.body[0].lineno + 1)
    if not isinstance(node, ast.stmt):
        return range(0)
    # A loop whose condition is a constant has no code for it.
    held = [] if isinstance(node, ast.While) else getattr(node, "body", [])
    last = max(node.lineno, held[0].lineno - 1) if held else node.end_lineno
    return range(node.lineno, last + 1)


def planted(module, tree, lines, parent, field, index, node):
    for other in faulty(node):
        ast.copy_location(other, node)
        put(parent, field, index, other)
        shown = ast.unparse(other).splitlines()[0]
        yield Fault(module, getattr(node, "lineno", 0), shown, ast.unparse(tree), lines)
        put(parent, field, index, node)


def put(parent, field, index, node):
    if index is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[index] = node


def exchange(old, new):
    """Give the functions of a module, or of a class, the code of others."""
    for name, made in vars(new).items():
        found = vars(old).get(name)
        if isinstance(made, type) and isinstance(found, type):
            if made.__module__ == new.__name__ if hasattr(new, "__file__") else True:
                exchange(found, made)
            continue
        there, here = bare(found), bare(made)
        if there is not None and here is not None and there.__qualname__ == here.__qualname__:
            try:
                there.__code__ = here.__code__
            except ValueError:  # it closes over something else, as methods with super() do
                setattr(old, name, made)


def bare(found):
    """The function of a function, method, property or cache."""
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    if isinstance(found, property):
        found = found.fget
    if isinstance(found, cached_property):
        found = found.func
    found = getattr(found, "__wrapped__", found)
    return found if hasattr(found, "__code__") else None


class Reached(NamedTuple):
    """The lines of a room that a test reaches, and how many calls it makes."""

    lines: dict[str, list[int]]  # by file
    calls: int


class GivenUp(BaseException):
    """A test makes more calls than MOST."""


def reached(session, files, told):
    """What each test reaches, those of the fewest calls first; and the seconds for a call.

    Seconds are those of a processor, while calls are counted. No test finds what another one has
    had remembered, so that each reaches all that it needs.
    """
    found = {}
    with tempfile.TemporaryFile("w+") as file:

        def record():
            for item in session.items:
                found[item.nodeid] = traced(session, item, files)
                if found[item.nodeid].calls > MOST:
                    session.testsfailed = 0
                if session.testsfailed:
                    print(f"{item.nodeid} fails without a fault", file=told, flush=True)
                    return 1
            json.dump(found, file)
            file.flush()
            return 0

        passed, seconds = in_a_fork(record)
        assert passed
        file.seek(0)
        found = {test: Reached(*each) for test, each in json.load(file).items()}
    calls = sum(each.calls for each in found.values())
    quick = {test: each for test, each in found.items() if each.calls <= MOST}
    if given_up := len(found) - len(quick):
        print(f"{given_up} of {len(found)} tests are given up", file=told, flush=True)
    return dict(sorted(quick.items(), key=lambda each: each[1].calls)), seconds / calls


def traced(session, item, files):
    """Run a test, and count."""
    lines = defaultdict(set)
    calls = 0

    def called(frame, *_):
        nonlocal calls
        calls += 1
        if calls > MOST and threading.current_thread() is threading.main_thread():
            raise GivenUp
        if (file := frame.f_code.co_filename) not in files:
            return None
        met = lines[file]

        def line(frame, event, _):
            if event == "line":
                met.add(frame.f_lineno)
            return line

        return line

    forget()
    threading.settrace(called)
    sys.settrace(called)
    with suppress(GivenUp):  # where pytest itself is on its way
        run(session, [item])
    sys.settrace(None)
    threading.settrace(None)
    return Reached({file: [*met] for file, met in lines.items()}, calls)


def forget():
    """Whatever functions of the library remember."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "sssjob":
            inner = [each for each in vars(module).values() if isinstance(each, type)]
            for found in [module, *inner]:
                for each in [*vars(found).values()]:
                    if hasattr(each, "cache_clear") and not isinstance(each, type):
                        each.cache_clear()


def tests_of(fault, found):
    """The tests that reach the statement of a fault, of what all of them reach."""
    file = import_module(fault.module).__file__
    return [
        test
        for test, each in found.items()
        if any(line in fault.lines for line in each.lines.get(file, ()))
    ]


def survives(fault, session, items, seconds):
    """Whether all of these tests pass with a fault, in so many seconds of a processor."""

    def plant():
        old = sys.modules[fault.module]
        new = type(sys)(fault.module)
        new.__file__, new.__package__ = old.__file__, old.__package__
        sys.modules[fault.module] = new  # where dataclasses look for their types
        exec(compile(fault.source, old.__file__, "exec"), new.__dict__)
        sys.modules[fault.module] = old
        exchange(old, new)
        forget()
        return run(session, items)

    return in_a_fork(plant, seconds)[0]


def in_a_fork(act, seconds=0):
    """Whether what is done in a process of its own ends with 0, and its seconds of a processor."""
    child = os.fork()
    if child:
        _, status, used = os.wait4(child, 0)
        return status == 0, math.ceil(used.ru_utime + used.ru_stime)
    status = 1
    try:
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            signal.alarm(WAITING)
        status = act()
    finally:
        os._exit(status)


def run(session, items):
    """Run tests of a session, until one has failed: how many have."""
    for item, following in zip(items, [*items[1:], None], strict=True):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            break
    return session.testsfailed


class Planting:
    """A plugin of pytest: instead of running its tests, it asks them about each fault."""

    def __init__(self, room, chosen, end, told):
        self.room, self.chosen, self.end = room, chosen, end
        self.tried = self.same = self.survivors = 0
        self.told = told

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self):
        """That a case fails is enough: nobody looks for a smaller one."""
        phases = [Phase.explicit, Phase.generate, Phase.target]
        settings.register_profile("planted", settings.get_profile("ci"), phases=phases)
        settings.load_profile("planted")

    def pytest_runtestloop(self, session):
        assert not session.testsfailed, "not all tests can be collected"
        session.config._tmp_path_factory.getbasetemp()  # one for all processes
        files = {import_module(each).__file__ for each in self.room.modules()}
        found, a_call = reached(session, files, self.told)
        items = {item.nodeid: item for item in session.items}
        for fault in self.chosen:
            if time.monotonic() > self.end:
                break
            self.tried += 1
            if fault.key in EQUIVALENT:
                self.same += 1
                continue
            tests = tests_of(fault, found)
            seconds = 10 + math.ceil(2 * a_call * sum(found[test].calls for test in tests))
            if not tests or survives(fault, session, [items[test] for test in tests], seconds):
                self.survivors += 1
                what = "not noticed" if tests else "no test comes here"
                print(fault.told(what), file=self.told, flush=True)
        return True


def main(name, count=100, seed=7, most=0, only=None):
    """Try so many faults of a room, or for so many seconds, and print those that nobody noticed."""
    modules = [*ROOMS[name].modules()]
    again = None
    if only in modules:
        modules = [only]
    elif only:
        again = named(Path(only).read_text("utf-8"))
    os.chdir(HOME)
    end = time.monotonic() + most if most else math.inf
    room = ROOMS[name]
    planted_here = [
        fault
        for module in modules
        for fault in faults(module)
        if again is None or fault.key in again
    ]
    chosen = Random(seed).sample(planted_here, min(count or math.inf, len(planted_here)))
    with os.fdopen(os.dup(1), "w") as told:  # and nothing of what pytest says
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        planting = Planting(room, chosen, end, told)
        words = ["-n0", "-p", "no:cacheprovider", *room.everything()]
        status = pytest.main(words, [planting])
        real = planting.tried - planting.same
        noticed = 100 * (real - planting.survivors) // max(real, 1)
        print(
            f"{name}: {planting.tried} of {len(planted_here)} faults,"
            f" {planting.same} that change nothing\n"
            f"{noticed} % noticed, {planting.survivors} not noticed",
            file=told,
        )
    return int(status)


if __name__ == "__main__":
    os.environ["SSSJOB_TESTS_WALK_HERE"] = "1"  # tests/kill_walks.py: another process has no faults
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:5]), *sys.argv[5:]))
