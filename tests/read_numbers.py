"""Where the sources make a number of a text, told by what their annotations and methods say.

``found`` is what a test asks: of each call of ``int``, ``float``, ``Decimal`` and ``Fraction``
whose argument is a text, the module and the function, unless this function measures the text: by a
regular expression, its length, or a function that does so. What raises ``ValueError`` alone may
also be caught where it stands.
"""

import ast
import re
from functools import cache
from pathlib import Path

import sssjob

ROOM = Path(sssjob.__file__).parent
MADE = ("int", "float", "Decimal", "Fraction")
TEXT, TEXTS, MATCH, GROUPS, BOUND = "text", "texts", "match", "groups", "bound"
KEEPS_TEXT = {
    "strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "replace", "lower", "upper",
    "decode", "read_text", "translate", "join",
}  # fmt: skip
CUTS = {"split", "rsplit", "splitlines", "partition", "rpartition", "findall"}
FINDS = {"fullmatch", "match", "search"}
OF_TEXTS = re.compile(r"(Sequence|list|tuple|Iterable|Iterator|Collection|set|frozenset)\[str\b")
OF_NAMES = re.compile(r"(Mapping|dict)\[\w+, str\]")
MEASURES = re.compile(
    r"\blen\(|is_whole\b|\bwhole\(|fullmatch|\.match\(|\.search\(|finditer|findall|are_numbers\(|are_digits\("
    r"|is_number\(|\[:[0-9_A-Z]"
)
CATCHES = re.compile(r"except \(?[^:]*\bValueError|suppress\([^)]*ValueError")


MAKES = re.compile(rf"\b({'|'.join(MADE)})\(|\bmap\(({'|'.join(MADE)})\b")
RETURNS = re.compile(
    r"^ *(?:async )?def (\w+)\((?:[^()]|\([^()]*\))*\) -> ([^\n]+):$", re.MULTILINE
)
FIELD = re.compile(r"^    (\w+): ([^=\n]+?)(?: = .*)?$", re.MULTILINE)
GROUP = re.compile(
    r"(?<!\\)\((?:(?!\?)|\?P<)(?:[^()\\]|\\.)*"
    r"(?:\[(?:0-9|1-9|0-9a-fA-F|0-9A-F)\]|\\d)(?:[+*]|\{[0-9]*,\})"
)


def of_annotation(said):
    """What a value with such an annotation is, if it is a text or has texts."""
    said = said.strip("'\"")
    if said in ("str", "bytes", "str | None", "bytes | None", "AnyStr"):
        return TEXT
    if OF_TEXTS.match(said) or OF_NAMES.match(said):
        return TEXTS
    return MATCH if "re.Match" in said else None


@cache
def sources():
    """The text of each module."""
    return {
        path.relative_to(ROOM).as_posix(): path.read_text("utf-8") for path in ROOM.rglob("*.py")
    }


@cache
def modules():
    """The lines and the trees of the modules that make numbers."""
    return {
        name: (text.splitlines(), ast.parse(text))
        for name, text in sources().items()
        if MAKES.search(text)
    }


@cache
def named():
    """What functions return, and what fields hold, by names that say the same everywhere."""
    told = {}
    for text in sources().values():
        for name, said in (*RETURNS.findall(text), *FIELD.findall(text)):
            told.setdefault(name, set()).add(of_annotation(said))
    return {name: kinds.pop() for name, kinds in told.items() if len(kinds) == 1}


def unbounded():
    """Module and text of each group of a regular expression that takes any number of digits."""
    return {
        f"{name}:{found[0]}"
        for name, (_, tree) in modules().items()
        for part in ast.walk(tree)
        if isinstance(part, ast.Constant)
        and isinstance(part.value, str)
        and ">>>" not in part.value
        for found in GROUP.finditer(part.value)
    }


def said(annotation):
    """An annotation as it is written, or nothing."""
    return "" if annotation is None else ast.unparse(annotation)


