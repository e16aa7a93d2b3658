"""What condor_submit takes for what a job object says, and back: a file of NAME = VALUE."""

from __future__ import annotations

import operator
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from sssjob import expression, units
from sssjob.classads import parser, quoting, writing
from sssjob.classads.errors import BadAd
from sssjob.classads.evaluate import evaluate
from sssjob.classads.values import Node
from sssjob.errors import Finding, InvalidValue, LimitExceeded, UnbalancedGroup, finding
from sssjob.executable import ExecutableKind, arguments, executable
from sssjob.expression import Wish
from sssjob.expression.asked_names import asked_names
from sssjob.integers import LARGEST, limit_seconds, whole
from sssjob.model import Job, Note, Property, stripped, text_in
from sssjob.records.readers import licences
from sssjob.resource_names import gpu_model
from sssjob.systems.condor import names
from sssjob.systems.condor.gpus import model, required
from sssjob.systems.condor.requirements import (
    OF_MACHINES,
    SaidParts,
    any_of_several,
    demands_of_each,
    of_machines,
    of_one_machine,
    request,
    wishes,
)
from sssjob.translate import fields, mail, numbers, waiting
from sssjob.translate.form import folded, unfolded
from sssjob.translate.nodes import is_of_each_node
from sssjob.translate.options import (
    Option,
    PlacedOption,
    ScriptOptions,
    ScriptReading,
    ScriptWriting,
    line_of,
)
from sssjob.translate.patterns import Patterns
from sssjob.translate.quoting import safe
from sssjob.translate.requests import NO_OPTION, ORDER, JobRequest
from sssjob.translate.script_files import beside
from sssjob.translate.script_text import ScriptText, beginning, readable, texts
from sssjob.translate.translator import Read, Settings, Translator

NO_FILES = ": a script is a file of its own (-o or --output-dir writes it beside)"
MIB, KIB = 1 << 20, 1 << 10

_LINE = re.compile(r"\s*([+]?[A-Za-z_][\w.]*)\s*=(.*)", re.ASCII)
_QUEUE = re.compile(r"\s*queue\b(.*)", re.IGNORECASE | re.ASCII)
_REQUEST = "request_"
_RESOURCE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,60}")
_NUMBER = re.compile(r"[1-9][0-9]{0,14}")
_OF_NUMBERS = re.compile(r"[-+*/%0-9.eE() \t\"]{1,60}")  # an expression without names
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{0,3})?)\s*([KMGT]?)B?", re.IGNORECASE | re.ASCII)
_POWERS = {"K": 1, "M": 2, "G": 3, "T": 4}
_NOTIFICATIONS = {"None": "Never", "JobEnd": "Complete", "All": "Always"}


_DESCRIBED = "description"
_MACHINES = "machine_count"
_DOLLARS = re.compile(r"\$+")
_DOUBLE = re.compile(r"\$\$(?![(\[])")
# What condor_submit, or a slot, puts something else in the place of.
_MACRO = re.compile(r"\$\((?!DOLLAR\))|\$\$|\$\(DOLLAR\)\$|\$[A-Za-z]+\(")


@dataclass(frozen=True, slots=True)
class Description:
    """The commands of a submit file in their order, what is queued, and what was kept."""

    options: tuple[Option, ...] = ()
    queue: str = ""
    kept: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def value(text: str) -> str:
    """A text as a value, of which no line goes on. Raises ``InvalidValue``."""
    if safe(text).endswith("\\"):
        raise InvalidValue(text, "a text that does not end with a backslash")
    return text


def literal(text: str) -> str:
    """A text in which no macro is expanded. Raises ``InvalidValue``."""
    if "$$(" in text or "$$[" in text:
        raise InvalidValue(text, "a text without $$(, which a slot fills in")
    return value(_DOLLARS.sub(_escaped, text))


def _escaped(dollars: re.Match[str]) -> str:
    """Dollar signs, of which two stand for themselves.

    Of $(DOLLAR)$(DOLLAR) condor_submit makes $$(DOLLAR), which a slot would fill in.
    """
    pairs, rest = divmod(len(dollars[0]), 2)
    return "$$" * pairs + "$(DOLLAR)" * rest


def plainly(text: str) -> str:
    """A value without macros. Raises ``InvalidValue`` for one with them."""
    if _MACRO.search(_DOUBLE.sub("", text)):
        raise InvalidValue(text, "a value without macros")
    found = text.replace("$(DOLLAR)", "$")
    if "$$(" in found or "$$[" in found:
        raise InvalidValue(text, "a value without macros")
    return found


