"""The functions of ClassAds by name; a module of them is imported once one is called."""

from __future__ import annotations

from importlib import import_module

from sssjob.classads.values import ERROR, UNDEFINED, AbsTime, Ad, RelTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from sssjob.classads.machine import Maps
    from sssjob.classads.values import Function, Value


def _kind(*types: type) -> Function:
    def ask(value: Value) -> Value:
        exact = bool if bool in types else None
        return isinstance(value, types) and isinstance(value, bool) is (exact is bool)

    return ask


# fmt: off
# Name in small letters, how many arguments at least and at most (-1: any number), what it does.
TABLE: dict[str, tuple[int, int, Function]] = {
    "isundefined": (1, 1, lambda value: value is UNDEFINED),
    "iserror":     (1, 1, lambda value: value is ERROR),
    "isstring":    (1, 1, _kind(str)),
    "isinteger":   (1, 1, _kind(int)),
    "isreal":      (1, 1, _kind(float)),
    "isboolean":   (1, 1, _kind(bool)),
    "islist":      (1, 1, _kind(tuple)),
    "isclassad":   (1, 1, _kind(Ad)),
    "isabstime":   (1, 1, _kind(AbsTime)),
    "isreltime":   (1, 1, _kind(RelTime)),
}
# The other functions by the module that has them.
MODULES = {
    "numbers": "int real bool floor ceil ceiling round pow quantize random",
    "strings": "string strcat join tolower toupper substr size split strcmp stricmp versioncmp"
               " versiongt versionge versionlt versionle versioneq version_in_range splitusername"
               " splitslotname interval envv1tov2 mergeenvironment"
               " listtoargs argstolist",
    "lists":   "member identicalmember anycompare allcompare sum avg min max stringlistsize"
               " stringlistsum stringlistavg stringlistmin stringlistmax stringlistmember"
               " stringlistimember stringlistsintersect stringlistsubsetmatch"
               " stringlistisubsetmatch",
    "patterns": "regexp regexpmember regexps replace replaceall stringlist_regexpmember",
    "moments": "time currenttime timezoneoffset daytime abstime reltime splittime formattime"
               " getyear getmonth getdayofyear getdayofmonth getdayofweek getdays gethours"
               " getminutes getseconds",
    "machine": "userhome usermap",
}
# fmt: on
# Those that look at their arguments before they are evaluated: evaluate.py has them.
LAZY = (
    "ifthenelse",
    "debug",
    "eval",
    "unparse",
    "unresolved",
    "evalineachcontext",
    "countmatches",
    "formattime",
)  # fmt: skip
_ROOMS = {name: room for room, names in MODULES.items() for name in names.split()}
KNOWN = frozenset((*TABLE, *_ROOMS, *LAZY))


def otherwise(name: str, values: tuple[Value, ...]) -> str:
    """What HTCondor may do otherwise with these arguments of a function; "" for nothing known."""
    room = _ROOMS.get(name)
    if room != "patterns":
        return ""
    told: str = import_module(f"sssjob.classads.{room}").otherwise(name, values)
    return told


def call(name: str, values: tuple[Value, ...], now: Callable[[], float], maps: Maps) -> Value:
    """The value of a function that is known by its name in small letters."""
    room = _ROOMS.get(name)
    table = TABLE if room is None else import_module(f"sssjob.classads.{room}").TABLE
    least, most, function = table[name]
    if len(values) < least or 0 <= most < len(values):
        return ERROR
    around = {"moments": (now,), "machine": (maps,)}.get(room or "", ())
    return function(*around, *values)
