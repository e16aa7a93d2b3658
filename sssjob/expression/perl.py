"""Perl 5 regular expressions rewritten for the engine that we run, or refused by position.

Only what means the same in both passes through: everything else is translated, or it is refused
with the place where it stands. Nothing is taken to mean something else in silence.
"""

from __future__ import annotations

import re

from sssjob.errors import InvalidValue

LENGTH_LIMIT = 10_000
DEPTH_LIMIT = 64
_REPEAT_LIMIT = 65_534  # Perl's own

# fmt: off
# What stands for one character each.
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "e": "\x1b", "a": "\a"}

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
_PLACES = {
    "b": r"\b", "B": r"\B", "A": r"\A",
    "z": r"\Z",             # the engine's \Z is Perl's \z
    "Z": r"(?=\n?\Z)",      # "at the end, or before a newline at the end"
    "K": "",                # moves where a match begins; whether there is one does not change
}
_GROUPS = ("(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>")
# fmt: on

_QUANTIFIER = re.compile(r"(?:[*+?]|\{[0-9]{1,5}(?:,[0-9]{0,5})?\})[?+]?")
_LOOKS_LIKE_ONE = re.compile(r"\{[\s0-9]*,?[\s0-9]*\}")
_FLAGS = re.compile(r"\(\?([ims]*)(?:-([ims]+))?([:)])")
_NAMED = re.compile(r"\(\?(?:P?<([A-Za-z_]\w*)>|'([A-Za-z_]\w*)')", re.ASCII)
_NUMBERED_BACK = re.compile(r"\\(?:([1-9][0-9]*)|g([1-9][0-9]*)|g\{(-?[1-9][0-9]*)\})")
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