# A job of a cluster goes by both numbers, also where it is the only one.
FILES = Patterns(
    "condor",
    {"Id": "$(Cluster).$(Process)", "ArrayId": "$(Cluster)", "ArrayIndex": "$(Process)"},
    r"\$\(DOLLAR\)(?=\$).*|\$\$\[|\$\(DOLLAR\)|\$\(Cluster(?:Id)?\)\.\$\(Proc(?:ess|Id)\)|\$\$?[A-Za-z_]*\(\w*\)?|\$\$",
    also={
        "$(ClusterId).$(ProcId)": "Id",
        "$(ClusterId).$(Process)": "Id",
        "$(Cluster).$(ProcId)": "Id",
        "$(ClusterId)": "ArrayId",
        "$(ProcId)": "ArrayIndex",
    },
    escapes={"$$": "$$", "$": "$(DOLLAR)"},
    never=re.compile(r"\$\$[(\[]|\\$"),
    folded=True,
    array=Option("queue"),
)


class Program(fields.Rule):
    """The program and its arguments, which are quoted so that each stays one."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Raises ``InvalidValue`` for a job without a program on the nodes."""
        item, words = asked.one("Executable"), asked.one("Arguments")
        text = made.program or text_in(item)
        named = executable(text)
        if named.kind is not ExecutableKind.PATH:
            raise InvalidValue(named.target, f"an executable that is a path on the nodes{NO_FILES}")
        made.option("executable", literal(text))
        if made.program:
            asked.convert("Executable", f"the file {text[2:]}, which stands beside")
        elif "/" not in text:
            asked.approximate(
                "Executable", f"./{text}: HTCondor does not look for it in PATH", met=False
            )
        if words is not None and (found := arguments(words.text)):
            made.option("arguments", literal(quoting.quoted_v2(found)))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Both as the job has them."""

        def program(text: str) -> None:
            found = plainly(text)
            # Where it is submitted: nothing is looked for in PATH.
            heard.say("Executable", f"./{found}" if found and "/" not in found else found)

        def words(text: str) -> None:
            heard.say("Arguments", shlex.join(quoting.split_submit(plainly(text))))

        said.give("executable", program)
        said.give("arguments", words, (InvalidValue, BadAd))


class Environment(fields.Rule):
    """Variables in the second of HTCondor's two spellings."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """``getenv`` and ``environment``: of several lines HTCondor takes the last one alone."""
        found: dict[str, str] = {}
        last: bool | None = None
        for item in asked.take("Environment", "export"):
            export = fields.truth(item.attributes.get("export", ""))
            last = last if export is None else export
            if export is None and "export" in item.attributes:
                asked.refuse(item, "neither true nor false", "export")
            if stripped(item.text):
                asked.refuse(item, "a text, where variables are expected")
            own = {
                each.attributes.get("name", ""): each.text
                for each in item.children
                if not isinstance(each, Note)
            }
            try:
                quoting.join_environment_v2(own)
            except (BadAd, InvalidValue) as error:
                asked.refuse(item, str(error))
            else:
                found |= own
        if last is not None:
            made.option("getenv", str(last))
        if found:
            text = quoting.join_environment_v2(found).replace('"', '""')
            made.option("environment", literal(f'"{text}"'))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Both of them as one property."""
        getenv = said.last("getenv")
        export = None if getenv is None else fields.truth(getenv.lower())
        if getenv is not None and export is None:
            said.back("getenv", getenv, "only some variables")
        variables: dict[str, str] = {}
        said.give(
            "environment", lambda text: variables.update(_variables(plainly(text))),
            (InvalidValue, BadAd),
        )  # fmt: skip
        children = [Property("Variable", each, {"name": name}) for name, each in variables.items()]
        if children or export is not None:
            attributes = {} if export is None else {"export": str(export).lower()}
            heard.items.append(Property("Environment", "", attributes, children))


def _variables(text: str) -> dict[str, str]:
    if text.strip().startswith('"'):
        return quoting.environment_v2(quoting.unquoted_v2(text))
    return quoting.environment_v1(text)


_STREAMS = (("InputFile", "input"), ("OutputFile", "output"), ("ErrorFile", "error"))


class CondorStreams(fields.Rule):
    """Standard streams; both outputs go into one file by the same name."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """Files, and whether they are sent while the job runs."""
        output = asked.one("OutputFile", "redirectList")
        for name, option in _STREAMS:
            item = asked.one(name, "redirectList")
            if item is None:
                continue
            word = item.said("redirectList")
            text = stripped(item.text)
            if word == "Merge" and not text and output is not None:
                text = stripped(output.text)
            if word == "Close":
                text = text or names.NULL_DEVICE
            if word == "Flush" and option != "input":
                made.option(f"stream_{option}", "True")
            elif word not in ("", "Close") and not (word == "Merge" and output is not None):
                asked.refuse(item, NO_OPTION, "redirectList")
            try:
                if text:
                    made.option(option, value(FILES.written(asked, item, text)))
            except InvalidValue as error:
                asked.refuse(item, str(error))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """Each file, and Flush where it is sent while the job runs."""
        found: dict[str, str] = {}
        for name, option in _STREAMS:
            attributes = {}
            if option != "input" and said.takes(Option(f"stream_{option}", "True")):
                attributes = {"redirectList": "Flush"}
            given = said.last(option)
            if given is None:
                continue
            try:
                text = FILES.said(given, said)
            except InvalidValue as error:
                said.back(option, given, str(error))
                continue
            if name == "ErrorFile" and text == found.get("OutputFile"):
                heard.say(name, "", redirectList="Merge")
                continue
            found[name] = text
            heard.say(name, text, **attributes)


class CondorMail(fields.Rule):
    """When a user hears of a job: never, at its end, or always."""

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """One word, and the address."""
        item = asked.one("NotificationList", "uri")
        if item is None:
            return
        word = _NOTIFICATIONS.get(stripped(item.text))
        if word is None:
            asked.refuse(item, "expected one of None, JobEnd, All")
            return
        made.option("notification", word)
        if to := mail.written(asked, item, several=False):
            made.option("notify_user", literal(to))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The word that is meant."""
        text = said.last("notification")
        events = {word.lower(): event for event, word in _NOTIFICATIONS.items()}
        if text is None or text.lower() not in events:
            if text is not None:
                said.back("notification", text, fields.NOT_ALL)
            return
        attributes = {}
        if to := said.last("notify_user"):
            try:
                attributes = mail.uri_of(said, "notify_user", to, plainly(to), several=False)
            except InvalidValue as error:
                said.back("notify_user", to, str(error))
        heard.say("NotificationList", events[text.lower()], **attributes)


