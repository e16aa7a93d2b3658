"""Ads as daemons write them to their hooks, read in no time: ``Name = expression``, line by line.

Hooks trust the daemon that started them for the syntax: what is no plain value is kept as text.
Whatever anybody else wrote is read by ``long``.
"""

from __future__ import annotations

from sssjob.classads.values import Ad, Unparsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.values import Attribute

SEPARATOR = "-----"
_WORDS = {"true": True, "false": False}
_DIGITS = 18


def read(octets: bytes, on_bad: Callable[[int, str], None] | None = None) -> list[Ad]:
    """The ads of a text: an empty line or ``-----`` ends one.

    What is no attribute is passed over; ``on_bad`` is told the number of the line and its text.

    >>> read(b'Cmd = "/bin/true"\\nRequestCpus = 2\\n-----\\nCpus = 4\\n')
    [Ad({'Cmd': '/bin/true', 'RequestCpus': 2}), Ad({'Cpus': 4})]
    """
    found: list[Ad] = []
    attributes: dict[str, Attribute] = {}
    for number, line in enumerate(octets.decode("utf-8", "replace").split("\n"), 1):
        name, equals, text = line.partition(" = ")
        if not equals:
            name, equals, text = _narrow(line)
        if equals and text:
            attributes[name.strip()] = _value(text)
        elif line.strip() in ("", SEPARATOR, "\N{EM DASH}"):
            if attributes:
                found.append(Ad(attributes))
                attributes = {}
        elif on_bad is not None:
            on_bad(number, line)
    return [*found, Ad(attributes)] if attributes else found


def _narrow(line: str) -> tuple[str, str, str]:
    """An attribute without white space around its equals sign."""
    name, equals, text = line.partition("=")
    is_one = name.strip().isidentifier() and not text.startswith("=")
    return name, equals if is_one else "", text.strip()


def _value(text: str) -> Attribute:
    if text[0] == '"' == text[-1] and len(text) > 1:
        inner = text[1:-1]
        if '"' not in inner:
            return inner
        plain = inner.replace('\\"', "")
        return inner.replace('\\"', '"') if '"' not in plain else Unparsed(text)
    digits = text[1:] if text[0] == "-" else text
    if digits.isdecimal() and digits.isascii() and len(digits) <= _DIGITS:
        return int(text)
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    whole, dot, rest = digits.partition(".")
    if dot and whole.isdecimal() and rest.isdecimal() and text.isascii():
        return float(text)
    return Unparsed(text)
