"""Verbs by two workers against one: by the clock, and what all processes took together."""

import statistics

from _generate import corpus
from _measure import Case, measure, options, sssjob
from _records import log

QUERY = "//Job[Delivered/Processors > 12]/Id"
AIM = 0.6  # of the time of one, by the clock


def main() -> None:
    """Compare each verb with itself."""
    chosen = options(__doc__ or "", count=100_000, rounds=3).parse_args()
    jobs = corpus(chosen.count)
    verbs = {
        "validate": ("validate", jobs),
        "query": ("query", QUERY, jobs),
        "convert": ("convert", "--from", "slurm", log("slurm", chosen.count)),
        "report": ("report", jobs),
    }
    missed = []
    print(f"{'':10}  wall 1  wall 2  ratio    cpu 1   cpu 2  ratio")
    for name, arguments in verbs.items():
        pair = [
            Case(f"{name} {count}", sssjob(*arguments, "--jobs", str(count))) for count in (1, 2)
        ]
        one, two = measure(pair, chosen.rounds)
        both = list(zip(one.runs, two.runs, strict=True))
        ratio = statistics.median(second.wall / first.wall for first, second in both)
        walls = [statistics.median(run.wall for run in each.runs) for each in (one, two)]
        cpus = [statistics.median(run.cpu for run in each.runs) for each in (one, two)]
        over = "  over" if ratio > AIM else ""
        print(
            f"{name:10}  {walls[0]:6.2f}  {walls[1]:6.2f}  {ratio:5.2f}  "
            f"{cpus[0]:7.2f} {cpus[1]:7.2f}  {two.ratio:5.2f}{over}"
        )
        missed += [name] if over else []
    print(
        f"Medians over {chosen.rounds} rounds; the aim is {AIM} by the clock, on a machine alone."
    )
    if chosen.strict and missed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
