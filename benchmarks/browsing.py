"""The pages of a large store: milliseconds of one processor for each, server and client together.

Where an address has a number it is another one in each round, so that no answer is one that was
remembered. The yardstick is a facet by hand: SQL on the columns of the store itself, which the
summary of a large store (DuckDB) is to beat.
"""

import json
import sqlite3
import statistics
import time
import warnings
from dataclasses import asdict, dataclass

from _stores import filled_store, store_options

from sssjob.web.app import application
from sssjob.web.stores import StorePool

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from starlette.testclient import TestClient

HOST = "127.0.0.1:1"
PAGE, DASHBOARD = 100.0, 1000.0  # milliseconds of one processor that a page may take
PAGES = (
    ("jobs, first page",    "/jobs", PAGE),
    ("jobs of a user",      "/jobs?user=u{:05}", None),  # one page and four counts
    ("jobs with a text",    "/jobs?q=u{:03}", None),
    ("facet",               "/facets/state?user=u{:05}", PAGE),
    ("a job",               "/jobs/{}/0", PAGE),
    ("usage by user",       "/usage?by=user&ended=2003-01-01..2004-01-{:02}", DASHBOARD),
    ("usage, efficiency",   "/usage?measure=efficiency&ended=2003-01-01..2004-01-{:02}", DASHBOARD),
    ("waits",               "/waits?of=wall&ended=2003-01-01..2004-01-{:02}", DASHBOARD),
)  # fmt: skip
COUNT = "SELECT coalesce(delivered_user, user, requested_user), count(*) FROM job GROUP BY 1"


@dataclass(frozen=True)
class Result:
    """A page: milliseconds of one processor, in the median and at most, and what it may take."""

    name: str
    median: float
    most: float
    bound: float | None


def main() -> None:
    """Measure, and print."""
    chosen = store_options(__doc__, rounds=9).parse_args()
    with filled_store(chosen) as address:
        results = measure(address, chosen.rounds)
        by_hand = counted_by_hand(address)
    if chosen.json:
        print(json.dumps({"pages": [asdict(each) for each in results], "by_hand": by_hand}))
    else:
        print(f"{'page':20} {'median ms':>10} {'most':>8} {'may take':>9}")
        for each in results:
            print(f"{each.name:20} {each.median:10.1f} {each.most:8.1f} {each.bound or '':>9}")
        print(f"{'a facet, SQL by hand':20} {by_hand:10.1f}")
    if chosen.strict and any(each.bound and each.median > each.bound for each in results):
        raise SystemExit(1)


def measure(address: str, rounds: int) -> list[Result]:
    """Each page so often, after the summary is there."""
    looked_at = StorePool(address)
    app = application(address, title="jobs", token="t", hosts=frozenset((HOST,)), stores=looked_at)
    headers = {"authorization": "Bearer t", "accept": "text/html"}
    results = []
    with TestClient(app, base_url=f"http://{HOST}", headers=headers) as client:
        client.get("/jobs")
        looked_at.summaries.wait()
        for name, path, bound in PAGES:
            took = []
            for number in range(1, rounds + 2):
                begun = time.process_time()
                answer = client.get(path.format(number))
                took.append((time.process_time() - begun) * 1000)
                assert answer.status_code == 200, answer.text
            took = took[1:]
            results.append(Result(name, statistics.median(took), max(took), bound))
    return results


def counted_by_hand(address: str) -> float:
    """Milliseconds of a facet asked of SQLite."""
    took = []
    connection = sqlite3.connect(address)
    for _ in range(3):
        begun = time.process_time()
        connection.execute(COUNT).fetchall()
        took.append((time.process_time() - begun) * 1000)
    connection.close()
    return statistics.median(took)


if __name__ == "__main__":
    main()
