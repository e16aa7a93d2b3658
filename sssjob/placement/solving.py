"""Placement by CP-SAT of OR-tools (``sssjob[place]``): exact, for what is small enough.

Strategy. A whole number for each part, node and option says how many tasks run there. Three
questions are asked one after the other: the best score; with that, the fewest nodes; with those,
the earliest nodes. Of nodes that nothing tells apart no more are looked at than can be used.

One worker, a fixed seed, and limits in deterministic steps: the same problem has the same answer on
every machine, however busy. Where a limit ends the search, the best so far is not proved.

Why it is right: the numbers are those of ``problem``, which no fraction rounds. An answer is proved
only where the solver has shown that there is none better, and it is a bound of the next question.
Nodes that nothing tells apart can exchange their tasks, so that leaving out some loses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from sssjob.placement.problem import BestSolution, On, PlacementPart, PlacementProblem, Solution

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpModel, IntVar

VARIABLES = 3000  # whole numbers of one problem; more are not asked of the solver
STEPS = 4.0  # of deterministic time, for each of the three questions
ALL_STEPS = 20.0  # for all problems of one job, and as many for the reasons why there is no way
_LARGEST = 1 << 50  # numbers that the solver adds up safely


def available() -> bool:
    """Whether OR-tools is installed."""
    from importlib.util import find_spec

    return find_spec("ortools") is not None


@dataclass(slots=True)
class Budget:
    """The steps that are left for the problems of a job."""

    left: float = ALL_STEPS


def solve(
    problem: PlacementProblem, budget: Budget, *, any_will_do: bool = False
) -> BestSolution | None:
    """The best placement; None if the problem is too large for the solver, or for what is left.

    If ``any_will_do``, the first that is found, which is proved to be no more than one.
    """
    if budget.left <= 0:
        return None
    nodes = _nodes(problem)
    size = sum(
        len(part.options[problem.class_of[node]]) for part in problem.parts for node in nodes
    )
    if size > VARIABLES:
        return None
    model = _Model(problem, tuple(nodes), budget)
    if not model.built():
        return None
    return model.first() if any_will_do else model.solved()


def _nodes(problem: PlacementProblem) -> list[int]:
    """All that can matter: of each class those that are named, and as many as can be used."""
    parts = problem.parts
    named = {node for part in parts for node in part.pins}
    named |= {node for part in parts for quota in part.quotas for node in quota.nodes}
    most = sum(max(min(part.tasks, part.high), len(part.shape.sizes), part.low) for part in parts)
    found: list[int] = []
    for number, each in enumerate(problem.classes):
        if not any(part.options[number] for part in parts):
            continue
        found += (node for node in each.members if node in named)
        found += [node for node in each.members if node not in named][:most]
    return sorted(found)


@dataclass(slots=True)
class _Model:
    """Variables by part and node, and what holds between them."""

    problem: PlacementProblem
    nodes: tuple[int, ...]
    budget: Budget
    model: CpModel = field(init=False)
    tasks: list[dict[int, list[IntVar]]] = field(default_factory=list)
    used: list[dict[int, IntVar]] = field(default_factory=list)

    def built(self) -> bool:
        """Make the model; whether its numbers are small enough."""
        from ortools.sat.python import cp_model

        self.model = cp_model.CpModel()
        for part in self.problem.parts:
            self._part(part)
        return all(map(self._fits, self.nodes))

    def _part(self, part: PlacementPart) -> None:
        model, problem = self.model, self.problem
        tasks: dict[int, list[IntVar]] = {}
        used: dict[int, IntVar] = {}
        for node in self.nodes:
            kind = problem.class_of[node]
            options = part.options[kind]
            if not options:
                continue
            room = problem.classes[kind].room
            most = min(part.tasks, part.per_node or part.tasks)
            tasks[node] = [model.new_int_var(0, option.fits(room, most), "") for option in options]
            used[node] = model.new_bool_var("")
        self.tasks.append(tasks)
        self.used.append(used)
        number = model.new_int_var(part.low, max(part.high, part.low), "")
        model.add(number == sum(used.values()))
        for excluded in part.excluded:
            model.add(number != excluded)
        model.add(sum(var for some in tasks.values() for var in some) == part.tasks)
        for node, some in tasks.items():
            model.add(sum(some) <= part.tasks * used[node])
            if not part.shape.full and not part.shape.sizes:
                model.add(sum(some) >= used[node])
        self._shape(part, tasks, used)
        for quota in part.quotas:
            model.add(sum(used[node] for node in quota.nodes if node in used) >= quota.number)
        for node, least in part.pins.items():
            here = sum(tasks.get(node, ()))
            model.add(here == least if part.shape.sizes else here >= least)

    def _shape(
        self, part: PlacementPart, tasks: dict[int, list[IntVar]], used: dict[int, IntVar]
    ) -> None:
        model, shape = self.model, part.shape
        if shape.sizes:
            sizes = {size: shape.sizes.count(size) for size in shape.sizes}
            chosen: dict[int, list[IntVar]] = {size: [] for size in sizes}
            for node, some in tasks.items():
                here = {size: model.new_bool_var("") for size in sizes}
                model.add(sum(here.values()) == used[node])
                model.add(sum(some) == sum(size * var for size, var in here.items()))
                for size, var in here.items():
                    chosen[size].append(var)
            for size, number in sizes.items():
                model.add(sum(chosen[size]) == number)
        elif shape.full:
            rest = part.tasks % shape.full
            last: list[IntVar] = []
            for node, some in tasks.items():
                full, partly = model.new_bool_var(""), model.new_bool_var("")
                model.add(full + partly <= used[node])
                model.add(sum(some) == shape.full * full + rest * partly)
                last.append(partly)
            model.add(sum(last) == int(bool(rest)))
        elif shape.even:
            least = model.new_int_var(0, part.tasks, "")
            for node, some in tasks.items():
                model.add(sum(some) >= least).only_enforce_if(used[node])
                model.add(sum(some) <= least + 1).only_enforce_if(used[node])

    def _fits(self, node: int) -> bool:
        """Nobody takes more of a node than there is."""
        problem = self.problem
        kind = problem.class_of[node]
        rows: dict[int, list[tuple[int, IntVar]]] = {}
        for part, tasks in zip(problem.parts, self.tasks, strict=True):
            for option, var in zip(part.options[kind], tasks.get(node, ()), strict=True):
                for row, number in option.takes:
                    rows.setdefault(row, []).append((number, var))
        every = sum(part.tasks for part in problem.parts)
        for row, terms in rows.items():
            room = problem.classes[kind].room[row]
            if len(terms) == 1 or max(number for number, _ in terms) * every <= room:
                continue  # the bounds of the variables say so already
            # What all numbers have in common, as bytes of megabytes have, is left out.
            common = _common(number for number, _ in terms)
            if room // common > _LARGEST or max(n for n, _ in terms) // common * every > _LARGEST:
                return False
            self.model.add(sum(number // common * var for number, var in terms) <= room // common)
        return True

    def first(self) -> BestSolution:
        """Any placement, or whether there is none."""
        status, solver = self._ask()
        if status in ("OPTIMAL", "FEASIBLE"):
            return BestSolution(self._read(solver), True)
        return BestSolution(None, status == "INFEASIBLE")

    def solved(self) -> BestSolution | None:
        """The three questions, one after the other."""
        model, problem = self.model, self.problem
        weights = self._weights()
        if weights is None:
            return None
        score = sum(weight * var for weight, var in weights)
        anywhere = [[used[node] for used in self.used if node in used] for node in self.nodes]
        busy = []
        for some in anywhere:
            var = model.new_bool_var("")
            model.add_max_equality(var, some)
            busy.append(var)
        count = len(busy)
        every = count * sum(part.tasks for part in problem.parts)
        # One sum: OR-tools before 9.15 cannot add a sum to the constant that another one may be.
        earlier = sum((
            *(every * place * var for place, var in enumerate(busy)),
            *(place * var
              for tasks in self.tasks
              for place, node in enumerate(self.nodes)
              for var in tasks.get(node, ())),
        ))  # fmt: skip
        best: Solution | None = None
        proved = True
        for question, sign in ((score, -1), (sum(busy), 1), (earlier, 1)):
            model.minimize(sign * question)
            status, solver = self._ask()
            if status == "INFEASIBLE":
                return BestSolution(None, True)
            if status not in ("OPTIMAL", "FEASIBLE"):
                return BestSolution(best, False)
            best = self._read(solver)
            if question is not earlier:  # of nodes that are as good, others may do
                proved = proved and status == "OPTIMAL"
            model.add(question == solver.value(question))
            self._hint(solver)
        return BestSolution(best, proved)

    def _ask(self) -> tuple[str, Any]:
        from ortools.sat.python import cp_model

        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 1
        solver.parameters.max_deterministic_time = max(min(STEPS, self.budget.left), 0.0)
        status = solver.solve(self.model)
        self.budget.left -= solver.response_proto.deterministic_time
        return solver.status_name(status), solver

    def _hint(self, solver: Any) -> None:
        """The next search begins where this one ended."""
        self.model.clear_hints()  # type: ignore[no-untyped-call] # OR-tools has no annotation
        for tasks in self.tasks:
            for some in tasks.values():
                for var in some:
                    self.model.add_hint(var, solver.value(var))

    def _weights(self) -> list[tuple[int, IntVar]] | None:
        """How much each task counts for the score, in whole numbers."""
        problem = self.problem
        found: list[tuple[Fraction, IntVar]] = []
        for part, tasks in zip(problem.parts, self.tasks, strict=True):
            for node, some in tasks.items():
                options = part.options[problem.class_of[node]]
                found += (
                    (option.score / part.tasks, var)
                    for option, var in zip(options, some, strict=True)
                )
        common = lcm(*(score.denominator for score, _ in found))
        every = sum(part.tasks for part in problem.parts)
        if any(score * common * every > _LARGEST for score, _ in found):
            return None
        return [(int(score * common), var) for score, var in found if score]

    def _read(self, solver: Any) -> Solution:
        found: list[dict[int, On]] = []
        for tasks, used in zip(self.tasks, self.used, strict=True):
            where: dict[int, On] = {}
            for node, some in tasks.items():
                if solver.value(used[node]):
                    numbers = ((place, solver.value(var)) for place, var in enumerate(some))
                    where[node] = tuple((place, n) for place, n in numbers if n) or ((0, 0),)
            found.append(where)
        return tuple(found)


def _common(numbers: Iterable[int]) -> int:
    from math import gcd

    return gcd(*numbers) or 1
