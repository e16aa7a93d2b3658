"""What a dotted name stands for, imported when it is first asked for.

So a table can name what is slow to import, or stands in a room above. An import linter does not
see such an import: the names of rooms above stand here, and a test holds that nothing else imports
by name what is above it. Payloads import this module: nothing here that is slow to import.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What values of low rooms are asked for and rooms above work out: how a notebook shows them, what
# is left of a request that is changed, and what jobs of our batch systems find.
NOTEBOOK, EDITING = "sssjob.drawing.notebook", "sssjob.expression.editing"
INSIDE = "sssjob.systems:INSIDE"


def needed(library: str, extra: str, what: str) -> Any:
    """A library that an extra brings, imported for what needs it.

    Raises ``ModuleNotFoundError``, which says how to install it.
    """
    try:
        return loaded(library)
    except ModuleNotFoundError as error:
        text = f"{what} needs {library}: pip install 'sssjob[{extra}]'"
        raise ModuleNotFoundError(text, name=library) from error


def loaded(name: str) -> Any:
    """What a dotted name, or ``module:attribute``, stands for.

    Raises ``ImportError`` and ``AttributeError``.
    """
    module, _, attribute = name.partition(":")
    found = import_module(module)
    return getattr(found, attribute) if attribute else found
