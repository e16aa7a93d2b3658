"""The status codes of SSSRMAP, as one table: three digits, of which the first tells the kind."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Value(StrEnum):
    """What became of a request, in one word."""

    SUCCESS = "Success"
    WARNING = "Warning"
    FAILURE = "Failure"


class Code(NamedTuple):
    """A status code. ``safe`` says that nothing was done, so the same request may be sent again."""

    number: str
    meaning: str
    safe: bool = False

    @property
    def value(self) -> Value:
        """0xx is success, 1xx a warning that carries results too, the rest is failure."""
        return _VALUES.get(self.number[0], Value.FAILURE)


_VALUES = {"0": Value.SUCCESS, "1": Value.WARNING}

# fmt: off
CODES: tuple[Code, ...] = (
    Code("000", "success"),
    Code("010", "success: a description of how to use the request"),
    Code("080", "success: what objects look like has changed"),
    Code("100", "warning"),
    Code("110", "pending"),
    Code("144", "only a part of it is allowed"),
    Code("146", "truncated"),
    Code("200", "transport"),
    Code("212", "host"),
    Code("214", "port"),
    Code("216", "socket"),
    Code("218", "name service"),
    Code("220", "connection"),
    Code("222", "cannot connect", safe=True),
    Code("224", "cannot write"),
    Code("226", "cannot read"),
    Code("230", "time"),
    Code("232", "timed out"),
    Code("240", "malformed message"),
    Code("242", "HTTP framing"),
    Code("243", "connection without a byte"),
    Code("244", "empty message"),
    Code("246", "end of file"),
    Code("300", "format"),
    Code("302", "not readable as XML"),
    Code("311", "no object"),
    Code("312", "no action or no actor"),
    Code("313", "unsupported"),
    Code("314", "a required value is missing"),
    Code("315", "the object does not have the action"),
    Code("316", "an attribute that cannot be set"),
    Code("317", "a value that is not of its type"),
    Code("318", "an attribute or operation that cannot stand there"),
    Code("321", "a reply without status"),
    Code("322", "a reply without code"),
    Code("400", "security"),
    Code("420", "signing"),
    Code("422", "authentication"),
    Code("424", "the signature does not prove the actor"),
    Code("430", "encryption"),
    Code("432", "cannot encrypt"),
    Code("434", "cannot decrypt"),
    Code("436", "decryption"),
    Code("442", "authentication at the client"),
    Code("444", "not authorised"),
    Code("500", "event"),
    Code("700", "server"),
    Code("710", "an element that is not supported"),
    Code("720", "an internal fault"),
    Code("730", "not available now", safe=True),
    Code("740", "against a rule, or an unknown object, action or value"),
    Code("782", "no valid allocation"),
    Code("784", "not enough balance"),
    Code("800", "client"),
    Code("820", "client"),
    Code("830", "client"),
    Code("840", "client"),
    Code("900", "miscellaneous"),
    Code("999", "unknown"),
)
# fmt: on
CODE = {code.number: code for code in CODES}


def code(number: str) -> Code:
    """The row of a number; one that no table has is of the kind that its first digit says.

    >>> code("146").value, code("777").value
    (<Value.WARNING: 'Warning'>, <Value.FAILURE: 'Failure'>)
    """
    return CODE.get(number) or Code(number, "not in the table")
