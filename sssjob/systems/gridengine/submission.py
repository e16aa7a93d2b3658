"""What qsub of Grid Engine takes for what a job object says, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial

from sssjob import nodes as sets
from sssjob import units
from sssjob.errors import InvalidValue
from sssjob.executable import DEFAULT_SHELL
from sssjob.expression import Expression
from sssjob.integers import whole
from sssjob.model import Property, stripped
from sssjob.nodes import plain
from sssjob.records.dependencies import matching
from sssjob.resource_names import GPU_NAMES, license_name
from sssjob.systems.gridengine import requested
from sssjob.systems.gridengine.requested import whole_bytes, whole_seconds
from sssjob.systems.gridengine.words import GPU_TYPE, QUEUE_PATTERN, written
from sssjob.task_counts import CountRange
from sssjob.translate import environment, fields, limits, mail, numbers, streams, waiting
from sssjob.translate.arrays import Spelling
from sssjob.translate.form import AmountsLayout, OptionForm, SubmitForm
from sssjob.translate.nodes import (
    any_of,
    any_of_these,
    but,
    conditions,
    features,
    plain_name,
    say_any_of,
    say_wishes,
    wishes,
)
from sssjob.translate.options import (
    Option,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    Syntax,
    WantedAmounts,
    commas,
)
from sssjob.translate.patterns import Patterns
from sssjob.translate.quoting import blank, quoted, word
from sssjob.translate.requests import JobRequest
from sssjob.translate.translator import Settings

_SIMPLE = re.compile(r"(?:[A-Za-z0-9_]|\.\*?)(?:[A-Za-z0-9_-]|\\\.|\.\*?)*")
_PIECE = re.compile(r"\.\*|\\\.|\.")
_WISH = re.compile(r"-soft -l ([A-Za-z0-9_][A-Za-z0-9_.-]*)(?:=(?:TRUE|True|true))? -hard")
_QUOTE = re.compile("[\"']")
_UNQUOTABLE = re.compile("[\"'#]")
_GPU_TYPE = f"-l {GPU_TYPE}"
_PARALLEL = "pe"  # the Extension that names a parallel environment


def _named(name: str, item: Property) -> bool:
    """Whether a Resource is the licence of a name."""
    return license_name(item.attributes) == name


def _words(wanted: WantedAmounts, parallel: str, made: ScriptWriting) -> list[str]:
    """A slot is a processor, and memory is of one slot."""
    words = ["-S", made.shell or DEFAULT_SHELL]
    if wanted.slots > 1:
        words += ["-pe", parallel, str(wanted.slots)]
    limits = [f"h_rt={wanted.seconds}"] if wanted.seconds else []
    if wanted.memory:
        limits.append(f"h_vmem={math.ceil(Fraction(wanted.memory, wanted.slots))}")
    limits += made.limits
    return [*words, "-l", ",".join(limits)] if limits else words


def counts(asked: JobRequest) -> numbers.TaskCounts:
    """Take the counts of a job, of which slots are processors of whichever tasks."""
    return numbers.added(asked, in_tasks=False)


class Slots(AmountsLayout):
    """A slot is a processor; memory is of one slot, and a range of slots is kept."""

    def compose(self, asked: JobRequest, made: ScriptWriting, settings: Settings) -> None:
        """Slots first, then what is divided by them."""
        of = counts(asked)
        numbers.only_processors(asked, of)
        slots = self._slots(asked, made, of, settings)
        self._memory(asked, made, of, slots, settings.memory_scope)
        if wall := numbers.wall(asked):
            made.option("-l h_rt", str(wall))
        if swap := numbers.in_all(asked, of, "Swap"):
            made.option("-l swap_free", written(swap))
            asked.convert("Swap", "what a host has free of it")
        counted = self._resources(asked, made, slots.granted)

        def is_free(name: str) -> bool:
            return requested.is_of_site(name) and name not in counted

        for name in features(asked, take=is_free):
            made.option(f"-l {name}", "TRUE")
        for name in wishes(asked, "Feature", is_free):
            made.option(f"-soft -l {name}=TRUE -hard")
        for texts in conditions(asked, ("Architecture",), _architectures):
            made.option("-l arch", "|".join(texts))
        if text := plain_name(asked, "Architecture"):
            made.option("-l arch", text)
        self._nodes(asked, made, of)

    def _slots(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts, settings: Settings
    ) -> CountRange:
        count = of.slots
        if of.nodes and (of.node_count, count.exact) != (1, 1):
            asked.leave("NodeCount", "a parallel environment decides on how many nodes")
        asked.leave("TaskDistribution", "a parallel environment decides how tasks are placed")
        name = next((item.text for item in asked.mine("Extension", "sge")
                     if item.attributes.get("name") == _PARALLEL), settings.parallel)  # fmt: skip
        if count.exact != 1:
            ends = str(count.exact) if count.exact else f"{count.lo or ''}-{count.hi or ''}"
            made.option("-pe", f"{word(name)} {ends}")
        numbers.compared(asked, of, count.exact or 0)
        return count

    # decision 935
    def _memory(
        self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts,
        count: CountRange, scope: str,
    ) -> None:  # fmt: skip
        total, of_tasks = numbers.in_all(asked, of, "Memory"), scope == numbers.TASK
        if numbers.is_of_groups(asked, "Memory"):
            scope, of_tasks = numbers.JOB, True
        if total is None:
            return
        parts = {numbers.JOB: 1, numbers.NODE: of.node_count, numbers.TASK: of.task_count}[scope]
        # Tasks that slots make, and what these have, are fewer where fewer slots are granted.
        slots = count.least if of_tasks and not of.tasks else count.granted
        share = math.ceil(Fraction(total * parts, slots))
        made.option("-l h_vmem", written(share))
        if share * slots != total * parts:
            asked.approximate("Memory", f"{written(share)} of each slot, rounded up")
        elif share != total:
            how = f"{numbers.shown(total, scope)}, {slots} slots"
            asked.convert("Memory", f"{how}: {written(share)} of each slot")

    # decision 1032
    def _resources(self, asked: JobRequest, made: ScriptWriting, slots: int) -> frozenset[str]:
        """GPUs and licences are resources that a site names, and are of one slot.

        Gives the names of the licences, of which a feature can have none: there is one value.
        """
        gpus, licences = numbers.resources(asked, typed=True, is_licence=requested.is_of_site)
        for name, number in licences:
            self._share(asked, made, name, number, slots, partial(_named, name))
        if gpus.number:
            self._share(asked, made, "gpu", gpus.number, slots, numbers.is_gpu)
        if gpus.kind:
            made.option(_GPU_TYPE, gpus.kind)
            told = f"{_GPU_TYPE}, a resource that the site has to have"
            asked.convert("Resource", told, numbers.is_gpu)
        return frozenset(name for name, _ in licences)

    def _share(
        self, asked: JobRequest, made: ScriptWriting, name: str, number: int, slots: int,
        of: Callable[[Property], bool],
    ) -> None:  # fmt: skip
        share = units.rounded_up(number, slots)
        made.option(f"-l {name}", str(share))
        if share * slots != number:
            asked.approximate("Resource", f"{share} of each slot, rounded up", where=of)
        elif slots > 1:
            asked.convert("Resource", f"{number}, {slots} slots: {share} of each slot", of)

    def _nodes(self, asked: JobRequest, made: ScriptWriting, of: numbers.TaskCounts) -> None:
        """Hosts of which any may be taken."""
        unwanted = [name for names in conditions(asked, ("Node",), _not_these) for name in names]
        # A parallel environment decides on how many of them.
        hosts = "|".join(any_of_these(asked, None, read=_glob))
        if hosts and of.stated and of.slots.exact != 1:
            told = "any of them: a parallel environment decides on how many nodes"
            asked.approximate("Node", told, met=False)
        if unwanted:
            others = f"!{unwanted[0]}" if len(unwanted) == 1 else f"!({'|'.join(unwanted)})"
            hosts = f"({hosts})&{others}" if hosts else others
        if hosts:
            made.option("-l h", hosts)

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Slots are processors; what is of a slot is multiplied by their least number."""
        slots = _say_slots(said, heard, settings.parallel)
        if (value := said.last("-l h_vmem")) is not None:
            amount = whole_bytes(value)
            if amount is not None:
                factor = {numbers.JOB: slots, numbers.NODE: slots, numbers.TASK: 1}
                numbers.say_size(heard, "Memory", amount * factor[settings.memory_scope])
            else:
                said.back("-l h_vmem", value)
        numbers.say_amount(said, heard, "-l h_rt", "Duration", whole_seconds)
        numbers.say_amount(said, heard, "-l swap_free", "Swap", whole_bytes)
        _say_gpus(said, heard, slots)
        said.give("-l arch", lambda value: _say_architectures(heard, value))
        self._say_nodes(said, heard)
        for each in said.left:
            name = each.name.removeprefix("-l ")
            if each.name != name and requested.is_feature(name, each.value):
                said.all(each.name)
                heard.request("Feature", name)
            elif (wish := _WISH.fullmatch(each.name)) and requested.is_of_site(wish[1]):
                said.takes(each)
                say_wishes(heard, "Feature", [wish[1]])

    def _say_nodes(self, said: ScriptOptions, heard: ScriptReading) -> None:
        name = next(
            (name for name in map("-l {}".format, requested.HOST_NAMES) if name in said.names), ""
        )
        said.give(name, lambda value: heard.requested.extend(requested.hosts(value)))


