"""Whose the place of a queue has to be: what hooks say of it, `condor check` says before."""

import os
import pwd
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from sssjob.systems.condor.configured import Configured
from sssjob.systems.condor.hooks import site
from sssjob.systems.condor.hooks.queue import OpenQueue
from sssjob.systems.condor.hooks.settings import HookSettings

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as another user")

DAEMON, BIN = pwd.getpwnam("daemon"), pwd.getpwnam("bin")
CONDOR = DAEMON  # as whom the hooks of the startd run here


def as_user(user, ask):
    """What a function gives in a process of a user."""
    out, into = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.setgroups([user.pw_gid])
            os.setresgid(*[user.pw_gid] * 3)
            os.setresuid(*[user.pw_uid] * 3)
            os.write(into, ask().encode())
        finally:
            os._exit(0)
    os.close(into)
    with open(out, "rb") as told:
        text = told.read().decode()
    os.waitpid(pid, 0)
    return text


def opened(settings):
    """Why a hook gives nothing away, "" if it does."""
    try:
        with OpenQueue(settings) as queue:
            return queue.refused or "opened"
    except OSError as error:
        return str(error)


class Place:
    """Documents, hooks, and where the queue is to be: beside them, or in another place."""

    def __init__(self, root, where):
        self.root, self.jobs = root, root / "jobs"
        self.state = self.jobs / ".condor" if where == "beside" else root / "var" / "state"
        for each in ("jobs", "var", "hooks"):
            (root / each).mkdir()
        self.own(self.jobs)
        self.own(root / "var")
        options = [f"--documents={self.jobs}"]
        self.given = HookSettings(str(self.jobs))
        if where != "beside":
            options.append(f"--state={self.state}")
            self.given = HookSettings(str(self.jobs), str(self.state))
        site.write(str(root / "hooks"), site.wrappers(options))

    def own(self, path, user=CONDOR, mode=0o755):
        os.chown(path, user.pw_uid, user.pw_gid, follow_symlinks=False)
        if not path.is_symlink():
            path.chmod(mode)

    def begin(self):
        """The queue as the first hook makes it."""
        assert as_user(CONDOR, lambda: opened(self.given)) == "opened"

    def hook(self, user=CONDOR):
        told = as_user(user, lambda: opened(self.given))
        return "" if told == "opened" else told

    def check(self, user=CONDOR):
        lines = "\n".join(site.HookSite("SSS", str(self.root / "hooks")).lines())
        ids = f"CONDOR_IDS = {user.pw_uid}.{user.pw_gid}"
        before = self.seen()
        found = Configured.read(f"{lines}\n{ids}\n").found()
        told = {each.text for each in found if each.is_error}
        assert self.seen() == before  # who looks changes nothing
        assert (os.geteuid(), os.getegid()) == (0, 0)
        return "".join(told)

    def seen(self):
        every = [self.root, *sorted(self.root.rglob("*"))]
        return [(each, *each.lstat()[:6], each.lstat().st_mtime_ns) for each in every]


@pytest.fixture(params=["beside", "elsewhere"])
def place(request):
    with TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Place(Path(name), request.param)


ROOT = pwd.getpwnam("root")
OWNERS = {"condor": CONDOR, "root": ROOT, "another": BIN}
MODES = {"closed": 0o711, "of a group": 0o771, "open": 0o713}
LINKS = ("itself", "a link", "behind a link")


def spoil(place, owner, mode, link):
    """A queue that was begun, and then has another owner, mode and name."""
    place.begin()
    place.own(place.state, OWNERS[owner], MODES[mode])
    if link == "a link":
        place.state.rename(place.root / "there")
        place.state.symlink_to(place.root / "there")
        place.own(place.state)
    elif link == "behind a link":
        above = place.state.parent
        above.rename(place.root / "above")
        above.symlink_to(place.root / "above")


# decision 963
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("owner", OWNERS)
def test_check_says_of_a_queue_what_each_hook_would_say(place, owner, mode, link):
    spoil(place, owner, mode, link)
    told = place.check()
    assert told == place.hook()
    if (owner, mode, link) == ("condor", "closed", "itself"):
        assert told == ""
    elif link == "a link":
        assert told == f"{place.state} is not a directory"
    elif owner == "root":
        assert f"{place.state} belongs to uid 0, and the queue in it is used by daemon" in told
        assert f"chown it to uid {CONDOR.pw_uid}" in told
    elif owner == "condor" and mode != "closed":
        assert told.endswith("chmod go-w it")


def no_place_to_make_it(place):
    place.own(place.state.parent, ROOT)


