"""Words of Flux, and what its records become beside what the data of all formats show."""

import pytest
from records import RECORDS, outcomes

from sssjob.errors import InvalidValue, UnusableInput
from sssjob.records.record import Bad, Converted, Skipped
from sssjob.systems.flux import words


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("3600.0", 3600), ("90", 90), ("5m", 300), ("1.5h", 5400), ("2d", 172800), ("1e3", 1000),
        ("500ms", 0.5), ("30S", 30), ("0", None), ("0.0", None), ("0s", None), ("inf", None),
        ("Infinity", None),
    ],
)  # fmt: skip
def test_a_duration_is_seconds_or_has_a_unit_and_0_is_no_limit(text, seconds):
    assert words.duration(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "5 m", "-1", "nan", "5w", "1:00", "m"])
def test_any_other_text_is_no_duration(text):
    with pytest.raises(InvalidValue):
        words.duration(text)


def test_hosts_are_counted_before_they_are_named():
    assert words.hosts("a[08-10,12],b,c[1-2]") == ("a08", "a09", "a10", "a12", "b", "c1", "c2")
    assert len(words.hosts("n[1-6000],m[1-4000]")) == words.HOST_LIMIT
    for text in ("n[1-6000],m[1-4001]", "n[0-999999999999]"):
        with pytest.raises(InvalidValue, match="at most 10000 hosts"):
            words.hosts(text)


@pytest.mark.parametrize("around", [b"%s", b'{"jobs": [%s]}'])
def test_a_job_of_a_queue_is_recognised_as_one_of_flux(around):
    """Lines of lrmsinfo are dictionaries with a queue, too."""
    queued = (
        (RECORDS / "flux" / "one.json").read_bytes().replace(b'"state"', b'"queue": "q", "state"')
    )
    notice, *rest = outcomes("auto", around % queued)
    assert notice.message.startswith("recognised as flux by ")
    assert rest == outcomes("flux", around % queued)


def test_one_job_several_and_an_array_of_them_are_read_alike():
    one = (RECORDS / "flux" / "one.json").read_bytes()
    (job,) = outcomes("flux", one)
    for data in (b'{"jobs": [' + one + b"]}", b"[" + one + b"]", one.replace(b", ", b",\n")):
        assert [found.job for found in outcomes("flux", data)] == [job.job]
    assert [found.job for found in outcomes("flux", one + one)] == [job.job, job.job]


def test_a_job_that_runs_or_waits_has_not_ended():
    data = (RECORDS / "flux" / "jobs.json").read_bytes()
    found = [type(item) for item in outcomes("flux", data, ended_only=True)]
    assert found == [Converted] * 4 + [Skipped] * 3


def test_a_message_of_flux_in_the_place_of_records_is_refused():
    with pytest.raises(UnusableInput):
        outcomes("flux", b"flux-jobs: ERROR: Unable to connect to Flux\n")
    assert outcomes("flux", b'{"jobs": []}') == []
    assert outcomes("flux", b'{"jobs": [') == [Bad(1, "the input ends inside an array")]