def _say_architectures(heard: ScriptReading, value: str) -> None:
    """One is asked for as it stands; of several any will do."""
    texts = requested.architectures(value)
    if len(texts) > 1:
        say_any_of(heard, "Architecture", texts)
    else:
        heard.request("Architecture", value)


def _architectures(part: Expression) -> list[str]:
    return any_of(part, "Architecture")


def _not_these(part: Expression) -> list[str]:
    return but(part, "Node")


def _glob(item: Property) -> str:
    """A pattern that wildcards can say; "" for another, or none."""
    text = stripped(item.text)
    if item.said("aggregation") != sets.PATTERN or not _SIMPLE.fullmatch(text):
        return ""
    parts = {".*": "*", ".": "?", "\\.": "."}
    return _PIECE.sub(lambda found: parts.get(found[0], found[0]), text)


def _say_slots(said: ScriptOptions, heard: ScriptReading, parallel: str) -> int:
    value = said.last("-pe")
    found = None if value is None else requested.parallel(value)
    if found is None:
        if value is not None:
            said.back("-pe", value)
        return 1
    heard.requested += requested.processors(found)
    if value is not None and "," in value:
        heard.note(
            f"-pe {value}: a list of numbers is read as the range from the least to the most"
        )
    if found.environment != parallel:
        heard.say("Extension", found.environment, type="sge", name=_PARALLEL)
    return found.at_least


