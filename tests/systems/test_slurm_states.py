"""One table says what Slurm's words for a state mean, whoever printed them."""

import pytest

from sssjob.systems.slurm import states
from sssjob.systems.slurm.control import shown


@pytest.mark.parametrize("word", states.STATES)
def test_a_state_says_whether_a_job_goes_on_and_leaves_the_rest_to_its_end(word):
    over = word in ("REQUEUED", "RESIZING") or states.STATES[word] == "Completed"
    assert (states.phase(word) is states.Phase.TOLD_BY_END) == over
    assert states.is_over(word) == (states.STATES[word] == "Completed")


@pytest.mark.parametrize("word", [word for word in states.STATES if len(word) > 9])
def test_a_cut_word_is_known_where_one_word_begins_so(word):
    begins = [known for known in states.STATES if known.startswith(word[:9])]
    if len(begins) == 1:
        assert states.state(word[:9] + "+") == states.state(word)


@pytest.mark.parametrize("row", states.WORDS, ids=[row.word for row in states.WORDS])
def test_a_code_means_what_its_word_means(row):
    assert states.state(row.code or row.word) == states.state(row.word)
    assert states.state(row.word) == (row.standard, row.word)


def test_no_code_stands_for_two_words():
    codes = [row.code for row in states.WORDS if row.code]
    assert len(set(codes)) == len(codes)


def test_what_submits_asks_the_same_table_who_holds_a_job():
    line = "7|{}|0|{}|"
    for word in ("PENDING", "REQUEUED"):
        assert [seen.state for seen in shown(line.format(word, "JobHeldUser"))] == ["Hold"]
    assert [seen.state for seen in shown(line.format("PENDING", "Priority"))] == ["Idle"]
