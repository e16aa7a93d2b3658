"""Evaluations that belong together, which take no more steps than one of them may."""

from __future__ import annotations

from contextvars import ContextVar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    T = TypeVar("T")


class OneQuestion:
    """A block whose evaluations take no more steps together than one may take.

    Whoever asks for many values of an ad does so in it: an ad of a few lines can make each of them
    cost as much as is allowed. In another such block it is a part of that one.
    """

    __slots__ = ("_token", "taken")

    def __init__(self) -> None:
        self.taken = 0

    def __enter__(self) -> OneQuestion:
        around = QUESTION.get()
        self._token = QUESTION.set(around or self)
        return around or self

    def __exit__(self, *error: object) -> None:
        QUESTION.reset(self._token)


QUESTION: ContextVar[OneQuestion | None] = ContextVar("question", default=None)


def one_question(work: Callable[P, T]) -> Callable[P, T]:
    """A function that evaluates as one question; no generator, which would end behind it."""

    def asked(*values: P.args, **named: P.kwargs) -> T:
        with OneQuestion():
            return work(*values, **named)

    # As functools.wraps would: jobs ask what they are told, and start sooner without it.
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(asked, name, getattr(work, name))
    vars(asked)["__wrapped__"] = work
    return asked
