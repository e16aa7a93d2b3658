"""A shutdown that systemd-logind has scheduled (``shutdown +30``): a file of ``NAME=VALUE`` lines.

``USEC`` is the moment in microseconds since 1970, ``MODE`` what happens then: ``poweroff``,
``reboot``, ``halt``, ``kexec``. A ``MODE`` of ``dry-poweroff`` and its like does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sssjob.errors import InvalidValue
from sssjob.features import kernel
from sssjob.features.notices import MACHINE, Notice, Surroundings
from sssjob.features.said import whole

PLACE = "run/systemd/shutdown/scheduled"
_SHOWN = 40  # characters


def read(asked: Surroundings, now: int) -> Iterator[Notice]:
    """The shutdown that is scheduled, if one is. Raises ``InvalidValue`` for another file."""
    place = os.path.join(asked.root, PLACE)
    if not os.path.lexists(place):
        return
    text = kernel.text(place)
    said = dict(line.partition("=")[::2] for line in text.splitlines())
    moment, mode = whole(said.get("USEC", "")), said.get("MODE", "shutdown")
    if moment is None:
        if not os.path.lexists(place):
            return  # called off meanwhile
        raise InvalidValue(text[:_SHOWN], f"USEC=MICROSECONDS of {place}")
    if not mode.startswith("dry-"):
        yield Notice(MACHINE, moment // 10**6, "systemd", mode)
