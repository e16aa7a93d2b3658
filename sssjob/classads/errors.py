"""What is said of an ad that cannot be read or written."""

from __future__ import annotations

from sssjob.errors import WrongAtLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    OnError = Callable[["BadAd"], None]


class BadAd(WrongAtLine):
    """Text that is no ClassAd, or an ad that a form cannot write; ``line`` is 0 if not known."""
