"""Which functions of ours decode what somebody else wrote, and which of them targets come to.

A function decodes where it calls a parser of a common form (``DECODERS``). Forms of our own are
read by functions that no such rule finds; these stand in the registry.
"""

import ast
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from fuzz_target import Target, tried

import sssjob

ROOT = Path(sssjob.__file__).parent
DECODERS = {
    "json.loads", "plain_json.loads", "orjson.loads", "json_text.kept", "_DECODER.raw_decode",
    "decoder.raw_decode", "tomllib.loads", "csv.reader", "etree.fromstring", "etree.parse",
    "etree.iterparse", "parsing.parsed", "parsed", "shlex.split", "pickle.loads",
    "parsedate_to_datetime",
}  # fmt: skip
_PARSED = "sssjob.document.parsing"  # where the function of this name is


def decoders() -> Iterator[tuple[str, str]]:
    """The module and the name of each function that decodes."""
    for file in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(file.read_text())
        own = any(
            isinstance(each, ast.ImportFrom) and each.module == _PARSED for each in ast.walk(tree)
        )
        for name, body in _functions(tree):
            called = {ast.unparse(each.func) for each in _calls(body)}
            if called & (DECODERS if own else DECODERS - {"parsed"}):
                yield str(file.relative_to(ROOT)), name


def _functions(node: ast.AST, above: str = "") -> Iterator[tuple[str, ast.AST]]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{above}{each.name}.")
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{above}{each.name}", each
            yield from _functions(each, f"{above}{each.name}.<locals>.")
        else:
            yield from _functions(each, above)


def _calls(function: ast.AST) -> Iterator[ast.Call]:
    """The calls in a function, without those of functions inside."""
    for each in ast.iter_child_nodes(function):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(each, ast.Call):
            yield each
        yield from _calls(each)


def reached(targets: dict[str, Target], most: int) -> set[tuple[str, str]]:
    """The module and the name of each function of ours that some inputs of targets come to."""
    codes = set()

    def note(frame, event, argument) -> None:
        if event == "call":
            codes.add(frame.f_code)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        for name, target in targets.items():
            for data in islice(inputs(name, target), most):
                tried(target.run, data)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    of_ours = ((Path(each.co_filename), each.co_qualname) for each in codes)
    return {
        (str(path.relative_to(ROOT)), name) for path, name in of_ours if path.is_relative_to(ROOT)
    }


def inputs(name: str, target: Target) -> Iterable[bytes]:
    """Examples, what is long first: the others are told of the same by fuzzing itself."""
    if target.grown is not None:
        grown = target.grown(2)
        yield grown.encode() if isinstance(grown, str) else grown
    yield from target._replace(made=tuple).seeds(name)