# decision 343
def _say_gpus(said: ScriptOptions, heard: ScriptReading, slots: int) -> None:
    """GPUs by each of the names that sites give them, as in a category of the accounting."""
    total = 0
    for name in GPU_NAMES:
        value = said.last(option := f"-l {name}")
        number = whole(value) if value is not None else None
        if number:
            total += number
        elif value is not None:
            said.back(option, value)
    if not total:
        return
    kind = said.last(_GPU_TYPE) or ""
    if kind and not plain(kind):
        said.back(_GPU_TYPE, kind)
        kind = ""
    numbers.say_gpus(heard, total * slots, kind)


def _soft(options: list[Option]) -> list[Option]:
    """What stands behind -soft are wishes: they are kept as they are, with their -soft."""
    found: list[Option] = []
    soft = False
    for option in options:
        if option.name in ("-soft", "-hard"):
            soft = option.name == "-soft"
        elif soft and option.name.startswith(("-l ", "-q", "-masterq")):
            found.append(Option(" ".join(("-soft", *option.words(), "-hard"))))
        else:
            found.append(option)
    return found


_TAKES = {
    **dict.fromkeys(("-a", "-ac", "-adds", "-ar", "-A", "-b", "-binding", "-c", "-ckpt", "-clearp",
                     "-clears", "-C", "-dc", "-dl", "-display", "-e", "-hold_jid", "-hold_jid_ad",
                     "-i", "-j", "-js", "-jsv", "-l", "-m", "-M", "-masterq", "-N", "-now", "-o",
                     "-P", "-p", "-pty", "-q", "-R", "-r", "-sc", "-shell", "-sync", "-S", "-t",
                     "-tc", "-tcon", "-u", "-v", "-w", "-wd", "-@"), 1),
    **dict.fromkeys(("-clear", "-cwd", "-h", "-hard", "-inherit", "-nostdin", "-notify", "-soft",
                     "-terse", "-verify", "-V"), 0),
    "-pe": 2,
}  # fmt: skip
_LIMITS = {key: f"-l {option}" for key, option in requested.LIMITS.items()}
_CPU_TIME = {key: option for key, option in _LIMITS.items() if key[0] == "CPUTime"}

