"""What a job or one of its task groups asks for, was given, and is limited to, in numbers.

One number is chosen from an expression as a batch system would police it: the upper bound of
a limit, the lower bound of an allocation that is yet to be made.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from operator import attrgetter, is_not
from typing import TYPE_CHECKING, TypeVar

from sssjob import expression, spec, units
from sssjob.errors import (
    Finding,
    InvalidValue,
    LimitExceeded,
    Severity,
    UnbalancedGroup,
    finding,
    unheard,
)  # fmt: skip
from sssjob.expression import Alternative, Comparison, Expression, Interval, Term
from sssjob.expression.conflicts import conflict, no_count
from sssjob.expression.offer import ALL_NEEDED, asked_outside, without_set_aside
from sssjob.model import (
    Block,
    Delivered,
    Item,
    Job,
    Properties,
    Property,
    Requested,
    TaskGroup,
    replace_text,
)
from sssjob.task_counts import (
    BY_TASKS,
    GEOMETRY,
    NODE_COUNT,
    NODES_OF_TASKS,
    TASK_COUNT,
    CountRange,
    DerivedCount,
    StatedCounts,
    as_names_have,
    pins,
)

if TYPE_CHECKING:
    from sssjob.choices import Asking, JointChoice
    from sssjob.layout.feasible import LayoutVerdicts
    from sssjob.named_nodes import NamedNodes
    from sssjob.task_distribution import TaskMapping

B = TypeVar("B", bound=Block)

EXACT, MAXIMUM, MINIMUM = "exact", "maximum", "minimum"
DERIVED, MIXED, ASSUMED, UNKNOWN = "derived", "mixed", "assumed", "unknown"

NUMBERS = ("Processors", "NodeCount", "Memory", "Disk", "Swap", "Duration")
# What a task group asks for so much of for each of its tasks, and a job for all of them.
OF_EACH_TASK = frozenset(("Disk", "Memory", "Swap"))
_COUNTED = frozenset(("NodeCount", "Processors"))
_LAID_OUT = _COUNTED | {"Node"}
_ALTERNATIVES = 64
_CHOOSING = frozenset(("conj", "preference"))  # without which there is one alternative
_JOINING = _CHOOSING | {"group"}  # without which each part is one comparison
_OPERATED = frozenset(("conj", "group", "op"))  # without which a thing is wanted
_UNLIMITED = ("unlimited", "infinity", "infinite", "none")
_UNBOUNDED = Interval()
# The attributes by which a request stays one without alternatives.
_NO_SIGNS: frozenset[str] = frozenset()
_PLAIN = {**dict.fromkeys(NUMBERS, frozenset(("op", "units"))), "Resource": frozenset(("name",))}


@dataclass(frozen=True, slots=True)
class Amount:
    """A number in bytes, seconds or a count, and where it comes from.

    ``basis`` tells whether the number was stated (exact), is the upper or lower bound of a
    request, is computed from others (derived; mixed for a sum of several kinds), was assumed,
    or is unknown because its source cannot be read. ``bounds`` are all numbers that the source
    admits.
    """

    value: Fraction
    source: str
    basis: str = EXACT
    why: str = ""
    bounds: Interval = _UNBOUNDED

    @property
    def admitted(self) -> Interval:
        """The bounds; a number that was stated admits itself only."""
        return self.bounds if self.bounds.bounded else Interval(self.value, self.value)


def is_unlimited(item: Property) -> bool:
    """Whether a limit says that nothing limits."""
    return item.text.strip().lower() in _UNLIMITED


# decision 890
def standing(bounds: Interval, *, least: bool = False) -> Fraction | None:
    """The number that stands for a range where only one can be said: the most, or else the least.

    ``least`` turns that round, as for processors, of which there is one at least. None where
    nothing bounds the range.

    >>> standing(Interval(hi=Fraction(4)), least=True), standing(Interval(Fraction(1), Fraction(4)))
    (Fraction(4, 1), Fraction(4, 1))
    >>> standing(Interval(Fraction(0), Fraction(4)), least=True)
    Fraction(1, 1)
    """
    if least and bounds.lo is not None and bounds.hi is not None and bounds.lo < 1 <= bounds.hi:
        return Fraction(1)
    ends = (bounds.lo, bounds.hi) if least else (bounds.hi, bounds.lo)
    return ends[1] if ends[0] is None else ends[0]


class Scope:
    """A job or task group, asked for numbers. What cannot be read goes to ``report``.

    It is not stated. Where nobody asks to hear of it, it is told elsewhere: by ``validate``, and by
    who makes something of it.

    ``own``, ``request`` and ``given`` are its properties: in no category, requested, delivered.
    A task group without nodes by name has those of its ``job``. ``number`` is that of the choice
    that is made, where it is not the best.
    """

    def __init__(
        self, block: Block, path: str, report: Callable[[Finding], None] = unheard, *,
        repair: bool = False, job: Scope | None = None, number: int | None = None,
    ) -> None:  # fmt: skip
        self.block, self.path, self.report, self.repair = block, path, report, repair
        self.job, self.number = job, number
        # Asked for again and again, and each time made anew by a block.
        self.own, self.request, self.given = block.properties, block.requested, block.delivered

    def delivered(self, name: str) -> Amount | None:
        """What was delivered; the groups of one that ran on several machines are added up."""
        amounts = [amount for item in self.parts(name) if (amount := self.read(item)) is not None]
        if not amounts:
            return None
        total = amounts[0] if len(amounts) == 1 else sum(amounts, Fraction(0))
        return Amount(total, f"{self.path}/Delivered/{name}")

    def parts(self, name: str) -> list[Property]:
        """What is added up to what was delivered: one, or one of each group."""
        found = [item for item in self.given if item.name == name and is_given(item)]
        if found and all("group" not in item.attributes for item in found):
            return found[:1]
        return found

    def dedicated(self, name: str) -> Amount | None:
        """An amount of the block itself whose context is Dedicated."""
        return self._own(name, "Dedicated")

    def bare(self, name: str) -> Amount | None:
        """An amount of the block itself without context, in no category."""
        return self._own(name, "")

    def requested(self, name: str, *, least: bool = False) -> Amount | None:
        """The number that stands for what is requested: the upper bound, or else the lower.

        ``least`` turns that round, for an allocation before the start.
        """
        path = f"{self.path}/Requested/{name}"
        if name not in self.mentioned:
            return None
        if (plain := self._plainly.get(name)) is not None:
            return self._end(plain, plain, path, least=least)
        if self.chosen is None:  # a wrong number would be worse than none
            return Amount(Fraction(0), path, UNKNOWN, "the request cannot be read")
        if name not in {expression.key(item.item) for item in _compared(self.chosen)}:
            return None
        bounds = self._interval(self.chosen, name).integers()
        found = self._end(bounds, self._all_bounds(name), path, least=least)
        if found is None:
            if not (bounds.excluded and name in ("NodeCount", "Processors")):  # see ``other_than``
                told = f"the request for {name} has no bound to take"
                self.report(finding("W-USELESS", told, path=path))
            return None
        if len(self.alternatives) > 1:
            why = f"one of {len(self.alternatives)} alternatives"
            return replace(found, why=", ".join(filter(None, (found.why, why))))
        return found

    @staticmethod
    def _end(bounds: Interval, every: Interval, path: str, *, least: bool) -> Amount | None:
        """The end of what is admitted that stands for it; None where it has no end."""
        value = standing(bounds, least=least)
        if value is None:
            return None
        basis = EXACT if bounds.lo == bounds.hi else MAXIMUM if value == bounds.hi else MINIMUM
        why = "" if basis == EXACT else f"{_shown(bounds)} is requested"
        return Amount(value, path, basis, why, every)

    # decisions 884, 1116
    def processors(self, *, least: bool) -> Amount | None:
        """The processors that are requested: the ``least`` of a range that its tasks share evenly.

        Tasks that need more than the least have what they need, as far as the range admits it.
        """
        found = self.requested("Processors", least=least)
        if found is None and (other := self.other_than("Processors")) is not None:
            path = f"{self.path}/Requested/Processors"
            found = Amount(Fraction(other.least), path, MINIMUM, "other numbers are not wanted")
        if found is None or found.basis == UNKNOWN or found.value < 1:  # which nothing satisfies
            return found
        value = self.overruling
        if value is None and least and found.basis != EXACT:
            value = self._of_groups_together() or self.counts.processors_of_tasks
        return found if value is None else replace(found, value=Fraction(value))

    # decision 1175
    def _of_groups_together(self) -> int | None:
        """The processors that several task groups have together, or all of their tasks evenly.

        None where the request admits neither.
        """
        if not (groups := self._of_several_groups):
            return None
        if CountRange.of(self.wanted("Processors")).admits(self._needed_by_groups):
            return self._needed_by_groups
        tasks = ceil(sum(each.tasks.value for each in groups))
        return self.counts._replace(task_count=tasks).processors_of_tasks

    @cached_property
    def _needed_by_groups(self) -> int:
        """The processors that several task groups have together."""
        every = self._of_several_groups
        return ceil(sum(each.processors_in_all(least=True).value for each in every))

    # decisions 1134, 1192
    @property
    def overruling(self) -> int | None:
        """How many processors the tasks have, where these overrule those that are asked for."""
        if not self._of_several_groups:
            return self.counts.overruling if self._gives_tasks else None
        asked = self.counts.processors
        are_fewer = asked is not None and asked.hi is not None and asked.hi < self._fewest_of_groups
        return self._needed_by_groups if are_fewer else None

    @property
    def _gives_tasks(self) -> bool:
        """Whether it is said how many tasks there are; most jobs do not, and pay for no counts."""
        return bool(self._task_count is not None or self._geometry or pins(self.block))

    @cached_property
    def _fewest_of_groups(self) -> int:
        """With how many processors several task groups can do together."""
        return sum(each.counts.fewest_processors for each in self._of_several_groups)

    def processors_in_all(self, *, least: bool) -> Amount:
        """Processors that are given, requested or stated; else those of the tasks.

        Those of a task group are the total of the group. What cannot be read is ``UNKNOWN``.
        """
        found = (
            self.delivered("Processors")
            or self.dedicated("Processors")
            or self.processors(least=least)
            or self.own_processors()
        )
        return self.processors_of_tasks() if found is None else found

    # decision 1134
    def own_processors(self) -> Amount | None:
        """The processors that the block itself says, without context, or those of its tasks."""
        found = self.bare("Processors")
        value = None if found is None or found.value < 1 else self.overruling
        return found if found is None or value is None else replace(found, value=Fraction(value))

    def limit(self, name: str) -> Amount | None:
        """A ResourceLimit by any of its names: Hard before one without type before Soft.

        The operating system enforces such limits, so a size without units is in bytes.
        """
        scopes = (self,) if self.job is None else (self, self.job)
        for kind in ("Hard", "", "Soft"):
            for scope in scopes:  # one that a task group does not say is that of its job
                for item in scope.own.all("ResourceLimit", type=kind):
                    if spec.limit_name(item.attributes.get("name", "")) == name:
                        return scope._limit(item, kind)
        return None

    def _limit(self, item: Property, kind: str) -> Amount | None:
        if is_unlimited(item) or (value := self.read(item)) is None:
            return None
        path = f"{self.path}/ResourceLimit[@name='{item.attributes['name']}']"
        return Amount(value, path, why=f"{kind} limit" if kind else "")

    def read(self, item: Property) -> Fraction | None:
        """The number of a property in base units, or a finding and None."""
        try:
            if item.name != "ResourceLimit":
                return expression.amount(item)
            if spec.limit_name(item.attributes.get("name", "")) in ("CPUTime", "Duration"):
                return Fraction(units.duration(item.text))
            return units.bytes_of(item.text, item.attributes.get("units", "B"))
        except InvalidValue as error:
            path = f"{self.path}/{item.name}"
            self.report(finding("E-TYPE", str(error), line=item.line, path=path, section="SSS 2.2"))
            return None

    @property
    def alternatives(self) -> tuple[Alternative, ...]:
        """The alternatives of the request that some choice takes, best first."""
        return self._alternatives

    @cached_property
    def _alternatives(self) -> tuple[Alternative, ...]:
        if len(self._possible) < 2 and not self._is_joined:
            return self._possible
        return _distinct(each.own for each in self.choices) if self.mentioned else ()

    @cached_property
    def alternatives_by_nodes(
        self,
    ) -> list[tuple[Alternative, Sequence[Property], frozenset[int]]]:
        """Each alternative, what it names nodes by, and by identity what of the request says so."""
        found: list[tuple[Alternative, Sequence[Property], frozenset[int]]] = []
        for alternative in self.alternatives:
            named = [
                (term.item, id(said.item))
                for term, said in alternative.asked
                if isinstance(term, Comparison) and term.op == "EQ" and term.item.name == "Node"
            ]
            items = [item for item, _ in named]
            found.append((alternative, items, frozenset(said for _, said in named)))
        return found

    # decision 1117
    @cached_property
    def choices(self) -> tuple[JointChoice, ...]:
        """The alternatives that can be met, of a job those that it has with its only task group.

        Best first. Those whose demands contradict each other, or have no layout, are left out,
        unless all do.
        """
        every = self._joined
        if len(every) > 1:
            every = [each for each in every if self._may_hold(each)] or every
        if len(every) > 1 and self._counts_nodes:
            from sssjob.layout.feasible import that_can_be_met  # as few jobs need it

            every = that_can_be_met(self.layout_verdicts, every, self._laid_out)
        return tuple(every)

    @property
    def _joined(self) -> list[JointChoice]:
        """All choices, best first."""
        from sssjob import choices  # as few jobs need it

        group = self._of_only_group
        if group is None or not (self._is_readable and group._is_readable):
            return [*map(choices.alone, self._possible)]
        of_both = self._asking, group._asking
        return choices.of_both(*of_both, group.own.names(), _ALTERNATIVES)

    def demanded(self, choice: JointChoice) -> Alternative:
        """What a choice demands, with the features that are said outside of the request."""
        beside = self._features_beside
        return (
            replace(choice.whole, terms=(*beside, *choice.whole.terms)) if beside else choice.whole
        )

    @cached_property
    def _features_beside(self) -> tuple[Term, ...]:
        """The features that are said outside of the request, that of the only task group too."""
        group = self._of_only_group
        blocks = [self.block] if group is None else [self.block, group.block]
        return tuple(each for of in blocks for each in asked_outside(of, ALL_NEEDED))

    def _laid_out(self, choice: JointChoice) -> tuple[Term, ...]:
        """What a layout is made of in a choice."""
        return choice.whole.terms

    def _may_hold(self, choice: JointChoice) -> bool:
        """Whether what a choice demands does not contradict itself, or all of a task group.

        What no number satisfies does, but of what ran.
        """
        if conflict(self.demanded(choice)):
            return False
        if no_count(choice.whole) and not self.block.block(Delivered):
            return False
        groups = self._of_several_groups
        if groups and "Processors" in self.mentioned:
            most = self._interval(choice.own, "Processors").integers().hi
            if most is not None and most < self._fewest_of_groups:
                return False
        return all(each.may_have(choice) for each in groups)

    # decision 1190
    @cached_property
    def _of_several_groups(self) -> list[_GroupScope]:
        """The task groups of a job that has several."""
        if not self._is_of_groups or not isinstance(self.block, Job):
            return []
        path = f"{self.path}/TaskGroup"
        return [_GroupScope(self, each, path, unheard) for each in self.block.asking_groups]

    @property
    def contradiction(self) -> tuple[Term, ...]:
        """What cannot hold together in the choice that is made; then it can in none."""
        made = self.choice
        return () if made is None else conflict(self.demanded(made))

    @cached_property
    def _possible(self) -> tuple[Alternative, ...]:
        """The alternatives of this request by itself that some amount satisfies, best first."""
        try:
            found = self._every
            if found is None:
                return ()
            possible = tuple(item for item in found if not self._is_empty(item))
            if len(possible) < len(found) and (left := self._overruled):
                possible = tuple(item for item in found if not self._is_empty(_but_of(item, left)))
        except UnbalancedGroup as error:
            self._requested_fault("E-GROUP", str(error))
        except LimitExceeded as error:
            self._requested_fault("E-LIMIT", str(error))
        except InvalidValue as error:
            self._requested_fault("E-TYPE", str(error))
        else:
            if not found.complete:
                self._requested_fault("E-LIMIT", f"only {found.limit} alternatives are looked at")
            if not possible:
                self._requested_fault("E-OP", "no amount satisfies the request")
            return possible
        return ()

    @property
    def _asking(self) -> Asking:
        from sssjob.choices import Asking  # as few jobs need it

        return Asking(self.conjuncts, self._possible, asked_outside(self.block))

    @property
    def _is_readable(self) -> bool:
        """Whether some amounts satisfy the request, or there is none."""
        return bool(self._possible) or not self.request

    @cached_property
    def _of_only_group(self) -> Scope | None:
        """The only task group of a job, which asks for something with it."""
        block = self.block
        if not isinstance(block, Job) or len(block.asking_groups) != 1:
            return None
        if block.references("TaskGroup"):
            return None
        group, path = block.asking_groups[0], f"{self.path}/TaskGroup"
        return Scope(group, path, repair=self.repair, job=self)

    # decision 1169
    @cached_property
    def _overruled(self) -> frozenset[int]:
        """What counts for nothing beside the other of a job and its only group, by identity.

        What cannot be read overrules nothing.
        """
        job = self if self.job is None else self.job
        group = job._of_only_group
        try:
            return frozenset() if group is None else frozenset(job._left_of_both(group))
        except (InvalidValue, LimitExceeded, UnbalancedGroup):
            return frozenset()

    def _left_of_both(self, group: Scope) -> dict[int, str]:
        """Why what a job and its only group say does not count, by identity. Raises."""
        from sssjob.defaults import together  # as few jobs need it

        own, theirs = ((*e.conjuncts, *asked_outside(e.block)) for e in (self, group))
        return {id(item): why for item, _, why in together(own, theirs, group.own.names()).left}

    @property
    def is_one(self) -> bool:
        """Whether a job has one task group, with which it is one."""
        return self._of_only_group is not None

    @cached_property
    def _is_joined(self) -> bool:
        """Whether there is anything to choose for a job and its only task group together."""
        group = self._of_only_group
        if group is None or not any(
            _CHOOSING & item.attributes.keys() for each in (self, group) for item in each.request
        ):
            return False  # as most, of which nothing is made to tell it
        return self._has_choice or group._has_choice

    # decision 1195
    @property
    def _has_choice(self) -> bool:
        """Whether the request has alternatives, of which some number satisfies one at least."""
        return bool(self._possible) and len(self._every or ()) > 1

    def of_group(
        self, group: Block, path: str, report: Callable[[Finding], None] = unheard, *,
        is_counted: bool = False,
    ) -> Scope:  # fmt: skip
        """The scope of a task group of a job: of its only one in the choice that is made.

        ``is_counted``: the group has the counts of its job (``defaults.counted``).
        """
        is_step = isinstance(group, TaskGroup) and group.is_step
        is_followed = self._is_joined or (is_counted and self._has_counts_apart)
        if is_followed and not is_step and self.choice is not None:
            return _FollowingScope(self, group, path, report, is_counted=is_counted)
        if self._is_of_groups and not is_step:
            return _GroupScope(self, group, path, report)
        return Scope(group, path, report, repair=self.repair, job=self)

    # decision 1161
    @cached_property
    def uncounted(self) -> Mapping[int, str]:
        """Why some of what is requested counts for nothing in any choice, by identity.

        The other one of a job and its only task group says another, maybe of what it is joined to.
        """
        group = self._of_only_group
        if group is None or not (self._is_joined and self._is_readable and group._is_readable):
            return {}
        return self._left_of_both(group)

    # decision 1159
    @cached_property
    def _has_counts_apart(self) -> bool:
        """Whether a job joins counts to what is no count, so that no group is lent them alone."""
        return (
            self._of_only_group is not None
            and not _COUNTED.isdisjoint(self.mentioned)
            and any(_JOINING & item.attributes.keys() for item in self.request)
        )

    @cached_property
    def _every(self) -> expression.Alternatives | None:
        """As many alternatives as are looked at. Raises as ``conjuncts``; None of no request."""
        parsed = self._parsed
        return None if parsed is None else expression.alternatives(parsed, _ALTERNATIVES)

    # decision 1139
    @cached_property
    def never_met(self) -> frozenset[int]:
        """What is compared only in alternatives that are left out, by the identity of properties.

        Nothing of more alternatives than are looked at.
        """
        left = self.alternatives
        found = self._every if left else None  # what cannot be read was told
        if found is None or not found.complete or len(left) == len(found):
            return frozenset()
        return _items_of(found) - _items_of(left)

    @cached_property
    def layout_verdicts(self) -> LayoutVerdicts:
        """Which alternatives of the request have a layout, as a whole."""
        from sssjob import defaults  # as few jobs need it
        from sssjob.layout.feasible import LayoutVerdicts

        if not isinstance(self.block, Job) or self._of_only_group is None:
            return LayoutVerdicts(self.block, self.path, self.own, self.request)
        resolved = defaults.scope(self.block)
        assert isinstance(resolved, Job)
        [block] = resolved.asking_groups
        return LayoutVerdicts(block, f"{self.path}/TaskGroup", block.properties, block.requested)

    @property
    def nodes_of_layout(self) -> int:
        """How many nodes a layout has in the choice that is made; 0 of an open number, or of none.

        What cannot be read is told where it is taken.
        """
        if self.block.blocks(TaskGroup) and not self.is_one:
            return 0
        terms = () if self.choice is None else self._laid_out(self.choice)
        try:
            return self.layout_verdicts.nodes(terms) or 0
        except (InvalidValue, LimitExceeded):
            return 0

    def nodes_in(self, alternative: Alternative) -> int | None:
        """How many nodes a layout has in an alternative, as ``LayoutVerdicts.nodes`` has it."""
        every = (self._laid_out(e) for e in self.choices if alternative in (e.own, e.theirs))
        return self.layout_verdicts.nodes(next(every, alternative.terms))

    @property
    def _counts_nodes(self) -> bool:
        """Whether the request has counts or names that others may contradict.

        What a job says beside several task groups is theirs; what ran has had what it was
        delivered.
        """
        group = self._of_only_group
        scopes = [self] if group is None else [self, group]
        if any(each.block.block(Delivered) for each in scopes):
            return False
        if group is None and self.block.blocks(TaskGroup):
            return False
        return any(not _LAID_OUT.isdisjoint(each.mentioned) for each in scopes)

    @cached_property
    def choice(self) -> JointChoice | None:
        """The choice that was delivered, or else the preferred one, or else the first."""
        if self.number is not None:
            return self.choices[self.number] if self.choices else None
        given = {
            name: amount.value
            for name in (NUMBERS if self.block.block(Delivered) else ())
            if name in self.mentioned and (amount := self.delivered(name)) is not None
        }
        matching = (
            each
            for each in self.choices
            if given and all(self._delivers(each.own, name, value) for name, value in given.items())
        )
        return next(matching, next(iter(self.choices), None))

    @cached_property
    def chosen(self) -> Alternative | None:
        """The alternative of the choice; None of no request, or one that cannot be read."""
        if len(self._possible) < 2 and not self._is_joined:
            return next(iter(self._possible), None)
        made = self.choice if self._possible else None
        return None if made is None else made.own

    @property
    def is_said_twice(self) -> bool:
        """Whether a job and its only group may contradict each other, or a request what is beside.

        That is of what both request, and of features, where some are not wanted.
        """
        group = self._of_only_group
        requests = [self.request] if group is None else [self.request, group.request]
        features = [item for each in requests for item in each if item.name in ALL_NEEDED]
        both = frozenset() if group is None else self.mentioned & group.mentioned
        return bool(both - ALL_NEEDED) or any(
            _OPERATED & item.attributes.keys() for item in features
        )

    @cached_property
    def mentioned_with_group(self) -> frozenset[str]:
        """The names that the request mentions, or that of the only task group."""
        group = self._of_only_group
        return self.mentioned if group is None else self.mentioned | group.mentioned

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """The names that the request mentions at all."""
        return self.request.names()

    @cached_property
    def _plainly(self) -> Mapping[str, Interval]:
        """What a request admits that names each thing once, and no logic but bounds; else nothing.

        Most requests are so. There is one alternative, and to make an expression of it takes ten
        times as long.
        """
        items = [*self.request]
        keys = {expression.key(item) for item in items}
        if len(keys) < len(items):
            return {}
        if any(item.attributes.keys() - _PLAIN.get(item.name, _NO_SIGNS) for item in items):
            return {}
        try:
            found = {
                item.name: expression.interval((Comparison(item),), item.name).integers()
                for item in items
                if item.name in NUMBERS
            }
        except InvalidValue:
            return {}
        is_usual = all(each.bounded and not each.empty for each in found.values())
        return found if is_usual else {}

    @property
    def is_plain(self) -> bool:
        """Whether it is certain, without making them, that there is but one alternative."""
        return bool(self._plainly) and not self.block.blocks(TaskGroup)

    @cached_property
    def terms(self) -> Mapping[str, Sequence[Term]]:
        """The comparisons of the chosen alternative, by what they compare (``expression.key``)."""
        return {} if self.chosen is None else _by_name(self.chosen)

    def wanted(self, name: str) -> Interval:
        """The whole numbers that the chosen alternative admits. Raises ``InvalidValue``."""
        return expression.interval(_amounts(self.terms.get(name, ()), name), name).integers()

    @cached_property
    def _parsed(self) -> Expression | None:
        """The request; None where there is none. Raises as ``conjuncts``."""
        return expression.of(self._balanced())

    @property
    def conjuncts(self) -> tuple[Expression, ...]:
        """The parts of the request that And joins.

        Raises ``InvalidValue``, ``LimitExceeded`` and ``UnbalancedGroup`` for what is no request.
        """
        return () if self._parsed is None else expression.conjuncts(self._parsed)

    @cached_property
    def demands(self) -> tuple[Expression, ...]:
        """The parts of the request that all have to hold; none of one that cannot be read.

        Nothing but plain comparisons needs no expression, so that none is made then.
        """
        if all(expression.LOGIC_AND_OPERATOR.isdisjoint(item.attributes) for item in self.request):
            return ()
        try:
            return self.conjuncts
        except (InvalidValue, LimitExceeded, UnbalancedGroup):
            return ()

    @cached_property
    def counts(self) -> StatedCounts:
        """What is said of tasks, nodes and processors, from which all numbers of them follow."""
        delivered, geometry = self.delivered("NodeCount"), self._geometry
        counted = (
            self._range("NodeCount")
            if delivered is None
            else CountRange.exactly(ceil(delivered.value))
        )
        # A number is what it is, whichever nodes are named.
        names = self.named_nodes if counted is None or counted.exact is None else None
        each, per_task = self.per("TasksPerNode"), self.per("ProcessorsPerTask")
        return StatedCounts(
            self._task_count, as_names_have(counted, names), self._range("Processors"),
            None if each is None else int(each), None if per_task is None else int(per_task),
            geometry, pins(self.block), names,
        )  # fmt: skip

    def _range(self, name: str) -> CountRange | None:
        """Between which counts is requested, or what the block says itself."""
        if (plain := self._plainly.get(name)) is not None:
            found = CountRange.of(plain)
        elif (asked := self.requested(name, least=True)) is not None:
            if asked.basis == UNKNOWN:
                return None
            found = CountRange.of(self.wanted(name))
        elif (own := self.bare(name)) is not None:
            found = CountRange.exactly(ceil(own.value))
        else:
            return self.other_than(name)
        return None if found.empty or found.least < 1 else found

    # decision 1141
    def other_than(self, name: str) -> CountRange | None:
        """The counts that a request admits which only says what they are not; else None."""
        if name not in self.terms:
            return None
        bounds = self.wanted(name)
        is_other = bounds.excluded and not bounds.bounded
        return CountRange.of(bounds) if is_other else None

    @property
    def _task_count(self) -> int | None:
        number = self._stated_tasks
        return ceil(number) if number is not None and number > 0 else None

    @property
    def _stated_tasks(self) -> Fraction | None:
        count = self.own.get("TaskCount")
        return self.read(count) if count and not self._is_of_groups else None

    @property
    def _no_tasks(self) -> Amount | None:
        """A number of tasks that counts none."""
        number = self._stated_tasks
        return None if number is None or number > 0 else Amount(number, f"{self.path}/TaskCount")

    @cached_property
    def tasks(self) -> Amount:
        """How many tasks: counted, laid out, by processors in a task group, or by nodes."""
        counts = self.counts
        if (given := counts.given_tasks) is not None:
            return self._given(given)
        # A job that says nothing of tasks runs its program once.
        spread = counts.per_task is not None or counts.per_node is not None
        says_tasks = isinstance(self.block, TaskGroup) or spread
        if says_tasks and (found := counts.tasks_to_place) is not None:
            why = f"{found.value} tasks by the processors"
            return Amount(Fraction(found.value), f"{self.path}/Processors", DERIVED, why)
        nodes = self.nodes
        if nodes is not None:
            per_node = self.per("TasksPerNode")
            why = f"{units.decimal(per_node)} tasks on each node" if per_node else "a task a node"
            number = Fraction(counts._replace(processors=None).tasks.value)
            return Amount(number, nodes.source, nodes.basis, why)
        return Amount(Fraction(1), self.path, ASSUMED, "nothing says how many tasks")

    def _given(self, tasks: DerivedCount) -> Amount:
        number = Fraction(tasks.value)
        if tasks.source == GEOMETRY:
            return Amount(number, f"{self.path}/TaskDistribution", why="ids of the geometry")
        if tasks.source == TASK_COUNT:
            return Amount(number, f"{self.path}/TaskCount")
        return Amount(number, f"{self.path}/Task", why="tasks are counted")

    # decision 1116
    def processors_of_tasks(self) -> Amount:
        """So many processors as the tasks have, where nothing says a number of processors."""
        if (none := self._no_tasks) is not None:
            return none
        tasks, nodes, each = self.tasks, self.nodes, self.per("ProcessorsPerTask")
        if nodes is not None and nodes.source == tasks.source and nodes.value < 1:
            return nodes  # no number satisfies it
        if each is None:
            return tasks
        why = f"{units.decimal(tasks.value)} tasks x {units.decimal(each)} processors"
        return Amount(tasks.value * each, tasks.source, tasks.basis, why)

    # decision 909
    @cached_property
    def _is_of_groups(self) -> bool:
        """Whether several task groups count the tasks, and what a job says of its own is none."""
        return sum(not group.is_step for group in self.block.blocks(TaskGroup)) > 1

    @cached_property
    def nodes(self) -> Amount | None:
        """How many nodes, if that is stated, or so many are named."""
        if (delivered := self.delivered("NodeCount")) is not None:
            return delivered
        stated = None if self._geometry else self._stated_nodes()
        if stated is not None and stated.basis in (EXACT, UNKNOWN):
            return stated
        found = self.counts.stated_nodes
        if stated is not None:
            return stated if found is None else replace(stated, value=Fraction(found.value))
        return None if found is None else self._nodes_by(found)

    @property
    def laid_nodes(self) -> int:
        """On how many nodes the tasks are: counted, named, or filled; 0 of an open number."""
        if self.nodes is not None:
            return ceil(self.nodes.value)
        found = self.counts.nodes
        return found.value if found is not None and found.source == BY_TASKS else 0

    def _stated_nodes(self) -> Amount | None:
        return self.requested("NodeCount", least=True) or self.bare("NodeCount")

    def _nodes_by(self, found: DerivedCount) -> Amount:
        number, names = Fraction(found.value), self.named_nodes
        if found.source == GEOMETRY:
            return Amount(number, f"{self.path}/TaskDistribution", why="groups of the geometry")
        if found.source == NODE_COUNT:
            why = "other numbers are not wanted"
            return Amount(number, f"{self.path}/Requested/NodeCount", MINIMUM, why)
        if found.source == NODES_OF_TASKS or names is None:
            return Amount(number, f"{self.path}/Task/Node", why="so many are named by tasks")
        return Amount(number, names.path, why="so many are named")

    @cached_property
    def named_nodes(self) -> NamedNodes | None:
        """The nodes that count by their names: those of a job are those of its task groups."""
        groups = self.block.blocks(TaskGroup)
        if len(groups) > 1 or any(group.is_step for group in groups):
            return None
        try:
            return self.nodes_by_name()
        except (InvalidValue, LimitExceeded) as error:
            code = "E-LIMIT" if isinstance(error, LimitExceeded) else "E-TYPE"
            self.report(finding(  # as none are counted, nothing stops that goes without them
                code, str(error), path=f"{self.path}/Node", section="SSS 5.1 Node",
                severity=Severity.WARNING,
            ))  # fmt: skip
            return None

    def nodes_by_name(self) -> NamedNodes | None:
        """The nodes that the choice names; None where it names none. Raises as ``named``.

        A task group that names none has those that its job says of each.
        """
        of = self if self._names_nodes or self.job is None else self.job
        return of._named_by(() if of.chosen is None else of.chosen.terms)

    def _named_by(self, terms: Sequence[Term]) -> NamedNodes | None:
        """The nodes that some terms name, or else what is said beside the request."""
        if not self._names_nodes:
            return None
        from sssjob.named_nodes import named  # as few jobs need it

        return named(without_set_aside(self.block), self.path, terms)

    @property
    def _names_nodes(self) -> bool:
        return "Node" in self.mentioned or "Node" in self.own.names()

    def per(self, kind: str) -> Fraction | None:
        """The number of a TaskDistribution of one type; a number without type is TasksPerNode."""
        if (found := self._mapping) is None:
            return None
        number = found.per_node if kind == "TasksPerNode" else found.per_task
        return Fraction(number) if number else None

    @cached_property
    def _mapping(self) -> TaskMapping | None:
        """How tasks are mapped to nodes; what is said beside several task groups is of none."""
        item = self.own.get("TaskDistribution")
        if item is None or self._is_of_groups:
            return None
        from sssjob import task_distribution  # as few jobs need it

        return task_distribution.read(item)

    @property
    def mapping_fault(self) -> str:
        """Why the TaskDistribution maps nothing; "" of one that does, and of none."""
        faults = () if self._mapping is None else self._mapping.faults
        return next((each.message for each in faults if each.code.startswith("E-")), "")

    @property
    def _geometry(self) -> Sequence[Sequence[int]]:
        return () if self._mapping is None else self._mapping.geometry

    def _own(self, name: str, context: str) -> Amount | None:
        for item in self.own:
            if item.name != name or not expression.asks(item):
                continue
            if item.said("context") != context:
                continue
            # Of what it demands, a request alone speaks; what is dedicated to a job it has already.
            if not context and (
                name in expression.compared(self.request) or id(item) in self._overruled_beside
            ):
                return None
            if (value := self.read(item)) is not None:
                return Amount(value, f"{self.path}/{name}", why=context)
        return None

    # decision 1168
    @property
    def _overruled_beside(self) -> Container[int]:
        """What is said outside of the request and does not count, by identity.

        What a job says is compared with what its group does.
        """
        return ()

    def _interval(self, alternative: Alternative, name: str) -> Interval:
        return expression.interval(_amounts(alternative.terms, name), name)

    def _is_empty(self, alternative: Alternative) -> bool:
        """Whether no amount satisfies an alternative. Raises ``InvalidValue``."""
        terms = _by_name(alternative)
        return any(
            expression.interval(_amounts(terms[name], name), name).integers().empty
            for name in NUMBERS
            if name in terms
        )

    def _delivers(self, alternative: Alternative, name: str, value: Fraction) -> bool:
        bounds = self._interval(alternative, name)
        if name == "Duration":  # a job that ends early has not chosen another alternative
            return bounds.hi is None or value <= bounds.hi
        return value in bounds

    def _all_bounds(self, name: str) -> Interval:
        """From the least to the most that any alternative admits; None where one is open."""
        every = [self._interval(item, name).integers() for item in self.alternatives]
        lows, highs = [item.lo for item in every], [item.hi for item in every]
        return Interval(
            None if None in lows else min(low for low in lows if low is not None),
            None if None in highs else max(high for high in highs if high is not None),
        )

    def _balanced(self) -> Block:
        """The block, its groups turned round if a repair was asked for and that is one."""
        if not self.repair:
            return self.block
        return self.block.holding(
            item.holding(_turned(item.properties))
            if isinstance(item, Requested) and expression.swap_balances(item.properties)
            else item
            for item in self.block.items
        )

    def _requested_fault(self, code: str, message: str) -> None:
        asked = self.block.block(Requested)
        line = asked.line if asked else 0
        path = f"{self.path}/Requested"
        self.report(finding(code, message, line=line, path=path, section="SSS 8.1"))


class _FollowingScope(Scope):
    """The only task group of a job, in the choice that its job makes; one that can be read."""

    def __init__(
        self, leading: Scope, group: Block, path: str, report: Callable[[Finding], None], *,
        is_counted: bool,
    ) -> None:  # fmt: skip
        super().__init__(group, path, report, repair=leading.repair, job=leading)
        self._leading, self._is_counted = leading, is_counted
        self._taken = attrgetter("counting" if is_counted else "theirs")

    @cached_property
    def _reading(self) -> Scope | None:
        """Who has read the same request, if there is no fault in it to tell."""
        other = self._leading._of_only_group
        if other is None or not other._possible or len(self.request) != len(other.request):
            return None
        if any(map(is_not, self.request, other.request)):
            return None
        every = other._every
        return other if every is not None and every.complete else None

    @cached_property
    def _parsed(self) -> Expression | None:
        return super()._parsed if self._reading is None else self._reading._parsed

    @cached_property
    def _every(self) -> expression.Alternatives | None:
        return super()._every if self._reading is None else self._reading._every

    @cached_property
    def _possible(self) -> tuple[Alternative, ...]:
        return super()._possible if self._reading is None else self._reading._possible

    @cached_property
    def uncounted(self) -> Mapping[int, str]:
        return self._leading.uncounted if self._is_readable else {}

    @property
    def _overruled_beside(self) -> Container[int]:
        return self.uncounted

    @cached_property
    def choices(self) -> tuple[JointChoice, ...]:
        return self._leading.choices if self._is_readable else super().choices

    @cached_property
    def choice(self) -> JointChoice | None:
        return self._leading.choice if self._is_readable else super().choice

    @cached_property
    def layout_verdicts(self) -> LayoutVerdicts:
        return self._leading.layout_verdicts if self._is_readable else super().layout_verdicts

    @cached_property
    def mentioned(self) -> frozenset[str]:
        """Also what its job says in one of alternatives, where the group has its counts."""
        if not (self._is_counted and self._is_readable):
            return super().mentioned
        lent = (each.item for one in self.choices for each in _compared(self._taken(one)))
        return super().mentioned | {item.name for item in lent}

    @cached_property
    def _plainly(self) -> Mapping[str, Interval]:
        return {} if self._is_counted and self._is_readable else super()._plainly

    @cached_property
    def chosen(self) -> Alternative | None:
        if not (self._is_readable and self.mentioned):
            return super().chosen
        return None if self.choice is None else self._taken(self.choice)

    @cached_property
    def _alternatives(self) -> tuple[Alternative, ...]:
        if not (self._is_readable and self.mentioned):
            return super()._alternatives
        return _distinct(map(self._taken, self.choices))


# decision 1190
class _GroupScope(Scope):
    """One of several task groups of a job, with what that says of each of them."""

    def __init__(
        self, leading: Scope, group: Block, path: str, report: Callable[[Finding], None]
    ) -> None:  # fmt: skip
        super().__init__(group, path, report, repair=leading.repair, job=leading)
        self._leading = leading

    @cached_property
    def _lent_parts(self) -> tuple[Expression, ...]:
        """What its job requests of each group, and this one says nothing of."""
        from sssjob.defaults import is_of_each, overridden  # as few jobs need it

        if not self._leading._possible:
            return ()
        parts = [part for part in self._leading.conjuncts if is_of_each(part)]
        said = self._asking.every if parts and self._is_readable else ()
        left_out = set(map(id, overridden(parts, said)))
        return tuple(part for part in parts if id(part) not in left_out)

    @property
    def _joined(self) -> list[JointChoice]:
        from sssjob import choices  # as few jobs need it

        if not (self._lent_parts and self._is_readable):
            return super()._joined
        lent = expression.alternatives(expression.all_of(self._lent_parts), _ALTERNATIVES)
        return choices.of_each(lent.best, self._possible, _ALTERNATIVES)

    @cached_property
    def _features_beside(self) -> tuple[Term, ...]:
        return (*self._leading._features_beside, *super()._features_beside)

    @property
    def _counts_nodes(self) -> bool:
        return super()._counts_nodes or bool(self._lent_parts)

    def _laid_out(self, choice: JointChoice) -> tuple[Term, ...]:
        beside = () if self._names_nodes else asked_outside(self._leading.block, ("Node",))
        return (*beside, *choice.whole.terms)

    def nodes_by_name(self) -> NamedNodes | None:
        if self._names_nodes:
            return super().nodes_by_name()
        return self._leading._named_by(() if self.choice is None else self.choice.theirs.terms)

    def may_have(self, choice: JointChoice) -> bool:
        """Whether an alternative holds beside what its job says of it in a choice."""
        items = expression.identities(self._lent_parts)
        lent = tuple(term for term, said in choice.own.asked if id(said.item) in items)
        return not lent or any(
            self._holds(lent, each) for each in self._possible or (Alternative(()),)
        )

    def _holds(self, lent: Sequence[Term], own: Alternative) -> bool:
        if conflict(replace(own, terms=(*self._features_beside, *lent, *own.terms))):
            return False
        try:
            return self.layout_verdicts.holds((*lent, *own.terms))
        except (InvalidValue, LimitExceeded):
            return True  # which is told where it is taken


# decision 1124
def nodes_in_all(groups: Iterable[Scope]) -> int:
    """On how many nodes task groups are together, of which several may name the same."""
    every = [(group, group.laid_nodes) for group in groups]
    if len(every) < 2:
        return sum(number for _, number in every)
    from sssjob.named_nodes import nodes_together  # as few jobs need it

    return nodes_together((group.named_nodes, number) for group, number in every)


# decision 988
NOT_OF_ALL = "{} of {} task groups do not say it, so that it is no limit of all"


def time_of(group: Scope) -> Amount | None:
    """The time that a task group asks for, or states."""
    return group.requested("Duration") or group.bare("Duration")


# decisions 980, 988
def longest(groups: Iterable[Scope]) -> Amount | None:
    """The time of a job by its task groups, which run at the same time: that of the longest.

    None where one of them says none.
    """
    asked = [
        time_of(group)
        for group in groups
        if isinstance(group.block, TaskGroup) and not group.block.is_step
    ]
    found = [amount for amount in asked if amount is not None]
    if len(found) < len(asked):
        return None
    unknown = (amount for amount in found if amount.basis == UNKNOWN)
    return next(unknown, max(found, key=lambda amount: amount.value, default=None))


def _compared(alternative: Alternative) -> Iterator[Comparison]:
    """The comparisons of an alternative, those under Not included."""
    for term in alternative.terms:
        yield from expression.comparisons(term)


def _distinct(every: Iterable[Alternative]) -> tuple[Alternative, ...]:
    """Each of some alternatives once."""
    return tuple({(*map(id, each.terms), each.score): each for each in every}.values())


def _but_of(alternative: Alternative, items: Container[int]) -> Alternative:
    """An alternative without what is made of some properties, by their identity."""
    kept = (term for term, said in alternative.asked if id(said.item) not in items)
    return Alternative(tuple(kept), alternative.score)


def _items_of(found: Iterable[Alternative]) -> frozenset[int]:
    return frozenset(id(said.item) for each in found for _, said in each.asked)


def _by_name(alternative: Alternative) -> Mapping[str, Sequence[Term]]:
    """The comparisons of an alternative by what they compare; what is negated is none."""
    found: dict[str, list[Term]] = {}
    for term in alternative.terms:
        if isinstance(term, Comparison):
            found.setdefault(expression.key(term.item), []).append(term)
    return found


def _amounts(terms: Iterable[Term], name: str) -> Iterator[Term]:
    """The terms about what the job is to have, rather than what a node is built with."""
    for term in terms:
        if (
            isinstance(term, Comparison)
            and expression.key(term.item) == name
            and is_of_job(term.item)
        ):
            yield term


def is_of_job(item: Property) -> bool:
    """Whether an amount is what the job is to have, rather than what a node is built with."""
    return item.said("context") not in ("Configured", "Used")


def is_given(item: Property) -> bool:
    """Whether an amount was given, rather than measured by a metric or in another context."""
    return item.said("context") in ("", "Dedicated") and _is_plain_metric(item)


def _is_plain_metric(item: Property) -> bool:
    return item.said("metric") in ("", "Total")


# decision 930
def with_amounts_times(block: B, factor: Fraction) -> B:
    """A block that asks for so many times as much of what a task group says for each task.

    By the number of its tasks that is what they have together, and by its inverse back. Outside of
    ``Requested`` what has a metric was measured, and is asked of nobody. # decision 1201
    """

    def changed(item: Item) -> Item:
        if isinstance(item, Requested):
            return item.holding(map(times, item.items))
        return item if isinstance(item, Property) and not _is_plain_metric(item) else times(item)

    def times(item: Item) -> Item:
        return _times(item, factor) if isinstance(item, Property) else item

    return block if factor == 1 else block.holding(map(changed, block.items))


# What is less than a number of bytes is at most one byte less, and each task may have so much.
_BEYOND = {"LT": -1, "GT": 1}


def _times(item: Property, factor: Fraction) -> Property:
    """An amount that tasks share, in its own unit if that keeps it whole; else in bytes."""
    if item.name not in OF_EACH_TASK or not is_of_job(item):
        return item
    try:
        unit = expression.amount(Property(item.name, 1, item.attributes))
        beyond = _BEYOND.get(item.said("op"), 0)
        value = (expression.amount(item) + beyond) * factor - beyond
    except InvalidValue:
        return item  # which is told where it is read
    if (number := value / unit).denominator == 1:
        return replace_text(item, str(number), item.attributes)
    text, whole_unit = units.in_units(ceil(value))
    return replace_text(item, text, {**item.attributes, "units": whole_unit})


def _turned(items: Properties) -> Iterator[Property]:
    for item in items:
        group = item.attributes.get("group")
        yield item if group is None else item.having(group=str(-units.integer(group)))


def _shown(bounds: Interval) -> str:
    lo, hi = (None if end is None else units.decimal(end) for end in (bounds.lo, bounds.hi))
    return f"{lo} to {hi}" if lo and hi else f"at least {lo}" if lo else f"at most {hi}"
