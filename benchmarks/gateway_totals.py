"""Totals over all jobs, asked of a gateway's handlers after each change of ten jobs.

Each total is asked first of all parts of the store (``first``), then after each change, and then
again without one (``again``): milliseconds of one processor, in the median. The yardstick is the
same total in SQL by hand on the columns of the store; the ratio is that against ``changed``. The
aim is 50 ms. ``--store`` takes a store that is there, which is changed.
"""

import json
import sqlite3
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass

from _stores import filled_store, store_options

from sssjob.handlers.roles import Roles
from sssjob.handlers.service import Service, ServiceSettings
from sssjob.handlers.stores import Stores
from sssjob.rmap.message import Get, Object, Request
from sssjob.rmap.responder import ReceivedRequest

AIM = 50.0  # milliseconds of one processor
WRITTEN = 10  # jobs of a change
GROUPS = {
    "": "",
    "User": "coalesce(delivered_user, user, requested_user)",
    "Project": "coalesce(delivered_project, project, requested_project)",
    "Machine": "coalesce(delivered_machine, machine, requested_machine)",
}
_SETTINGS = ServiceSettings(Roles(actors={"root": ("admin",)}))


@dataclass(frozen=True)
class Result:
    """The milliseconds of totals in groups, and of the same by hand."""

    by: str
    first: float
    changed: float
    again: float
    by_hand: float
    ratio: float


def main() -> None:
    """Measure, and print."""
    chosen = store_options(__doc__, rounds=5).parse_args()
    with filled_store(chosen) as address:
        results = [measured(address, by, chosen.rounds) for by in GROUPS]
    if chosen.json:
        print(json.dumps({"totals": [asdict(each) for each in results]}))
    else:
        heads = ("first", "changed", "again", "by hand", "ratio")
        print("".join(["total by".ljust(10), *(f"{head:>10}" for head in heads)]))
        for each in results:
            figures = (each.first, each.changed, each.again, each.by_hand, each.ratio)
            print("".join([(each.by or "nothing").ljust(10), *(f"{one:10.1f}" for one in figures)]))
    if chosen.strict and any(each.changed > AIM for each in results):
        raise SystemExit(1)


def measured(address: str, by: str, rounds: int) -> Result:
    """One total; the store has the same jobs afterwards, of which some have other charges."""
    stores = Stores(address)
    answer = Service(stores, _SETTINGS).actions["Job", "Query"]
    gets = (*([Get(by, "GroupBy")] if by else []), Get("Id", "Count"), Get("Charge", "Sum"))
    call = ReceivedRequest(Request("Query", "root", (Object("Job"),), gets), "root")

    def ask() -> float:
        return milliseconds(lambda: list(answer(call).rows))

    first = ask()
    changed, again, hand = [], [], []
    for number in range(rounds):
        with stores.use() as jobs, jobs.change() as change:
            for name in range(WRITTEN):
                document = f"<Job><Id>written.{name}</Id><Charge>{number}</Charge></Job>"
                change.put(document.encode())
        changed.append(ask())
        again.append(ask())
        hand.append(by_hand(address, GROUPS[by]))
    stores.close()
    known = statistics.median(changed)
    reference = statistics.median(hand)
    return Result(by, first, known, statistics.median(again), reference, reference / known)


def by_hand(address: str, group: str) -> float:
    """Milliseconds of a total asked of SQLite."""
    told = f"{group}, " if group else ""
    end = " GROUP BY 1" if group else ""
    statement = f"SELECT {told}count(id), sum(charge) FROM job WHERE deleted = 0{end}"
    connection = sqlite3.connect(address)
    took = milliseconds(lambda: connection.execute(statement).fetchall())
    connection.close()
    return took


def milliseconds(do: Callable[[], object]) -> float:
    """How long a processor works at something."""
    begun = time.process_time()
    do()
    return (time.process_time() - begun) * 1000


if __name__ == "__main__":
    main()