# A list of names has commas, and a host a colon behind it.
_FILES = Patterns(
    "sge",
    {
        "Id": "$JOB_ID",
        "Name": "$JOB_NAME",
        "User": "$USER",
        "Node": "$HOSTNAME",
        "ArrayIndex": "$TASK_ID",
    },
    r"\$JOB_ID\.\$TASK_ID|\$(?:JOB_ID|JOB_NAME|USER|HOSTNAME|TASK_ID|HOME)|[,:]|^~",
    in_array={"Id": "$JOB_ID.$TASK_ID", "ArrayId": "$JOB_ID"},
    array=Option("-t"),
)


def _split(text: str) -> list[str]:
    """The words of a directive as qsub of Grid Engine 8.1 takes it apart.

    A # begins a comment, in quotes, too. With the first quote begins what ends with the line: it is
    part of one word, and all quotes in it are left out.

    >>> _split("-v A=1,B='x y' -p -4"), _split('-p -4 -A "x y" # mine')
    (['-v', 'A=1,B=x y -p -4'], ['-p', '-4', '-A', 'x y'])
    """
    text = text.partition("#")[0].rstrip()
    found = _QUOTE.search(text)
    if not found:
        return blank(text)
    before, rest = text[: found.start()], _QUOTE.sub("", text[found.start() :])
    *words, last = blank(f"{before}|")
    return [*words, f"{last[:-1]}{rest}"]


def _quoted(text: str) -> str:
    """A word of a directive. Raises ``InvalidValue`` where none can hold it."""
    if _UNQUOTABLE.search(text):
        raise InvalidValue(text, "a text without #, \" and ', which qsub never takes as they are")
    return quoted(text)


# fmt: off
FORM = OptionForm(
    name="sge",
    syntax=Syntax("#$", _TAKES, {}, {"-l": commas}, _split, _quoted, everywhere=True),
    layout=Slots(),
    rules=(
        fields.TextOption("Project",                 "-P", word),
        fields.Queues("-q", ",", QUEUE_PATTERN),
        fields.TextOption("Reservation",             "-ar", word),
        fields.TextOption("InitialWorkingDirectory", "-wd"),
        streams.Streams("-i", "-o", "-e", joined=Option("-j", "y"), appends=True,
                       also_joined=(Option("-j", "yes"),), files=_FILES),
        environment.Shell(),
        environment.Environment(None, Option("-V"), "-v"),
        waiting.LocalTime("EligibleTime", "-a", "%Y%m%d%H%M.%S", waiting.DIGITS),
        waiting.Waits("-hold_jid", matching("[0-9]+"), {"OnExit": ""}),  # its end, however that is
        waiting.Hold(Option("-h")),
        mail.Mail("-m", "", ("b", "e", "bea", "n"), "-M"),
        fields.Switch("Restartable", Option("-r", "n"), Option("-r", "y"),
                      (Option("-r", "no"),), (Option("-r", "yes"),)),
        fields.Interactive(instead="call qrsh"),
        fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
        fields.Priority("-p"),
        fields.Manager("gridengine"),
    ),
    in_script=(
        fields.Name("-N", plain=True),
        fields.Checkpoint("-ckpt", "a checkpointing environment"),
        waiting.LocalTime("DeadlineTime", "-dl", "%Y%m%d%H%M.%S", waiting.DIGITS),
        limits.Limits(_LIMITS, str, written, whole_seconds, whole_bytes),
    ),
    shell="-S",
    shell_only=True,
    prepare=_soft,
    own=(_PARALLEL,),
    array=Spelling("-t", "SGE_TASK_ID", several=False, at_once="-tc", least=1),
    lists={"-m": "", "-hold_jid": ","},
    at_once=(limits.Limits(_CPU_TIME),),
    held_name=fields.Name("-N", plain=True),
    words=_words,
    decides_nodes=True,
    counts=counts,
)
# fmt: on
SGE = SubmitForm(FORM)
