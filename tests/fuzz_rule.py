"""Which functions of ours decode what somebody else wrote, and which of them targets come to.

A function decodes where it names a parser of a common form (``DECODERS``), by whichever import.
Forms of our own are read by functions that no such rule finds; these stand in the registry.
"""

import ast
import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from fuzz_target import Target, tried

import sssjob

ROOT = Path(sssjob.__file__).parent
DECODERS = {
    "json.load", "json.loads", "orjson.loads", "sssjob.plain_json.loads", "sssjob.json_text.kept",
    "tomllib.load", "tomllib.loads", "csv.reader", "csv.DictReader", "shlex.split",
    "lxml.etree.XML", "lxml.etree.fromstring", "lxml.etree.fromstringlist", "lxml.etree.parse",
    "lxml.etree.iterparse", "sssjob.document.parsing.parsed", "pickle.load", "pickle.loads",
    "email.utils.parsedate_to_datetime",
}  # fmt: skip
_METHOD = "raw_decode"  # of a decoder of JSON, whatever that is called


def decoders() -> Iterator[tuple[str, str]]:
    """The module and the name of each function that decodes, or hands a decoder on."""
    for file in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(file.read_text())
        imported = dict(_imported(tree))
        for name, body in _functions(tree):
            if any(_decodes(each, imported) for each in _own(body)):
                yield str(file.relative_to(ROOT)), name


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """What each imported name of a module stands for, wherever it is imported."""
    for each in ast.walk(tree):
        if isinstance(each, ast.Import):
            for name in each.names:
                yield name.asname or name.name, name.name
        elif isinstance(each, ast.ImportFrom):
            for name in each.names:
                yield name.asname or name.name, f"{each.module}.{name.name}"


def _decodes(node: ast.AST, imported: dict[str, str]) -> bool:
    if not isinstance(node, ast.Name | ast.Attribute):
        return False
    first, *rest = ast.unparse(node).split(".")
    whole = ".".join((imported.get(first, ""), *rest))
    return whole in DECODERS or (isinstance(node, ast.Attribute) and node.attr == _METHOD)


def _functions(node: ast.AST, above: str = "") -> Iterator[tuple[str, ast.AST]]:
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{above}{each.name}.")
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{above}{each.name}", each
            yield from _functions(each, f"{above}{each.name}.<locals>.")
        else:
            yield from _functions(each, above)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function, without the functions inside; a lambda is a part of it."""
    for each in ast.iter_child_nodes(function):
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            yield each
            yield from _own(each)


def reached_apart(most: int) -> set[tuple[str, str]]:
    """The same of all targets in a process of its own, in which nothing is known from before."""
    words = [sys.executable, __file__, str(most)]
    printed = subprocess.run(words, capture_output=True, check=True).stdout
    return {(module, name) for module, name in json.loads(printed)}


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


if __name__ == "__main__":
    from fuzz_targets import TARGETS

    found = sorted(reached(TARGETS, int(sys.argv[1])))
    json.dump(found, sys.stdout)
