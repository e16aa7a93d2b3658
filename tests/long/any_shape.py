"""A long run of what two tests try: documents of hostile shape, read whole and by the commands.

    PYTHONPATH=tests python tests/long/any_shape.py [DOCUMENTS [SEED [LARGE]]]

What each view of a source gives is compared with what libxml2 finds in each whole document of it
(tests/document/test_big_documents.py). So is what the commands give of LARGE sources of up to some
megabytes, as they are and packed (tests/cli/test_any_shape.py).
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "document"))

import shape_commands
from test_big_documents import cases, compare


def main(count=2000, seed=0, large=50):
    found = sum(compare(*case) for case in cases(count, seed))
    print(
        f"{count} sources with {found} job objects, none lost, added or changed, from seed {seed}"
    )
    sizes = []
    for texts, packing in shape_commands.sources(large, seed, shape_commands.LARGE):
        with tempfile.TemporaryDirectory() as place:
            shape_commands.compare(texts, packing, Path(place))
        sizes.append(sum(map(len, texts)))
    if sizes:
        print(f"{large} sources of up to {max(sizes)} characters by the commands: the same")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
