"""A long run of what one test tries: expressions as our evaluator and HTCondor's library see them.

    PYTHONPATH=tests python tests/long/classads.py [EXPRESSIONS [SEED]]

Each thousand is asked in a process of its own: the library crashes now and then, and what such a
process was asked is told, and not counted.
"""

import multiprocessing
import sys

from classad_cases import differences, spelled_otherwise

TOGETHER = 1000


def ask(count, seed, answer):
    answer.send(differences(count, seed))


def main(count=100_000, seed=0):
    asked = differ = crashed = 0
    for number in range(0, count, TOGETHER):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.Process(target=ask, args=(TOGETHER, seed + number, theirs))
        child.start()
        theirs.close()
        try:
            found, answered = ours.recv()
        except EOFError:
            crashed += 1
            print(f"the library ended its process: seed {seed + number}")
            continue
        finally:
            child.join()
        asked += answered
        differ += len(found)
        for each in found:
            print(f"{each.text}\n  MY {each.my}\n  TARGET {each.target}")
            print(f"  theirs {each.theirs!r}\n  ours {each.ours!r}")
    otherwise, spelled = spelled_otherwise(count // 3, seed)
    differ += len(otherwise)
    for text, own, other in otherwise:
        print(f"{text}\n  theirs {other!r}\n  ours {own!r}")
    print(f"{spelled} spellings asked, {len(otherwise)} differ")
    print(f"{asked} of {count} expressions answered by both, {differ} answers differ, "
          f"{crashed} processes crashed, from seed {seed}")  # fmt: skip
    return differ > 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
