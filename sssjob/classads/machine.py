"""Functions that ask the machine: home directories and the maps of its configuration."""

from __future__ import annotations

from sssjob.classads.values import ERROR, UNDEFINED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sssjob.classads.values import Function, Value

    # Of a map, by its name: the groups of a user between commas, None if it does not know him.
    Maps = Mapping[str, Callable[[str], str | None]]


def _home(maps: Maps, user: Value, otherwise: Value = UNDEFINED) -> Value:
    default = otherwise if isinstance(otherwise, str) and otherwise else UNDEFINED
    if not isinstance(user, str):
        return default if user is UNDEFINED or default is not UNDEFINED else ERROR
    from sssjob.users import account

    found = account(user)
    return (found.pw_dir if found else "") or default


def _map(maps: Maps, name: Value, user: Value, *others: Value) -> Value:
    """The groups of a user; the preferred one if it is among them, else the first, or a default."""
    if name is ERROR or user is ERROR:
        return ERROR
    ask = maps.get(name.lower()) if isinstance(name, str) else None
    groups = ask(user) if ask is not None and isinstance(user, str) else None
    if groups is None:
        return others[1] if len(others) > 1 else UNDEFINED
    if not others:
        return groups
    names = [group.strip() for group in groups.split(",") if group.strip()]
    wanted = others[0].lower() if isinstance(others[0], str) else None
    return next((each for each in names if each.lower() == wanted), names[0] if names else groups)


# fmt: off
TABLE: dict[str, tuple[int, int, Function]] = {
    "userhome": (1, 2, _home),
    "usermap":  (2, 4, _map),
}
# fmt: on
