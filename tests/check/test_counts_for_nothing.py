"""What a request says and nobody is asked for is told so, and not that nothing can satisfy it."""

# ruff: noqa: E501 (a row is a line)

import pytest

from sssjob.check.sources import check_source

OF_GROUP = "its only task group says another"
# fmt: off
CASES = {
    # what is said                        of the job                                       of its task groups                                            code, of the last of both, why
    "counts beside those of the group":  ("<NodeCount>1</NodeCount><NodeCount op='GE'>2</NodeCount>", ["<NodeCount>2</NodeCount>"],                       "W-USELESS", OF_GROUP),
    "a queue beside that of the group":  ("<Queue>q</Queue><Queue>r</Queue>",              ["<Requested><Queue>s</Queue></Requested>"],                  "W-USELESS", OF_GROUP),
    "an amount beside that of the job":  ("<Memory>8</Memory>",                            ["<Requested><Memory>1</Memory><Memory>2</Memory></Requested>"], "W-USELESS", "its job says another"),
    "what each of several groups says":  ("<Architecture>A</Architecture><Architecture>B</Architecture>", ["<Architecture>C</Architecture>", "<Architecture>D</Architecture>"], "W-USELESS", "each of its task groups says another"),
    "what one of several groups says":   ("<Architecture>A</Architecture><Architecture>B</Architecture>", ["<Architecture>C</Architecture>", ""],         "W-UNSAT", "cannot hold together"),
    "what no group says":                ("<Architecture>A</Architecture><Architecture>B</Architecture>", [""],                                           "W-UNSAT", "cannot hold together"),
    "features of both":                  ("<Feature>f</Feature><Feature op='NE'>f</Feature>", ["<Requested><Feature>g</Feature></Requested>"],            "W-UNSAT", "cannot hold together"),
}
AROUND = ["{}", "<JobGroup><Job><Id>0</Id><Executable>a</Executable></Job>\n{}</JobGroup>"]
# fmt: on


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("own, groups, code, why", CASES.values(), ids=CASES)
def test_what_contradicts_itself_and_counts_for_nothing_is_told_so(own, groups, code, why, around):
    inner = "".join(f"<TaskGroup><Name>t</Name>{each}</TaskGroup>" for each in groups)
    job = f"<Job><Id>1</Id><Executable>a</Executable><Requested>{own}</Requested>{inner}</Job>"
    found = [*check_source(around.format(job))]
    told = [each for each in found if each.code in ("W-UNSAT", "W-USELESS")]
    assert [each.code for each in told] == [code]
    assert why in told[0].message
    assert told[0].path.endswith("[2]")
