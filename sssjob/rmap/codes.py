"""The status codes of SSSRMAP, as one table: three digits, of which the first tells the kind."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Value(StrEnum):
    """What became of a request, in one word."""

    SUCCESS = "Success"
    WARNING = "Warning"
    FAILURE = "Failure"


class StatusCode(NamedTuple):
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
CODES: tuple[StatusCode, ...] = (
    StatusCode("000", "success"),
    StatusCode("010", "success: a description of how to use the request"),
    StatusCode("080", "success: what objects look like has changed"),
    StatusCode("100", "warning"),
    StatusCode("110", "pending"),
    StatusCode("144", "only a part of it is allowed"),
    StatusCode("146", "truncated"),
    StatusCode("200", "transport"),
    StatusCode("212", "host"),
    StatusCode("214", "port"),
    StatusCode("216", "socket"),
    StatusCode("218", "name service"),
    StatusCode("220", "connection"),
    StatusCode("222", "cannot connect", safe=True),
    StatusCode("224", "cannot write"),
    StatusCode("226", "cannot read"),
    StatusCode("230", "time"),
    StatusCode("232", "timed out"),
    StatusCode("240", "malformed message"),
    StatusCode("242", "HTTP framing"),
    StatusCode("243", "connection without a byte"),
    StatusCode("244", "empty message"),
    StatusCode("246", "end of file"),
    StatusCode("300", "format"),
    StatusCode("302", "not readable as XML"),
    StatusCode("311", "no object"),
    StatusCode("312", "no action or no actor"),
    StatusCode("313", "unsupported"),
    StatusCode("314", "a required value is missing"),
    StatusCode("315", "the object does not have the action"),
    StatusCode("316", "an attribute that cannot be set"),
    StatusCode("317", "a value that is not of its type"),
    StatusCode("318", "an attribute or operation that cannot stand there"),
    StatusCode("321", "a reply without status"),
    StatusCode("322", "a reply without code"),
    StatusCode("400", "security"),
    StatusCode("420", "signing"),
    StatusCode("422", "authentication"),
    StatusCode("424", "the signature does not prove the actor"),
    StatusCode("430", "encryption"),
    StatusCode("432", "cannot encrypt"),
    StatusCode("434", "cannot decrypt"),
    StatusCode("436", "decryption"),
    StatusCode("442", "authentication at the client"),
    StatusCode("444", "not authorised"),
    StatusCode("500", "event"),
    StatusCode("700", "server"),
    StatusCode("710", "an element that is not supported"),
    StatusCode("720", "an internal fault"),
    StatusCode("730", "not available now", safe=True),
    StatusCode("740", "against a rule, or an unknown object, action or value"),
    StatusCode("782", "no valid allocation"),
    StatusCode("784", "not enough balance"),
    StatusCode("800", "client"),
    StatusCode("820", "client"),
    StatusCode("830", "client"),
    StatusCode("840", "client"),
    StatusCode("900", "miscellaneous"),
    StatusCode("999", "unknown"),
)
# fmt: on
CODE = {code.number: code for code in CODES}


def code(number: str) -> StatusCode:
    """The row of a number; one that no table has is of the kind that its first digit says.

    >>> code("146").value, code("777").value
    (<Value.WARNING: 'Warning'>, <Value.FAILURE: 'Failure'>)
    """
    return CODE.get(number) or StatusCode(number, "not in the table")
