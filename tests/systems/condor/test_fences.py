"""One document, job or report keeps no other from a slot, whatever is wrong with it or with us."""

import time

import pytest
from condor_site import SLOT

from sssjob.classads.values import Ad
from sssjob.systems.condor.hooks import candidates, reports
from sssjob.systems.condor.hooks import programs as hooks
from sssjob.systems.condor.hooks.queue import STATES

EVIL = "/bin/evil"


def evil(site, name="a.xml", requirements="", user="eve"):
    """A job before all others, whose Requirements are odd."""
    said = f'<Extension type="HTCondor" name="Requirements">{requirements}</Extension>'
    text = (
        f"<Job><Id>{name}</Id><User>{user}</User><Executable>{EVIL}</Executable>"
        f"<Priority>9</Priority>{said if requirements else ''}</Job>"
    )
    (site.path / name).write_text(text)


@pytest.mark.parametrize("text, fits", [
    ("true", True), ("1", True), ("-1", True), ("relTime(5)", True), ("real('NaN')", False),
    ("false", False), ("undefined", False), ("error", False), ("'x'", False), ("{}", False),
    ("{1}", False), ("[]", False), ("[a=1]", False),
    ('string(absTime(1e18)) == "x"', False),
    ('strcat("x", absTime(-99999999999999)) == "x"', False),
    ('string(absTime("9999-12-31T23:59:59Z") + relTime(86400)) == "x"', False),
    ('string(absTime(0) + relTime(9223372036854775807)) == "x"', False),
    ('string(relTime(real("INF"))) == "x"', False),
])  # fmt: skip
def test_odd_requirements_keep_no_other_job_from_a_slot(site, text, fits):
    evil(site, requirements=text)
    site.add("b.xml", "<User>amy</User>")
    programs = [ad["Cmd"] for _ in range(2) for ad in site.fetch()]
    assert programs == ([EVIL, "/bin/true"] if fits else ["/bin/true"])


def fault(*values, **named):
    raise RuntimeError("of ours")


def once_of(of, is_evil):
    """A function that fails for some values."""

    def failing(*values, **named):
        return fault() if is_evil(*values) else of(*values, **named)

    return failing


def test_a_fault_of_ours_costs_one_document(site, monkeypatch):
    failing = once_of(candidates.ads_of, lambda job, *_: job.get("Executable") == EVIL)
    monkeypatch.setattr(candidates, "ads_of", failing)
    evil(site)
    site.add("b.xml", "<User>amy</User>")
    [ad] = site.fetch()
    assert ad["Cmd"] == "/bin/true"
    assert "a.xml: sssjob cannot deal with it: RuntimeError: of ours" in site.said


def test_a_fault_of_ours_when_a_job_is_compared_with_a_slot_costs_that_job(site, monkeypatch):
    monkeypatch.setattr(hooks, "_agree", once_of(hooks._agree, lambda ad, _: ad["Cmd"] == EVIL))
    evil(site)
    site.add("b.xml", "<User>amy</User>")
    [ad] = site.fetch()
    assert ad["Cmd"] == "/bin/true"
    assert "a.xml: sssjob cannot deal with it: RuntimeError: of ours" in site.said


@pytest.mark.parametrize("where", ["believed", "reported"])
def test_a_fault_of_ours_costs_one_report(site, monkeypatch, where):
    def is_evil(*values):
        [ad] = [each for each in values if isinstance(each, Ad)]
        return ad.get("Cmd") == EVIL and "RemoteUserCpu" in ad

    monkeypatch.setattr(reports, where, once_of(getattr(reports, where), is_evil))
    evil(site)
    site.add("b.xml", "<User>amy</User>")
    ads = [*site.fetch(), *site.fetch()]
    for ad in ads:
        told = {"JobPid": 7, "JobStartDate": int(time.time()), "RemoteUserCpu": 5.0, "ExitCode": 3}
        site.call("job-exit", ad.merged(told), "exit", fold="never")
    count, said = site.fold()
    assert any("RuntimeError: of ours" in each for each in said)
    assert site.job("b.xml").get("CpuDuration") == "5"
    assert count == (1 if where == "believed" else 2)
    assert site.job("a.xml").get("State") == ("" if where == "believed" else "Completed")


def test_jobs_that_take_long_to_be_compared_are_asked_behind_those_of_others(site, monkeypatch):
    asked, clock, seconds = [], [time.time()], [0]

    def slow(job, *rest):
        asked.append(job.label)
        clock[0] += seconds[0]
        return None

    monkeypatch.setattr(hooks, "_fitting", slow)
    monkeypatch.setattr(time, "time", lambda: clock[0])
    for name in ("a.xml", "b.xml", "c.xml"):
        evil(site, name)
    site.add("d.xml", "<User>amy</User>")
    assert site.fetch() == []
    assert asked == ["a.xml", "b.xml", "c.xml", "d.xml"]
    asked.clear()
    seconds[0] = 2
    assert site.fetch() == []
    assert asked == ["a.xml", "d.xml", "b.xml", "c.xml"]


@pytest.mark.parametrize("runs", [False, True])
def test_a_document_that_takes_too_long_keeps_no_other_from_being_looked_at(
    site, monkeypatch, runs
):
    """Also where one of its jobs runs, for which it is looked at first."""
    evil(site, requirements="true")
    assert len(site.fetch() if runs else []) == runs
    evil(site, requirements="false")
    clock = [time.time()]
    monkeypatch.setattr(time, "time", lambda: clock[0])

    def slow(source, found, *rest):
        clock[0] += 100 if found.name == "a.xml" else 0
        return made(source, found, *rest)

    made = candidates._made
    monkeypatch.setattr(candidates, "_user", lambda found, known: ord(found.name[0]))
    monkeypatch.setattr(candidates, "_made", slow)
    site.add("b.xml", "<User>amy</User>")
    (site.path / "a.xml").write_bytes((site.path / "a.xml").read_bytes() + b" " * 999)
    assert [ad["Cmd"] for ad in site.fetch()] == ["/bin/true"]


def test_what_is_known_is_given_away_when_there_is_no_time_to_look_at_the_rest(site, monkeypatch):
    site.add("b.xml", "<User>amy</User>")
    site.fetch(SLOT.merged({"Cpus": 0}))  # known, and given to nobody

    def over(source, found, *rest):
        raise TimeoutError("it takes more than 15 s")

    monkeypatch.setattr(candidates, "_made", over)
    evil(site)
    assert [ad["Cmd"] for ad in site.fetch()] == ["/bin/true"]
    assert "looking at the documents: it takes more than 15 s" in site.said
    assert {job.label for job in site.jobs(*STATES)} == {"b.xml"}
