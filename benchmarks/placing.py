"""Placing the tasks of a homogeneous group on many nodes, against a loop that only compares."""

from _measure import Case, compare, options, program

# The same nodes for both, of a few kinds or each of its own; placed several times, so that what is
# measured is placing, not making them.
NODES = """
import random, sys

count, tasks, times = (int(word) for word in sys.argv[1:4])
choose = random.Random(1)
rows = [
    {
        "id": f"n{number}", "Processors": choose.choice((4, 16, 64)),
        "Memory": choose.choice((4096, 65536)) + number * int(sys.argv[4] == "own"),
        "Feature": choose.choice((["ib"], ["ib", "ssd"], [])),
    }
    for number in range(count)
]
"""

BARE = (
    NODES
    + """
for _ in range(times):
    fitting = []
    for place, row in enumerate(rows):
        if "ib" in row["Feature"]:
            room = min(row["Processors"], row["Memory"] // 512)
            if room >= 1:
                fitting.append(("ssd" not in row["Feature"], -room, place))
    fitting.sort()
    left, used = tasks, {}
    for _, room, place in fitting:
        if left:
            used[rows[place]["id"]] = min(-room, left)
            left -= min(-room, left)
print(len(used), left)
"""
)

OURS = (
    NODES
    + """
from sssjob.expression.offers import offer
from sssjob.model import Property, Requested, TaskGroup
from sssjob.placement import Nodes, place

group = TaskGroup((Property("TaskCount", tasks), Requested.of(
    Property("Memory", 512, {"op": "GE"}), Property("Feature", "ib"),
    Property("Feature", "ssd", {"preference": "-1"}),
)))
nodes = Nodes.of(map(offer, rows))
for _ in range(times if sys.argv[5:] else 0):
    found = place(group, nodes, solver=False)
    assert found.placed and found.proved
"""
)


SECONDS = 2  # for all of ``--times`` placements, with the start of the process


def ours(*arguments: str) -> tuple[str, ...]:
    """The nodes made, and tasks placed on them."""
    return program(OURS, *arguments, "place")


def main() -> None:
    """Compare."""
    parser = options(__doc__ or "", rounds=3)
    parser.add_argument("--count", type=int, default=10_000, help="nodes (%(default)s)")
    parser.add_argument("--tasks", type=int, default=1000, help="tasks (%(default)s)")
    parser.add_argument("--times", type=int, default=20, help="placements (%(default)s)")
    chosen = parser.parse_args()
    numbers = (str(chosen.count), str(chosen.tasks), str(chosen.times))
    cases = (
        Case("comparisons alone", program(BARE, *numbers, "few")),
        Case("sssjob, a few kinds of nodes", ours(*numbers, "few"), aim=10, seconds=SECONDS),
        Case("sssjob, each node of its own kind", ours(*numbers, "own"), aim=30, seconds=SECONDS),
        Case("sssjob, nodes made but no tasks placed", program(OURS, *numbers, "few")),
    )
    compare(cases, chosen)


if __name__ == "__main__":
    main()
