"""What all tests share: this folder can be imported from, and no test is judged by the clock."""

import gc
import os
import signal
import stat
from pathlib import Path

import checkout
import memory
import open_stores
import pytest
import worker_messages
from daemons import protected
from draws import ORDINARY, TIMES
from engines import postgresql_server  # noqa: F401 (a fixture, here so that a run starts one)
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import engine, providers
from ready_workers import Server
from shares import Shares, turned

from sssjob import database_files, workers

# "make test" tries the same cases each time, whatever was found before and however busy the machine
# is. "make explore" tries others, and more of them.
CLOCKLESS = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", derandomize=True, max_examples=ORDINARY, **CLOCKLESS)
settings.register_profile("explore", max_examples=ORDINARY * TIMES, print_blob=True, **CLOCKLESS)
settings.load_profile("ci")

# Hypothesis mixes the constants of a project's code, as far as it is imported, into what it draws.
# What a run or a worker imports is by chance, and a constant that changes must not change the cases
# of other tests; so no code counts as the project's. Hypothesis has no setting for that.
providers.is_local_module_file = lambda path: False

# It also repeats parts of a case in others of the same label. That of a choice among objects whose
# hash is their address, as elements of lxml are, is by chance, and so are these cases.
mutations = engine.ConjectureRunner.generate_mutations_from
engine.ConjectureRunner.generate_mutations_from = lambda runner, data: (
    None if runner.settings.derandomize else mutations(runner, data)
)


# What would end a run of the tests, or one of its workers.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

os.environ["SSSJOB_CONFIG"] = os.devnull  # no test depends on the defaults of who runs it
os.environ.pop("COLUMNS", None)  # nor on the width of their terminal
os.unsetenv("COLUMNS")  # which readline, that pytest imports, tells only the processes it starts
os.environ.pop("PYTHONUNBUFFERED", None)  # nor on the order that this gives to two streams
# Where tmp_path is, and PostgreSQL, unless who runs the tests says so.
if not {"PYTEST_DEBUG_TEMPROOT", "TMPDIR"} & os.environ.keys() and (place := memory.place()):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(place)


def pytest_xdist_auto_num_workers(config):
    # Many tests wait for a server or a process: one worker more than processors keeps these busy.
    return len(os.sched_getaffinity(0)) + 1


def pytest_xdist_make_scheduler(config, log):
    return Shares(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_configure(config):
    # A shell ignores two of these of what it puts into the background, and nohup the last: and so
    # do all that this starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    checkout.watch(config, Path(__file__).parents[1])
    open_stores.watched()
    worker_messages.joined(config)


def pytest_configure_node(node):
    worker_messages.parted(node)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """What is collected stays: that no round of the collector looks at it saves each a second."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Each worker begins with other files, as the first one that needs a file compiles it."""
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        report.result[:] = turned(report.result, getattr(collector.config, "workerinput", {}))
    return report


def _handlers():
    return {each: signal.getsignal(each) for each in ENDING}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """What a command that a test calls does to the signals of its process ends with the test."""
    before = _handlers()
    try:
        return (yield)
    finally:
        for each, found in _handlers().items():
            if found is not before[each]:
                signal.signal(each, before[each])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """A store that the tests of a file left open is closed behind them, and not by chance later."""
    try:
        return (yield)
    finally:
        if database_files.any_open() and (nextitem is None or nextitem.path != item.path):
            gc.collect()


def pytest_collection_modifyitems(items):
    """Put long files first, and among them those that wait, so that few of these run at once."""
    files = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    waiting = sorted(each for each, found in files.items() if _waits(found[0]))
    order = sorted(files.keys() - {*waiting}, key=lambda each: (-len(files[each]), each))
    large = sum(len(files[each]) > 20 for each in order)
    # One pool of HTCondor runs at a time: who comes to the next one too early does nothing else.
    of_pool = [each for each in waiting if hasattr(files[each][0].module, "condor_pool")]
    others = [each for each in waiting if each not in of_pool]
    _spread(_spread(of_pool, others, len(others)), order, large)
    items[:] = [item for each in order for item in files[each]]


def _spread(few, many, room):
    """Put a few among the first of many, as far from each other as can be."""
    for place, each in enumerate(few):
        many.insert(place + place * room // len(few), each)
    return many


def _waits(item):
    """Whether the tests of its file wait for a server, for a build or for other processes."""
    marks = {mark.name for mark in item.iter_markers()}
    return bool(marks & {"interop", "packaging"}) or item.path.name == "test_docs.py"


@pytest.fixture
def full(tmp_path_factory):
    """A device without room: /dev/full, but for root, who could take that one from the machine."""
    if os.geteuid() != 0:
        return Path("/dev/full")
    path = tmp_path_factory.mktemp("device") / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    return path


@pytest.fixture
def safe_path(tmp_path):
    """A directory below which nobody leads root elsewhere, as /tmp is not."""
    with protected(tmp_path) as place:
        yield place


@pytest.fixture(scope="session")
def worker_server():
    """Started for the first test that asks for it."""
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def ready_workers(worker_server):
    """Workers that would be interpreters of their own are forked from one that imported all."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(workers, "_begun", worker_server.begun)
        yield
