"""A request of ten comparisons asked of many offers, against a loop and a filter of these alone."""

from _measure import Case, compare, options, program

# The same offers for both, as numbers and names; each is asked several times, so that what is
# measured is asking, not making them.
OFFERS = """
import random, sys

count, times = int(sys.argv[1]), int(sys.argv[2])
choose = random.Random(1)
rows = [
    {
        "Processors": choose.choice((4, 16, 64, 128, 256)), "NodeCount": choose.choice((1, 2, 8)),
        "Memory": choose.choice((512, 4096, 65536, 262144)), "Disk": choose.choice((100, 10000)),
        "Duration": choose.choice((600, 86400)), "Queue": choose.choice(("batch", "debug")),
        "Architecture": choose.choice(("x86", "x86", "x86", "ppc")), "Feature": ("ib", "ssd"),
    }
    for _ in range(count)
]
"""

BARE = (
    OFFERS
    + """
found = 0
for _ in range(times):
    for row in rows:
        if (
            row["Processors"] >= 8 and row["NodeCount"] >= 1 and row["Memory"] >= 1024
            and row["Disk"] >= 100 and row["Duration"] >= 600 and row["Queue"] == "batch"
            and row["Architecture"] != "ppc" and "ib" in row["Feature"]
            and "ssd" in row["Feature"] and row["Duration"] >= 60
        ):
            found += 1
print(found)
"""
)

OURS = (
    OFFERS
    + """
from sssjob.expression import parse
from sssjob.expression.evaluate import Request
from sssjob.expression.offers import offer
from sssjob.model import Property

asked = [
    ("Processors", "GE", 8), ("NodeCount", "GE", 1), ("Memory", "GE", 1024), ("Disk", "GE", 100),
    ("Duration", "GE", 600), ("Queue", "EQ", "batch"), ("Architecture", "NE", "ppc"),
    ("Feature", "EQ", "ib"), ("Feature", "EQ", "ssd"), ("Duration", "GE", 60),
]
request = Request(parse([Property(name, value, {"op": op}) for name, op, value in asked]))
offers = [offer({**row, "Feature": list(row["Feature"])}) for row in rows]
if sys.argv[3:]:
    print(sum(request.verdict(each) == 2 for _ in range(times) for each in offers))
"""
)


COLUMNS = """
import sys, time
import numpy as np

count, times = int(sys.argv[1]), int(sys.argv[2])
choose = np.random.default_rng(1)
columns = {
    "Processors": choose.choice([4, 16, 64, 128, 256], count),
    "NodeCount": choose.choice([1, 2, 8], count),
    "Memory": choose.choice([512.0, 4096.0, 65536.0, 262144.0], count),
    "Disk": choose.choice([100.0, 10000.0], count),
    "Duration": choose.choice([600, 86400], count),
    "Swap": choose.random(count) * 1000,
    "TaskCount": choose.integers(0, 9, count),
    "Queue": choose.choice(["batch", "debug"], count),
    "Architecture": choose.choice(["x86", "x86", "x86", "ppc"], count),
}
"""

FILTER = (
    COLUMNS
    + """
c = columns
for _ in range(times):
    found = (
        (c["Processors"] >= 8) & (c["NodeCount"] >= 1) & (c["Memory"] >= 1024) & (c["Disk"] >= 100)
        & (c["Duration"] >= 600) & (c["Queue"] == "batch") & (c["Architecture"] != "ppc")
        & (c["Swap"] >= 10) & (c["TaskCount"] >= 1) & (c["Duration"] >= 60)
    )
"""
)

ASKED_AT_ONCE = (
    COLUMNS
    + """
from sssjob.expression import parse
from sssjob.expression.columns import Columns
from sssjob.expression.evaluate import Request
from sssjob.model import Property

asked = [
    ("Processors", "GE", 8), ("NodeCount", "GE", 1), ("Memory", "GE", 1024), ("Disk", "GE", 100),
    ("Duration", "GE", 600), ("Queue", "EQ", "batch"), ("Architecture", "NE", "ppc"),
    ("Swap", "GE", 10), ("TaskCount", "GE", 1), ("Duration", "GE", 60),
]
request = Request(parse([Property(name, value, {"op": op}) for name, op, value in asked]))
offers = Columns(columns)
if sys.argv[3:]:
    for _ in range(times):
        offers.ask(request)
"""
)


def main() -> None:
    """Compare."""
    parser = options(__doc__ or "", rounds=3)
    parser.add_argument("--count", type=int, default=10_000, help="offers (%(default)s)")
    parser.add_argument("--times", type=int, default=300, help="askings of each (%(default)s)")
    chosen = parser.parse_args()
    numbers = (str(chosen.count), str(chosen.times))
    cases = (
        Case("comparisons alone", program(BARE, *numbers)),
        Case("sssjob, asking", program(OURS, *numbers, "ask"), aim=5),
        Case("sssjob, offers made but not asked", program(OURS, *numbers)),
    )
    compare(cases, chosen)
    many = (str(100 * chosen.count), str(chosen.times))
    at_once = (
        Case("numpy, comparisons alone", program(FILTER, *many)),
        Case("sssjob, asking columns", program(ASKED_AT_ONCE, *many, "ask"), aim=2),
        Case("sssjob, columns made but not asked", program(ASKED_AT_ONCE, *many)),
    )
    compare(at_once, chosen)


if __name__ == "__main__":
    main()
