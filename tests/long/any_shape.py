"""A long run of what tests/document/test_big_documents.py tries: documents of hostile shape.

    PYTHONPATH=tests python tests/long/any_shape.py [DOCUMENTS [SEED]]

What each view of a source gives is compared with what libxml2 finds in each whole document of it.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "document"))

from test_big_documents import cases, compare


def main(count=2000, seed=0):
    found = sum(compare(*case) for case in cases(count, seed))
    print(
        f"{count} sources with {found} job objects, none lost, added or changed, from seed {seed}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