class Function:
    """The names of a function that are texts, and what its expressions are."""

    def __init__(self, node):
        arguments = node.args
        self.known = {
            each.arg: of_annotation(said(each.annotation))
            for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        }
        if arguments.vararg:
            is_text = of_annotation(said(arguments.vararg.annotation)) == TEXT
            self.known[arguments.vararg.arg] = TEXTS if is_text else None
        for part in ast.walk(node):
            self.learn(part)

    def learn(self, part):
        """What an assignment or a loop gives a name."""
        if isinstance(part, ast.Assign):
            for target in part.targets:
                self.give(target, self.kind(part.value))
        elif isinstance(part, ast.NamedExpr):
            self.give(part.target, self.kind(part.value))
        elif isinstance(part, ast.AnnAssign):
            self.give(part.target, of_annotation(said(part.annotation)))
        elif isinstance(part, ast.For | ast.comprehension):
            self.give(part.target, TEXT if self.kind(part.iter) == TEXTS else None)

    def give(self, target, kind):
        """Let a name, or those of a tuple, be of a kind, unless something else said it."""
        if isinstance(target, ast.Name):
            self.known[target.id] = self.known.get(target.id) or kind
        elif isinstance(target, ast.Tuple | ast.List) and kind in (TEXTS, GROUPS):
            for each in target.elts:
                self.give(each.value if isinstance(each, ast.Starred) else each,
                          TEXT if kind == TEXTS else BOUND)  # fmt: skip

    def kind(self, node):
        """What an expression is."""
        match node:
            case ast.Name():
                return self.known.get(node.id)
            case ast.JoinedStr():
                return TEXT
            case ast.NamedExpr() | ast.Starred():
                return self.kind(node.value)
            case ast.Attribute():
                return named().get(node.attr)
            case ast.Call():
                return self.called(node)
            case ast.Subscript():
                return self.part(self.kind(node.value), node.slice)
            case ast.BoolOp():
                return next(filter(None, map(self.kind, node.values)), None)
            case ast.IfExp():
                return self.kind(node.body) or self.kind(node.orelse)
            case ast.BinOp():
                return self.kind(node.left) or self.kind(node.right)
        return None

    def called(self, node):
        """What a call gives."""
        if isinstance(node.func, ast.Name):
            return TEXT if node.func.id == "str" else named().get(node.func.id)
        if not isinstance(node.func, ast.Attribute):
            return None
        name = node.func.attr
        if name == "get" and self.kind(node.func.value) == TEXTS:
            return TEXT
        if name == "groups":
            return GROUPS
        if name in FINDS:
            return MATCH
        return TEXT if name in KEEPS_TEXT else TEXTS if name in CUTS else named().get(name)

    def part(self, kind, place):
        """What a part of something is."""
        if isinstance(place, ast.Slice):
            return kind
        return {TEXTS: TEXT, TEXT: TEXT, MATCH: BOUND, GROUPS: BOUND}.get(kind)


def is_made(part):
    """Whether a part of a tree makes a number of what is given."""
    return isinstance(part, ast.Call) and (
        (isinstance(part.func, ast.Name) and part.func.id in MADE and bool(part.args))
        or (isinstance(part.func, ast.Name) and part.func.id == "map" and len(part.args) == 2
            and isinstance(part.args[0], ast.Name) and part.args[0].id in MADE)
    )  # fmt: skip


def texts_in(node):
    """The calls in a function that make numbers of texts."""
    function = None
    for part in ast.walk(node):
        if is_made(part):
            function = function or Function(node)
            if function.kind(part.args[-1] if part.func.id == "map" else part.args[0]) in (
                TEXT, TEXTS,
            ):  # fmt: skip
                yield part


def is_measured(part, code):
    """Whether a function looks at a text before it makes a number of it, or catches its error."""
    made = part.args[0].id if part.func.id == "map" else part.func.id
    return bool(MEASURES.search(code)) or (made in ("int", "float") and bool(CATCHES.search(code)))


def found():
    """Module and function of each text that is made a number and that nothing measures there."""
    return {
        f"{name}:{node.name}"
        for name, (lines, tree) in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for part in texts_in(node)
        if not is_measured(part, "\n".join(lines[node.lineno - 1 : node.end_lineno]))
    }
