"""A job object as the ad of a job, with what HTCondor cannot be told.

>>> from sssjob.model import Requested
>>> job = Job.of(Requested.of(Processors=8, Memory=2), Id="7.0", Executable="/bin/true")
>>> ad = to_ad(job).ad
>>> ad["Cmd"], ad["ClusterId"], ad["RequestCpus"], ad["RequestMemory"]
('/bin/true', 7, 8, 2)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from sssjob import expression, spec, task_distribution, units
from sssjob.amounts import Scope, is_of_job
from sssjob.classads import parser, quoting, tree
from sssjob.classads.errors import BadAd
from sssjob.classads.values import Ad, Node
from sssjob.defaults import counted
from sssjob.document import dumps
from sssjob.errors import (
    AwarenessPolicy,
    Finding,
    InvalidValue,
    LimitExceeded,
    Severity,
    SSSJobError,
    finding,
    unheard,
)
from sssjob.executable import ExecutableKind, arguments, executable
from sssjob.expression import Comparison
from sssjob.expression.conflicts import shown
from sssjob.expression.offer import OTHERWISE, SPOKEN_OF, outside, passed_over
from sssjob.expression.tree import comparison_of
from sssjob.features.derive import derive
from sssjob.features.sources import EXTENSION
from sssjob.file_names import filled
from sssjob.integers import LARGEST, SMALLEST
from sssjob.mail_addresses import of_uri
from sssjob.model import Delivered, Job, Property, TaskGroup, stripped, worked_out
from sssjob.nodes import plain
from sssjob.resource_names import gpu_model, license_name
from sssjob.states import spelled
from sssjob.systems.condor import attributes, gpus, names, requirements
from sssjob.systems.condor.accounting import table
from sssjob.task_counts import CountRange
from sssjob.translate import contradictions, numbers
from sssjob.translate.alternatives import Refusal, not_refused
from sssjob.translate.losses import IGNORE, REJECT, WARN, Loss, told
from sssjob.translate.nodes import is_of_each_node
from sssjob.translate.requests import FACTS, JobRequest

if TYPE_CHECKING:
    from sssjob.classads.values import Attribute

# What an ad says of a job; of all else that the standard has, nothing. # decision 776
_SAID = frozenset((
    *(element for element, _ in (*table.TEXTS, *table.WHOLE_NUMBERS)),
    *(element for element, (name, _, _) in names.AMOUNTS.items() if name),
    "Arguments", "CpuDuration", "Duration", "Environment", "ErrorFile", "ExitCode", "Extension",
    "Hold", "Id", "InputFile", "NodeCount", "NotificationList", "OutputFile", "ResourceLimit",
    "Resource", "State", "StatusMessage", "Type",
))  # fmt: skip
_NOWHERE = {
    row.name for table_ in spec.CONTAINER["Job"].tables for row in spec.TABLES[table_]
} - _SAID  # fmt: skip
# Limits that are kept, by attributes or as features.
_LIMITED = frozenset((
    "CoreFileSize", "CPUTime", "Disk", "Duration", "Memory", "ResidentSetSize", "Swap",
))  # fmt: skip
_STATES = frozenset(word for _, word, _ in names.STATES)
_NOT_SO, _SO = ("", "false", "0"), ("", "true", "1")
# What an ad has by an attribute of ours at which no slot looks.
_FOR_NO_SLOT = frozenset(("Partition", "QualityOfService", "Queue"))
_LINE_ENDS = re.compile(r"[\r\n\0]+")
_WHOSE = ("User", "GlobalUser", "Project")
_LOCAL_ID = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,18}))?")


@dataclass(frozen=True, slots=True)
class Mapped:
    """An ad, and what was found on the way; with an error among it the job cannot be run.

    ``assumed`` are the attributes of it for which nothing is asked. ``refused`` are names of what
    refuses the job and has no place of its own among the findings. ``number`` is that of the
    alternative, where it is not the best.
    """

    ad: Ad
    findings: tuple[Finding, ...] = ()
    assumed: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    number: int | None = None

    @property
    def runs(self) -> bool:
        """Whether nothing keeps HTCondor from running it."""
        return all(item.severity is not Severity.ERROR for item in self.findings)

    @property
    def refusals(self) -> list[Refusal]:
        """What refuses the job."""
        found = [item.path for item in self.findings if item.severity is Severity.ERROR]
        return [Refusal(path) for path in (*found, *(f"/Job/{name}" for name in self.refused))]


def to_ad(
    job: Job, *, number: int | None = None, document: str = "", v1: bool = False
) -> Mapped:  # fmt: skip
    """The ad of a job whose defaults are resolved.

    Of a request with alternatives one decides about the amounts: the best, or the one of a number
    (``Scope.choices``), and then only that one is required; where the best is refused, so it is of
    the next that is not.
    ``document`` is kept as SSSJobXML. ``v1`` adds Args and Env for old pools, where they can hold
    the values.
    """
    made = _of_choice(job, number, document, v1)
    if number is not None or made.runs:
        return made
    return not_refused(_asking(job), made, lambda number: _of_choice(job, number, document, v1))


def _of_choice(job: Job, number: int | None, document: str, v1: bool) -> Mapped:
    work = _AdBuilder(job, v1)
    work.read(number)
    work.identity()
    work.texts()
    work.numbers()
    work.command()
    work.streams()
    work.environment()
    work.request()
    work.features()
    work.on_each_host()
    work.contradictions()
    work.kept()
    work.limits()
    work.delivered()
    work.unsaid()
    if document:
        work.put(names.DOCUMENT, document)
    assumed, refused = frozenset(work.assumed), frozenset(work.refused)
    return Mapped(Ad(work.ad), tuple(work.findings), assumed, refused, number)


def _undelivered(job: Job) -> Job:
    """A job without what was delivered to it."""
    if not job.blocks(Delivered):
        return job
    return job.holding(each for each in job.items if type(each) is not Delivered)


def _asking(
    job: Job, report: Callable[[Finding], None] = unheard, number: int | None = None
) -> Scope:  # fmt: skip
    """A job as it was asked for: what was delivered says which alternative, and counts nothing."""
    bare = worked_out(job, _undelivered)
    if bare is not job and number is None and not Scope(bare, "/Job").is_plain:
        number = _had(job, bare)
    return Scope(bare, "/Job", report, number=number)


def _had(job: Job, bare: Job) -> int | None:
    """Which alternative a job had by what was delivered to it."""
    if (had := Scope(job, "/Job").choice) is None:
        return None
    every = enumerate(Scope(bare, "/Job").choices)
    return next((at for at, one in every if one.whole.terms == had.whole.terms), None)


def embedded(job: Job) -> str:
    """The document of a job as one line of text: line ends in values are character references."""
    text = dumps(job)
    return text.rstrip().replace("\r", "&#13;").replace("\n", "&#10;")


@dataclass(slots=True)
class _AdBuilder:
    """An ad that is being made."""

    job: Job
    v1: bool
    ad: dict[str, Attribute] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    assumed: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)  # of these an ad says nothing
    asked: JobRequest = field(init=False)
    # What is requested and said by attributes of the job, and names that Requirements speak of.
    told: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    _overruled: dict[str, int] = field(default_factory=dict)  # what is asked for, by attributes
    _told_of_hosts: bool = False  # what all of them have instead of what is asked for
    _said: set[Finding] = field(default_factory=set)

    def read(self, number: int | None) -> None:
        """Read what the job asks for, as for a submit file."""
        self.asked = JobRequest(self.job, _asking(self.job, self._report, number), WARN)

    def _report(self, found: Finding) -> None:
        """What a number tells of itself; of a request without bounds it is told as of a loss."""
        if found.code != "W-USELESS":
            self.hear(found)

    # decision 1024
    def asking(self, element: str) -> Property | None:
        """What a job says by a name, or requests to be equal to it: what Requested says counts.

        A job that has ended says what became of it.
        """
        if element not in self.asked.names:
            return None
        own = self.job.properties.get(element)
        if element not in SPOKEN_OF or (own is not None and self.asked.over):
            return own
        found = self.asked.take(element)
        for item in found:
            if element not in names.OWN:  # which no slot looks at
                self.told.add(str(Comparison(item)))
            if stripped(item.text) != stripped(found[0].text):
                self._lost(item, f"{element} {stripped(found[0].text)!r} is asked for as well")
        return found[0] if found else None

    def say(self, code: str, text: str, item: Property | None = None) -> None:
        """Report something about a property."""
        path = f"/Job/{item.name}" if item is not None else "/Job"
        line = item.line if item is not None else self.job.line
        found = finding(code, text, path=path, line=line)
        if found not in self._said:
            self.hear(found)

    def hear(self, found: Finding) -> None:
        """Take what somebody else reports."""
        self._said.add(found)
        self.findings.append(found)

    def put(self, name: str, text: str, item: Property | None = None) -> None:
        """A text on one line: the long form has no way to write a line feed."""
        kept = _LINE_ENDS.sub(" ", text.strip())
        if kept != text.strip() and item is not None:
            self.say("W-TYPE", f"{item.name} has a line end, which {name} cannot have", item)
        if kept:
            self.ad[name] = kept

    def identity(self) -> None:
        self.ad["MyType"] = "Job"
        self.ad["JobUniverse"] = names.UNIVERSES.get(
            self.job.get("Type").lower(), names.DEFAULT_UNIVERSE
        )
        identity = self.job.id
        if local := _LOCAL_ID.fullmatch(identity):
            self.ad["ClusterId"], self.ad["ProcId"] = int(local[1]), int(local[2] or 0)
        if identity:
            self.put(names.JOB_ID, identity, self.job["Id"])
        state = spelled(self.job.get("State"))
        for status, word, written in names.STATES:
            if written and word == state:
                self.ad["JobStatus"] = status
        if (hold := self.job.properties.get("Hold")) is not None and state == "Hold":
            self.ad["HoldReasonCode"] = 1 if hold.text.strip() == "User" else 21
        if message := self.job.properties.get("StatusMessage"):
            removed = state == "Completed" and message.text.strip().lower().startswith("removed")
            self.put("RemoveReason" if removed else "HoldReason", message.text, message)

    def _has_extension(self, item: Property, name: str) -> bool:
        """Whether the ad says an Extension: one of HTCondor's, or a limit that is a feature."""
        told = item.said("type")
        limit = str(self.ad.get(f"{names.FEATURE}{name}", ""))
        return told == names.EXTENSION or (told == EXTENSION and item.text.strip() == limit)

    # decision 714
    def unsaid(self) -> None:
        """What a job asks for, or says of itself, and no ad of ours does."""
        left_out = passed_over(self.job)
        aside = {item.name for item, _ in left_out}
        left = [
            (item.name, item) for item in self.job.properties
            if item.name in _NOWHERE - aside - self.required and _says_anything(item)
            and not self._is_counted(item)
        ]  # fmt: skip
        for item, is_another in left_out if not self.asked.ended else ():
            # Of those by number it is told where the number is made.
            if is_another and item.name not in _BY_NUMBER:
                self._lost(item, f"{item.name} counts for nothing: {OTHERWISE}")
        left += [
            (f"Extension {name}", item) for item in self.job.properties.all("Extension")
            if (name := item.attributes.get("name", "")) in attributes.WISHES
            or name == "JobUniverse" or not self._has_extension(item, name)
        ]  # fmt: skip
        left += [
            (f"ResourceLimit {name}", item) for item in self.job.properties.all("ResourceLimit")
            if spec.limit_name(name := item.attributes.get("name", "")) not in _LIMITED
        ]  # fmt: skip
        left += [(item.name, item) for item in self._unsaid_words()]
        self._tell_left(left)
        for item in self.job.properties if not self.asked.ended else ():
            if item.name in _FOR_NO_SLOT - aside and stripped(item.text):
                self._lost(item, f"HTCondor cannot be asked for {Comparison(item)}")

    # decision 1137
    def _is_counted(self, item: Property) -> bool:
        """Whether hosts and processors are what a TaskDistribution makes of the tasks.

        As in a submit file that is so of processors for each task, and of tasks on each host where
        these fill the hosts.
        """
        if item.name != "TaskDistribution" or len(self.job.asking_groups) > 1:
            return False
        said, scope = task_distribution.read(item), _counting(self.asked)
        hosts = self.ad.get("MinHosts", 1)
        fills = isinstance(hosts, int) and said.per_node and said.per_node * hosts
        return bool(said.per_task or (fills and fills == scope.tasks.value))

    def _unsaid_words(self) -> Iterator[Property]:
        """What has an attribute, and a text for which this has no value."""
        said = self.job.properties
        given = {name: stripped(item.text) if (item := said.get(name)) else ""
                 for name in ("Type", "State", "Hold")}  # fmt: skip
        unsaid = (
            given["Type"] and given["Type"].lower() not in names.UNIVERSES,
            given["State"] and spelled(given["State"]) not in _STATES,
            given["Hold"] and "HoldReasonCode" not in self.ad,
        )
        yield from (said[name] for name, is_so in zip(given, unsaid, strict=True) if is_so)
        notified = {"JobNotification", "NotifyUser"} & self.ad.keys()
        item = said.get("NotificationList")
        words = item.text.replace(",", " ").split() if item is not None else []
        if item is not None and words and (not notified or "JobStart" in words):
            yield item

    # decision 1040
    def _tell_left(self, left: Iterable[tuple[str, Property]]) -> None:
        """Tell of what an ad says nothing of, by the policy at its place, in a sentence each."""
        told: dict[str, set[str]] = {}
        for name, item in left:
            if code := code_of_loss(*self.asked.binding(item), ended=self.asked.ended):
                told.setdefault(code, set()).add(name)
        self.refused |= told.get("E-LOSS", set())
        for code, every in sorted(told.items()):
            self.say(code, f"an ad says nothing of {', '.join(sorted(every))}")

    def texts(self) -> None:
        given = self.job.delivered
        said: dict[str, str] = {}
        for element, name in table.TEXTS:
            item = self.asking(element)
            if item is None and element in _WHOSE:  # as ads and records are read
                item = given.get(element)
            if item is not None:
                self.put(name, item.text, item)
                said[element] = item.text
        group, user = (said.get(of, "") for of in ("Project", "User"))
        if group and user:
            self.put("AccountingGroup", f"{group}.{user}")
            self.put("AcctGroupUser", user)
        words = self.job.get("NotificationList").replace(",", " ").split()
        for code, word in names.NOTIFICATIONS:
            if word in words:
                self.ad["JobNotification"] = code
        notify = self.job.properties.get("NotificationList")
        if notify is not None and notify.attributes.get("uri"):
            self.put("NotifyUser", of_uri(notify.attributes["uri"]), notify)

    def numbers(self) -> None:
        for element, name in table.WHOLE_NUMBERS:
            if (item := self.job.properties.get(element)) is not None:
                try:
                    number = self._whole(item.value)
                except InvalidValue as error:
                    self.say("E-TYPE", f"{element}: {error}", item)
                    continue
                if element == "Priority" and number not in names.PRIORITIES:
                    self._lost(item, f"Priority {number} is out of range")
                else:
                    self.ad[name] = number
        item = self.job.properties.get("ExitCode")
        if item is not None:
            try:
                # Whether it was a signal nobody said: 137 may be an exit code like any other.
                self.ad["ExitCode"], self.ad["ExitBySignal"] = self._whole(item.value), False
            except InvalidValue as error:
                self.say("E-TYPE", f"ExitCode: {error}", item)

    def _told(self, item: Property, unit: int) -> int | None:
        """An amount in a unit, rounded up; None for what is none, which is told."""
        try:
            return self._whole(math.ceil(expression.amount(item) / unit))
        except InvalidValue as error:
            self.say("E-TYPE", f"{item.name}: {error}", item)
            return None

    def _whole(self, value: object) -> int:
        number = Fraction(value) if isinstance(value, (int, Fraction)) else Fraction(0)
        if not SMALLEST <= number <= LARGEST:
            raise InvalidValue(str(number), "a number of 64 bits")
        return int(number)

    def command(self) -> None:
        item = self.job.properties.get("Executable")
        if item is None or not item.text.strip():
            self.say("E-MISSING", "a job without Executable cannot be run", item)
            return
        try:
            named = executable(item.text)
        except InvalidValue as error:
            self.ad.pop("Cmd", None)
            self.say("E-TYPE", f"Executable: {error}", item)
            return
        if named.kind is ExecutableKind.FILE:
            text = f"the file {named.target!r} of a message has to be on disk before a slot runs it"
            self.say("E-FILE", text, item)
        elif named.kind is ExecutableKind.URI:
            self.say("E-FILE", f"{named.target} is an address, and nothing transfers it", item)
        if (given := self.job.properties.get("Arguments")) is None:
            return
        try:
            words = list(arguments(given.text))
        except InvalidValue as error:
            self.say("W-TYPE", f"Arguments are split at blanks: {error}", given)
            words = given.text.split()
        self.put("Arguments", quoting.join_v2(words), given)
        if self.v1 and (old := quoting.join_v1(words)) is not None:
            self.put("Args", old, given)

    def streams(self) -> None:
        for element, name in (("InputFile", "In"), ("OutputFile", "Out"), ("ErrorFile", "Err")):
            item = self.job.properties.get(element)
            if item is None:
                continue
            words = item.said("redirectList").replace(",", " ").split()
            text = names.NULL_DEVICE if "Close" in words else item.text
            if "Merge" in words and name == "Err":
                text = self.job.get("OutputFile") or text
            try:
                self.put(name, filled(text, self.job), item)
            except InvalidValue as error:
                self._lost(item, f"{element}: {error}")
            if "Flush" in words:
                self.ad[f"Stream{name}"] = True
            if "Keep" in words:
                self.ad[f"Transfer{name}"] = False
            if "Append" in words:
                self._lost(item, f"HTCondor does not append to {element}")

    def environment(self) -> None:
        item = self.job.properties.get("Environment")
        if item is None:
            return
        if item.said("export") in ("true", "True", "1"):
            text = "an ad cannot take the environment of a submission along"
            self._lost(item, text)
        variables = {
            each.attributes.get("name", ""): each.text
            for each in item.children
            if isinstance(each, Property) and each.name == "Variable"
        }
        kept = dict(variables)
        for name, value in variables.items():
            if not name or "=" in name or _LINE_ENDS.search(name + value):
                self._lost(item, f"HTCondor cannot hold the variable {name!r}")
                del kept[name]
        if kept:
            self.put("Environment", quoting.join_environment_v2(kept), item)
            if self.v1 and (old := quoting.join_environment_v1(kept)) is not None:
                self.put("Env", old, item)

    def request(self) -> None:
        scope = self.asked.scope
        alternative = None if scope.number is None else scope.chosen
        if scope.chosen is None and scope.mentioned:
            self.say("E-LOSS", "its request cannot be read")
        self._amounts(scope)
        self._hosts_of_tasks(scope)
        try:
            asked = (
                expression.of(self.job)
                if alternative is None
                else expression.all_of(alternative.terms)
            )
            # Amounts beside it are told by their own attributes. # decision 1022
            beside = [item for item in outside(self.job) if not is_by_number(item)]
            beside += self.asked.own("Machine")
            self.required.update(item.name for item in beside)
            if beside:
                both = asked or expression.And(), expression.all_of(map(Comparison, beside))
                asked = expression.all_requested(both)
            if asked is None:
                return
            # What each of several hosts has to have, RequestX tells.
            spelled = {each.lower(): each for each in self.ad}
            beside_it = None if "MinHosts" in self.ad else partial(_is_counted, spelled)
            parts = requirements.of_machines(
                expression.conjuncts(asked), self.asked.chosen, _is_of_machines, beside_it,
                is_whole=partial(is_of_each_node, self.asked),
            )  # fmt: skip
            said = requirements.demands_of_each(self._of_one([*parts]), self.asked.chosen)
        except SSSJobError as error:
            if not isinstance(error, (InvalidValue, LimitExceeded)):
                return  # which the scope has reported
            self.say("E-TYPE", f"Requested: {error}")
            return
        if said.requirements is not None:
            self.ad[names.REQUIREMENTS] = said.requirements
        if said.rank is not None:
            self.ad[names.RANK] = said.rank
        for part in requirements.any_of_several(
            said.parts, scope, is_parallel="MinHosts" in self.ad
        ):
            self._lost(part.item, "a host is any of the nodes that are named")
        for compared, why in said.alike:
            self.say("W-USELESS", f"{compared}: {why}", compared.item)
        for term in said.unsaid:
            is_told = isinstance(term.why, requirements.SameName) and is_by_number(term.item)
            if str(term.comparison) not in self.told and not is_told:
                self._unsaid(term)

    # decision 1035
    def _unsaid(self, term: requirements.UnsaidTerm) -> None:
        """Tell what a machine cannot be asked for; what cannot be read is an error."""
        item = term.comparison.item
        if not isinstance(term.why, requirements.Unsayable):
            self.say("E-TYPE", f"Requested: {term.why}", item)
            return
        self._lost(item, term.told)

    def _remark(self, told: str) -> None:
        """Tell of what no single property says, unless what the job says may be ignored."""
        if AwarenessPolicy.at(self.job.attributes, WARN) != IGNORE:
            self.say("W-USELESS", told)

    def _lost(self, item: Property, told: str) -> None:
        """Tell of what is requested and not asked for, by the policy that holds there."""
        if code := code_of_loss(*self.asked.binding(item), ended=self.asked.ended):
            self.say(code, told, item)

    # decisions 890, 898
    def _amounts(self, scope: Scope) -> None:
        """The least processors that the alternative asks for, and the most of all else.

        They are read, and what is left out of them is told, as for a submit file.
        """
        asked = self.asked
        for element, (name, unit) in _ASKED.items():
            number = _number(asked, element) or 0
            if element == "Processors" and (own := _overruling(asked)) is not None:
                self._overruled[name], number = number, own  # decision 1134
            share = units.rounded_up(number, unit)
            if share and numbers.fitting(asked, element, share):
                self.ad[name] = share
        numbers.stated_tasks(asked)  # from which amounts follow: it is told where it is none
        nodes = numbers.count(asked, "NodeCount")
        if geometry := scope.counts.geometry:
            nodes = CountRange.exactly(len(geometry))
        least = 0 if nodes is None else nodes.least
        if nodes is not None and scope.delivered("NodeCount") is None and scope.nodes:
            least = math.ceil(scope.nodes.value)  # of a range as many as the tasks need
        if nodes is not None and least > 1:
            self.ad["JobUniverse"] = names.UNIVERSES["parallel"]
            self.ad["MinHosts"], self.ad["MaxHosts"] = least, max(nodes.hi or least, least)
        kinds: dict[str, Property] = {}
        for items, count in numbers.resource_terms(asked, str.lower):
            licence = license_name(items[0].attributes)
            if licence is not None and not plain(licence):
                numbers.refuse_all(asked, items, "it is no plain name of a licence")
                continue
            self._resource(items[0], count)
            if (kind := gpu_model(items[0].attributes)) is not None:
                kinds.setdefault(kind.lower(), items[0])
        self._require_gpus(kinds)
        for loss in told(_of_amounts(asked)):
            self.hear(loss.finding())

    def _of_one(self, asked: Sequence[expression.Expression]) -> list[expression.Expression]:
        """What each host has to be; what one cannot be is told."""
        parts, several = requirements.of_one_machine(asked)
        for item, why in several:
            self._lost(item, why)
        return parts

    def _hosts_of_tasks(self, own: Scope) -> None:
        """The hosts of task groups, of tasks of which so many are on each, or that are named."""
        groups = counted(self.job).asking_groups
        if len(groups) > 1:
            self._added_up(len(groups))
        own_count = "NodeCount" in own.terms or own.bare("NodeCount") is not None
        if "MinHosts" in self.ad or (own_count and len(groups) > 1):
            return
        scopes = [
            own.of_group(each, "/Job/TaskGroup", own.report, is_counted=True) for each in groups
        ] or [own]
        hosts = [scope.laid_nodes for scope in scopes]
        together = sum(max(each, 1) for each in hosts)  # of each: several may be of one machine
        if any(hosts) and 1 < together <= LARGEST:
            self.ad["JobUniverse"] = names.UNIVERSES["parallel"]
            self.ad["MinHosts"] = self.ad["MaxHosts"] = together

    # decisions 1084, 1091
    def _added_up(self, number: int) -> None:
        """Tell that so many task groups are added up: what each of them says is lost in the sum."""
        told = f"{numbers.ADDED_UP.format(number)}: an ad is about one kind of hosts"
        codes = {
            code_of_loss(*self.asked.binding(item), ended=self.asked.ended): item
            for item in reversed(numbers.added_up(self.asked, _SUMS))
        }
        if "E-LOSS" in codes:
            self.say("E-LOSS", told, codes["E-LOSS"])
        elif "W-USELESS" in codes or not codes:
            self._remark(told)

    def on_each_host(self) -> None:
        """What a parallel job asks for is asked for on each of its hosts, rounded up."""
        hosts = self.ad.get("MinHosts")
        for name, said in self._overruled.items():
            self.ad[names.total(name)] = said
        if isinstance(hosts, int):
            if hosts > 1 and not self.asked.ended:
                self._each_runs(hosts)
            for name, value in list(self.ad.items()):
                if name.startswith(_REQUEST) and isinstance(value, int):
                    each = units.rounded_up(value, hosts)
                    self.ad[name] = each
                    said = self._overruled.get(name, value)
                    if each * hosts != said:
                        self._uneven(name, said, each, hosts)

    # decision 1083
    def contradictions(self) -> None:
        """Tell of counts and names of nodes that contradict each other.

        Where it is told what each host has instead, that is enough, unless it is to be refused.
        """
        if self.asked.ended:
            return
        for terms in filter(None, self.asked.conflicts()):
            self._contradicting(comparison_of(terms[0]).item, shown(terms))
        if self.job.task_groups:
            return
        for found in contradictions.of_job(self.asked):
            for name in islice(contradictions.said_by(self.asked, found), 1):
                item = self.asked.items(name)[0]
                if not self._told_of_hosts or self.asked.binding(item)[0] == REJECT:
                    self._lost(item, found.why)

    # decision 1119
    def _contradicting(self, item: Property, told: str) -> None:
        """Tell what cannot hold together, and refuses nothing: no machine has all of it.

        Where some of it is not asked for, that is told.
        """
        policy, _ = self.asked.binding(item)
        is_told = any(found.path == f"/Job/{item.name}" for found in self.findings)
        if not is_told and (code := code_of_loss(policy, True, ended=False)):
            self.say(code, told, item)

    # decision 1050
    def _each_runs(self, hosts: int) -> None:
        """Tell, of what counts the hosts, that each of them runs the program."""
        counting = map(self.asked.demanding, ("NodeCount", "TaskDistribution", "Node"))
        if first := next(filter(None, counting), None):
            self._lost(first[0], names.EACH_RUNS.format(hosts))

    def _uneven(self, name: str, value: int, each: int, hosts: int) -> None:
        """Keep what hosts cannot share evenly; more processors or GPUs than asked for are told."""
        self.ad[names.total(name)] = value
        if name not in _OF_SIZE:
            self._told_of_hosts = True
            told = f"each of {hosts} hosts has {name} {each}, {each * hosts} in all and not {value}"
            self._remark(told)

    def _resource(self, item: Property, count: int) -> None:
        """A resource of machines by its own attribute, a licence as a concurrency limit."""
        licence = license_name(item.attributes)
        name = names.machine_resource(licence or item.said("name"))
        if licence is not None:
            known = self.ad.get("ConcurrencyLimits")
            limit = f"{name.lower()}:{count}"
            self.ad["ConcurrencyLimits"] = f"{known},{limit}" if known else limit
        elif name.lower() in _OF_AMOUNTS:
            told = f"HTCondor calls {_OF_AMOUNTS[name.lower()]} so: a Resource {name!r} is none"
            self.say("E-LOSS", told, item)
        elif re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            kind = item.said("type")
            if kind and name != names.GPUS:  # any of them would be given
                told = f"HTCondor cannot be asked for {name} of the type {kind!r}"
                self.say("E-LOSS", told, item)
            self.ad[f"Request{name}"] = count
        else:
            told = f"{name!r} cannot be the name of a resource of HTCondor, so none is asked for"
            self.say("E-LOSS", told, item)

    # decision 601
    def _require_gpus(self, kinds: dict[str, Property]) -> None:
        """Ask for GPUs of a model; an ad says one thing of all of its GPUs."""
        if len(kinds) > 1:
            told = ", ".join(kind or "any" for kind in sorted(kinds))
            item = list(kinds.values())[-1]
            self.say("E-LOSS", f"HTCondor asks for GPUs of one model, and not of: {told}", item)
        for item in kinds.values():
            kind = gpu_model(item.attributes)
            if kind and not plain(kind):
                told = f"{kind!r} is no name of a model of GPUs that an ad can ask for"
                self.say("E-LOSS", told, item)
            elif kind and len(kinds) == 1 and self.ad.get(gpus.REQUEST):  # of none nothing is asked
                self.ad[gpus.REQUIRE] = parser.expression(gpus.required(kind))

    def kept(self) -> None:
        """What an ad said and no request can say: it came along as an Extension."""
        for name, op in ((names.REQUIREMENTS, "&&"), (gpus.REQUIRE, "&&"), (names.RANK, "+")):
            item = self.job.properties.get("Extension", type=names.EXTENSION, name=name)
            if item is None:
                continue
            try:
                said = parser.expression(item.text)
            except BadAd as error:
                self.say("E-TYPE", f"{name}: {error}", item)
                continue
            known = self.ad.get(name)
            self.ad[name] = requirements.appended(
                known if isinstance(known, Node) else None, op, said
            )
        if gpus.REQUIRE in self.ad and gpus.REQUEST in self.ad:
            known = self.ad.get(names.REQUIREMENTS)
            self.ad[names.REQUIREMENTS] = requirements.appended(
                known if isinstance(known, Node) else None, "&&", parser.expression(gpus.CLAUSE)
            )
        for name in (names.REQUIREMENTS, gpus.REQUIRE, names.RANK):
            if isinstance(held := self.ad.get(name), Node):
                self.ad[name] = parser.from_tree(
                    held
                )  # such as true, which is read back as a value

    # decision 1147
    def limits(self) -> None:
        scope = Scope(self.job, "/Job", self.hear, number=self.asked.scope.number)
        if (seconds := scope.limit("CPUTime")) is not None:
            most = self._stated("cpu_limit_secs", int(seconds.value))
            used = tree.Grouped(tree.Binary("+", _own("RemoteUserCpu"), _own("RemoteSysCpu")))
            self.ad["PeriodicRemove"] = tree.Binary(">", used, tree.Literal(most))
        if (core := scope.limit("CoreFileSize")) is not None:
            self.ad["CoreSize"] = int(core.value)
        if "AllowedJobDuration" not in self.ad and (wall := scope.limit("Duration")) is not None:
            if 0 < (most := math.ceil(wall.value)) <= LARGEST:
                self.ad["AllowedJobDuration"] = most
            else:
                self.say("W-USELESS", f"{most} seconds are no limit of a Duration")
        if isinstance(asked := self.ad.get("AllowedJobDuration"), int):
            self.ad["AllowedJobDuration"] = self._stated("wall_limit_secs", asked)

    def _stated(self, key: str, asked: int) -> int:
        """What ends the job is what it finds as its feature, whatever else it asked for."""
        found = self.ad.get(f"{names.FEATURE}{key}")
        return found if isinstance(found, int) else asked

    def features(self) -> None:
        """The limits that the job will find as its features, and amounts of its task groups."""
        # A CPU time limit that only follows from the elapsed time is that of the slot's processors.
        asked = partial(
            derive, worked_out(self.job, _undelivered), starting=True, cpu_limit=False,
            number=self.asked.scope.number, judging=False,
        )  # fmt: skip
        found = asked()
        values = found.values
        if self.job.properties.get("Extension", type=EXTENSION) is not None:
            for each in found.findings:
                if each.code == "W-DISAGREE":  # which of two limits holds
                    self.hear(each)
        for key in _LIMITS:
            value = values.get(key)
            if isinstance(value, int) and value <= LARGEST:
                self.ad[f"{names.FEATURE}{key}"] = value
        left = [each for each in _SIZES if each[1] not in self.ad]
        self.assumed = {name for _, name, _ in left}
        if any(values.get(key) is not None for key, _, _ in left):  # else there is no more to know
            certain = asked(guessing=False).values
            self.assumed -= {name for key, name, _ in left if certain.get(key) is not None}
        for key, name, unit in left:
            value = values.get(key)
            if isinstance(value, int):
                self.ad[name] = math.ceil(Fraction(value, unit))

    def delivered(self) -> None:
        """What was used, for a job that ran."""
        given = self.job.delivered
        duration = given.get("Duration")
        if duration is not None:
            suspended = self.ad.get("CumulativeSuspensionTime", 0)
            if (seconds := self._told(duration, 1)) is not None:
                self.ad["RemoteWallClockTime"] = float(seconds + int(str(suspended)))
        cpu = self.job.properties.get("CpuDuration")
        if cpu is not None and (seconds := self._told(cpu, 1)) is not None:
            self.ad["RemoteUserCpu"], self.ad["RemoteSysCpu"] = float(seconds), 0.0
        for item in given:
            metric, context = map(item.said, ("metric", "context"))
            row = _USED.get((item.name, metric, context))
            if row is not None:
                name, unit = row
                if (amount := self._told(item, unit)) is not None:
                    self.ad[name] = amount
            elif item.name == "Node" and not item.said("aggregation"):
                self.put("LastRemoteHost", item.text, item)


