"""What a job asks for, each with its place, and what of it a target does not hold (SSS 9.0).

Whoever writes for a target takes what a job says; what nobody took is a loss, and so is what was
taken and refused. Of a request with alternatives only the chosen one counts, and a wish (a
negative preference) binds nobody.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from operator import itemgetter
from typing import NamedTuple

from sssjob import expression, registry, spec
from sssjob.amounts import NUMBERS, Scope, is_of_job
from sssjob.defaults import (
    COUNTS,
    LAID_OUT,
    OVERRIDDEN,
    OVERRIDDEN_BY_ALL,
    SEVERAL,
    differing,
    names_said,
    of_only_group,
    together,
    without_said,
)
from sssjob.errors import AwarenessPolicy, Finding, InvalidValue, Severity, unheard
from sssjob.expression import (
    Alternative,
    Comparison,
    Expression,
    Interval,
    Not,
    Term,
    Wish,
    comparisons,
    identities,
)
from sssjob.expression.asked_names import asked_names
from sssjob.expression.conflicts import conflict, shown
from sssjob.expression.offer import OTHERWISE, SPOKEN_OF, passed_over, requests
from sssjob.model import Block, Delivered, Job, Note, Property, Requested, TaskGroup, stripped
from sssjob.states import has_ended
from sssjob.translate.losses import REJECT, SHOWN, Done, Loss

NO_OPTION = "there is no option for it"
OTHER_MEANING = "its name means something else there"


# decision 1037
def no_case(known: str, text: str = "") -> str:
    """Why a name is not written beside another one, from which it differs by case alone.

    A ``text`` that differs by more, or by nothing, is another name of the same there.
    """
    if text and (text == known or text.lower() != known.lower()):
        return f"{known!r} means the same there, and is named as well"
    return f"names know no case there, and {known!r} is named as well"


# What says who or what a job is, or what became of it, and asks a batch system for nothing.
FACTS = frozenset((
    "Application", "Charge", "Checkpointable", "CpuDuration", "EndTime", "ExitCode", "GlobalId",
    "GlobalUser", "Id", "Process", "ReservationTime", "Session", "StagedTime", "StartCount",
    "StartTime", "State", "StatusMessage", "SubmitHost", "SubmitTime", "SuspendDuration",
    "TimeCategory", "Type",
))  # fmt: skip
# Those of them that describe a job, also where its only task group says them.
_DESCRIBING = frozenset(("Application", "Checkpointable"))
# Extensions that the prolog reads in the document, so that no option is needed.
TOLD = ("JobFeatures", "MachineFeatures", "JobRun")

ARRAY = "array"  # the type of the Extension that says which array a task group is

# The Extension that tells in which order the options of a script stood: what nobody asks for.
ORDER = "order"

# What the expression of a request takes into account, and what an amount is measured by.
_LOGIC = ("op", "conj", "group", "preference", "performanceFactor")
_POLICY = "awarenessPolicy"
_OF_AMOUNTS = (*_LOGIC, _POLICY, "units")
_PLAIN = {"context": ("Dedicated", "Available"), "metric": ("Total",), "dynamic": ("false", "0")}
_ONLY_REQUESTED = "it means something in a request only"
_WISH = "a preference, which need not be met"
_OTHER = "of another alternative, which is not written"


class PropertyPlace(NamedTuple):
    """Where a property stands; ``plain`` unless a request compares it by more than EQ.

    ``bounded``: an amount can be asked for by it, as by no NE or Match. ``own``: it is said by the
    job itself, or requested by it, and not by one of its task groups. ``overridden``: each of these
    says another.
    """

    path: str
    policy: AwarenessPolicy
    own: bool
    plain: bool = True
    bounded: bool = True
    requested: bool = False
    fact: bool = False
    overridden: bool = False

    @property
    def asked(self) -> bool:
        """Whether something is asked for by it, be it of nobody: who a job is, say, is not."""
        return self.requested or self.overridden


class Fate(NamedTuple):
    """What becomes of a property that a target does not hold as it is."""

    reason: str
    done: Done | None = None  # dropped, or kept beside
    met: bool = True  # whether what is asked for instead fulfils it


_NONE = Fate(NO_OPTION)
# Amounts, of which each target that has a place takes bounds as well.
_BOUNDED = frozenset((*NUMBERS, "Network", "Resource"))
# What is worked out for all task groups of a job together, by rules of their own.
_OF_GROUPS = frozenset((*NUMBERS, "ResourceLimit")) - COUNTS
_RESOURCE = "Resource"
# Of an option of another system, kept as it was: with a value that is none, say, or misspelt.
_UNREAD = Fate("what this option asks for is not understood")

# Texts that are no more than a text for any system: without blanks, quotes, lists or variables.
PLAIN = re.compile(r"[A-Za-z0-9_/.][A-Za-z0-9_/.-]*").fullmatch


class Verbatim(NamedTuple):
    """How a rule writes texts of some kind: as an option that is read as just that text.

    ``head`` stands before it, and ``fate`` is what becomes of the value there, if it is told.
    """

    option: str
    is_plain: Callable[[str], object] = PLAIN
    head: str = ""
    fate: Fate | None = None


class Outline(NamedTuple):
    """What jobs that differ in nothing but their texts have in common: where each property stands.

    ``here`` has the numbers of the places by name; at those of ``told`` nothing is asked for.
    ``once`` are names of properties that are nothing but a text, or variables, and stand alone.
    ``counts`` are the numbers of what layouts are made of, and ``agreeing`` texts of these by which
    there is one.
    """

    places: tuple[PropertyPlace, ...]
    here: Mapping[str, list[int]]
    names: frozenset[str]
    told: tuple[int, ...]
    once: frozenset[str]
    counts: tuple[int, ...]
    agreeing: dict[tuple[object, ...], None]


class JobRequest:
    """A job whose defaults are resolved, as what it asks for; ``scope`` is the one of the job.

    ``unstated`` is the awarenessPolicy where the job says none. ``owner`` is the block whose
    properties are taken: the job, or one of its task groups (see ``groups``). A job whose
    ``outline`` is known has one block and a request that cannot but be read; ``items`` are all of
    its properties in document order. ``overridden`` is what the job requests and the scope lacks,
    as it binds nobody.
    """

    def __init__(
        self, job: Job, scope: Scope, unstated: AwarenessPolicy = REJECT,
        outline: Outline | None = None, items: Sequence[Property] = (),
        overridden: Iterable[Property] = (),
    ) -> None:  # fmt: skip
        self.job, self.scope, self.unstated = job, scope, unstated
        self.owner: Block = job
        self.holds_everything = self.sets_aside = False
        self._alone = outline is not None  # whether the job has no task groups
        self.files: dict[str, bytes] = {}  # that have to stand beside the text, by their names
        self._attributes: dict[tuple[int, str], str] = {}
        self._refused: set[int] = set()  # by identity, of what was taken and is not carried
        self._numbered: tuple[Sequence[Property], Mapping[int, int]] = ((), {})
        # Of what is said here, its numbers by name and identity.
        self._identified: tuple[object, dict[str, dict[int, list[int]]]] = (None, {})
        # By identity of a block, what its alternative takes of each comparison, with its number.
        self._taken_of: dict[int, Mapping[int, list[tuple[int, Expression]]]] = {}
        self._in_terms: set[int] = set()  # by identity, of what is said as part of an expression
        self._places: Sequence[PropertyPlace]
        self._items: Sequence[Property]  # at these places
        self._blocks: dict[int, Mapping[str, list[int]]]  # numbers of places by block and name
        self._fates: dict[int, Fate]  # by identity, of what is not held as it is
        # By identity of a comparison of a request, the terms that it is in its alternative, where
        # it is another there, as under Not.
        self._terms: Mapping[int, list[Property]] = {}
        self._negated: Container[int] = ()  # by identity, of comparisons that stand under Not
        # By identity of a block with alternatives, the one that is written.
        self._chosen: Mapping[int, Alternative] = {}
        # What the only task group says for its job: the names, and where they stand.
        self._adopted: tuple[frozenset[str], Scope] | None = None
        self._chosen_from: Container[int] = ()  # by identity, of choices of the only task group
        self._shared = SEVERAL  # of these names, those by which what the job says counts as well
        # Of an Environment, by its number, what its only group says another value of.
        self._overruled: dict[int, dict[str, str]] = {}
        self._here: Mapping[str, list[int]]
        self.once: frozenset[str] = frozenset()
        self.known_outline = outline
        if outline is None:
            found = _Survey(job, scope, unstated, overridden)
            self._places, self._items, self._fates = found.places, found.items, found.fates
            self._blocks, self._chosen = {**found.blocks}, found.chosen
            self._terms, self._negated = found.terms, found.negated
            self.sets_aside = found.sets_aside
            self._here = self._blocks.get(id(job), {})
            groups = job.asking_groups
            limits = self._adopt(groups[0]) if len(groups) == 1 else frozenset()
            self.names = frozenset(self._here) | limits
        else:
            self._places, self._items = outline.places, items
            self._here, self.names, self.once = outline.here, outline.names, outline.once
            self._blocks = {id(job): outline.here}
            self._fates = dict.fromkeys(map(id, items), _NONE)
            for number in outline.told:
                self._fates.pop(id(items[number]), None)

    # decisions 955, 984
    def _adopt(self, group: TaskGroup) -> frozenset[str]:
        """Let what the only task group says be said by the job.

        Where the job says another of it, the group's counts, but for what there may be several of,
        and for what it only wishes. Gives what rules of their own take of the group.
        """
        theirs = self._blocks.get(id(group), {})
        self._chosen_from = {
            id(each.item)
            for part in expression.opened(Scope(group, "").demands)
            if not isinstance(part, Comparison) for each in comparisons(part)
        }  # fmt: skip
        wished = frozenset(self._here.keys() & theirs.keys() - names_said(group)) - SEVERAL
        several = wished.union(theirs.keys() & SEVERAL)
        adopted = of_only_group(theirs.keys() - (FACTS - _DESCRIBING)) | several
        if adopted:
            here = {**self._here}
            for name in adopted:
                own = self._here.get(name, ())
                if name == _RESOURCE:
                    here[name] = [*own, *theirs[name]]
                elif name == "Environment":
                    here[name] = [*self._environments(own, theirs[name]), *theirs[name]]
                elif name == "Extension":
                    said = self._but_of_arrays(theirs[name])
                    here[name] = [*self._extensions(own, said), *said]
                elif name in several:
                    here[name] = [*self._others(own, theirs[name]), *theirs[name]]
                else:
                    here[name] = theirs[name]
                    self._overrule(own, theirs[name])
            self._here = here
            scope = self.scope.of_group(group, "/Job/TaskGroup")
            self._adopted, self._shared = (adopted, scope), several
        return _OF_GROUPS & theirs.keys()

    def _environments(self, own: Iterable[int], theirs: Iterable[int]) -> Iterator[int]:
        """Environments of a job without the variables that its only group says, too."""
        others = [self._items[number] for number in theirs]
        items = list(self._items)
        for number in own:
            item, left = items[number], without_said(items[number], others)
            self._overruled[number] = differing(item, others)
            fate = self._fates.pop(id(item), None)
            if left.children or left.attributes or stripped(left.text):
                items[number] = left
                if fate is not None:
                    self._fates[id(left)] = fate
                yield number
        self._items = items

    def _but_of_arrays(self, numbers: Iterable[int]) -> list[int]:
        """Extensions of a group, without those that say which array it is, and how that was read.

        An array is the group itself, and is made one of its job before anything is asked.
        """
        items = {number: self._items[number] for number in numbers}
        arrays = {number for number, item in items.items() if _which(item)[0] == ARRAY}
        return [
            number for number, item in items.items()
            if number not in arrays and not (arrays and _is_option(item))
        ]  # fmt: skip

    def _extensions(self, own: Iterable[int], theirs: Iterable[int]) -> Iterator[int]:
        """Extensions of a job, but for those of which its only group says another.

        Of options of a script that are kept as they are there may be several with one name.
        """
        said = {_which(self._items[number]) for number in theirs}
        for number in self._others(own, theirs):
            item = self._items[number]
            if _which(item) not in said or _is_option(item):
                yield number
            elif id(item) in self._fates:
                self.refuse(item, OVERRIDDEN)

    def _overrule(self, own: Iterable[int], theirs: Iterable[int]) -> None:
        """Tell of what a job says where its only group says another; the same is told once."""
        for number in self._others(own, theirs):
            item = self._items[number]
            if id(item) in self._fates:
                self.refuse(item, OVERRIDDEN)

    def _others(self, own: Iterable[int], theirs: Iterable[int]) -> Iterator[int]:
        """What a job says that its only group does not say as well: the same counts once.

        What the group says in one of several alternatives it does not say for its job.
        """
        every = [self._items[number] for number in theirs]
        said = {_saying(item) for item in every if id(item) not in self._chosen_from}
        for number in own:
            if _saying(self._items[number]) in said:
                self._fates.pop(id(self._items[number]), None)
            else:
                yield number

    @property
    def has_unread_group(self) -> bool:
        """Whether a task group has a request that cannot be read, or that nothing satisfies.

        What is not understood of it is judged by awarenessPolicy, and no part of that.
        """
        every = () if self._alone else self.job.asking_groups
        if all(id(group) in self._chosen or not group.requested for group in every):
            return False
        understood = (each for each in self.scope.block.blocks(TaskGroup) if not each.is_step)
        return any(each.requested and Scope(each, "").chosen is None for each in understood)

    def required(self, found: Iterable[Finding]) -> None:
        """Raise ``InvalidValue`` for a request that cannot be read: it asks for nothing.

        ``found`` is what its scope has reported.
        """
        if (self.scope.mentioned and self.scope.chosen is None) or self.has_unread_group:
            errors = (item.message for item in found if item.severity is Severity.ERROR)
            why = next(errors, "its request cannot be read")
            raise InvalidValue(self.job.id, f"a job that can be written: {why}")

    def scope_of(self, name: str) -> Scope:
        """The scope of whoever says something by a name: of the job, its only group, or a group."""
        if self.owner is self.job:
            is_theirs = self._adopted is not None and name in self._adopted[0] - self._shared
            return self._adopted[1] if self._adopted and is_theirs else self.scope
        return self.scope.job if name not in self.names and self.scope.job else self.scope

    def outline(self) -> Outline:
        """Where its properties stand, while nothing is taken yet."""
        told = (number for number, item in enumerate(self._items) if id(item) not in self._fates)
        once = frozenset(() if "Extension" in self.names else self._once())
        counts = (number for name in LAID_OUT for number in self._here.get(name, ()))
        return Outline(
            tuple(self._places), self._here, self.names, tuple(told), once, tuple(counts), {}
        )

    def _once(self) -> Iterator[str]:
        """What a job says by no more than one text, or by variables.

        There is none in a job with an Extension, which may be any option.
        """
        for name, numbers in self._here.items():
            item = self._items[numbers[0]]
            inside = all(map(_is_variable, item.children)) and name == "Environment"
            alone = len(numbers) == 1 and not self._places[numbers[0]].requested
            if alone and not item.attributes and (inside or not item.children):
                yield name

    @property
    def texts_of_counts(self) -> tuple[object, ...]:
        """What a job whose outline is known says of what layouts are made of."""
        assert self.known_outline is not None
        return tuple([self._items[number].text for number in self.known_outline.counts])

    @property
    def over(self) -> bool:
        """Whether the job has run, so that its own amounts are those that it used."""
        return self.ended or (self._has_delivered and not self.said("State"))

    # decision 1194
    @property
    def has_used(self) -> bool:
        """Whether amounts outside of a request are those that the job used: ``offer.outside``."""
        return self.over and requests(self.job)

    # decision 1160
    @cached_property
    def ended(self) -> bool:
        """Whether the job has ended, so that nobody runs it again; of what was delivered, not."""
        return has_ended(self.said)

    @cached_property
    def _has_delivered(self) -> bool:
        return bool(self.job.delivered)

    def groups(self) -> list[JobRequest]:
        """The same for each task group: what is taken there is taken here."""
        views: list[JobRequest] = []
        if self._alone:
            return views
        for group in self.job.asking_groups:
            view = copy(self)
            view.owner = group
            view._here = self._blocks.get(id(group), {})
            view.names = frozenset(view._here)
            view.scope = self.scope.of_group(group, "/Job/TaskGroup")
            views.append(view)
        return views

    def take(self, name: str, *held: str) -> list[Property]:
        """Take what the job itself says by a name, and what is requested to be equal to it.

        ``held`` are the attributes that are taken as well.
        """
        return self._taken(name, held, lambda place: place.plain)

    def take_bounds(self, name: str, *held: str) -> list[Property]:
        """The same, with what is requested to be more or less than it."""
        return self._taken(name, held, lambda place: place.bounded)

    def _taken(
        self, name: str, held: Container[str], fits: Callable[[PropertyPlace], bool]
    ) -> list[Property]:
        found: list[Property] = []
        for number in self._here.get(name, ()):
            place, item = self._places[number], self._items[number]
            if not fits(place) or id(item) in self._in_terms:
                continue
            found.append(item)
            self._fates.pop(id(item), None)
            for key in item.attributes:
                if key in held or key == _POLICY:
                    continue
                if not place.requested and key in _LOGIC:
                    self.refuse(item, _ONLY_REQUESTED, key)
                elif key not in _LOGIC:
                    self.refuse(item, NO_OPTION, key)
        return found

    def verbatim(self, rows: Iterable[tuple[str, Verbatim]]) -> list[tuple[str, str]] | None:
        """Take properties that are said ``once``, as options; None if one is another kind of text.

        The same is made of all texts of a kind, so that nothing else is asked of them.
        """
        found: list[tuple[str, str]] = []
        fates: list[tuple[int, Fate | None]] = []
        for name, (option, is_plain, head, fate) in rows:
            item = self._items[self._here[name][0]]
            if is_plain(item.text) is None:
                return None
            found.append((option, head + item.text))
            fates.append((id(item), fate))
        for number, fate in fates:
            if fate is None:
                self._fates.pop(number, None)
            else:
                self._fates[number] = fate
        return found

    def one(self, name: str, *held: str) -> Property | None:
        """Take the first of them; another that says something else is not carried."""
        numbers = self._here.get(name)
        if numbers is None:
            return None
        if len(numbers) == 1 and not self._in_terms:  # as most are
            item = self._items[numbers[0]]
            if not item.attributes and self._places[numbers[0]].plain:
                self._fates.pop(id(item), None)
                return item
        found = self.take(name, *held)
        if len(found) == 1:
            return found[0]
        for item in found[1:]:
            if stripped(item.text) != stripped(found[0].text):
                self.refuse(item, f"{stripped(found[0].text)!r} is asked for as well")
        return found[0] if found else None

    def amounts(self, names: frozenset[str], in_groups: frozenset[str]) -> None:
        """Take amounts of the job and of its task groups, of which numbers are made."""
        for place, item in zip(self._places, self._items, strict=True):
            if place.bounded and item.name in (names if place.own else in_groups):
                self._take_amount(place, item)

    def bounds(self, name: str) -> Interval | None:
        """Take an amount of the job: the whole numbers that it may be; in bytes, or seconds.

        What is requested comes first. What the job says of itself counts until it has ended, and
        then only if nothing is requested at all. None where it says nothing.
        """
        numbers = self._here.get(name)
        if numbers is None:
            return None
        if len(numbers) == 1:  # as most are
            place, item = self._places[numbers[0]], self._items[numbers[0]]
            if place.requested and place.bounded and not place.fact:
                self._take_amount(place, item)
                return self._requested(name, [item])
        found = self._named(name)
        requested = [item for place, item in found if place.requested]
        if requested:
            for place, item in found:
                if place.requested and place.bounded:
                    self._take_amount(place, item)
            return self._requested(name, requested)
        for place, item in found:
            if self.has_used:
                break
            if not expression.asks(item):
                continue
            self._take_amount(place, item)
            if not is_of_job(item):
                continue  # as where it is requested
            try:
                value = expression.amount(item)
            except InvalidValue as error:
                self.refuse(item, str(error))
                continue
            return Interval(value, value).integers()
        return None

    def mine(self, name: str, kind: str) -> list[Property]:
        """Take what the job itself says by a name, of one type."""
        if name not in self._here:
            return []
        found = [
            item
            for place, item in self._of(name)
            if not place.requested and item.said("type") == kind
        ]
        for item in found:
            if id(item) not in self._refused:  # what one rule refused is not taken by another
                self._fates.pop(id(item), None)
            self._unknown(item)
        return found

    def own(self, *names: str) -> list[Property]:
        """Take what the job itself says by some names, outside of its request."""
        found = [
            item for place, item in self._all_of(names) if not place.requested and not place.fact
        ]
        self.hold(found)
        return found

    # decision 1031
    def hold(self, items: Iterable[Property]) -> None:
        """Take these very properties wherever they stand, alternatives and wishes included.

        Of a request each is taken with what it is in its alternative; another comparison of the
        same name and text is none of them.
        """
        for each in self._with_terms(items):
            for number in self._here_by_identity(each.name).get(id(each), ()):
                self._fates.pop(id(each), None)
                if not self._places[number].requested:
                    self._unknown(each)

    def _here_by_identity(self, name: str) -> Mapping[int, list[int]]:
        """The numbers of what the job, or the task group, says by a name, by its identity."""
        here, by_name = self._identified
        if here is not self._here:
            by_name = {}
            self._identified = self._here, by_name
        if (numbers := by_name.get(name)) is None:
            numbers = by_name[name] = {}
            for number in self._here.get(name, ()):
                numbers.setdefault(id(self._items[number]), []).append(number)
        return numbers

    def binding(self, item: Property) -> tuple[AwarenessPolicy, bool]:
        """The awarenessPolicy at a property, and whether it binds nobody, as a wish does."""
        numbers = self._numbers()
        known = [id(each) for each in self._with_terms((item,))]
        found = [numbers[each] for each in known if each in numbers]
        if found:
            place = self._places[min(found)]
            return place.policy, place.fact
        return binding(item, (self.job,), self.unstated)

    def _numbers(self) -> Mapping[int, int]:
        """The numbers of items by their identity; where one stands twice, that of the first."""
        items, numbers = self._numbered
        if items is not self._items:
            numbers = {}
            for number, item in enumerate(self._items):
                numbers.setdefault(id(item), number)
            self._numbered = self._items, numbers
        return numbers

    def _with_terms(self, items: Iterable[Property]) -> Iterator[Property]:
        for item in items:
            yield item
            yield from self._terms.get(id(item), ())

    def _unknown(self, item: Property) -> None:
        """Attributes that nobody knows are lost, as an element that nobody knows is."""
        for key in item.attributes:
            if key not in spec.attributes(item.name):
                self.refuse(item, NO_OPTION, key)

    def demands(self) -> tuple[Expression, ...]:
        """The parts of the request that all have to hold, of what is understood of the owner."""
        return self._of_both(lambda scope: scope.demands)

    def conjuncts(self) -> tuple[Expression, ...]:
        """The same with all alternatives, and what is not understood.

        Raises ``InvalidValue``, ``LimitExceeded`` and ``UnbalancedGroup`` for what is no request.
        """
        return self._of_both(lambda scope: scope.conjuncts)

    # decision 1025
    def chosen(self, part: Expression) -> tuple[Expression, ...]:
        """What the alternative that is written takes of a part of the request, all of which holds.

        These are the terms of its branches, and the wishes in them; of what has none, the part.
        """
        if isinstance(part, Comparison | Wish):
            return (part,)
        inside = identities((part,))
        blocks = [self.owner]
        if self._adopted is not None and self.owner is self.job:
            blocks.append(self._adopted[1].block)
        found: list[Expression] = []
        for block in blocks:
            taken = self._taken_by_identity(block)
            here = [each for item in inside for each in taken.get(item, ())]
            found += (each for _, each in sorted(here, key=itemgetter(0)))
        return tuple(found)

    def _taken_by_identity(self, block: Block) -> Mapping[int, list[tuple[int, Expression]]]:
        """What the alternative of a block takes, by the comparison that it is or begins with."""
        if (taken := self._taken_of.get(id(block))) is not None:
            return taken
        taken = self._taken_of[id(block)] = {}
        if (alternative := self._chosen.get(id(block))) is not None:
            terms = ((id(asked.item), term) for term, asked in alternative.asked)
            wishes = ((id(wish.members[0].item), wish) for wish in alternative.wished)
            for number, (item, each) in enumerate(itertools.chain(terms, wishes)):
                taken.setdefault(item, []).append((number, each))
        return taken

    def _of_both(
        self, parts: Callable[[Scope], Iterable[Expression]]
    ) -> tuple[Expression, ...]:  # fmt: skip
        """Parts of the request of the owner, and of the only group where it is the job."""
        own = parts(self.scope)
        if self._adopted is None or self.owner is not self.job:
            return tuple(own)
        names, scope = self._adopted
        # Of what is about amounts of the group, too, the alternative that is written.
        theirs = [part for part in parts(scope) if not names.isdisjoint(_names(part))]
        return together(tuple(own), theirs, names - self._shared).parts

    def take_terms(self, part: Expression) -> None:
        """Take a part of the request as a whole, so that nobody takes anything in it alone."""
        found = [each.item for whole in (part, *self.chosen(part)) for each in comparisons(whole)]
        self.hold(found)
        self._in_terms.update(map(id, self._with_terms(found)))

    def everything(self) -> None:
        """Take all that a job says, for a target that has a place for whatever there is."""
        self.holds_everything = True
        self._fates.clear()
        self._attributes.clear()
        self._overruled.clear()

    def fact(self, name: str) -> None:
        """Let what the job itself says by a name be a fact, which asks for nothing."""
        numbers = [number for named in self._blocks.values() for number in named.get(name, ())]
        if numbers:
            places = list(self._places)
            for number in numbers:
                if not places[number].requested:
                    places[number] = places[number]._replace(fact=True)
            self._places = places

    def said(self, name: str) -> str:
        """The stripped text of what the job itself says by a name, taken or not."""
        named = self._here if self.owner is self.job else self._blocks.get(id(self.job), {})
        for number in named.get(name, ()):
            if not self._places[number].requested:
                return stripped(self._items[number].text)
        return ""

    def items(self, *names: str) -> list[Property]:
        """What the job itself says and requests by some names, taken or not."""
        return [item for _, item in self._all_of(names)]

    def tell_conflicts(self) -> None:
        """Tell of what is written and cannot hold together: there is no other alternative."""
        for found in self.conflicts():
            for each in (inner for term in found for inner in comparisons(term)):
                self._other_value(each.item, shown(found), Done.CONVERTED)

    def conflicts(self) -> Iterator[tuple[Term, ...]]:
        """What cannot hold together in the alternatives that are written, of several groups each.

        Those of a job and its only task group are one.
        """
        scope = self.scope
        is_one = self._alone or not self.job.asking_groups or scope.is_one
        if is_one and scope.is_said_twice and scope.choice is not None:
            yield scope.contradiction
        else:
            yield from map(conflict, self._chosen.values())

    def demanding(self, name: str) -> list[Property]:
        """What says something by a name, taken or not, apart from what binds nobody."""
        return [item for _, item in self._named(name)]

    # decision 1036
    def excluded(self, name: str) -> list[Term]:
        """What demands of a property not to be something."""
        return self._excluding(self._here, name)

    def unsaid(self, name: str) -> list[Term]:
        """What of it nobody took, of a job what its task groups demand as well."""
        blocks = [self._here]
        if self.owner is self.job and not self._alone:
            blocks += (self._blocks.get(id(group), {}) for group in self.job.asking_groups)
        return [
            term
            for term in (each for block in blocks for each in self._excluding(block, name))
            if all(id(each.item) in self._fates for each in comparisons(term))
        ]

    def _excluding(self, block: Mapping[str, list[int]], name: str) -> list[Term]:
        found: list[Term] = []
        for number in block.get(name, ()):
            place, item = self._places[number], self._items[number]
            if place.requested and not place.plain and not place.fact:
                compared = Comparison(item)
                term: Term = Not(compared) if id(item) in self._negated else compared
                found += [term] if asked_names(term).is_excluding else []
        return found

    def demanded(self, name: str) -> frozenset[str]:
        """The names that all of its alternatives demand, and that are written."""
        return frozenset(
            text
            for part in self.demands()
            if isinstance(part, Comparison) and part.item.name == name
            and id(part.item) not in self._fates
            for texts in asked_names(part).demanded if len(texts) == 1
            for text in texts
        )  # fmt: skip

    def says(self, name: str) -> bool:
        """Whether the job itself says something by a name, and not in another alternative alone."""
        return bool(self._named(name))

    def asks(self, name: str) -> bool:
        """Whether the job itself says an amount that counts, as ``bounds`` takes it."""
        found = self._named(name)
        if not any(place.requested for place, _ in found):
            return bool(found) and not self.has_used
        try:
            return self.scope_of(name).wanted(name).bounded
        except InvalidValue:
            return False

    def refuse(self, item: Property, reason: str, attribute: str = "") -> None:
        """Say of what was taken that it is not carried after all, and why."""
        if attribute:
            self._attributes[id(item), attribute] = reason
            return
        for each in self._with_terms((item,)):
            self._fates[id(each)] = Fate(reason)
            self._refused.add(id(each))

    def approximate(
        self, name: str, reason: str, done: Done = Done.APPROXIMATED, *, met: bool = True,
        where: Callable[[Property], bool] | None = None,
    ) -> None:  # fmt: skip
        """Say of all that was taken by a name, ``where`` it is meant, that it is another value.

        ``met``: that one fulfils what is asked for, too.
        """
        for item in self._sayings(name):
            if where is None or where(item):
                self._other_value(item, reason, done, met=met)

    def _other_value(self, item: Property, reason: str, done: Done, *, met: bool = True) -> None:
        fate = self._fates.get(id(item))
        if fate is None:
            self._fates[id(item)] = Fate(reason, done, met)
        elif fate.done is not None and reason not in fate.reason.split("; "):
            told = fate.done if done is Done.CONVERTED else done
            self._fates[id(item)] = Fate(f"{fate.reason}; {reason}", told, fate.met and met)

    def convert(self, name: str, how: str, where: Callable[[Property], bool] | None = None) -> None:
        """Say of what was taken by a name by which arithmetic it is another number there."""
        self.approximate(name, how, Done.CONVERTED, where=where)

    def leave(self, name: str, reason: str) -> None:
        """Say that nothing of what is said by a name is carried after all, and why."""
        for item in self._sayings(name):
            self.refuse(item, reason)

    def losses(self, target: str, *, kept: bool = False) -> Iterator[Loss]:
        """What is not held as it is, in document order; ``kept`` if a residual holds it."""
        if not self._fates and not self._attributes and not self._overruled:
            return
        otherwise = Done.RESIDUAL if kept else Done.DROPPED
        job, of_group = self.said("Id"), self._of_groups()
        for number, (place, item) in enumerate(zip(self._places, self._items, strict=True)):
            for name, value in self._overruled.get(number, {}).items():
                yield Loss(
                    f"{place.path}/{name}", value, target, OVERRIDDEN, otherwise, place.policy,
                    place.fact, item.line, job, f"{name.lstrip('@')} of Environment",
                )  # fmt: skip
            fate = self._fates.get(id(item))
            if fate is None and not self._attributes:
                continue
            if fate is not None:
                yield Loss(
                    place.path, stripped(item.text), target, fate.reason, fate.done or otherwise,
                    place.policy, place.fact, item.line, job,
                    f"{_shown(item)}{of_group.get(number, '')}", fate.met, place.asked,
                )  # fmt: skip
                if fate.done is None:  # with all its attributes
                    continue
            for key in item.attributes if self._attributes else ():
                if reason := self._attributes.get((id(item), key), ""):
                    value = item.attributes[key]
                    what = f"{key}={value[:SHOWN]!r} of {item.name}"
                    yield Loss(
                        f"{place.path}/@{key}", value, target, reason, otherwise, place.policy,
                        place.fact, item.line, job, what, asked=place.asked,
                    )  # fmt: skip

    def _of_groups(self) -> dict[int, str]:
        """Which of several task groups says something, as sentences have it."""
        groups = self.job.asking_groups
        if self._alone or len(groups) < 2:
            return {}
        return {
            number: f" of task group {place}"
            for place, group in enumerate(groups, 1)
            for numbers in self._blocks.get(id(group), {}).values()
            for number in numbers
        }

    def _sayings(self, name: str) -> list[Property]:
        """What says something by a name: in the job, or else in its task groups.

        What the groups come to is an amount of the job, also where they say another than it.
        """
        places, numbers = self._places, self._here.get(name, ())
        found = [self._items[number] for number in numbers if not places[number].fact]
        if self._alone or self.owner is not self.job or not all(map(self._is_refused, found)):
            return found
        blocks = [self._blocks.get(id(group), {}) for group in self.job.asking_groups]
        numbers = [number for named in blocks for number in named.get(name, ())]
        return [self._items[number] for number in numbers if not places[number].fact]

    def is_told(self, names: Iterable[str]) -> bool:
        """Whether it is told, of something said by these names, that it is not what is written."""
        fates = [self._fates.get(id(item)) for name in names for item in self._sayings(name)]
        return any(fate is not None and (fate.done is None or not fate.met) for fate in fates)

    @property
    def has_groups(self) -> bool:
        """Whether the job has task groups, steps included."""
        return not self._alone and bool(self.job.task_groups)

    def _is_refused(self, item: Property) -> bool:
        fate = self._fates.get(id(item))
        return fate is not None and fate.done is None

    def _named(self, name: str) -> list[tuple[PropertyPlace, Property]]:
        return [found for found in self._of(name) if not found[0].fact]

    def _of(self, name: str) -> list[tuple[PropertyPlace, Property]]:
        """Where the job, or the task group, says something by a name."""
        return [(self._places[number], self._items[number]) for number in self._here.get(name, ())]

    def _all_of(self, names: Iterable[str]) -> list[tuple[PropertyPlace, Property]]:
        """Where the job, or the task group, says something by any of some names."""
        numbers = [number for name in {*names} for number in self._here.get(name, ())]
        return [(self._places[number], self._items[number]) for number in sorted(numbers)]

    def _requested(self, name: str, items: list[Property]) -> Interval | None:
        try:
            found = self.scope_of(name).wanted(name)
        except InvalidValue as error:
            for item in items:
                self.refuse(item, str(error))
            return None
        return found if found.bounded else None

    def _take_amount(self, place: PropertyPlace, item: Property) -> None:
        self._fates.pop(id(item), None)
        for key, text in item.attributes.items() if item.attributes else ():
            if key in _LOGIC and not place.requested:
                self.refuse(item, _ONLY_REQUESTED, key)
            elif key not in _OF_AMOUNTS and text not in _PLAIN.get(key, ()):
                self.refuse(item, NO_OPTION, key)


class _Survey:
    """The properties of a job, each with its place, and what becomes of it while nobody takes it.

    ``blocks`` has the numbers of places by the identity of a block, and by name.
    """

    def __init__(
        self, job: Job, scope: Scope, unstated: AwarenessPolicy, overridden: Iterable[Property]
    ) -> None:  # fmt: skip
        self.sets_aside = False  # something outside of Requested, as Requested speaks of it
        self.places: list[PropertyPlace] = []
        self.items: list[Property] = []
        self.blocks: dict[int, dict[str, list[int]]] = {}
        self.fates: dict[int, Fate] = {}
        self.chosen: dict[int, Alternative] = {}
        self.terms: dict[int, list[Property]] = {}  # by comparisons, where they are another
        self.negated: set[int] = set()  # by identity, of comparisons under Not
        self._job = job
        self._overridden = frozenset(map(_kind, overridden))
        self._block(job, scope, unstated)

    def _put(self, place: PropertyPlace, item: Property, owner: Block, fate: Fate) -> None:
        named = self.blocks.setdefault(id(owner), {})
        named.setdefault(item.name, []).append(len(self.places))
        self.places.append(place)
        self.items.append(item)
        self.fates[id(item)] = fate

    def _block(
        self, block: Block, scope: Scope | None, policy: AwarenessPolicy, path: str = ""
    ) -> None:
        policy = AwarenessPolicy.at(block.attributes, policy)
        path = f"{path}/{block.name}"
        asks, known = False, dict[int, Property]()
        for item in block.items:
            if isinstance(item, Property):
                self._add(item, path, policy, block)
            elif isinstance(item, TaskGroup):
                heard = unheard if scope is None else scope.report
                at = f"{path}/TaskGroup"
                inner = Scope(item, at, heard) if scope is None else scope.of_group(item, at, heard)
                self._block(item, inner, policy, path)
            elif isinstance(item, Requested):
                if not asks:  # the scope speaks of all such blocks together
                    asks = self._request(block, scope, policy, f"{path}/Requested")
                    known = _as_known(block, scope)
                self._others(item, block, scope, known, policy, f"{path}/Requested")
            elif type(item) is Delivered:
                self._facts(item, policy, path)
            elif isinstance(item, Block):
                self._block(item, None, policy, path)
        if asks:
            self._set_aside(block, self.blocks.get(id(block), {}))
        if scope is not None:
            self._leave(self.blocks.get(id(block), {}), scope.uncounted)
        if block is self._job and self._overridden:
            self._bind_nobody(self.blocks.get(id(block), {}))

    # decisions 1168, 1171
    def _leave(self, named: dict[str, list[int]], uncounted: Mapping[int, str]) -> None:
        """Let what counts for nothing beside the other of a job and its only group be a loss."""
        for number in [each for numbers in named.values() for each in numbers] if uncounted else ():
            item, place = self.items[number], self.places[number]
            # Of what a job says outside of its request it is told where that of its group is taken.
            is_told = self.blocks.get(id(self._job)) is named and not place.requested
            if id(item) in uncounted and not is_told and not place.fact:
                self.places[number] = place._replace(plain=False, bounded=False)
                self.fates[id(item)] = Fate(uncounted[id(item)])
                named[item.name].remove(number)
                if not named[item.name]:
                    del named[item.name]

    # decision 1110
    def _bind_nobody(self, named: dict[str, list[int]]) -> None:
        """Let what stands outside of Requested, and each task group says another of, be a fact."""
        for name in {name for name, _, _ in self._overridden} & named.keys():
            for number in [*named[name]]:
                item, place = self.items[number], self.places[number]
                if not place.requested and _kind(item) in self._overridden:
                    self.places[number] = place._replace(fact=True, overridden=True)
                    self.fates[id(item)] = Fate(OVERRIDDEN_BY_ALL)
                    named[name].remove(number)

    # decisions 1022, 1024
    def _set_aside(self, block: Block, named: dict[str, list[int]]) -> None:
        """Let what a block says outside of Requested count for nothing where Requested speaks."""
        places, items = self.places, self.items
        both = any(
            len({places[number].requested for number in named[name]}) > 1
            for name in SPOKEN_OF & named.keys()
        )
        for item, is_another in passed_over(block) if both else ():
            number = next(each for each in named[item.name] if items[each] is item)
            self.sets_aside = True
            places[number] = places[number]._replace(plain=False, bounded=False)
            named[item.name].remove(number)
            if is_another:
                self.fates[id(item)] = Fate(OTHERWISE)
            else:
                del self.fates[id(item)]

    def _facts(self, block: Delivered, policy: AwarenessPolicy, path: str) -> None:
        """What a job was given asks for nothing."""
        policy = AwarenessPolicy.at(block.attributes, policy)
        for item in block.properties:
            own = AwarenessPolicy.at(item.attributes, policy)
            here = f"{path}/Delivered/{item.name}"
            place = PropertyPlace(here, own, False, False, False, fact=True)
            self._put(place, item, block, _NONE)

    def _request(
        self, owner: Block, scope: Scope | None, policy: AwarenessPolicy, path: str
    ) -> bool:
        chosen = scope.chosen if scope is not None else None
        if chosen is not None:
            self.chosen[id(owner)] = chosen
        block = scope.block if scope is not None else owner  # whose comparisons are chosen from
        policies = {
            id(item): AwarenessPolicy.at(each.attributes, policy)
            for each in block.blocks(Requested)
            if _POLICY in each.attributes
            for item in each.properties
        }
        for term, asked in chosen.asked if chosen is not None else ():
            for found in comparisons(term):
                plain = isinstance(term, Comparison) and found.op == "EQ"
                # Numbers are made of the TaskCount that stands outside of the request.
                none = "EQ" if isinstance(term, Not) else "NE"
                bounded = found.op not in (none, "Match") and found.item.name != "TaskCount"
                own = policies.get(id(asked.item), policy)
                self._add(found.item, path, own, owner, plain, bounded, True)
                if isinstance(term, Not):
                    self.negated.add(id(found.item))
                if found.item is not asked.item:
                    self.terms.setdefault(id(asked.item), []).append(found.item)
        return True

    def _others(
        self,
        block: Requested,
        owner: Block,
        scope: Scope | None,
        known: Mapping[int, Property],
        policy: AwarenessPolicy,
        path: str,
    ) -> None:
        """What binds nobody: wishes, and what only other alternatives ask for.

        ``known`` has by identity what its scope has in the place of a property.
        """
        policy = AwarenessPolicy.at(block.attributes, policy)
        for said in block.properties:
            item = known.get(id(said), said)
            if id(item) in self.fates or id(item) in self.terms:
                continue
            wish = expression.is_wish(item)
            is_known = item.name in spec.properties(spec.REQUESTED)
            fact = scope is not None and (wish or is_known)
            reason = _WISH if wish else NO_OPTION
            if scope is not None and fact and not wish:
                fact, reason = id(item) not in scope.uncounted, _OTHER
            if owner is self._job and _kind(item) in self._overridden:
                reason = OVERRIDDEN_BY_ALL
            own = AwarenessPolicy.at(item.attributes, policy)
            is_own = owner is self._job
            place = PropertyPlace(f"{path}/{item.name}", own, is_own, False, False, True, fact)
            self._put(place, item, owner, Fate(reason))

    def _whose(self, owner: Block) -> str:
        """What keeps options from saying it, too: that it is of one of several task groups."""
        is_of_one = isinstance(owner, TaskGroup) and len(self._job.asking_groups) > 1
        return ", of one of several task groups" if is_of_one else ""

    def _add(
        self, item: Property, path: str, policy: AwarenessPolicy, owner: Block, plain: bool = True,
        bounded: bool = True, requested: bool = False,
    ) -> None:  # fmt: skip
        name, attributes = item.name, item.attributes
        fact = name in FACTS and not requested
        if name == "Extension":
            fact = attributes.get("type") in TOLD
        elif name == "Name":
            fact = owner is not self._job  # it is called so: a group, or a task
        if attributes:
            policy = AwarenessPolicy.at(item.attributes, policy)
        own = owner is self._job
        place = PropertyPlace(f"{path}/{name}", policy, own, plain, bounded, requested, fact)
        fate = _UNREAD if _is_option(item) else _NONE
        if not plain and not (bounded and name in _BOUNDED):
            fate = Fate(f"compared by {item.said('op', 'Not')}{self._whose(owner)}")
        self._put(place, item, owner, fate)
        if name == "Extension" and _is_order(item):
            del self.fates[id(item)]


def _as_known(block: Block, scope: Scope | None) -> dict[int, Property]:
    """By identity of what a block requests, what its scope has of it, without unknown words.

    That is in another order and with other signs where an element is not understood.
    """
    found: dict[int, Property] = {}
    if scope is None or scope.block is block:
        return found
    waiting: dict[tuple[str, str, bool], list[Property]] = {}
    for item in scope.block.requested:
        waiting.setdefault(_kind(item), []).append(item)
    for item in block.requested:
        if same := waiting.get(_kind(item)):
            found[id(item)] = same.pop(0)
    return found


def _kind(item: Property) -> tuple[str, str, bool]:
    return item.name, item.text, expression.is_wish(item)


def _names(part: Expression) -> set[str]:
    return {each.item.name for each in comparisons(part)}


def _saying(item: Property) -> tuple[object, ...]:
    """What a property says, apart from where it stands."""
    inner = tuple([_saying(each) for each in item.children if isinstance(each, Property)])
    return item.name, stripped(item.text), frozenset(item.attributes.items()), inner


def _which(item: Property) -> tuple[str, str]:
    """Which of several Extensions it is."""
    return item.said("type"), item.attributes.get("name", "")


def binding(
    item: Property, around: Iterable[Block], unstated: AwarenessPolicy
) -> tuple[AwarenessPolicy, bool]:
    """The awarenessPolicy at a property by the blocks around it, and whether it binds nobody.

    ``around`` are these from the outermost on; ``unstated`` is the policy where none is said.
    """
    policy = unstated
    for each in around:
        policy = AwarenessPolicy.at(each.attributes, policy)
    return AwarenessPolicy.at(item.attributes, policy), expression.is_wish(item)


def _is_order(item: Property) -> bool:
    """Whether an Extension is the order of the options of a system that there is."""
    attributes = item.attributes
    return attributes.get("name") == ORDER and attributes.get("type") in registry.all_targets()


def _is_option(item: Property) -> bool:
    """Whether an item is an option of a script, kept as it is."""
    return item.name == "Extension" and item.attributes.get("name", "").startswith("-")


def _is_variable(item: Property | Note) -> bool:
    if isinstance(item, Note) or item.name != "Variable":
        return False
    return item.attributes.keys() == {"name"}


def _variables(item: Property) -> Iterator[str]:
    """The names of the variables of an Environment."""
    return (each.attributes.get("name", "") for each in item.children if isinstance(each, Property))


def _shown(item: Property) -> str:
    name = item.attributes.get("name", "")[:SHOWN]
    text = f" {stripped(item.text)[:SHOWN]!r}" if stripped(item.text) else ""
    if item.name == "Environment" and item.children:
        name = ", ".join(_variables(item))[:SHOWN]
    if _is_option(item):
        return f"{name}{text} of {item.attributes.get('type', '')[:SHOWN]}"
    return f"{item.name}{f' {name}' if name else ''}{text}"
