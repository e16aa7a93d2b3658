"""Faults planted in a room, one at a time: which of them do its tests not notice?

    python tests/long/mutate.py ROOM [COUNT [SEED]]

The code of functions is exchanged in a process that is forked for each fault, so that nothing is
imported anew. Of all faults that the rules can plant COUNT are tried, 0 for all. What is printed
are the survivors: each is a missing case of a test, or means the same as the code (EQUIVALENT).
"""

import ast
import os
import resource
import sys
from copy import deepcopy
from functools import cached_property
from importlib import import_module
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

HOME = Path(__file__).parents[2]
SECONDS = 120  # of a processor for the tests of one fault; who needs more has noticed it


class Room(NamedTuple):
    """Modules, and the tests that are to notice what is wrong in them."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]


ROOMS = {
    "units": Room(("sssjob.units",), ("tests/test_units.py", "sssjob/units.py")),
    "fold": Room(("sssjob.fold",), ("tests/test_fold.py", "sssjob/fold.py")),
    "expression": Room(
        tuple(
            f"sssjob.expression.{path.stem}"
            for path in sorted((HOME / "sssjob/expression").glob("[!_]*.py"))
        ),
        ("tests/expression", "tests/test_expression.py", "sssjob/expression"),
    ),
    "store.access_paths": Room(
        ("sssjob.store.access_paths",),
        (
            "tests/store/test_pushdown.py",
            "tests/store/test_answers.py",
            "tests/store/test_where.py",
        ),
    ),
}
# Faults that change nothing that can be seen: the module, the line as it is, what stands there
# then, and the reason.
EQUIVALENT = {
    ("sssjob.units", "if stripped.isascii() and stripped.isdigit() and len(stripped) <= DIGITS:",
     "len(stripped) < DIGITS"): "what is longer is read in the other way",
    ("sssjob.units", "zeros = (whole & -whole).bit_length() - 1  # units are powers of 2^10",
     "whole | -whole"): "the negative of the same number, which has as many bits",
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
    code: str = ""

    @property
    def key(self):
        """By what it is known that it changes nothing."""
        return self.module, self.code, self.was


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
    """The nodes of a function's body, each with its parent, the field, and the index there."""
    stack = [(function, "body")]
    while stack:
        parent, field = stack.pop()
        value = getattr(parent, field)
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.FunctionDef | ast.arguments):
                continue
            yield parent, field, index, node
            stack += [(node, name) for name in node._fields if name != "annotation"]


def planted(module, tree, parent, field, index, node):
    for other in faulty(node):
        ast.copy_location(other, node)
        put(parent, field, index, other)
        shown = ast.unparse(other).splitlines()[0]
        yield Fault(module, getattr(node, "lineno", 0), shown, ast.unparse(tree))
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


def survives(fault, tests):
    """Whether all tests pass with a fault, in a process of its own."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        old = sys.modules[fault.module]
        new = type(sys)(fault.module)
        new.__file__, new.__package__ = old.__file__, old.__package__
        sys.modules[fault.module] = new  # where dataclasses look for their types
        exec(compile(fault.source, old.__file__, "exec"), new.__dict__)
        sys.modules[fault.module] = old
        exchange(old, new)
        status = run(tests)
    finally:
        os._exit(status)


def run(tests):
    """Run tests, until one fails."""
    os.chdir(HOME)
    words = ["-q", "-x", "-n0", "-p", "no:cacheprovider", "--no-header", *tests]
    return int(pytest.main(words))


def main(name, count=100, seed=7):
    """Try so many faults of a room, and print those that nobody noticed."""
    room = ROOMS[name]
    planted_here = [fault for module in room.modules for fault in faults(module)]
    assert survives(Fault("sssjob.errors", 0, "", "x = 1\n"), room.tests), "the tests fail anyway"
    chosen = planted_here
    if 0 < count < len(planted_here):
        chosen = Random(seed).sample(planted_here, count)
    survivors = same = 0
    for fault in sorted(chosen, key=lambda each: each[:3]):
        if fault.key in EQUIVALENT:
            same += 1
        elif survives(fault, room.tests):
            survivors += 1
            print(f"{fault.module}:{fault.line}: not noticed: {fault.was}", flush=True)
    real = len(chosen) - same
    print(f"{name}: {len(chosen)} of {len(planted_here)} faults, {same} that change nothing")
    print(f"{100 * (real - survivors) // max(real, 1)} % noticed, {survivors} not noticed")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