# decisions 1050, 1091, 1160
def code_of_loss(policy: AwarenessPolicy, is_fact: bool, *, ended: bool) -> str:
    """By which code an ad tells of what it says nothing of; "" where it may be ignored.

    What binds nobody refuses no ad, nor does anything that a job that has ended asked for. One that
    was delivered something runs again where it has not ended.
    """
    if policy == IGNORE:
        return ""
    return "E-LOSS" if policy == REJECT and not (is_fact or ended) else "W-USELESS"


def _says_anything(item: Property) -> bool:
    """Whether a property asks for, or tells, what would be otherwise without it."""
    text = stripped(item.text).lower()
    if item.name in FACTS or item.name == "Interactive":
        return text not in _NOT_SO
    # Nothing keeps a job from being suspended.
    return text not in (_SO if item.name == "Suspendable" else ("",))


def _number(asked: JobRequest, element: str) -> int | None:
    """The number of an amount that an ad asks for."""
    if element == "Duration":
        if asked.job.delivered and element not in asked.scope.mentioned:
            asked.own(element)  # it is what the job used
            return None
        return numbers.wall(asked)
    if element != "Processors":
        return numbers.one(asked, element, numbers.MOST)
    count = numbers.count(asked, element)
    if count is not None and count.hi is not None:  # what is open above, Requirements say as it is
        numbers.only_one(asked, element, count)
    if count is None:
        return None
    found = None if count.exact else _counting(asked).processors(least=True)
    return count.least if found is None else math.ceil(found.value)


