"""Modules that are called as the function of their name, so that neither hides the other.

>>> import sssjob
>>> import sssjob.translate.translator as made
>>> made.Translator.__name__, made("sbatch").name, callable(sssjob.translate)
('Translator', 'sbatch', True)
"""

from __future__ import annotations

import sys

# As a type checker reads it; to import typing takes as long as Python itself to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any
else:
    ModuleType = type(sys)


class _CalledModule(ModuleType):
    """A module that is called as a function, whose signature it has, and as which it is pickled."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *args: Any, **named: Any) -> Any:
        return self.__wrapped__(*args, **named)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Callable[..., Any]]]:
        return _same, (self.__wrapped__,)


def _same(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def called(module: ModuleType, function: Callable[..., Any] | ModuleType) -> ModuleType:
    """Let a module be called as a function, which may be the module where that is so already."""
    if function is not module:
        module.__class__ = _CalledModule
        vars(module)["__wrapped__"] = function
    return module
