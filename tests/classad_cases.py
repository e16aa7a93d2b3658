"""Expressions between two ads as HTCondor's own library and ours see them, made by chance.

Arguments have mostly the kinds that a function takes, or nearly every answer would be an error.
"""

import re
from datetime import datetime
from random import Random
from typing import NamedTuple

from classads_oracle import classad2, comparable, value_of

from sssjob.classads import evaluate
from sssjob.classads.errors import BadAd
from sssjob.classads.parser import expression, plain
from sssjob.classads.values import ERROR, AbsTime, Ad, same

WORDS = ["", "a", "A", "b", "ab", "aab", "a,b", "b a", "slot1@host", "7", "-2", "1.5", "8.10",
         "8.9", "010", "01", "x=1;y=2", "a=1 b=2", "a;b", "true", " a , b", "1,2,3",
         "2.5 1", "é", "aéb", ",a,;b;;", ";, a ,, b ", "0x1.8p1", " false"]  # fmt: skip
PATTERNS = ["a", "b+", "(a)(b)?", "^a", "[ab]+$", "a|b", "x", "(a", "(.)b", "A.", "", "^..$", "é",
            "[é]"]  # fmt: skip
SPANS = ["1d2h3m4s", "2h", "1 D", "1h30", "1:2m", "1d2:3:4", "1+2", "5:30", "-1+02:03:04", "- 2h",
         "+5", "1+2h", "1+", "01:02:03.5", "+1d", "2h3d", "1.5h", "1w", "4s3m", "x"]  # fmt: skip
NAMES = ["x", "y", "z", "Cpus", "Other", "list", "ad", "ads", "text", "nosuch"]
SELECTED = ["x", "z", "Cpus", "nosuch"]
LEAVES = ["z", "text", "nosuch"]
# What the functions give, what they are called, and what they take; ``?`` may be left out.
SIGNATURES = """
int: int any; floor real; ceil real; ceiling real; round real; pow base small; quantize int int;
int: size any; size str; size list; strcmp str str; stricmp str str; versioncmp str str;
int: countMatches own ads; stringListSize words delim?; sum ints; max ints; min ints; getYear abs;
int: getMonth abs; getDayOfYear abs; getDayOfMonth abs; getDayOfWeek abs; getHours abs;
int: getMinutes abs; getSeconds abs; getDays rel; getHours rel; getMinutes rel; getSeconds rel;
int: stringListSum words delim?; stringListMin words delim?; stringListAvg words delim?;
real: real any; pow base real; quantize real real; quantize int reals; avg ints; sum reals;
real: max reals; min reals; stringListSum words; quantize real ints;
bool: isUndefined any; isError any; isString any; isInteger any; isReal any; isList any;
bool: isBoolean any; isClassAd any; isAbstime any; isReltime any; bool any; member any list;
bool: identicalMember any list; anyCompare op list any; allCompare op list any;
bool: versionGT str str; versionGE str str; versionLT str str; versionLE str str;
bool: versionEQ str str; version_in_range str str str; stringListMember str words delim?;
bool: stringListIMember str words delim?; stringListsIntersect words words delim?;
bool: stringListSubsetMatch words words delim?; stringListISubsetMatch words words delim?;
bool: regexp pattern str options?; regexpMember pattern strs options?;
bool: stringList_regexpMember pattern words delim? options?; member str strs;
bool: anyCompare op ints int;
str: string scalar; strcat str any1 str; join str str int; join str strs; join strs; toUpper str;
str: toLower str; substr str small small?; regexps pattern str by options?; interval int;
str: replace pattern str by options?; replaceall pattern str by options?; formatTime time form?;
str: envV1ToV2 env1; mergeEnvironment env2 env2?; formatTime abs form; formatTime moment form;
str: unparse ref; eval text;
str: userHome str str; userMap str str str str;
list: split str delim?; splitUserName str; splitSlotName str; evalInEachContext own ads;
abs: absTime num zone?; rel: relTime num; real: real spanned;
any: ifThenElse bool any any; debug any; eval text; ifThenElse any any any
"""
SIGNS = ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "==", "!=", "is", "isnt", "&&", "||", "&",
         "|", "^"]  # fmt: skip


