"""What a job requests, as an expression: op, conj, group and preference of SSS 8.1 as a tree.

``parse`` reads the properties of one Requested block in document order, ``write`` gives them
back in a form that every known reader takes the same way, and ``alternatives`` and ``interval``
answer what is asked for in numbers.

>>> from sssjob.model import Property
>>> print(parse([Property("User", "amy"), Property("Processors", 16, {"op": "LE"})]))
(User EQ amy And Processors LE 16)
"""

from sssjob.expression.alternative import (
    Alternative,
    Alternatives,
    Interval,
    alternatives,
    exactly,
    interval,
)
from sssjob.expression.editing import as_known, has_unknown_words, keeping
from sssjob.expression.reading import (
    CONJUNCTIONS,
    DEPTH_LIMIT,
    LOGIC,
    LOGIC_AND_OPERATOR,
    all_requested,
    are_apart,
    are_one,
    balance,
    of,
    parse,
    parts_of,
    swap_balances,
)
from sssjob.expression.tree import (
    INVERSES,
    OPERATIONS,
    And,
    Comparison,
    Expression,
    Not,
    OneOf,
    Or,
    Term,
    Wish,
    all_of,
    amount,
    asks,
    compared,
    comparisons,
    conjuncts,
    identities,
    is_about,
    is_wish,
    key,
    mentions,
    opened,
    weight,
    without,
)
from sssjob.expression.writing import (
    scope_matters,
    write,
)

__all__ = [
    "CONJUNCTIONS",
    "DEPTH_LIMIT",
    "INVERSES",
    "LOGIC",
    "LOGIC_AND_OPERATOR",
    "OPERATIONS",
    "Alternative",
    "Alternatives",
    "And",
    "Comparison",
    "Expression",
    "Interval",
    "Not",
    "OneOf",
    "Or",
    "Term",
    "Wish",
    "all_of",
    "all_requested",
    "alternatives",
    "amount",
    "are_apart",
    "are_one",
    "as_known",
    "asks",
    "balance",
    "compared",
    "comparisons",
    "conjuncts",
    "exactly",
    "has_unknown_words",
    "identities",
    "interval",
    "is_about",
    "is_wish",
    "keeping",
    "key",
    "mentions",
    "of",
    "opened",
    "parse",
    "parts_of",
    "scope_matters",
    "swap_balances",
    "weight",
    "without",
    "write",
]