def no_place_above(place):
    place.state.parent.rmdir()
    place.own(place.root, ROOT)


def open_above(place):
    place.begin()
    place.own(place.state.parent, mode=0o777)


def open_above_before(place):
    place.own(place.state.parent, mode=0o777)


def sticky_above(place):
    place.begin()
    place.own(place.state.parent, mode=0o1777)


def open_by_a_link(place):
    """Where the link stands by which the queue is found, everybody could put another one."""
    place.begin()
    (place.root / "links").mkdir()
    place.state.parent.rename(place.root / "links" / "real")
    place.state.parent.symlink_to(place.root / "links" / "link")
    (place.root / "links" / "link").symlink_to("real")
    place.own(place.root / "links", ROOT, 0o777)


def spool_of_root(place):
    place.begin()
    place.own(place.state / "spool", ROOT, 0o1777)


def spool_is_a_link(place):
    place.begin()
    (place.state / "spool").rename(place.state / "other")
    (place.state / "spool").symlink_to("other")


def spool_is_closed(place):
    place.begin()
    place.own(place.state / "spool", mode=0o700)


def file_of_root(place):
    place.begin()
    place.own(place.state / "queue.db", ROOT, 0o600)


def file_is_readable(place):
    place.begin()
    place.own(place.state / "queue.db", mode=0o644)


def file_has_two_names(place):
    place.begin()
    os.link(place.state / "queue.db", place.root / "copy")


def former_queue(place):
    place.state.mkdir()
    place.own(place.state)
    (place.state / "index.json").touch()
    (place.state / "running" / "x").mkdir(parents=True)


def served_by_another(place):
    """The site moved its queue, and left the first one where it was."""
    place.begin()
    as_user(CONDOR, lambda: opened(HookSettings(str(place.jobs), str(place.root / "var" / "two"))))
    if place.given.state.endswith("state"):  # else that one is refused, as this one serves
        place.own(place.state, mode=0o700)
        place.state.rename(place.root / "var" / "three")


def in_the_way(place):
    """What a stranger put beside the documents, and hooks put away."""
    (place.jobs / ".condor").mkdir()
    place.own(place.jobs / ".condor", BIN, 0o700)


def in_the_way_of_another(place):
    """The same where nobody but the owner of the directory can put it away."""
    in_the_way(place)
    place.own(place.jobs, ROOT, 0o1777)


def two_queues(place):
    as_user(CONDOR, lambda: opened(HookSettings(str(place.jobs))))


HARMS = [
    no_place_to_make_it, no_place_above, open_above, open_above_before, sticky_above,
    open_by_a_link, spool_of_root, spool_is_a_link, spool_is_closed, file_of_root,
    file_is_readable, file_has_two_names, former_queue, served_by_another, in_the_way,
    in_the_way_of_another, two_queues,
]  # fmt: skip


@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_check_finds_what_hooks_refuse_and_nothing_else(place, harm):
    if harm is no_place_above and place.state.parent == place.jobs:
        pytest.skip("without the documents there is nothing to serve")
    harm(place)
    told, said = place.check(), place.hook()
    assert bool(told) == bool(said), (told, said)
    # Where the documents cannot be written, that is told first.
    assert told in (said, f"{place.jobs} cannot be written by uid {CONDOR.pw_uid}", "")


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("user", ["root", "condor"])
def test_what_a_startd_of_root_itself_may_use_is_asked_in_the_same_way(place, user, owner):
    """``CONDOR_IDS = 0.0``: root acts as the owner of the jobs, if the site trusts that user."""
    place.own(place.jobs, OWNERS[owner])
    place.own(place.state.parent, OWNERS[owner])
    told, said = place.check(OWNERS[user]), place.hook(OWNERS[user])
    assert bool(told) == bool(said), (told, said)


def test_hooks_of_one_keyword_that_have_two_queues_are_told(place):
    program = place.root / "hooks" / "job-exit"
    text = program.read_text()
    program.write_text(text.replace(f"--documents={place.jobs}", "--documents=/srv/others"))
    place.begin()
    assert "what one of them says the other never hears" in place.check()


def test_a_store_elsewhere_has_its_queue_here_which_is_looked_at(place):
    options = ["--documents=postgresql://db/jobs", f"--state={place.state}"]
    site.write(str(place.root / "hooks"), site.wrappers(options))
    assert place.check() == ""
    place.state.mkdir()
    place.own(place.state, ROOT)
    assert f"chown it to uid {CONDOR.pw_uid}" in place.check()
    site.write(str(place.root / "hooks"), site.wrappers(options[:1]))
    assert "and --state DIR for a store elsewhere" in place.check()
