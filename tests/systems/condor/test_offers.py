"""An offer is noted until the document of its job tells of it, whichever hook is killed."""

import time

import pytest
from condor_site import SLOT, Site
from draws import pairwise

from sssjob import store
from sssjob.classads import forms
from sssjob.document import loads
from sssjob.systems.condor.hooks import offers, reports
from sssjob.systems.condor.hooks.queue import JobQueue

TEXT = "<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable></Job>"


class Killed(BaseException):
    """What ends a hook at once: nothing that it has not done yet is done."""


@pytest.fixture(params=["a directory", "a store"])
def site(request, tmp_path, monkeypatch, capsys):
    made = Site(tmp_path / "jobs", monkeypatch, capsys)
    if request.param == "a store":
        made.path, made.state = tmp_path / "jobs.db", tmp_path / "jobs.db.condor"
        with store.open(str(made.path), create=True) as jobs, jobs.change() as work:
            work.put(TEXT.encode())
    else:
        made.path.mkdir()
        (made.path / "a.xml").write_text(TEXT)
    return made


def document(site):
    if site.path.is_dir():
        return loads((site.path / "a.xml").read_bytes())
    with store.open(str(site.path), read_only=True) as jobs:
        [found] = jobs.documents()
        return loads(found.document)


def ran(ad):
    return ad.merged({"JobPid": 7, "JobStartDate": int(time.time()), "JobDuration": 10.0,
                      "RemoteUserCpu": 4.0, "RemoteSysCpu": 1.0, "ExitCode": 3})  # fmt: skip


def fetched(site, **options):
    answer = site.call("fetch-work", SLOT, **options)
    return forms.read_text(answer.decode(), strict=True)


def killed(monkeypatch, owner, name, *, before):
    """Let a step of a hook be its last one, or the one before that."""
    step = getattr(owner, name)

    def last(*arguments, **named):
        if not before:
            step(*arguments, **named)
        raise Killed

    monkeypatch.setattr(owner, name, last)


KILLS = {
    "before it is noted in the queue": (JobQueue, "move", True),
    "behind the note in the queue": (JobQueue, "move", False),
    "before the document says so": (reports, "tell_taken", True),
    "before the note goes": (offers, "settled", True),
}


def is_done(site):
    job = document(site)
    told = [job.get(each) for each in ("State", "ExitCode", "StartCount")]
    left = [*(site.state / "offers").iterdir(), *(site.state / "spool").iterdir()]
    return told == ["Completed", "3", "1"] and not left and not (site.state / "bad").exists()


# decision 885
@pairwise(
    kill=[*KILLS],
    looks=[False, True],
    updated=["", "early", "started"],
)
def test_what_a_startd_took_is_out_whatever_is_killed_and_though_the_queue_is_lost(
    site, monkeypatch, kill, looks, updated
):
    [ad] = fetched(site)
    owner, name, before = KILLS[kill]
    with monkeypatch.context() as patched:
        killed(patched, owner, name, before=before)
        with pytest.raises(Killed):
            site.call("reply-fetch", ad, "accept")
    if looks:
        assert fetched(site) == []
    if updated:
        site.call("update-job-info", ran(ad) if updated == "started" else ad)
    if looks:
        assert fetched(site) == []
    (site.state / "queue.db").unlink()
    assert fetched(site) == []
    site.call("job-exit", ran(ad), "exit")
    assert fetched(site) == []
    assert is_done(site)


def test_hooks_that_write_no_document_keep_the_note_until_one_does(site):
    [ad] = fetched(site)
    site.call("reply-fetch", ad, "accept", fold="never")
    assert fetched(site, fold="never") == []
    (site.state / "queue.db").unlink()
    assert fetched(site, fold="never") == []
    site.call("job-exit", ran(ad), "exit", fold="never")
    assert fetched(site) == fetched(site) == []
    assert is_done(site)


@pytest.mark.parametrize("fold", ["now", "never"])
def test_the_note_of_an_offer_goes_once_its_document_tells_of_it_or_it_came_back(site, fold):
    for answer in ("reject", "accept"):
        [ad] = fetched(site)
        assert len(list((site.state / "offers").iterdir())) == 1
        site.call("reply-fetch", ad.merged({}), answer, fold=fold)
        left = list((site.state / "offers").iterdir())
        assert len(left) == (answer == "accept" and fold == "never")
    site.call("job-exit", ran(ad), "evict")
    [again] = fetched(site)
    [left] = (site.state / "offers").iterdir()
    assert left.name == again["SSSKey"]


def test_a_note_that_a_startd_took_a_job_outlives_the_silence_of_one_that_is_offered(site):
    """A site may have no update hook."""
    [ad] = fetched(site)
    [note] = (site.state / "offers").iterdir()
    offers.note_taken(str(site.state), *map(int, note.name.split(".")))
    (site.state / "queue.db").unlink()
    assert fetched(site) == []
    site.unheard()
    assert fetched(site) == []
    site.call("job-exit", ran(ad), "exit")
    assert document(site).get("ExitCode") == "3"


# decision 895
@pytest.mark.parametrize("how", ["its claim was given up", "nothing was heard of it"])
@pytest.mark.parametrize("is_heard", [False, True])
@pytest.mark.parametrize("lost", ["before it is taken", "behind that"])
def test_an_offer_that_is_later_than_the_attempt_of_which_the_document_tells_is_what_is_out(
    site, how, is_heard, lost
):
    [first] = fetched(site)
    site.call("reply-fetch", first, "accept")
    if is_heard:
        site.call("update-job-info", ran(first))
    if how == "its claim was given up":
        site.call("evict-claim", first)
        [second] = fetched(site)
    else:
        site.call("update-job-info", ran(first))  # so that the site is one with such a hook
        site.unheard()
        [second] = fetched(site)
    if lost == "before it is taken":
        (site.state / "queue.db").unlink()
    site.call("reply-fetch", second, "accept", fold="never")
    if lost == "behind that":
        (site.state / "queue.db").unlink()
    assert fetched(site) == []
    site.call("update-job-info", ran(second))
    assert fetched(site) == []
    site.call("job-exit", ran(second), "exit")
    assert fetched(site) == []
    assert document(site).get("ExitCode") == "3"
    assert not [*(site.state / "offers").iterdir(), *(site.state / "spool").iterdir()]
    assert not (site.state / "bad").exists()
