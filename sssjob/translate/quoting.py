"""Texts on their way into lines of others: nothing but what was meant gets there."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable

from sssjob.errors import InvalidValue
from sssjob.visible import ShellText

# Shells that take the scripts that we write.
SHELLS = ("sh", "ash", "bash", "dash", "ksh", "mksh", "zsh")

_UNSAFE = re.compile(r"[\0\n\v\f\r]")
# What any reader of a script may take for the end of a line.
_ENDS = re.compile("[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")
# What is written by its number in a format of printf. Quotes, which end it; # for it begins
# directives; and a - in front, which begins options.
_CODED = re.compile(rf"^-|[\0-\x1f\x7f'#\\]|{_ENDS.pattern}")
_CODES = re.compile(r"(?:\\[0-7]{3})+|%%")
_PRINTED = r""""\$\(printf '([^']*)_'\)\""""
_ASSIGNED = re.compile(rf"export (\w+)=(?:{_PRINTED}; \1=\$\{{\1%_\}}|(.*))", re.ASCII | re.DOTALL)
_COMMAND = re.compile(rf"(?:set --((?: {_PRINTED})+); )?exec (.*)", re.DOTALL)
_WORD = re.compile(r""""\$\{([0-9]{1,9})%_\}"|(?:'[^']*'|"'"|[^\s'"])+""")
_UNQUOTED = re.compile(r"[^\s\"'#]*[^\s\"'#\\]")  # a backslash at the end may continue a line
_QUOTE = "'\"'\"'"  # how a ' stands between others
_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)  # what a shell reads as it stands
_BLANK = re.compile(r"[\s\0]")
_BLANKS = " \t\n\v\f\r"
_BETWEEN_BLANKS = re.compile(rf"[^{_BLANKS}]+")


def safe(text: str) -> str:
    """A text without line ends and U+0000, behind which a directive could stand.

    Raises ``InvalidValue``.
    """
    # Whatever is printable is safe, which is far faster to find out.
    if not text.isprintable() and _UNSAFE.search(text):
        raise InvalidValue(text, "a text without line ends and U+0000, which a directive can hold")
    return text


def word(text: str) -> str:
    """A text that stands for itself between blanks. Raises ``InvalidValue``."""
    if not text or _BLANK.search(text):
        raise InvalidValue(text, "a text without blanks")
    return text


def posix(text: str) -> ShellText:
    """A text without line ends as one word of a POSIX shell. Raises ``InvalidValue``.

    >>> posix("it's $HOME")
    '\\'it\\'"\\'"\\'s $HOME\\''
    """
    return ShellText(shlex.quote(safe(text)))


def exported(name: str, text: str) -> ShellText:
    """The line that exports a variable, of any value but one with U+0000.

    It is one line whatever the value is: ``qsub`` and ``bsub`` look for directives in all lines of
    a script. Raises ``InvalidValue``.

    >>> print(exported("A", "x\\n#$ -l h_rt=9"))
    export A="$(printf 'x\\012\\043$ -l h_rt=9_')"; A=${A%_}
    """
    if _PLAIN.fullmatch(text):
        return ShellText(f"export {name}={text}")
    if _ends(text):
        return ShellText(f"export {name}={_printed(text)}; {name}=${{{name}%_}}")
    return ShellText(f"export {name}={posix(text)}")


def run(words: Iterable[str]) -> ShellText:
    """The line that becomes a program with its arguments. Raises ``InvalidValue`` for U+0000.

    >>> print(run(["echo", "a b", "x\\ny"]))
    set -- "$(printf 'x\\012y_')"; exec echo 'a b' "${1%_}"
    """
    words = tuple(words)
    if all(map(_PLAIN.fullmatch, words)):
        return ShellText(f"exec {' '.join(words)}")
    printed: list[str] = []
    found: list[str] = []
    for text in words:
        if _ends(text):
            printed.append(_printed(text))
            found.append(f'"${{{len(printed)}%_}}"')
        else:
            found.append(posix(text))
    before = f"set -- {' '.join(printed)}; " if printed else ""
    return ShellText(f"{before}exec {' '.join(found)}")


def read_exported(line: str) -> tuple[str, str] | None:
    """The name and value of a variable in a line that we write; None for another."""
    found = _ASSIGNED.fullmatch(line)
    if found is None:
        return None
    name, printed, plain = found.groups()
    text = _decoded(printed) if printed is not None else one_word(plain)
    return None if text is None else (name, text)