def _functions():
    found, kind = {}, "any"
    for part in SIGNATURES.replace("\n", " ").split(";"):
        head, colon, rest = part.strip().rpartition(":")
        kind = head if colon else kind
        name, *takes = rest.split()
        found.setdefault(kind, []).append((name, takes))
    return found


FUNCTIONS = _functions()
KINDS = ["int", "real", "bool", "str", "list", "ad", "abs", "rel", "any"]
MEMBERS = {"ints": "int", "reals": "real", "strs": "str", "list": "any", "ads": "ad"}
TEXTS = {
    "words": WORDS, "env1": ["a=1;b=x y", "a", "", "b=2;a='"], "env2": ["a=1 b='x y'", "", "a=2"],
    "pattern": PATTERNS, "delim": [",", ";", " ,", ":", " "],
    "op": ["<", "<=", "==", "!=", "is", "o"],
    "options": ["", "i", "m", "s", "ix"], "by": ["", "-", "\\\\0", "<\\\\1>", "q"],
    "form": ["%Y-%m-%d", "%H:%M:%S", "%j %a", "%%", "%Z %z"], "str": WORDS,
}  # fmt: skip


# In texts, and for functions of texts, the library has lists half evaluated.
_LIST_AS_TEXT = re.compile(r"[{\[]")
_TEXTS_COMPARED = re.compile(r"(?i)(version|str)\w*cmp|version[a-z_]+\(.*([{[]|list|ads|\bad\b)")
_ROUNDED = re.compile(r"(?i)(round|int|floor|ceil(ing)?|quantize)\(")
# It forgets where a list stands that it has from a member of a list.
_LIST_OF_OTHERS = re.compile(r"(list|ads).*\.(x|Cpus|z)|\.(x|Cpus|z)\)?\[")


