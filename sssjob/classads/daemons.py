"""Ads as daemons write them to their hooks, read in no time: ``Name = expression``, line by line.

Hooks trust the daemon that started them for the syntax: what is no plain value is kept as text.
Whatever anybody else wrote is read by ``long``.
"""

from __future__ import annotations

from sssjob.classads.values import Ad, Unparsed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

SEPARATOR = "-----"
_WORDS = {"true": True, "false": False}
_DIGITS = 18


def read(octets: bytes) -> list[Ad]:
    """The ads of a text: an empty line or ``-----`` ends one; what is no attribute is passed over.

    >>> read(b'Cmd = "/bin/true"\\nRequestCpus = 2\\n-----\\nCpus = 4\\n')
    [Ad({'Cmd': '/bin/true', 'RequestCpus': 2}), Ad({'Cpus': 4})]
    """
    found: list[Ad] = []
    attributes: dict[str, Attribute] = {}
    for line in octets.decode("utf-8", "replace").split("\n"):
        name, equals, text = line.partition(" = ")
        if equals and text:
            attributes[name.strip()] = _value(text)
        elif attributes and line.strip() in ("", SEPARATOR, "\N{EM DASH}"):
            found.append(Ad(attributes))
            attributes = {}
    return [*found, Ad(attributes)] if attributes else found


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
