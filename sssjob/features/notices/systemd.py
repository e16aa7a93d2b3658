"""A shutdown that systemd-logind has scheduled (``shutdown +30``): a file of ``NAME=VALUE`` lines.

``USEC`` is the moment in microseconds since 1970, ``MODE`` what happens then: ``poweroff``,
``reboot``, ``halt``, ``kexec``. A ``MODE`` of ``dry-poweroff`` and its like does nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from sssjob.features import kernel
from sssjob.features.notices import MACHINE, Notice, Surroundings
from sssjob.features.said import whole

PLACE = "run/systemd/shutdown/scheduled"


def read(asked: Surroundings, now: int) -> Iterator[Notice]:
    """The shutdown that is scheduled, if one is."""
    text = kernel.text(os.path.join(asked.root, PLACE))
    said = dict(line.partition("=")[::2] for line in text.splitlines())
    moment, mode = whole(said.get("USEC", "")), said.get("MODE", "shutdown")
    if moment is not None and not mode.startswith("dry-"):
        yield Notice(MACHINE, moment // 10**6, "systemd", mode)
