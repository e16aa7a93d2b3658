"""Between job objects and what other systems submit and show, both ways, nothing lost in silence.

``translate`` gives a text and its losses, ``read`` gives jobs and findings. Which targets there
are, each says by itself: see ``translator`` for how one is declared.
"""

from sssjob.translate.engine import (
    AUTO,
    alternatives,
    read,
    recognise,
    translate,
    translator,
    written,
)
from sssjob.translate.losses import Done, Loss, Untranslatable
from sssjob.translate.translator import Read, Reading, Settings, Translation, Translator

__all__ = [
    "AUTO",
    "Done",
    "Loss",
    "Read",
    "Reading",
    "Settings",
    "Translation",
    "Translator",
    "Untranslatable",
    "alternatives",
    "read",
    "recognise",
    "translate",
    "translator",
    "written",
]
