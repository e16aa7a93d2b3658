"""What is said of an ad that cannot be read or written."""

from __future__ import annotations

from sssjob.errors import SSSJobError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    OnError = Callable[["BadAd"], None]


class BadAd(SSSJobError, ValueError):
    """Text that is no ClassAd, or an ad that a form cannot write; ``line`` is 0 if not known."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason, self.line = reason, line

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason


def shown(text: str) -> str:
    """The beginning of a text, for a message."""
    return repr(text if len(text) <= 40 else text[:37] + "...")


def refuse(fault: BadAd, on_error: OnError | None) -> None:
    """Raise what is wrong with an ad, or hand it to ``on_error``: the ad is then left out."""
    if on_error is None:
        raise fault from None
    on_error(fault)