def _overruling(asked: JobRequest) -> int | None:
    """The processors of the tasks, where these overrule a number that is asked for."""
    count = asked.scope_of("Processors").counts.processors
    return _counting(asked).overruling if count is not None and count.exact else None


def _counting(asked: JobRequest) -> Scope:
    """The scope of whoever counts the tasks that share the processors: the only group, or the job.

    It has all that counts them.
    """
    groups = counted(asked.job).asking_groups
    if len(groups) != 1 or not asked.scope.is_one:
        return asked.scope
    job, path = asked.scope, "/Job/TaskGroup"
    return job.of_group(groups[0], path, job.report, is_counted=True)


def own_time(job: Job) -> int:
    """The seconds that a job asks for itself, whatever its task groups do; 0 for none."""
    alone = job.holding(item for item in job.items if not isinstance(item, TaskGroup))
    scope = Scope(alone, "/Job")
    return _number(JobRequest(alone, scope, WARN), "Duration") or 0


def _of_amounts(asked: JobRequest) -> Iterator[Loss]:
    """What an ad does not ask for of the amounts, or not as it is; Requirements have the rest."""
    is_alone = len(asked.job.asking_groups) == 1
    for loss in asked.losses("an ad"):
        place = loss.path.removeprefix("/Job/")
        # The longest Duration counts; Resources of the only group are of its job.
        if loss.path.endswith("/Duration") or (is_alone and place == "TaskGroup/Resource"):
            place = place.removeprefix("TaskGroup/")
        place = place.removeprefix("Requested/")
        element, _, attribute = place.partition("/@")
        is_required = attribute == "context" and loss.value.strip() == "Configured"
        is_counted = element in _BY_NUMBER or element == "TaskCount"
        if is_counted and not loss.fact and not is_required:
            # What became of a job that has ended is told, and refuses nothing.
            yield loss._replace(fact=asked.ended)