class CondorName(fields.TextOption):
    """The name of the batch; where it has none, what describes the job, as in its ad."""

    @property
    def of_options(self) -> Iterable[str]:
        """Either."""
        return (self.option, _DESCRIBED)

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The first that is there."""
        stated = self if self.option in said.names else replace(self, option=_DESCRIBED)
        fields.TextOption.read(stated, said, heard)


@dataclass(frozen=True)
class WholeNumberOption(fields.Rule):
    """A whole number of a job as one of the file."""

    name: str
    option: str
    of: Callable[[str], int] = units.integer
    taken: range = names.PRIORITIES

    def write(self, asked: JobRequest, made: ScriptWriting) -> None:
        """The number, if it is one that is taken."""
        if item := asked.one(self.name):
            try:
                number = self.of(item.text)
            except InvalidValue as error:
                asked.refuse(item, str(error))
                return
            if number not in self.taken:
                asked.refuse(item, "a number out of range")
            else:
                made.option(self.option, str(number))

    def read(self, said: ScriptOptions, heard: ScriptReading) -> None:
        """The number; an expression is kept as it is."""
        said.give(self.option, lambda text: heard.say(self.name, units.integer(text)))


class Amounts:
    """Amounts of one machine, of which a parallel job has several."""

    def compose(
        self, asked: JobRequest, made: ScriptWriting, settings: Settings
    ) -> numbers.TaskCounts:
        """Machines, then what each of them has. Gives the counts of them."""
        of = numbers.added(asked, in_tasks=False, are_slots=True)
        numbers.nodes_of_tasks(of)
        numbers.only_processors(asked, of)
        nodes = of.node_count
        if nodes > 1:
            made.option("universe", "parallel")
            made.option(_MACHINES, str(nodes))
        elif of.nodes is None and of.total > 1:
            for name in ("Processors", "TaskCount"):
                asked.convert(name, "all of them on one machine")
        for name, count in (("NodeCount", of.nodes), ("Processors", of.processors)):
            numbers.only_one(asked, name, count)
        if of.per_node and of.per_node * of.each * nodes != of.total:
            for item in asked.items("TaskDistribution"):
                asked.refuse(item, f"{of.total} processors on {nodes} machines")
        if of.processors or of.tasks or of.per_node or of.per_task:
            each = numbers.fitting(asked, "Processors", units.rounded_up(of.total, nodes))
            if each:
                made.option("request_cpus", str(each))
            numbers.compared(asked, of, each * nodes)
        for name, option, unit in (("Memory", "request_memory", MIB),
                                   ("Disk", "request_disk", KIB)):  # fmt: skip
            scope = settings.memory_scope if name == "Memory" else numbers.JOB
            amount = numbers.memory(asked, of, scope, each=numbers.NODE, name=name)
            if amount and (share := numbers.fitting(asked, name, units.rounded_up(amount, unit))):
                made.option(option, str(share))
                if share * unit != amount:
                    asked.approximate(name, f"{numbers.size(share * unit)}, rounded up")
        if wall := numbers.fitting(asked, "Duration", numbers.wall(asked)):
            made.option("allowed_job_duration", str(wall))
        self._resources(asked, made, nodes)
        return of

    def _resources(self, asked: JobRequest, made: ScriptWriting, nodes: int) -> None:
        gpus, licences, others = numbers.all_resources(
            asked, typed=True, others=_is_a_request, fold=str.lower
        )
        for name in dict.fromkeys(name for name, _ in others):
            number = sum(count for each, count in others if each == name)
            made.option(f"{_REQUEST}{name}", str(units.rounded_up(number, nodes)))
            if number % nodes:
                told = f"{name} of each machine, rounded up"
                asked.approximate("Resource", told, where=partial(_is_of_name, name))
        if gpus.number:
            made.option("request_gpus", str(units.rounded_up(gpus.number, nodes)))
        if gpus.number % nodes:
            asked.approximate("Resource", "GPUs of each machine, rounded up", where=numbers.is_gpu)
        if gpus.kind:
            made.option("require_gpus", required(gpus.kind))
            asked.convert(
                "Resource", f"GPUs whose DeviceName has the word {gpus.kind}", numbers.is_gpu
            )
        if licences:
            limits = (f"{name}:{count}" for name, count in licences)
            made.option("concurrency_limits", ",".join(limits))

    def understand(self, said: ScriptOptions, heard: ScriptReading, settings: Settings) -> None:
        """Amounts of all machines together."""
        nodes = 1
        if said.takes(Option("universe", "parallel")):
            nodes = _count(said, _MACHINES) or 1
            numbers.say_count(heard, "NodeCount", nodes, nodes)
        said.takes(Option("universe", "vanilla"))
        if cpus := _count(said, "request_cpus"):
            numbers.say_count(heard, "Processors", cpus * nodes, cpus * nodes)
        for option, name, power in (("request_memory", "Memory", 2), ("request_disk", "Disk", 1)):
            text = said.last(option)
            share = _size(text or "", power)
            if text is not None and share is None:
                said.back(option, text, "no number")
            elif text is not None:
                if not share:
                    said.back(option, text)  # which asks for nothing
                    continue
                whole = name == "Memory" and settings.memory_scope == numbers.NODE
                numbers.say_size(heard, name, share * (1 if whole else nodes))
        options = ("allowed_job_duration", "allowed_execute_duration")
        stated = [_count(said, option, limit_seconds) for option in options]
        if stated := [seconds for seconds in stated if seconds]:
            numbers.say_wall(heard, min(stated))
        if gpus := _count(said, "request_gpus"):
            numbers.say_gpus(heard, gpus * nodes, self._gpu_type(said, heard))
        for option in sorted(said.names):
            name = option.removeprefix(_REQUEST)
            if name != option and _is_a_request(name) and (number := _count(said, option)):
                heard.request("Resource", number * nodes, name=name)
        limits = said.last("concurrency_limits")
        if limits is not None and not numbers.say_licences(heard, licences(limits)):
            said.back("concurrency_limits", limits)

    def _gpu_type(self, said: ScriptOptions, heard: ScriptReading) -> str:
        """The type of GPUs, where that is all that is said of them."""
        text = said.last("require_gpus")
        if text is None:
            return ""
        kind, exact = model(text)
        if not kind:
            said.back("require_gpus", text, "more than the name of GPUs")
        elif not exact:
            heard.note(
                f"require_gpus finds {kind} anywhere in a DeviceName, the type is a word of it"
            )
        return kind


def _is_of_name(name: str, item: Property) -> bool:
    return item.attributes.get("name") == name


def _is_a_request(name: str) -> bool:
    """Whether ``request_NAME`` asks for a resource that a site declares."""
    return (
        _RESOURCE.fullmatch(name) is not None
        and f"{_REQUEST}{name.lower()}" not in _KNOWN
        and gpu_model({"name": name}) is None
    )


def _bytes(number: str, power: int, base: int) -> int:
    """A size with its unit; condor_submit rounds it up to whole MB of memory or KB of disk.

    >>> _bytes("1.5", 3, 2), _bytes("1025", 1, 2)
    (1610612736, 2097152)
    """
    unit = 1 << 10 * base
    return -(-Fraction(number) * (1 << 10 * power) // unit) * unit


def _size(text: str, power: int) -> int | None:
    """Bytes of a size with a unit, or of what an expression comes to; None for none."""
    if found := _SIZE.fullmatch(text):
        return _bytes(found[1], _POWERS.get(found[2].upper(), power), power)
    number = _number(text)
    return None if number is None else _bytes(str(number), power, power)


# decision 982
def _number(text: str) -> Fraction | None:
    """What an expression of numbers comes to, as the ad of it has it; None of any other.

    >>> _number("2 * 3"), _number('"1e3"'), _number("010"), _number("Cpus"), _number("-1")
    (Fraction(6, 1), Fraction(1000, 1), None, None, None)
    """
    if not _OF_NUMBERS.fullmatch(text):
        return None
    try:
        value = evaluate(parser.expression(text))
        number = units.number(value) if isinstance(value, str) else value
        if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
            return None
        found = Fraction(number)
    except (BadAd, InvalidValue, ValueError, OverflowError):  # not a number, or infinite
        return None
    return found if 0 <= found <= LARGEST else None


def _count(
    said: ScriptOptions, option: str, whole_: Callable[[Fraction], int] | None = None
) -> int:
    """A number above 0, 0 where there is none; of one that is not whole the ``whole_``."""
    text = said.last(option)
    if text is None:
        return 0
    if _NUMBER.fullmatch(text):
        return int(text)
    number = _number(text)
    if number and (whole_ is not None or number.denominator == 1):
        return int(number) if whole_ is None else whole_(number)
    said.back(option, text, "no whole number above 0")
    return 0


def _requirements(asked: JobRequest, made: ScriptWriting) -> bool:
    """What a machine has to be, as far as it is said of machines alone, and what is liked.

    Gives whether it is told that each of several machines is any of the nodes that are named.
    """
    try:
        parts = asked.conjuncts()
    except (InvalidValue, LimitExceeded, UnbalancedGroup):
        return False
    is_whole = partial(is_of_each_node, asked)
    about = [*of_machines(parts, asked.chosen, _is_of_machines, is_whole=is_whole)]
    own = [expression.Comparison(item) for item in asked.own(*OF_MACHINES)]
    if not about and not own:
        return False
    one, several = of_one_machine((*about, *own))
    groups = asked.groups() if any(isinstance(part, Wish) for part in one) else []
    of_groups = (each.excluded("Feature") for each in (groups if len(groups) > 1 else ()))
    unwanted = [asked_names(term) for terms in of_groups for term in terms]
    try:
        found = demands_of_each(one, asked.chosen, unwanted=unwanted)
        options = _of_machines(found)
    except (BadAd, InvalidValue):  # something in it has no place in a line
        found = demands_of_each(one, asked.chosen, _written, unwanted)
        options = _of_machines(found)
    asked.hold(each.item for part in found.parts for each in expression.comparisons(part))
    is_parallel = any(option.name == _MACHINES for option in made.options)
    is_any = any(True for _ in any_of_several(found.parts, asked.scope, is_parallel=is_parallel))
    if is_any:
        asked.approximate("Node", "any of them", met=False)
    for item, why in several:
        asked.refuse(item, why)
    for term, why in found.alike:
        asked.convert(term.item.name, why, partial(operator.is_, term.item))
    for term, unsaid in found.unsaid:
        asked.refuse(term.item, str(unsaid))
    made.add(*options)
    return is_any


def _of_machines(said: SaidParts) -> list[Option]:
    named = (("requirements", said.requirements), ("rank", said.rank))
    return [Option(name, _written(node)) for name, node in named if node is not None]


def _written(node: Node) -> str:
    return literal(writing.expression(node, writing.OLD))


def _is_of_machines(item: Property) -> bool:
    return item.name in OF_MACHINES


def _say_requirements(said: ScriptOptions, heard: ScriptReading) -> None:
    """Requirements as a request, where one can say all of them."""
    counts = [item.text for item in heard.requested if item.name == "NodeCount"]
    machines = whole(stripped(counts[0])) or 0 if counts else 1

    def take(text: str) -> None:
        found = request(parser.expression(plainly(text), old=True), machines=machines)
        if not found.complete or found.request is None:
            raise BadAd("no request can say all of it")
        for part in expression.conjuncts(found.request):
            if isinstance(part, expression.Comparison):
                heard.requested.append(part.item)
            else:
                heard.terms.append(part)

    said.give("requirements", take, (BadAd, InvalidValue))


def _say_rank(said: ScriptOptions, heard: ScriptReading) -> None:
    """A rank as wishes, where it is a sum of what is liked, each a whole number of times."""

    def take(text: str) -> None:
        heard.terms += wishes(parser.expression(plainly(text), old=True))

    said.give("rank", take, (BadAd, InvalidValue))


# fmt: off
RULES: tuple[fields.Rule, ...] = (
    Program(),
    CondorName("Name",                           "batch_name", literal, plainly),
    fields.TextOption("Project",                 "accounting_group", literal, plainly),
    fields.TextOption("InitialWorkingDirectory", "initialdir", literal, plainly),
    Environment(),
    CondorStreams(),
    CondorMail(),
    WholeNumberOption("Priority",     "priority"),
    WholeNumberOption("EligibleTime", "deferral_time", units.time, range(LARGEST + 1)),
    waiting.Hold(Option("hold", "True")),
    fields.Interactive(instead="call condor_submit -i"),
    fields.Only("Suspendable", True, "nothing keeps a job from being suspended"),
    fields.RefusedProperty("Dependency", "a DAG says what a job waits for"),
    fields.Manager("condor"),
)
# fmt: on


class SubmitFile(Translator[Description]):
    """Submit files of condor_submit."""

    name = "condor"
    suffix = ".sub"

    def __init__(self, rules: tuple[fields.Rule, ...] = RULES) -> None:
        self.rules, self.amounts = rules, Amounts()

    def compose(self, asked: JobRequest, settings: Settings) -> Description:
        """The commands. Raises ``InvalidValue`` for a job without a program on the nodes."""
        made = ScriptWriting(program=beside(asked, settings))
        for rule in self.rules:
            rule.write(asked, made)
        of = self.amounts.compose(asked, made, settings)
        is_told = _requirements(asked, made)
        if of.node_count > 1:  # a machine is asked for its name by now, also as one of a choice
            told = names.EACH_RUNS.format(of.node_count)
            for name in (
                "NodeCount",
                "TaskDistribution",
                *(["Node"] if of.named and not is_told else []),
            ):
                asked.approximate(name, told, met=False)
        for name in ("User", "Group"):  # who submits is who it is of
            asked.fact(name)
        queue, order = "", list[str]()
        for item in asked.mine("Extension", self.name):
            name = item.attributes.get("name", "")
            if name == ORDER:
                order = item.text.split(", ")
            elif name == "queue":
                queue = self._queue(asked, item)
            elif not _LINE.fullmatch(f"{name} = x"):
                asked.refuse(item, "it is no command")
            else:
                self._other(asked, made, item, name)
        made.put_in_order(order)
        return Description(tuple(made.options), queue)

    def _queue(self, asked: JobRequest, item: Property) -> str:
        try:
            return value(item.text)
        except InvalidValue as error:
            asked.refuse(item, str(error))
            return ""

    def _other(self, asked: JobRequest, made: ScriptWriting, item: Property, name: str) -> None:
        try:
            made.option(name, value(item.text))
        except InvalidValue as error:
            asked.refuse(item, str(error))

    def dump(self, form: Description) -> str:
        """The file, ready to be submitted."""
        return "\n".join((*self.commands(form), f"queue {form.queue}".rstrip())) + "\n"

    def commands(self, form: Description) -> list[str]:
        """The lines before the queue."""
        lines = [f"{option.name} = {option.value}" for option in form.options]
        return [*lines, *(line for text in form.kept for line in folded(text))]

    def load(self, data: bytes) -> Iterator[Description | Finding]:
        """The description before the first queue; what follows it is told."""
        for text in texts(data):
            yield text if isinstance(text, Finding) else description(text)

    def job(self, form: Description, settings: Settings) -> Read:
        """What the commands say."""
        said, heard = ScriptOptions(form.options), ScriptReading(findings=list(form.findings))
        for rule in self.rules:
            rule.read(said, heard)
        self.amounts.understand(said, heard, settings)
        _say_requirements(said, heard)
        _say_rank(said, heard)
        heard.beaten(said)
        for option in said.left:
            heard.say("Extension", option.value or "", type=self.name, name=option.name)
            reason = said.reason(option) or "it has no place in a job object"
            told = f"{option.name} = {option.value} is kept as it is: {reason}"
            heard.note(told, line=line_of(option))
        if said.left and len(set(said.options)) > 1:
            order = ", ".join(dict.fromkeys(option.name for option in said.options))
            heard.say("Extension", order, type=self.name, name=ORDER)
        if form.queue not in ("", "1"):
            heard.say("Extension", form.queue, type=self.name, name="queue")
            heard.note(f"queue {form.queue} is kept as it is: several jobs")
        return Read(Job(heard.all()), tuple(heard.findings))

    def keep(self, form: Description, lines: Iterable[str]) -> Description:
        """The residual in comments."""
        return replace(form, kept=tuple(lines))

    def kept(self, form: Description) -> tuple[str, ...]:
        """The residual."""
        return form.kept

    def recognises(self, head: bytes) -> str:
        """Commands NAME = VALUE, and a queue."""
        lines = [*filter(_is_command, beginning(head).split("\n"))]
        known = {"executable", "universe", "arguments", "queue"}
        starts = {
            line.split("=")[0].split()[0].lower() for line in lines if line.split("=")[0].split()
        }
        plain_ = all(_LINE.match(line) or _QUEUE.match(line) for line in lines[:1])
        return "commands of a submit file" if lines and plain_ and starts & known else ""


def description(text: ScriptText, before: int = 0) -> Description:
    """The commands of a text, ``before`` which so many lines of a file stand."""
    options: list[Option] = []
    found = text.findings
    queue = ""
    lines, kept = unfolded(text.text.split("\n"), before)
    rest = ((before + number, line) for number, line in _joined(lines))
    for number, line in rest:
        if not _is_command(line):
            continue
        line = text.understood(line, number)
        if match := _QUEUE.fullmatch(line):
            queue = stripped(match[1])
            break
        if match := _LINE.fullmatch(line):
            known = match[1].lower()
            name = known if known in _KNOWN else match[1]
            if known.startswith(_REQUEST):
                name = _REQUEST + name[len(_REQUEST) :]
            options.append(PlacedOption.at(Option(name, stripped(match[2])), number))
        else:
            found.append(finding("E-TYPE", f"{line.strip()[:60]!r} is no command", line=number))
    for number, line in rest:
        if _is_command(line):
            said = f"what follows the first queue is not read: {readable(line).strip()[:60]!r}"
            found.append(finding("W-UNKNOWN", said, line=number))
            break
    return Description(tuple(options), queue, tuple(kept), tuple(found))


def _is_command(line: str) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _joined(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Lines with those that they go on in, by a backslash at their end; each with its number."""
    pending, first = "", 0
    for number, line in enumerate(lines, 1):
        first = first if pending else number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending += line[:-1]
        else:
            yield first, pending + line
            pending = ""
    if pending:
        yield first, pending


WRITTEN = frozenset((
    "executable", "arguments", "environment", "getenv", "batch_name", "accounting_group",
    "initialdir", "input", "output", "error", "stream_output", "stream_error", "notification",
    "notify_user", "priority", "deferral_time", "hold", "universe", _MACHINES,
    "request_cpus", "request_memory", "request_disk", "request_gpus", "allowed_job_duration",
    "concurrency_limits", "requirements", "rank", "require_gpus",
))  # fmt: skip
_KNOWN = WRITTEN | {_DESCRIBED, "allowed_execute_duration"}  # which are read, too
CONDOR = SubmitFile()
