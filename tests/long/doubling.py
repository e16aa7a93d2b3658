"""Which command does more than twice as much for twice as many of one part of a job.

    python tests/long/doubling.py [COMMANDS [PARTS [COUNT]]]

COMMANDS and PARTS are regular expressions of what to ask: of ``document_commands.COMMANDS``, and
of ``repeated_parts.REPEATED``. Calls of functions are counted, with one, COUNT (150), twice and
four times as many of the part; no clock. Those that grow by more than ``repeated_parts.MOST`` both
times are told, and make it end with 1. What a bound ends only with more is asked with a larger
COUNT.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from document_commands import COMMANDS
from repeated_parts import REPEATED, grows


def main(commands="", parts="", count="150"):
    asked = [each for each in COMMANDS if re.search(commands, each.id)]
    found = 0
    for command in asked:
        for name, make in REPEATED.items():
            if re.search(parts, name) and (by := grows(command.values[0], make, int(count))):
                print(f"{command.id}: {name}: {by[0]:.1f} times, then {by[1]:.1f}", flush=True)
                found += 1
        print(f"{command.id}: done", flush=True)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