class NotAPattern(InvalidValue):
    """A regular expression that cannot be evaluated; ``position`` counts characters from 1."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        super().__init__(text, f"a regular expression that is evaluated here: {reason}")
        self.args = (text, position, reason)
        self.position, self.reason = position, reason

    def __str__(self) -> str:
        return f"{self.reason} at character {self.position} of {shown(self.text)}"


def translate(text: str) -> str:
    """The same expression for the engine. Raises ``NotAPattern``.

    >>> translate(r"(?<rack>\\Qa.b\\E)[[:digit:]]\\z")
    '(?P<rack>a\\\\.b)[\\\\d]\\\\Z'
    """
    if len(text) > LENGTH_LIMIT:
        raise NotAPattern(text, LENGTH_LIMIT + 1, f"more than {LENGTH_LIMIT} characters")
    return _Translator(text).whole()


class _Translator:
    """One walk over the expression: what each construct becomes."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.open: list[int] = []  # where each group that is open begins
        self.groups = 0
        self.names: set[str] = set()
        self.repeatable = False  # whether a quantifier has something to repeat
        self.quoted = False

    def whole(self) -> str:
        """Everything from here to the end."""
        out: list[str] = []
        while self.at < len(self.text):
            out.append(self.next())
        if self.open:
            raise self.refused("a group that is not closed", self.open[-1])
        return "".join(out)

    def next(self) -> str:
        """What the construct at this place becomes; the place moves behind it."""
        text, at = self.text, self.at
        letter = text[at]
        if self.quoted and not text.startswith(r"\E", at):
            return self.literal(letter, 1)
        if letter == "\\":
            return self.escape()
        if letter == "(":
            return self.group()
        if letter == ")":
            if not self.open:
                raise self.refused("a ) without its (")
            self.open.pop()
            return self.took(")", 1, True)
        if letter == "[":
            return self.took(*self.char_class(), True)
        if letter in "*+?{":
            return self.quantifier()
        if letter in "^$|":
            return self.took(letter, 1, False)
        return self.took(".", 1, True) if letter == "." else self.literal(letter, 1)

    def took(self, out: str, length: int, repeatable: bool) -> str:
        """Go on behind ``length`` characters."""
        self.at += length
        self.repeatable = repeatable
        return out

    def literal(self, letter: str, length: int) -> str:
        return self.took(_literal(letter), length, True)

    def refused(self, reason: str, at: int | None = None) -> NotAPattern:
        return NotAPattern(self.text, (self.at if at is None else at) + 1, reason)

    def quantifier(self) -> str:
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            if _LOOKS_LIKE_ONE.match(self.text, self.at):
                raise self.refused("a quantifier that Perls read differently")
            return self.literal("{", 1)
        if not self.repeatable:
            raise self.refused("a quantifier with nothing to repeat")
        numbers = [int(number) for number in re.findall("[0-9]+", found[0])]
        if numbers != sorted(numbers) or (numbers and numbers[-1] > _REPEAT_LIMIT):
            raise self.refused("a quantifier whose bounds are too large or out of order")
        return self.took(found[0], len(found[0]), False)

    def group(self) -> str:
        text, at = self.text, self.at
        if text.startswith("(?#", at):
            end = text.find(")", at)
            if end < 0:
                raise self.refused("a comment that is not closed")
            self.at = end + 1
            return ""
        if back := _NAMED_BACK.match(text, at):
            return self.named_back(back)
        if flags := _FLAGS.match(text, at):
            if flags[3] == ")":
                return self.took("" if flags[0] == "(?)" else flags[0], len(flags[0]), False)
            return self.opened(flags[0], len(flags[0]))
        if named := _NAMED.match(text, at):
            name = named[1] or named[2]
            if name in self.names:
                raise self.refused("a second group of the same name")
            self.names.add(name)
            self.groups += 1
            return self.opened(f"(?P<{name}>", len(named[0]))
        for start in _GROUPS:
            if text.startswith(start, at):
                return self.opened(start, len(start))
        if text.startswith(("(?", "(*"), at):
            raise self.refused(f"the construct {text[at : at + 4]} is not evaluated")
        self.groups += 1
        return self.opened("(", 1)

    def opened(self, out: str, length: int) -> str:
        self.open.append(self.at)
        if len(self.open) > DEPTH_LIMIT:
            raise self.refused(f"more than {DEPTH_LIMIT} groups inside each other")
        return self.took(out, length, False)

    def escape(self) -> str:
        text, at = self.text, self.at
        letter = text[at + 1 : at + 2]
        if letter in ("Q", "E"):
            self.quoted = letter == "Q"
            self.at += 2
            return ""
        if letter in _PLACES:
            return self.took(_PLACES[letter], 2, False)
        if letter == "R":
            return self.took(rf"(?>\r\n|[{_CLASSES['v']}])", 2, True)
        if letter == "N" and text[at + 2 : at + 3] != "{":
            return self.took(r"[^\n]", 2, True)
        if back := _NAMED_BACK.match(text, at):
            return self.named_back(back)
        if (back := _NUMBERED_BACK.match(text, at)) and not self.is_octal(back):
            return self.numbered_back(back)
        members, length, is_class = self.member(in_class=False)
        return self.took(f"[{members}]" if is_class else members, length, True)

    def is_octal(self, back: re.Match[str]) -> bool:
        """Backslash and more than one digit is a character where there are not as many groups."""
        return bool(back[1]) and len(back[1]) > 1 and int(back[1]) > self.groups

    def numbered_back(self, back: re.Match[str]) -> str:
        number = int(back[1] or back[2] or back[3])
        number += self.groups + 1 if number < 0 else 0
        if not 1 <= number <= self.groups:
            raise self.refused("a reference to a group that is not there")
        return self.took(rf"(?:\{number})", len(back[0]), True)

    def named_back(self, back: re.Match[str]) -> str:
        name = next(name for name in back.groups() if name)
        if name not in self.names:
            raise self.refused("a reference to a group that is not there")
        return self.took(f"(?P={name})", len(back[0]), True)

    def member(self, *, in_class: bool) -> tuple[str, int, bool]:
        """What an escape stands for, its length, and whether that is more than one character."""
        text, at = self.text, self.at
        if code := _CODE.match(text, at):
            sixteen = code[1] or code[2] or code[3]
            number = int(sixteen, 16) if sixteen else int(code[4] or code[5], 8)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise self.refused("a code that no character has")
            return _literal(chr(number)), len(code[0]), False
        if found := _PROPERTY.match(text, at):
            name = found[3] or found[4]
            if not _CATEGORIES.fullmatch(name):
                raise self.refused(f"the property {name} is not evaluated")
            sign = "P" if (found[1] == "P") != (found[2] == "^") else "p"
            return rf"\{sign}{{{name}}}", len(found[0]), True
        letter = text[at + 1 : at + 2]
        if not letter:
            raise self.refused("a backslash at the end")
        if letter.lower() in _CLASSES:
            members = _CLASSES[letter.lower()]
            return members if letter.islower() else f"[^{members}]", 2, True
        if letter in _CHARACTERS or (letter == "b" and in_class):
            return _literal(_CHARACTERS.get(letter, "\b")), 2, False
        if letter == "c" and "@" <= (code_ := text[at + 2 : at + 3].upper()) <= "_":
            return _literal(chr(ord(code_) ^ 64)), 3, False
        if letter.isascii() and letter.isalnum():
            raise self.refused(rf"the construct \{letter} is not evaluated")
        return _literal(letter), 2, False

    def char_class(self) -> tuple[str, int]:
        """A class in brackets, as the engine writes it, and its length."""
        start = self.at
        try:
            self.at += 1
            negated = self.text.startswith("^", self.at)
            self.at += negated
            out, first = [], True
            while first or not self.text.startswith("]", self.at):
                out.append(self.ranged(start))
                first = False
            length = self.at + 1 - start
        finally:
            self.at = start
        return f"[{'^' * negated}{''.join(out)}]", length

    def ranged(self, start: int) -> str:
        """One member of a class, or the range that begins with it."""
        low, is_class = self.one(start)
        if not self.text.startswith("-", self.at) or self.text.startswith("-]", self.at):
            return low
        dash, self.at = self.at, self.at + 1
        high, also = self.one(start)
        if is_class or also:
            raise self.refused("a range that ends in a class", dash)
        if _value(low) > _value(high):
            raise self.refused("a range whose ends are out of order", dash)
        return f"{low}-{high}"

    def one(self, start: int) -> tuple[str, bool]:
        text, at = self.text, self.at
        if at >= len(text):
            raise self.refused("a class that is not closed", start)
        if text.startswith("\\", at):
            if text[at + 1 : at + 2] in ("Q", "E", "N", "R") and not _CODE.match(text, at):
                raise self.refused(f"the construct {text[at : at + 2]} in a class is not evaluated")
            members, length, is_class = self.member(in_class=True)
            self.at += length
            return members, is_class
        if found := _POSIX_CLASS.match(text, at):
            if found[2] not in _POSIX:
                raise self.refused(f"the class {found[2]} is not known")
            self.at += len(found[0])
            members = _POSIX[found[2]]
            return f"[^{members}]" if found[1] else members, True
        if text.startswith(("[.", "[=", "[:"), at):
            raise self.refused(f"the construct {text[at : at + 2]} in a class is not evaluated")
        self.at += 1
        return _literal(text[at]), False


def _literal(letter: str) -> str:
    """A character that means itself, in a class and outside."""
    if letter.isalnum() or letter == "_":
        return letter
    if " " < letter <= "~":
        return "\\" + letter
    return f"\\x{ord(letter):02x}" if ord(letter) < 256 else f"\\U{ord(letter):08x}"


def _value(literal: str) -> int:
    """The code of a character that ``_literal`` wrote."""
    if len(literal) > 2:
        return int(literal[2:], 16)
    return ord(literal[-1])


def shown(text: str) -> str:
    """A text for a message, quoted and not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
