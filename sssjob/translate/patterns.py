"""What the names of files have for what only the running job knows, system by system.

>>> percent = Patterns("mine", {"Id": "%j"}, r"%%|%[0-9]*[A-Za-z]?", escapes={"%": "%%"})
>>> percent.write("{{Id}}-100%.out").text, percent.read("%j-100%%.out")
('%j-100%%.out', '{{Id}}-100%.out')
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sssjob.errors import InvalidValue
from sssjob.file_names import (
    ALONE,
    ARRAY,
    ID,
    INDEX,
    NAME,
    OPEN,
    RunningValue,
    joined,
    literal,
    parse,
)
from sssjob.integers import whole
from sssjob.model import Job, Property
from sssjob.translate import arrays
from sssjob.translate.options import Option, ScriptOptions
from sssjob.translate.requests import JobRequest

_DIGITS = re.compile("[0-9]+")
_NOTHING = re.compile("(?!)")
NO_ARRAY = Option("")


class WrittenName(NamedTuple):
    """The name of a file as a system has it, and what is worth knowing of it."""

    text: str
    converted: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


@dataclass(frozen=True)
class Patterns:
    """The words of one system for what only a running job knows.

    ``words`` has the word that is written for each name, ``in_array`` those that are other ones in
    an array, and ``also`` more words that are read. ``tokens`` finds all that the system may take
    for a word, or for a sign that stands for itself (``escapes``). No text has ``never``. Where
    there is the sign ``off``, it is left out, and all else is text. ``padded`` says that digits
    behind the first sign of a word are its width.
    """

    kind: str = ""  # of Extensions of the system
    words: Mapping[str, str] = field(default_factory=dict)
    tokens: str = "(?!)"
    in_array: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    escapes: Mapping[str, str] = field(default_factory=dict)
    never: re.Pattern[str] = _NOTHING
    off: str = ""
    padded: bool = False
    folded: bool = False  # whether a word may be written in letters of any case
    array: Option = NO_ARRAY  # the option of an array, and what its value has in any case

    def write(self, text: str, job: Job | None = None) -> WrittenName:
        """The name of a file of a job. Raises ``InvalidValue`` where there are no words for it."""
        if not self._special.search(text):
            return WrittenName(text)
        among = job is not None and self._is_array(job)
        converted: dict[str, None] = {}
        lost: dict[str, None] = {}
        parts: list[str | RunningValue] = []
        for part in parse(text):
            for each in self._known(part, job, among, converted):
                if isinstance(each, RunningValue) and each.width and not self.padded:
                    lost["without zeros in front"] = None
                    each = RunningValue(each.name)
                parts.append(each)
        words = self._words(among)
        found = "".join(
            self._text(part, converted) if isinstance(part, str) else _padded(words, part)
            for part in parts
        )
        if self.read(found, among=among) != joined(parts):
            raise InvalidValue(text, "a name that is read there as it is meant")
        return WrittenName(found, tuple(converted), tuple(lost))

    def read(self, text: str, *, among: bool = False) -> str:
        """The name of a file as a job object has it; ``among`` elements of an array.

        Raises ``InvalidValue`` where it has a word that a job object has not.
        """
        if not self._scan.search(text):
            return literal(text)
        if self.off and self.off in text:
            return literal(text.replace(self.off, ""))
        known = self._meanings[among]
        parts: list[str | RunningValue] = []
        place = 0
        for found in self._scan.finditer(text):
            parts += [text[place : found.start()]] if found.start() > place else []
            parts.append(self._meant(found[0], known))
            place = found.end()
        return joined([*parts, text[place:]] if place < len(text) else parts)

    def written(self, asked: JobRequest, item: Property, text: str) -> str:
        """The same as ``write``, for a job that is asked, which is told what is worth knowing."""
        if not self._special.search(text):
            return text
        found = self.write(text, asked.job)
        for each in found.lost:
            asked.approximate(item.name, each, met=False)
        for each in found.converted:
            asked.convert(item.name, each)
        return found.text

    def said(self, text: str, said: ScriptOptions) -> str:
        """The same as ``read``, for a script."""
        option = self.array
        among = said.array or any(
            each.name == option.name and (option.value or "") in (each.value or "")
            for each in (said.options if option.name else ())
        )
        return self.read(text, among=among)

    def _words(self, among: bool) -> Mapping[str, str]:
        return {**self.words, **self.in_array} if among else self.words

    def _is_array(self, job: Job) -> bool:
        """Whether a job is an array there."""
        wanted = {(arrays.TYPE, arrays.INDICES), (self.kind, self.array.name)}
        return any(
            (item.said("type"), item.attributes.get("name")) in wanted
            for item in job.properties.all("Extension")
        )

    def _known(
        self, part: str | RunningValue, job: Job | None, among: bool, told: dict[str, None]
    ) -> Sequence[str | RunningValue]:
        """A part in words that there are. Raises ``InvalidValue`` where there are none."""
        if isinstance(part, str) or part.name in self._words(among):
            return (part,)
        if not among and part.name == ARRAY and ID in self.words:
            return (RunningValue(ID, part.width),)
        if not among and part.name == INDEX:
            told["a job that is no array has the index 0"] = None
            return (ALONE.zfill(part.width),)
        name = job.get(NAME).strip() if job is not None and part.name == NAME else ""
        if name and "/" not in name:
            told[f"{part} is {name!r} there"] = None
            return (name,)
        raise InvalidValue(str(part), "a word that the system has for names of files")

    def _text(self, text: str, told: dict[str, None]) -> str:
        """A text that stands for itself."""
        if (found := self.never.search(text)) is not None:
            raise InvalidValue(found[0], "a text that names of files have there")
        alike = {found[0] for found in self._scan.finditer(text)}
        text = self._signs.sub(lambda found: self.escapes[found[0]], text)
        for each in sorted(alike):
            if not self.escapes:
                raise InvalidValue(each, "a plain text there: it stands for something else")
            if self._key(each) in self._meanings[True]:
                told[f"{each} is text, and stands for nothing"] = None
        return text

    def _meant(self, token: str, known: Mapping[str, str]) -> str | RunningValue:
        found = known.get(self._key(token))
        if found is not None:
            return RunningValue(found)
        for sign, escaped in self.escapes.items():
            if token == escaped:
                return sign
        width = _DIGITS.search(token) if self.padded else None
        found = known.get(_DIGITS.sub("", token, count=1)) if width is not None else None
        if width is None or found is None or not 0 < (whole(width[0]) or 0) < 10:
            raise InvalidValue(token, "a word that a job object has for names of files")
        return RunningValue(found, int(width[0]))

    @cached_property
    def _scan(self) -> re.Pattern[str]:
        return re.compile(self.tokens, re.IGNORECASE if self.folded else 0)

    @cached_property
    def _signs(self) -> re.Pattern[str]:
        """The signs that are escaped, the first one first."""
        return re.compile("|".join(map(re.escape, self.escapes)) or "(?!)")

    @cached_property
    def _special(self) -> re.Pattern[str]:
        """What a name has in it that is more than text, here or there."""
        signs = [re.escape(sign) for sign in (OPEN, *self.escapes)]
        return re.compile("|".join((*signs, self.tokens, self.never.pattern)), self._scan.flags)

    @cached_property
    def _meanings(self) -> Mapping[bool, Mapping[str, str]]:
        """The name of each word, outside of arrays and in them."""
        return {
            among: {
                **{self._key(word): name for word, name in self.also.items()},
                **{self._key(word): name for name, word in self._words(among).items()},
            }
            for among in (False, True)
        }

    def _key(self, word: str) -> str:
        return word.lower() if self.folded else word


def _padded(words: Mapping[str, str], part: RunningValue) -> str:
    word = words[part.name]
    return f"{word[0]}{part.width}{word[1:]}" if part.width else word


PLAIN = Patterns()
