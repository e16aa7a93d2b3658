"""Arguments and environments in every spelling that HTCondor has had.

V1 separates and knows no quotes; V2 groups with single quotes, a doubled one is a quote. In submit
files V2 stands inside of double quotes, and V1 with backslashes before double quotes.
"""

from __future__ import annotations

from sssjob.classads.values import Ad, bad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


SPACE = " \t\r\n"
DELIMITERS = (";", "|")  # of V1 environments: on Unix, on Windows
_MARKS = "!#$%&*+,-/:<>?@^`|~"


class _Expanded(str):
    """The value of what is no variable yet, such as ``$$(...)`` without a name."""

    __slots__ = ()


def split_v1(text: str) -> list[str]:
    """Words between white space. They cannot be empty, nor hold white space."""
    for space in SPACE[1:]:
        text = text.replace(space, " ")
    return [word for word in text.split(" ") if word]


def split_v2(text: str) -> list[str]:
    """Words with stretches in single quotes. Raises ``BadAd`` for a quote that is not closed.

    >>> split_v2("one 'two words' it''s 'don''t'")
    ['one', 'two words', 'its', "don't"]
    """
    words: list[str] = []
    word, begun, place = "", False, 0
    while place < len(text):
        letter = text[place]
        if letter == "'":
            end = place + 1
            while (end := text.find("'", end)) >= 0 and text[end + 1 : end + 2] == "'":
                end += 2
            if end < 0:
                raise bad("a single quote that is not closed: {}", text[place:])
            word += text[place + 1 : end].replace("''", "'")
            begun, place = True, end + 1
        elif letter in SPACE:
            if begun:
                words.append(word)
            word, begun, place = "", False, place + 1
        else:
            end = place + 1
            while end < len(text) and text[end] not in SPACE + "'":
                end += 1
            word += text[place:end]
            begun, place = True, end
    return [*words, word] if begun else words


def join_v1(words: Iterable[str]) -> str | None:
    """Words as V1, or None where one of them is empty or holds white space."""
    kept = list(words)
    if any(not word or set(word) & set(SPACE) for word in kept):
        return None
    return " ".join(kept)


def join_v2(words: Iterable[str]) -> str:
    """Words as V2: quotes only where they are needed.

    >>> join_v2(["one", "two words", "", "don't"])
    "one two' 'words '' don''''t"
    """
    return " ".join(_grouped(word) or "''" for word in words)


def split_submit(text: str) -> list[str]:
    """The value of ``arguments`` in a submit file: V2 in double quotes, or else V1."""
    if not text.strip().startswith('"'):
        return split_v1(_unwacked(text))
    return split_v2(unquoted_v2(text))


def unquoted_v2(text: str) -> str:
    """V2 without the double quotes of a submit file, where a doubled one is a literal one."""
    inner = text.strip()
    if len(inner) < 2 or inner[0] != '"' or inner[-1] != '"':
        raise bad("a double quote that is not closed: {}", text)
    if '"' in inner[1:-1].replace('""', ""):
        raise bad("a double quote in the middle, which must be doubled: {}", text)
    return inner[1:-1].replace('""', '"')


def quoted_v2(words: Iterable[str]) -> str:
    """Words as a submit file has them: V2 in double quotes."""
    doubled = join_v2(words).replace('"', '""')
    return f'"{doubled}"'


def environment_v1(text: str, delimiter: str = ";") -> dict[str, str]:
    """Variables between delimiters or line feeds, and white space before them. Raises ``BadAd``.

    >>> environment_v1(" A=1; B=2 ;")
    {'A': '1', 'B': '2 '}
    """
    parts = text.replace("\n", delimiter).split(delimiter)
    return dict(_pairs(filter(None, (part.lstrip(SPACE) for part in parts))))


def environment_marked(text: str) -> dict[str, str]:
    """The same of a text whose first letter may be the delimiter, as ``envV1ToV2`` takes it.

    >>> environment_marked("|A=1;2|B=3")
    {'A': '1;2', 'B': '3'}
    """
    if text[:1] and text[0] in _MARKS:
        return environment_v1(text[1:], text[0])
    return environment_v1(text)


