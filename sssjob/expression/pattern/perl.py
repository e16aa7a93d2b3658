"""Perl 5 regular expressions, read or refused by position.

What is not evaluated is refused with the place where it stands. Nothing is taken to mean something
else in silence.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from sssjob.expression.pattern import NotAPattern
from sssjob.expression.pattern.syntax import (
    Anchor,
    Atomic,
    Back,
    Beginning,
    CaptureGroup,
    Char,
    Either,
    FoldedText,
    LookAround,
    Node,
    OneCharacter,
    Repeat,
    Seq,
    either,
    seq,
)

LENGTH_LIMIT = 10_000
DEPTH_LIMIT = 64
_REPEAT_LIMIT = 65_534  # Perl's own

# fmt: off
# What stands for one character each.
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "e": "\x1b", "a": "\a", "b": "\b"}

# Classes: the members as the engine writes them between [ and ].
_CLASSES = {
    "d": r"\d", "w": r"\w", "s": r"\s",
    "h": r"\t\x20\xa0\u1680\u2000-\u200a\u202f\u205f\u3000",
    "v": r"\n\x0b\x0c\r\x85\u2028\u2029",
}
_POSIX = {
    "alpha":  r"\p{Alphabetic}",
    "digit":  r"\d",
    "alnum":  r"\p{Alphabetic}\d",
    "upper":  r"\p{Uppercase}",
    "lower":  r"\p{Lowercase}",
    "space":  r"\s",
    "blank":  _CLASSES["h"],
    # "\p{PosixPunct} and the symbols of ASCII", perlrecharclass
    "punct":  r"\p{P}$+<=>\^`\|\~",
    "print":  r"[:print:]",
    "graph":  r"[:graph:]",
    "cntrl":  r"\p{Cc}",
    "xdigit": r"[:xdigit:]",
    "word":   r"\w",
    "ascii":  r"\x00-\x7f",
}
_CATEGORIES = re.compile(r"C[cfosn]?|L[ulCtmo&]?|M[nce]?|N[dlo]?|P[cdseifo]?|S[mcko]?|Z[slp]?")

# What matches a place and no text, and so cannot be repeated.
_PLACES = ("b", "B", "A", "z", "Z")
_GROUPS: dict[str, Callable[[Node], Node]] = {
    "(?:":  lambda part: part,
    "(?=":  lambda part: LookAround(part),
    "(?!":  lambda part: LookAround(part, negated=True),
    "(?<=": lambda part: LookAround(part, behind=True),
    "(?<!": lambda part: LookAround(part, behind=True, negated=True),
    "(?>":  Atomic,
}
# fmt: on

_QUANTIFIER = re.compile(r"([*+?]|\{[0-9]{1,5}(?:,[0-9]{0,5})?\})([?+]?)")
_LOOKS_LIKE_ONE = re.compile(r"\{[\s0-9]*,?[\s0-9]*\}")
_FLAGS = re.compile(r"\(\?([ims]*)(?:-([ims]+))?([:)])")
_NAMED = re.compile(r"\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')", re.ASCII)
_NUMBERED_BACK = re.compile(
    r"\\(?:([1-9][0-9]{0,400})|g([1-9][0-9]{0,400})|g\{(-?[1-9][0-9]{0,400})\})"
)
_NAMED_BACK = re.compile(
    r"\\k<([A-Za-z_]\w*)>|\\[kg]\{([A-Za-z_]\w*)\}|\\k'([A-Za-z_]\w*)'|\(\?P=([A-Za-z_]\w*)\)",
    re.ASCII,
)
_CODE = re.compile(
    r"\\(?:x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{1,2})|N\{U\+([0-9A-Fa-f]{1,6})\}"
    r"|o\{([0-7]{1,7})\}|(0[0-7]{0,2}|[0-7]{3}))"
)
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]+):\]")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)(\w+&?)\}|([A-Z]))", re.ASCII)


def read(text: str) -> Node:
    """What an expression is made of. Raises ``NotAPattern``.

    >>> read(r"a|\\Qb.\\E")
    Either(parts=(Char(letter='a'), Seq(parts=(Char(letter='b'), Char(letter='.')))))
    """
    if len(text) > LENGTH_LIMIT:
        raise NotAPattern(text, LENGTH_LIMIT + 1, f"more than {LENGTH_LIMIT} characters")
    return _PatternReader(text).whole()


@dataclass(slots=True)
class _OpenGroup:
    """A group that is open: where it begins, what it becomes, and the flags around it."""

    at: int
    made: Callable[[Node], Node]
    flags: frozenset[str]
    rows: list[list[Node]] = field(default_factory=lambda: [[]])

    def closed(self) -> Node:
        """All of it."""
        return self.made(either(map(seq, self.rows)))


class _PatternReader:
    """One walk over the expression: what each construct becomes."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.flags: frozenset[str] = frozenset()  # of i, m and s
        self.open = [_OpenGroup(-1, lambda part: part, self.flags)]
        self.groups = 0
        self.names: dict[str, int] = {}
        self.repeatable = False  # whether a quantifier has something to repeat
        self.quoted = False

    def whole(self) -> Node:
        """Everything from here to the end."""
        while self.at < len(self.text):
            self.next()
        if len(self.open) > 1:
            raise self.refused("a group that is not closed", self.open[-1].at)
        return self.open[0].closed()

    def next(self) -> None:
        """Read the construct at this place; the place moves behind it."""
        text, at = self.text, self.at
        letter = text[at]
        if self.quoted and not text.startswith(r"\E", at):
            self.literal(letter)
        elif letter == "\\":
            self.escape()
        elif letter == "(":
            self.group()
        elif letter == ")":
            self.close()
        elif letter == "[":
            self.char_class()
        elif letter in "*+?{":
            self.quantifier()
        elif letter == "|":
            self.open[-1].rows.append([])
            self.skipped(1)
        elif letter in "^$":
            self.took(Anchor(f"{letter}{'m' * ('m' in self.flags)}"), 1, False)
        elif letter == ".":
            self.took(OneCharacter(r"[\s\S]" if "s" in self.flags else r"[^\n]"), 1, True)
        else:
            self.literal(letter)

    def took(self, node: Node, length: int, repeatable: bool) -> None:
        """Keep what was read, and go on behind ``length`` characters."""
        self.open[-1].rows[-1].append(node)
        self.at += length
        self.repeatable = repeatable

    def skipped(self, length: int) -> None:
        """Go on behind what matches nothing, and cannot be repeated."""
        self.at += length
        self.repeatable = False

    def literal(self, letter: str, length: int = 1) -> None:
        """A character that means itself."""
        self.took(
            FoldedText(letter.casefold()) if "i" in self.flags else Char(letter), length, True
        )

    def refused(self, reason: str, at: int | None = None) -> NotAPattern:
        """What to raise about this place, or another one."""
        return NotAPattern(self.text, (self.at if at is None else at) + 1, reason)

    def quantifier(self) -> None:
        """How often what stands before it is repeated."""
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            if _LOOKS_LIKE_ONE.match(self.text, self.at):
                raise self.refused("a quantifier that Perls read differently")
            self.literal("{")
            return
        if not self.repeatable:
            raise self.refused("a quantifier with nothing to repeat")
        low, high = _BOUNDS.get(found[1]) or _bounds(found[1])
        if max(low, high or 0) > _REPEAT_LIMIT or (high is not None and low > high):
            raise self.refused("a quantifier whose bounds are too large or out of order")
        repeated = Repeat(self.open[-1].rows[-1].pop(), low, high, found[2] == "?")
        self.took(Atomic(repeated) if found[2] == "+" else repeated, len(found[0]), False)

    def group(self) -> None:
        """What a bracket opens, or stands for."""
        text, at = self.text, self.at
        if text.startswith("(?#", at):
            end = text.find(")", at)
            if end < 0:
                raise self.refused("a comment that is not closed")
            self.at = end + 1
        elif back := _NAMED_BACK.match(text, at):
            self.named_back(back)
        elif flags := _FLAGS.match(text, at):
            changed = (self.flags | set(flags[1])) - set(flags[2] or "")
            if flags[3] == ")":
                self.flags = changed
                self.skipped(len(flags[0]))
            else:
                self.opened(lambda part: part, len(flags[0]), changed)
        elif named := _NAMED.match(text, at):
            self.named(named[1] or named[2], len(named[0]))
        elif start := next((start for start in _GROUPS if text.startswith(start, at)), ""):
            self.opened(_GROUPS[start], len(start), self.flags)
        elif text.startswith(("(?", "(*"), at):
            raise self.refused(f"the construct {text[at : at + 4]} is not evaluated")
        else:
            self.numbered(1)

    def named(self, name: str, length: int) -> None:
        """A group with a name."""
        if name in self.names:
            raise self.refused("a second group of the same name")
        self.names[name] = self.groups + 1
        self.numbered(length)

    def numbered(self, length: int) -> None:
        """A group that can be referred to."""
        self.groups += 1
        number = self.groups
        self.opened(lambda part: CaptureGroup(number, part), length, self.flags)

    def opened(self, made: Callable[[Node], Node], length: int, flags: frozenset[str]) -> None:
        """A group begins."""
        if len(self.open) > DEPTH_LIMIT:
            raise self.refused(f"more than {DEPTH_LIMIT} groups inside each other")
        self.open.append(_OpenGroup(self.at, made, self.flags))
        self.flags = flags
        self.skipped(length)

    def close(self) -> None:
        """A group ends, and with it what was said of flags inside."""
        if len(self.open) < 2:
            raise self.refused("a ) without its (")
        group = self.open.pop()
        self.flags = group.flags
        self.took(group.closed(), 1, True)

    def escape(self) -> None:
        """What a backslash and what follows it mean."""
        text, at = self.text, self.at
        letter = text[at + 1 : at + 2]
        if letter in ("Q", "E"):
            self.quoted = letter == "Q"
            self.at += 2
        elif letter == "K":
            self.took(Beginning(), 2, False)
        elif letter in _PLACES:
            self.took(Anchor(letter), 2, False)
        elif letter == "R":
            ends = Seq((Char("\r"), Char("\n"))), OneCharacter(f"[{_CLASSES['v']}]")
            self.took(Atomic(Either(ends)), 2, True)
        elif letter == "N" and text[at + 2 : at + 3] != "{":
            self.took(OneCharacter(r"[^\n]"), 2, True)
        elif back := _NAMED_BACK.match(text, at):
            self.named_back(back)
        elif (back := _NUMBERED_BACK.match(text, at)) and not self.is_octal(back):
            self.numbered_back(back)
        else:
            members, length, letter = self.member()
            if letter:
                self.literal(letter, length)
            else:
                self.took(OneCharacter(f"[{members}]", "i" in self.flags), length, True)

    def is_octal(self, back: re.Match[str]) -> bool:
        """Backslash and more than one digit is a character where there are not as many groups."""
        return bool(back[1]) and len(back[1]) > 1 and int(back[1]) > self.groups

    def numbered_back(self, back: re.Match[str]) -> None:
        """A reference by a number, which may count back from here."""
        number = int(back[1] or back[2] or back[3])
        number += self.groups + 1 if number < 0 else 0
        if not 1 <= number <= self.groups:
            raise self.refused("a reference to a group that is not there")
        self.took(Back(number, "i" in self.flags), len(back[0]), True)

    def named_back(self, back: re.Match[str]) -> None:
        """A reference by a name."""
        name = next(name for name in back.groups() if name)
        if name not in self.names:
            raise self.refused("a reference to a group that is not there")
        self.took(Back(self.names[name], "i" in self.flags), len(back[0]), True)

    def member(self) -> tuple[str, int, str]:
        """What an escape stands for in a class, its length, and the letter if it is one."""
        text, at = self.text, self.at
        if code := _CODE.match(text, at):
            sixteen = code[1] or code[2] or code[3]
            number = int(sixteen, 16) if sixteen else int(code[4] or code[5], 8)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise self.refused("a code that no character has")
            return _literal(chr(number)), len(code[0]), chr(number)
        if found := _PROPERTY.match(text, at):
            name = found[3] or found[4]
            if not _CATEGORIES.fullmatch(name):
                raise self.refused(f"the property {name} is not evaluated")
            sign = "P" if (found[1] == "P") != (found[2] == "^") else "p"
            return rf"\{sign}{{{name}}}", len(found[0]), ""
        letter = text[at + 1 : at + 2]
        if not letter:
            raise self.refused("a backslash at the end")
        if letter.lower() in _CLASSES:
            members = _CLASSES[letter.lower()]
            return members if letter.islower() else f"[^{members}]", 2, ""
        if meant := _CHARACTERS.get(letter):
            return _literal(meant), 2, meant
        if letter == "c" and "@" <= (code_ := text[at + 2 : at + 3].upper()) <= "_":
            meant = chr(ord(code_) ^ 64)
            return _literal(meant), 3, meant
        if letter.isascii() and letter.isalnum():
            raise self.refused(rf"the construct \{letter} is not evaluated")
        return _literal(letter), 2, letter

    def char_class(self) -> None:
        """A class in brackets."""
        start = self.at
        self.at += 1
        negated = self.text.startswith("^", self.at)
        self.at += negated
        out: list[str] = []
        letters: list[str] = []
        while not out or not self.text.startswith("]", self.at):
            members, letter = self.ranged(start)
            out.append(members)
            letters.append(letter)
        folded = "i" in self.flags
        whole: Node = OneCharacter(f"[{'^' * negated}{''.join(out)}]", folded)
        if folded and not negated:
            # What folds to several characters is in a class by its name, but not by a range.
            texts = [letter.casefold() for letter in letters]
            whole = either([whole, *(FoldedText(text) for text in texts if len(text) > 1)])
            if len(letters) == 1 and letters[0]:
                whole = FoldedText(texts[0])
        self.took(whole, 1, True)

    def ranged(self, start: int) -> tuple[str, str]:
        """One member of a class, or the range that begins with it; and the letter if it is one."""
        low, letter = self.one(start)
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return low, letter
        dash, self.at = self.at, self.at + 1
        high, also = self.one(start)
        if not letter or not also:
            raise self.refused("a range that ends in a class", dash)
        if letter > also:
            raise self.refused("a range whose ends are out of order", dash)
        return f"{low}-{high}", ""

    def one(self, start: int) -> tuple[str, str]:
        """One member of a class as it is written, and the letter if it is one."""
        text, at = self.text, self.at
        if at >= len(text):
            raise self.refused("a class that is not closed", start)
        if text.startswith("\\", at):
            if text[at + 1 : at + 2] in ("Q", "E", "N", "R") and not _CODE.match(text, at):
                raise self.refused(f"the construct {text[at : at + 2]} in a class is not evaluated")
            members, length, letter = self.member()
            self.at += length
            return members, letter
        if found := _POSIX_CLASS.match(text, at):
            if found[2] not in _POSIX:
                raise self.refused(f"the class {found[2]} is not known")
            self.at += len(found[0])
            members = _POSIX[found[2]]
            return f"[^{members}]" if found[1] else members, ""
        if text.startswith(("[.", "[=", "[:"), at):
            raise self.refused(f"the construct {text[at : at + 2]} in a class is not evaluated")
        self.at += 1
        return _literal(text[at]), text[at]


# fmt: off
_BOUNDS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
# fmt: on


def _bounds(text: str) -> tuple[int, int | None]:
    """The numbers in ``{3}``, ``{3,}`` and ``{3,5}``."""
    low, comma, high = text[1:-1].partition(",")
    return int(low), int(high) if high else None if comma else int(low)


def _literal(letter: str) -> str:
    """A character that means itself, in a class and outside."""
    if letter.isalnum() or letter == "_":
        return letter
    if " " < letter <= "~":
        return "\\" + letter
    return f"\\U{ord(letter):08x}"
