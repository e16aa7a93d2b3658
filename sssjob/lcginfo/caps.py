"""vo-max-jobs: how many slots a group may take at most, as one dictionary of group and cap."""

from __future__ import annotations

from collections.abc import Mapping

from sssjob.errors import InvalidValue, Severity, unheard
from sssjob.lcginfo import literal
from sssjob.lcginfo.snapshot import Remark, Report, UnusableOutput

TEXT_LIMIT = 1 << 20


def read(text: str, report: Report = unheard) -> dict[str, int]:
    """The caps in what a vo_max_jobs command printed: its first dictionary, over any lines.

    A cap that is negative or no whole number is reported and left out; a cap of 0 is a cap.
    Raises ``UnusableOutput``.

    >>> read('mydict = {\\n"atlasprod": 20,\\n"atlas": 30}')
    {'atlasprod': 20, 'atlas': 30}
    """
    place = text.find("{")
    if place < 0:
        raise UnusableOutput("there are no caps in it, such as {'atlas': 20}")
    try:
        values = literal.scan(text, place, TEXT_LIMIT).values
    except InvalidValue as error:
        raise UnusableOutput(f"the caps cannot be read: {error}") from error
    caps = {}
    for group, cap in values.items():
        if isinstance(cap, float) and cap.is_integer():
            cap = int(cap)
        if isinstance(cap, int) and not isinstance(cap, bool) and cap >= 0:
            caps[group] = cap
        else:
            message = f"the cap {cap!r} of {group!r} is not a number of jobs"
            report(Remark(0, message, Severity.ERROR))
    return caps


def write(caps: Mapping[str, int]) -> str:
    """One line that every known reader takes.

    >>> write({"atlas": 30})
    "{'atlas': 30}\\n"
    """
    pairs = (f"{literal.quoted(group)}: {cap}" for group, cap in sorted(caps.items()))
    return f"{{{', '.join(pairs)}}}\n"