def environment_v2(text: str) -> dict[str, str]:
    """Variables as the words of V2. Raises ``BadAd``."""
    return dict(_pairs(split_v2(text)))


def join_environment_v1(variables: Mapping[str, str], delimiter: str = ";") -> str | None:
    """Variables as V1, or None where one holds the delimiter or a line feed."""
    parts = [assigned(*item) for item in variables.items()]
    if any(delimiter in part or "\n" in part for part in parts):
        return None
    return delimiter.join(parts)


def join_environment_v2(variables: Mapping[str, str]) -> str:
    """Variables as V2. Raises ``BadAd`` for a name that cannot be one, and for a line feed.

    "A line feed is not a safe environment value": HTCondor damages the ad.
    """
    for name, value in variables.items():
        if not name or "=" in name:
            raise bad(f"{name!r} is no name of an environment variable")
        if set(name + value) & {"\n", "\r", "\0"}:
            raise bad(f"the variable {name} holds a line feed or a NUL character")
    return join_v2(assigned(*item) for item in variables.items())


def assigned(name: str, value: str) -> str:
    """A variable and its value as one word; what HTCondor puts variables in the place of alone."""
    return name if isinstance(value, _Expanded) else f"{name}={value}"


def arguments(ad: Ad) -> list[str]:
    """The arguments of a job ad: ``Arguments`` (V2) wins over ``Args`` (V1). Raises ``BadAd``."""
    words = _text(ad, "Arguments")
    return split_v1(_text(ad, "Args") or "") if words is None else split_v2(words)


def environment(ad: Ad) -> dict[str, str]:
    """The variables of a job ad: ``Environment`` (V2) wins over ``Env`` (V1). Raises ``BadAd``."""
    words = _text(ad, "Environment")
    if words is None:
        return environment_v1(_text(ad, "Env") or "", _delimiter(ad))
    return environment_v2(words)


def with_environment(ad: Ad, variables: Mapping[str, str]) -> dict[str, str]:
    """The attribute, by its name, that gives a job these variables beside those it has.

    The attribute that the job uses is extended; one that has neither gets ``Environment``.
    Where V1 cannot hold a value, ``Environment`` is written, which wins. Raises ``BadAd``.
    """
    known = environment(ad)
    whole = {**known, **variables}
    if _text(ad, "Environment") is None and _text(ad, "Env") is not None:
        written = join_environment_v1(whole, _delimiter(ad))
        if written is not None:
            return {"Env": written}
    return {"Environment": join_environment_v2(whole)}


def _text(ad: Ad, name: str) -> str | None:
    """A string, worked out if it is an expression; None if it is missing or something else."""
    value = ad.get(name)
    if value is not None and not isinstance(value, str):
        from sssjob.classads.evaluate import attribute  # rare, and hooks must start fast

        value = attribute(ad, name)
    return value if isinstance(value, str) else None


def _delimiter(ad: Ad) -> str:
    return ad.text("EnvDelim", ";")[:1] or ";"


def _pairs(parts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for part in parts:
        name, equals, value = part.partition("=")
        if not equals and "$$" in part:  # HTCondor puts variables in its place
            yield part, _Expanded()
            continue
        if not equals or not name:
            raise bad("{} is no variable; expected NAME=VALUE", part)
        yield name, value


def _unwacked(text: str) -> str:
    r"""V1 of a submit file: ``\"`` is a double quote, and a bare one is a mistake."""
    if '"' in text.replace('\\"', ""):
        raise bad("a double quote without a backslash: {}", text)
    return text.replace('\\"', '"')


def _grouped(word: str) -> str:
    """A word with its white space and quotes in quoted stretches, quotes doubled."""
    text, inside = "", False
    for letter in word:
        special = letter == "'" or letter in SPACE
        text += ("'" if special is not inside else "") + letter * (2 if letter == "'" else 1)
        inside = special
    return text + ("'" if inside else "")
