"""Whether this process is the command's own, or a worker's, and what may be done only there."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.machinery import ModuleSpec
from types import ModuleType

_claims: list[bool] = []


@contextmanager
def claimed() -> Iterator[None]:
    """Tell that this process ends with what runs meanwhile."""
    _claims.append(True)
    try:
        yield
    finally:
        _claims.pop()


def is_claimed() -> bool:
    """Whether nobody else goes on in this process, as a program or a notebook would."""
    return bool(_claims)


class _NoPandas:
    """Finds no pandas, and leaves all else to others."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None, /
    ) -> ModuleSpec | None:
        """Raise ``ModuleNotFoundError`` for pandas."""
        if name == "pandas":
            raise ModuleNotFoundError(name, name=name)
        return None


def leave_pandas_out() -> None:
    """Have pyarrow look for pandas now, and find none, before its first array would import it.

    That takes as long as the rest of a short command, none of which has a Series. Whoever asks
    pyarrow for a DataFrame afterwards still gets one. It imports pyarrow, so who calls it needs it.
    """
    if _claims and "pandas" not in sys.modules:
        _look_for_none()


@cache
def _look_for_none() -> None:
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow

        pyarrow.array([None])
    finally:
        sys.meta_path.remove(finder)