def read_run(line: str) -> list[str] | None:
    """The program and its arguments in a line that we write; None for another."""
    found = _COMMAND.fullmatch(line)
    if found is None:
        return None
    printed = [_decoded(each) for each in re.findall(_PRINTED, found[1] or "")]
    words: list[str | None] = []
    for word in _WORD.finditer(found[3]):
        place = int(word[1] or 0)
        words.append(one_word(word[0]) if not place else dict(enumerate(printed, 1)).get(place))
    known = [word for word in words if word is not None]
    written = " ".join(word[0] for word in _WORD.finditer(found[3]))
    return known if known and len(known) == len(words) and written == found[3] else None


def _ends(text: str) -> bool:
    """Whether a reader of a script may see the end of a line in a text."""
    return not text.isprintable() and _ENDS.search(text) is not None


def _printed(text: str) -> str:
    """A word that is the text and a ``_``, as the shell takes line ends off the end."""
    if "\0" in text:
        raise InvalidValue(text, "a text without U+0000, which a shell can hold")
    coded = _CODED.sub(
        lambda found: "".join(f"\\{byte:03o}" for byte in found[0].encode()),
        text.replace("%", "%%"),
    )
    return f"\"$(printf '{coded}_')\""


def _decoded(coded: str) -> str | None:
    """The text of a format of ours; None for another."""
    try:
        text = _CODES.sub(_meant, coded)
        return text if _printed(text) == f"\"$(printf '{coded}_')\"" else None
    except ValueError:  # of bytes that are no text, too
        return None


def _meant(found: re.Match[str]) -> str:
    if found[0] == "%%":
        return "%"
    return bytes(int(code, 8) for code in found[0].split("\\")[1:]).decode()


def one_word(text: str) -> str | None:
    """The one word that a quoted text is exactly, as we quote it; else None."""
    word = text[1:-1].replace(_QUOTE, "'") if text.startswith("'") else text
    return word if shlex.quote(word) == text else None


def split(text: str, *, signs: str = "") -> list[str]:
    """Words between blanks; what stands in quotes of one kind is one word, or part of one.

    Where they are among ``signs``, a ``\\`` keeps the letter behind it from meaning anything, and a
    ``#`` in no quotes begins a comment. Raises ``InvalidValue`` where quotes are not closed: each
    system makes something else of them.

    >>> split('-N "a b" -l nodes=2:ppn=4')
    ['-N', 'a b', '-l', 'nodes=2:ppn=4']
    """
    for sign in ("'", '"', *signs):  # most lines have none, which a loop tells soonest
        if sign in text:
            break
    else:
        return blank(text)
    words: list[str] = []
    word: str | None = None
    inside = ""
    letters = iter(text)
    for letter in letters:
        if letter == "\\" and letter in signs:
            word = (word or "") + next(letters, "")
        elif inside:
            inside, word = ("", word) if letter == inside else (inside, (word or "") + letter)
        elif letter in "\"'":
            inside, word = letter, word or ""
        elif letter == "#" and letter in signs:
            break
        elif letter in _BLANKS:
            words += [] if word is None else [word]
            word = None
        else:
            word = (word or "") + letter
    if inside:
        raise InvalidValue(text.strip(), "words whose quotes are closed")
    return words if word is None else [*words, word]


def blank(text: str) -> list[str]:
    """Words between blanks, which are those of ASCII alone for programs in C.

    >>> blank("-N a\u00a0b")
    ['-N', 'a\xa0b']
    """
    plain = text.isascii() and text.isprintable()
    return text.split() if plain else _BETWEEN_BLANKS.findall(text)


def quoted(text: str) -> str:
    """A word so that ``split`` gives it back. Raises ``InvalidValue`` where no quotes do."""
    if _UNQUOTED.fullmatch(text):
        return text
    for sign in "\"'":
        if sign not in text:
            return f"{sign}{text}{sign}"
    raise InvalidValue(text, "a text with at most one kind of quotes")


def shell_name(interpreter: str) -> str:
    """The name of what the first line of a script names, also where ``env`` looks for it.

    >>> shell_name("/usr/bin/env -S bash -e"), shell_name("/bin/sh"), shell_name("")
    ('bash', 'sh', '')
    """
    words = interpreter.split()
    name = os.path.basename(words[0]) if words else ""
    if name == "env":
        name = next((each for each in words[1:] if each[0] != "-" and "=" not in each), name)
    return os.path.basename(name)