class Maker:
    """Expressions by chance, of a wanted kind and of bounded size."""

    def __init__(self, seed):
        self.chance = Random(seed)
        self.names = NAMES

    def pick(self, values):
        return self.chance.choice(values)

    def expression(self, kind, depth):
        roll = self.chance.random()
        if kind in TEXTS and (roll < 0.8 or kind != "str"):
            return f'"{self.pick(TEXTS[kind])}"'
        if kind in MEMBERS and (roll < 0.7 or kind != "list"):
            return self.listing(MEMBERS[kind], depth)
        special = getattr(self, f"a_{kind}", None)
        if special is not None and kind not in ("abs", "rel"):
            return special(depth)
        if roll < 0.04:
            return self.pick(["undefined", "error"])
        if roll < 0.14:
            return self.name()
        if roll < 0.2:
            kind = self.pick(KINDS)
        if special is not None:
            return special(depth)
        if depth and roll < 0.75:
            return self.compound(kind, depth - 1)
        return self.literal(kind, depth)

    def listing(self, kind, depth):
        members = [self.expression(kind, depth // 2) for _ in range(self.chance.randrange(4))]
        return f"{{ {', '.join(members)} }}"

    def records(self, depth):
        """A list of plain ads: the library crashes over names asked of what a function made."""
        members = [self.pick([self.literal("ad", 1), self.literal("ad", 1), "5", "undefined"])
                   for _ in range(self.chance.randrange(4))]  # fmt: skip
        return f"{{ {', '.join(members)} }}"

    def name(self):
        sides = ["", "", "", "MY.", "TARGET.", "self.", "other."]
        return self.pick(sides if self.names is LEAVES else [*sides, "ad."]) + self.pick(self.names)

    def a_own(self, depth):
        if self.names is LEAVES:
            return self.pick(["z > 1", "MY.text", "1"])
        return self.pick(["x", "MY.text", "z > 1", "x + y", "Cpus > 1", "TARGET.x > z"])

    def a_text(self, depth):
        return '"' + self.expression("int", 1).replace("\\", "\\\\").replace('"', '\\"') + '"'

    def a_ref(self, depth):
        if self.names is LEAVES:
            return self.pick(LEAVES)
        return self.pick(["x", "y", "text", "list", "ads", "ad", "nosuch", "MY.x", "5"])

    def a_moment(self, depth):
        if self.chance.random() < 0.5:
            return f"splitTime({self.a_abs(0)})"
        year, month, day, hour = (self.chance.randrange(*each)
                                  for each in ((1990, 2050), (1, 13), (1, 29), (24,)))  # fmt: skip
        return f"[ Year = {year}; Month = {month}; Day = Month + {day} - {month}; Hours = {hour} ]"

    def a_zone(self, depth):
        return self.pick(["0", "3600", "-3600"])

    def a_time(self, depth):
        return self.pick(["0", "1600000000", "12.7"])

    def a_small(self, depth):
        return str(self.chance.randrange(-4, 7))

    def a_base(self, depth):
        return self.pick(["1", "2", "3", "5", "2.5"])

    def a_num(self, depth):
        return self.pick(["0", "5", "1600000000", "12", "undefined", "z"])

    def a_any1(self, depth):
        return self.literal(self.pick(["int", "real", "bool", "str"]), 0)

    a_scalar = a_any1

    def a_abs(self, depth):
        return f"absTime({self.pick(['0', '1600000000', '951782400'])},{self.a_zone(0)})"

    def a_rel(self, depth):
        return f"relTime({self.pick(['5', '3600', '93784', '-5', '0'])})"

    def a_spanned(self, depth):  # which the library has as a real
        return f'relTime("{self.pick(SPANS)}")'

    def literal(self, kind, depth):
        match kind:
            case "int":
                return str(self.chance.randrange(-3, 12))
            case "real":
                return self.pick(["0.5", "1.0", "2.5", "-1.5", "100.25", "0.0"])
            case "bool":
                return self.pick(["true", "false"])
            case "list":
                return self.listing(self.pick(["int", "str", "any", "ad"]), depth)
            case "ad":
                names = self.chance.sample(["x", "z", "Cpus", "text"], self.chance.randrange(3))
                inner = "; ".join(
                    f"{name} = {self.expression('int', depth // 2)}" for name in names
                )
                return f"[ {inner} ]"
        return self.expression(self.pick(["int", "real", "bool", "str", "list", "ad"]), depth)

    def compound(self, kind, depth):
        roll = self.chance.random()
        if roll < 0.6 and kind in FUNCTIONS:
            return self.call(*self.pick(FUNCTIONS[kind]), depth)
        if roll < 0.65:
            yes, no = self.group(kind, depth), self.group(kind, depth)
            return f"({self.expression('bool', depth)}) ? {yes} : {no}"
        if roll < 0.7:
            return f"{self.group('any', depth)} ?: {self.group(kind, depth)}"
        if roll < 0.74:
            return f"{self.group('list', depth)}[{self.chance.randrange(3)}]"
        if roll < 0.78 and self.names is not LEAVES:
            return f"{self.records(depth)}.{self.pick(SELECTED)}"
        if roll < 0.82:
            return f"{self.pick('!-')}{self.group(kind, depth)}"
        if roll < 0.84 and kind == "int":  # C does not say what a shift by more gives
            sign, count = self.pick(["<<", ">>", ">>>"]), self.chance.randrange(1, 64)
            return f"{self.group('int', depth)} {sign} {count}"
        if roll < 0.86:
            return (
                f"splitTime({self.pick([self.a_abs, self.a_rel])(0)}).{self.pick(['Hours', 'Day'])}"
            )
        inner = (
            self.pick(["any", "abs", "rel"])
            if roll > 0.97
            else self.pick([kind, "int", "str", "bool"])
        )
        return f"{self.group(inner, depth)} {self.pick(SIGNS)} {self.group(inner, depth)}"

    def group(self, kind, depth):
        return f"({self.expression(kind, depth)})"

    def call(self, name, takes, depth):
        given = []
        for wanted in takes:
            if wanted.endswith("?") and self.chance.random() < 0.6:
                break
            given.append(self.expression(wanted.rstrip("?"), depth))
        return f"{name}({', '.join(given)})"

    def readable_ad(self):
        """An ad that the library reads: it refuses absTime("x") as a whole."""
        while True:
            text = self.ad()
            try:
                classad2.ClassAd(text)
            except classad2.ClassAdException:
                continue
            return text

    def ad(self):
        self.names = LEAVES  # no circles: to follow them takes both too long
        parts = {
            "x": self.expression("int", 1), "y": self.expression("int", 1), "Other": "[ x = 4 ]",
            "list": self.listing("any", 1), "ad": self.literal("ad", 2),
            "ads": self.listing("ad", 2),
            "text": f'"{self.pick(WORDS[:8])}"', "z": self.literal("int", 0),
        }  # fmt: skip
        self.names = NAMES
        return "[ " + "; ".join(f"{name} = {text}" for name, text in parts.items()) + " ]"


def cases(count, seed):
    """Texts of expressions, each with an ad of its own and one opposite."""
    maker = Maker(seed)
    for number in range(count):
        if number % 25 == 0:
            ads = maker.readable_ad(), maker.readable_ad()
        yield maker.expression(maker.pick(KINDS), 3), *ads


# Numbers as people write them, right and wrong; without those beyond 64 bits, of which the library
# makes 0, and "-0x1F", of which it makes 0, too. # decision 771
SPELLED = [
    "0", "00", "07", "017", "08", "0017", "0777", "0778", "-0", "-00", "-017", "-08", "-", "017",
    "0-017", "3*-017", "1-08", "00.5", "017.5", "-017.5", ".5", "-.5", "5.", "-5.", "5.e3",
    "1.e", "1.K", "1e3", "1E+2", "1e-2", "1e", "1.0e5e", "1K", "1.5K", "-5K", "0x1F",
    "0x", "0xg", "1_000", "1..2", "1.2.3", "9223372036854775807", "-9223372036854775808",
]  # fmt: skip
_AROUND = ("{0}", "({0})", "{0} + 0", "[a = {0}].a", "int({0})", "string({0})", "x ?: {0}")
_LETTERS = ["a", "b", "A", ",", " ", ";", "\\n", "\\t", "\\r", "\\v", "\\a", "1", "-2", "2.5",
            "0x", "é"]  # fmt: skip
_SETTING = ["A", "B", "=", ";", " ", "\\t", "\\n", "\\r", "'", "|", ",", "1", "$$(x)", "\\v", "A=",
            "B=1"]  # fmt: skip
_OF_ONE = [
    "stringListSize", "stringListSum", "stringListAvg", "stringListMin", "split", "int", "real",
    "splitSlotName", "argsToList",
]  # fmt: skip
_OF_TWO = [
    "stringListMember", "stringListIMember", "stringListsIntersect", "stringListSubsetMatch",
    "stringListISubsetMatch",
]  # fmt: skip
_LARGE = [sign * (2**power + more) for sign in (1, -1) for power in (0, 31, 32, 33, 53)
          for more in (-1, 0, 1, 3)]  # fmt: skip
_PLACED = ('interval({0})', 'interval("{0}")', 'substr("abcdef", {0})', 'substr("abcdef", 1, {0})',
           '{{1, 2, 3}}[{0}]', 'argsToList("a", {0})', "avg({{{0}, 1}})", "{0} % 7",
           "quantize(7, {0})")  # fmt: skip


def spellings(count, seed):
    """Texts of expressions about how numbers, lists in texts and environments are spelled."""
    yield from (around.format(number) for number in SPELLED for around in _AROUND)
    yield from (
        form.format(number)
        for number in _LARGE
        for form in _PLACED
        if abs(number) <= 2**53 or '"{0}"' not in form
    )  # of a text it makes a real
    yield from (f'"a\\{chr(code)}b"' for code in range(33, 127))
    yield from (f'envV1ToV2("{chr(code)}A=1{chr(code)}B=2")' for code in range(35, 127)
                if chr(code) != "\\")  # fmt: skip
    chance = Random(seed)

    def text(letters, most):
        return f'"{"".join(chance.choices(letters, k=chance.randrange(most)))}"'

    for _ in range(count):
        marks = [text(",; \t", 3)] * (chance.random() < 0.4)
        one, other = text(_LETTERS, 6), text(_LETTERS, 6)
        yield f"{chance.choice(_OF_TWO)}({', '.join([one, other, *marks])})"
        name = chance.choice(_OF_ONE)
        yield f"{name}({', '.join([one, *(marks if name.startswith('stringL') else ())])})"
        one, other = text(_SETTING, 8), text(_SETTING, 6)
        yield chance.choice([f"envV1ToV2({one})", f"mergeEnvironment({one}, {other})"])


def spelled_otherwise(count, seed):
    """Of so many spellings those that the two read or evaluate differently, and how many."""
    found, asked = [], 0
    for text in spellings(count, seed):
        try:
            theirs = _value(classad2.ExprTree(text).eval(classad2.ClassAd("[]")))
        except UnicodeDecodeError:
            continue
        except classad2.ClassAdException:
            theirs = "is refused"
        try:
            ours = comparable(evaluate.evaluate(expression(text)))
        except BadAd:
            ours = "is refused"
        asked += 1
        if not _agree(ours, theirs):
            found.append((text, ours, theirs))
    return found, asked


class Differ(NamedTuple):
    """One expression of which the two say different things."""

    text: str
    my: str
    target: str
    ours: object
    theirs: object


def differences(count, seed):
    """Of so many expressions those about which the two differ, and how many were asked.

    What is no answer of theirs (an exception) or is known to be another is not asked.
    """
    found, asked = [], 0
    for text, my, target in cases(count, seed):
        mine, opposite = classad2.ClassAd(my), classad2.ClassAd(target)
        pairs = list(_pairs(text, (plain(my), plain(target)), (mine, opposite)))
        asked += bool(pairs)
        found += [Differ(text, my, target, *pair) for pair in pairs if not _agree(*pair)]
    return found, asked


def _pairs(text, ours, theirs, depth=0):
    """Our value and theirs; of a list, of which theirs has not evaluated the members, each one."""
    own = evaluate.evaluate(expression(text), *ours, now=0)
    made = isinstance(own, tuple) and ("evalIn" in text or "}." in text)
    if made and any(isinstance(each, tuple) for each in own):
        return  # the library crashes over a list in such a list, or forgets where it stands
    try:
        other = classad2.ExprTree(text).eval(*theirs)
    except (classad2.ClassAdException, UnicodeDecodeError):
        return
    if isinstance(own, tuple) and isinstance(other, list) and len(own) == len(other) and depth < 9:
        for place in range(len(own)):
            yield from _pairs(f"({text})[{place}]", ours, theirs, depth + 1)
        return
    value = _value(other)
    if not _excused(text, own, value, [str(each) for each in theirs]):
        yield comparable(own), value


def _value(theirs):
    return AbsTime(int(theirs.timestamp())) if isinstance(theirs, datetime) else value_of(theirs)


def _excused(text, ours, theirs, ads=()):
    """What the library answers otherwise by its faults, or where C leaves the answer open."""
    if isinstance(ours, str) and _LIST_AS_TEXT.search(ours):
        return True
    if _TEXTS_COMPARED.search(text) or _LIST_OF_OTHERS.search(text):
        return True
    if re.search(r"\by\b", text) and any(_TEXTS_COMPARED.search(each) for each in ads):
        return True
    if ours is ERROR and isinstance(theirs, int) and theirs == -(2**63):
        return True
    if isinstance(ours, int) and abs(ours) > 2**53 and "pow" in text:
        return True
    if ours is ERROR and "pow" in text and _ROUNDED.search(text):
        return True  # a power beyond 64 bits, as an integer: C leaves it open
    if ours is ERROR and isinstance(theirs, str) and "formatTime(" in text:
        return True  # an ad that has nothing of a time is midnight before the year 1900 to it
    # Two lists cannot be compared, but one that a function made can.
    return ours is ERROR and " is" in text


def _agree(ours, theirs):
    if isinstance(ours, Ad) and isinstance(theirs, Ad):
        return {name.lower() for name in ours} == {name.lower() for name in theirs}
    return same(ours, theirs)