_REQUEST = "Request"
# What an ad asks for by a number: the attribute, and its unit.
_ASKED = {element: (name, unit) for element, (name, _, unit) in names.AMOUNTS.items() if name} | {
    "Duration": ("AllowedJobDuration", 1)
}
_BY_NUMBER = frozenset((*_ASKED, "NodeCount", "Resource"))
# What slots call the amounts that have an element of their own.
_OF_AMOUNTS = {slot.lower(): element for element, (name, slot, _) in names.AMOUNTS.items() if name}
_OF_SIZE = ("RequestMemory", "RequestDisk")  # rounded up anyway, to whole units
_LIMITS = (
    "wall_limit_secs", "cpu_limit_secs", "max_rss_bytes", "max_swap_bytes", "scratch_limit_bytes",
)  # fmt: skip
_SUMS = tuple(element for element, (name, _, _) in names.AMOUNTS.items() if name)
_SIZES = (
    ("allocated_cpu", "RequestCpus", 1), ("max_rss_bytes", "RequestMemory", 1 << 20),
    ("scratch_limit_bytes", "RequestDisk", 1 << 10),
)  # fmt: skip

# fmt: off
_USED = {
    ("Processors", "",    ""):          ("CpusProvisioned",   1),
    ("Memory",     "Max", ""):          ("ResidentSetSize",   1 << 10),
    ("Memory",     "",    "Dedicated"): ("MemoryProvisioned", 1 << 20),
    ("Disk",       "Max", ""):          ("DiskUsage",         1 << 10),
    ("Disk",       "",    "Dedicated"): ("DiskProvisioned",   1 << 10),
}
# fmt: on


def _own(name: str) -> tree.AttributeReference:
    return tree.AttributeReference(None, name)


def _is_of_machines(item: Property) -> bool:
    """Whether nothing but Requirements says it, as no number of the job does."""
    return not is_by_number(item)


def is_by_number(item: Property) -> bool:
    """Whether an ad asks for an amount by a number, and not only for machines that are so built."""
    return item.name in _BY_NUMBER and is_of_job(item)


# decision 1039
def _is_counted(spelled: Mapping[str, str], item: Property) -> bool:
    """Whether an ad asks for a property by a number, and by no other spelling of its name.

    ``spelled`` has the names of the ad by their small letters.
    """
    if item.name != "Resource" or license_name(item.attributes) is not None:
        return is_by_number(item)
    name = _REQUEST + names.machine_resource(item.said("name"))
    return is_by_number(item) and spelled.get(name.lower(), name) == name
