import pytest

from sssjob.features.waste import Figure, outlook

NOW = 1_700_000_000
STATUS = {
    "used_CPU": 6, "last_job_start": NOW - 100, "first_exp_job_end": NOW + 50,
    "last_exp_job_end": NOW + 300, "last_max_job_end": NOW + 900, "add_uncom_time": 1000,
    "add_final_exp_waste": 70,
}  # fmt: skip


def test_the_formulas_of_the_draft():
    found = outlook(STATUS, 8, NOW)
    assert found.remaining_time_expected == Figure(300, 300)
    assert found.remaining_time_enforced == Figure(900, 900)
    assert found.draining_waste == Figure((8 - 6) * 50 + 70, 170)
    assert found.kill_waste == Figure(1000 + 6 * 100, 1600)
    assert found.notes == ()


def test_an_estimate_that_has_gone_by_gives_no_waste_below_nothing():
    found = outlook({**STATUS, "last_job_start": NOW + 500}, 8, NOW + 400)
    assert found.remaining_time_expected == Figure(0, -100)
    assert found.draining_waste == Figure(70, 2 * -350 + 70)
    assert found.kill_waste == Figure(1000, 1000 - 6 * 100)


@pytest.mark.parametrize(
    "name, figures",
    [
        ("used_CPU", ("draining_waste", "kill_waste")),
        ("last_job_start", ("kill_waste",)),
        ("first_exp_job_end", ("draining_waste",)),
        ("last_exp_job_end", ("remaining_time_expected",)),
        ("last_max_job_end", ("remaining_time_enforced",)),
        ("add_uncom_time", ("kill_waste",)),
        ("add_final_exp_waste", ("draining_waste",)),
    ],
)
def test_without_an_operand_there_is_no_figure(name, figures):
    found = outlook({key: value for key, value in STATUS.items() if key != name}, 8, NOW)
    none = {each for each in found.__slots__ if getattr(found, each) is None}
    assert none == set(figures)


def test_without_allocated_cores_there_is_no_draining_waste():
    assert outlook(STATUS, None, NOW).draining_waste is None


def test_more_cores_in_use_than_were_given_are_reported():
    found = outlook(STATUS, 4, NOW)
    assert found.notes == ("used_CPU 6 is more than allocated_CPU 4",)
    assert found.kill_waste == Figure(1600, 1600)
