"""How a store answers a query, in words and for programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sssjob.query import Question
from sssjob.query.match import number
from sssjob.store.access_paths import StoreMoment
from sssjob.store.engine import Engine
from sssjob.store.plan import Level, QueryPlan
from sssjob.store.pushdown import plan
from sssjob.store.sql import Sql, sql
from sssjob.store.totals import total


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of one path of a query: how much columns decide, by which condition on them.

    ``why`` says what stood in the way where it is known; ``where`` is None for a scan.
    """

    expression: str
    level: Level
    why: str
    where: Sql | None

    @property
    def as_dict(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {
            "expression": self.expression,
            "plan": self.level.name.lower(),
            "why": self.why or None,
            "where": self.where and self.where.text,
            "values": self.where and list(self.where.values),
        }

    def __str__(self) -> str:
        """As ``--explain`` prints it."""
        because = f", because {self.why}" if self.why else ""
        lines = [f"{self.level}{because}"]
        if self.where is not None:
            lines.append(f"where {_filled(self.where)}")
        return "\n".join(lines)


def explain(engine: Engine, question: Question, *, effective: bool) -> list[Explanation]:
    """The plan of a query, or those of the paths whose totals it is made of."""
    return [_explained(engine, each, how, effective) for each, how in _plans(question)]


def _plans(question: Question) -> list[tuple[str, QueryPlan]]:
    whole = total(question)
    if whole is not None:
        return [(part.expression, plan(part)) for _, part in whole.parts.values()]
    if question.has_one_answer:
        from sssjob.store import gathered  # importing elementpath takes half a second

        return gathered.parts(question)
    return [(question.expression, plan(question.plain or question))]


def _explained(engine: Engine, expression: str, how: QueryPlan, effective: bool) -> Explanation:
    if how.level is Level.NOTHING:
        return Explanation(expression, how.level, how.why, None)
    with engine.reading() as reader:
        way = StoreMoment(reader, engine.dialect).access(how, effective=effective)
    where = sql(way.candidates, engine.dialect)
    return Explanation(expression, how.level, how.why, where)


def _filled(where: Sql) -> str:
    """A condition with its values in their places, to be read and not to be run."""
    pieces = where.text.split("?")
    shown = [
        f"'{value}'" if isinstance(value, str) else number(float(value)) for value in where.values
    ]
    return "".join(f"{piece}{value}" for piece, value in zip(pieces, [*shown, ""], strict=True))
