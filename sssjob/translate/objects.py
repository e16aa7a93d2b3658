"""Objects of JSON: values put in, taken out, and what nobody took.

A reader takes out what it understands. What is not what it expects stays where it is, and is told;
what is left in the end is kept as Extensions, which are written back to where they stood.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, TypeVar

from sssjob.translate.options import ScriptReading
from sssjob.translate.requests import JobRequest

T = TypeVar("T")
Data = dict[str, Any]  # an object of JSON


def put(form: Data, path: Sequence[str], value: Any) -> None:
    """Set a value in objects within objects, which are made."""
    for name in path[:-1]:
        form = form.setdefault(name, {})
    form[path[-1]] = value


def take(form: Data, path: Sequence[str]) -> Any:
    """Take a value out of objects within objects; None where there is none."""
    for name in path[:-1]:
        form = form.get(name, {})
        if not isinstance(form, dict):
            return None
    return form.pop(path[-1], None)


def taken(
    form: Data,
    path: Sequence[str],
    read: Callable[[Any], T | None],
    heard: ScriptReading,
    expected: str,
) -> T | None:
    """Take a value that can be read; any other one stays where it is, and is told."""
    value = take(form, path)
    if value is None or value == "":
        return None
    found = read(value)
    if found is None:
        put(form, path, value)
        told(heard, path, value, expected)
    return found


def words_of(form: Data, path: tuple[str, ...], heard: ScriptReading) -> list[str]:
    """Take the words of a list; one that is no text is told, and costs no other."""
    found = []
    for number, each in enumerate(taken(form, path, a_list, heard, "a list") or ()):
        if isinstance(each, str) or word(each):
            found.append(word(each))
        else:
            told(heard, (*path, str(number)), each, "a text")
    return found


def a_list(value: Any) -> list[Any] | None:
    """A list, or None."""
    return value if isinstance(value, list) else None


def an_object(value: Any) -> Data | None:
    """An object, or None."""
    return value if isinstance(value, dict) else None


def a_word(value: Any) -> str | None:
    """A text, or a number as text; None for anything else."""
    return word(value) or None


def a_truth(value: Any) -> bool | None:
    """True or false; None for anything else."""
    return value if isinstance(value, bool) else None


def tell_rest(value: Any, heard: ScriptReading, path: tuple[str, ...]) -> None:
    """Tell of what nobody has taken out of objects in lists, which no Extension can hold."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()  # fmt: skip
    for name, each in inner:
        tell_rest(each, heard, (*path, str(name)))
    if not isinstance(value, dict | list) and value is not None:
        heard.note(f"{'.'.join(path)}: {shown(value)} is not read", f"/{pointer(path)}")


def shown(value: Any) -> str:
    """The beginning of a value as it stands in JSON."""
    return json.dumps(value)[:60]


def without_empty(value: Any) -> Any:
    """Objects without those in them that have become empty."""
    if not isinstance(value, dict):
        return value
    inner = {name: without_empty(each) for name, each in value.items()}
    return {name: each for name, each in inner.items() if each != {}}


def word(value: Any) -> str:
    """A value as the text of a property: a text, or a number."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) in (int, float) else ""


def told(heard: ScriptReading, path: Sequence[str], value: Any, expected: str) -> None:
    """Say that a value is not what stands there."""
    text = f"{'.'.join(path)}: {shown(value)} where {expected} is expected"
    heard.note(text, path=f"/{pointer(path)}")


def keep(form: Data, path: Sequence[str], value: Any, heard: ScriptReading, why: object) -> None:
    """Put back what was taken and is not understood after all, and say why."""
    put(form, path, value)
    heard.note(f"{'.'.join(path)} is kept as it is: {why}", path=f"/{pointer(path)}")


def pointer(path: Iterable[str]) -> str:
    """A path of names as one text, as RFC 6901 has it."""
    return "/".join(name.replace("~", "~0").replace("/", "~1") for name in path)


def keep_rest(form: Data, heard: ScriptReading, kind: str, path: tuple[str, ...] = ()) -> None:
    """What nobody has understood, each as an Extension that is written back."""
    for name, value in form.items():
        if isinstance(value, dict) and value:
            keep_rest(value, heard, kind, (*path, name))
        elif value not in ({}, [], None):
            heard.say("Extension", json.dumps(value), type=kind, name=pointer((*path, name)))


def no_number(name: str) -> float:
    """What is made of NaN and Infinity, which JSON does not have. Raises ``ValueError``."""
    raise ValueError(f"{name} is no number")


def write_rest(
    asked: JobRequest,
    kind: str,
    form: Data,
    known: Callable[[str], bool],
    lists: Container[str] = (),
) -> None:
    """Extensions of a kind, back to where they stood; ``known`` tells what has its own place.

    What was kept of a list goes behind what the job says; ``lists`` names texts that are lists.
    """
    for item in asked.mine("Extension", kind):
        name = item.attributes.get("name", "")
        path = [part.replace("~1", "/").replace("~0", "~") for part in name.split("/")]
        try:
            value = json.loads(item.text, parse_constant=no_number)
        except (ValueError, RecursionError):
            asked.refuse(item, "it is no JSON")
            continue
        if not known(name) and all(path) and (more := _longer(form, path, value, name in lists)):
            put(form, path, more)
        elif known(name) or not all(path) or _taken(form, path):
            asked.refuse(item, f"{name} is given by the job itself, or cannot stand there")
        else:
            put(form, path, value)


def _longer(form: Any, path: Sequence[str], value: Any, is_list: bool) -> Any:
    """A list with what was kept of it; None where there is none."""
    for name in path:
        form = form.get(name) if isinstance(form, dict) else None
    if isinstance(form, list) and isinstance(value, list):
        return form + [each for each in value if each not in form]
    if is_list and isinstance(form, str) and isinstance(value, str) and "?" not in value:
        return f"{form},{value}"
    return None


def _taken(form: Any, path: Sequence[str]) -> bool:
    for name in path:
        if not isinstance(form, dict):
            return True
        if name not in form:
            return False
        form = form[name]
    return True
