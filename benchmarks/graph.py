"""The state of 100 000 jobs that depend on each other, against a loop of comparisons only."""

from _measure import Case, compare, options, program

# Both make the same jobs: three of four depend on one or two before them, a tenth has ended.
JOBS = """
import sys
count, turns = int(sys.argv[1]), int(sys.argv[2])
needs = [[(i - 1 - i % 7, (0, None, 2)[i % 3])] * (i > 7 and i % 4 > 0) for i in range(count)]
for i in range(8, count, 5):
    needs[i].append((i - 8, 0))
exits = {i: i % 3 for i in range(0, count, 10)}
"""

# The bound: jobs already stand in an order that needs no search, and no state but a number.
BARE = """
for _ in range(turns):
    states = []
    for i, need in enumerate(needs):
        state = exits.get(i, -1)
        if state < 0:
            for target, code in need:
                other = states[target]
                if other == -3 or (other >= 0 and code is not None and other != code):
                    state = -3
                    break
                if other < 0:
                    state = -2
        states.append(state)
"""

OURS = """
from sssjob import graph
from sssjob.model import Job, Property

def dependency(target, code):
    code = {} if code is None else {"code": str(code)}
    return Property("Dependency", str(target), {"condition": "OnExit", **code})

jobs = [
    Job((Property("Id", str(i)), *(dependency(*each) for each in need)))
    for i, need in enumerate(needs)
]
"""

STATES = """
made = graph.of(jobs)
exits = {str(i): code for i, code in exits.items()}
for _ in range(turns):
    made.states(exits)
"""

CHECK = """
list(graph.findings_for(jobs))
"""

if __name__ == "__main__":
    chosen = options(__doc__, count=100_000, rounds=3).parse_args()
    count, turns = str(chosen.count), "50"
    compare(
        [
            Case("50 times, comparisons only", program(JOBS + BARE, count, turns)),
            Case("50 times, states of a graph", program(JOBS + OURS + STATES, count, turns), aim=5),
            Case("once, with all findings", program(JOBS + OURS + CHECK, count, "1")),
        ],
        chosen,
    )
