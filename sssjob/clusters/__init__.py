"""Processes of other machines that work on parts: those of Dask, and those that it starts as jobs.

Strategy. One machine has some cores, and a year of records may want fifty. To start processes
elsewhere, watch them and send their work again when they are lost is what Dask does, and what
dask-jobqueue does by the batch systems that users of this program have.

The idea is that nothing else changes: ``connected`` gives ``workers.RemoteWorkers``, a number of
processes that ``workers.Workers`` takes in the place of any other. The same functions are called by
it, with the same parts, and their results come in the same order.

Why it is right: what is called has no effect but its result (parts are read, and nothing is
written), so Dask may call it again where a worker was lost. Who asks alone writes and commits.

# decisions 430, 431
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from sssjob import atomic
from sssjob._version import __version__
from sssjob.addresses import is_host
from sssjob.clusters.profile import SYSTEMS, Profile
from sssjob.dotted import loaded, needed
from sssjob.errors import UnusableCluster
from sssjob.workers import RemoteWorkers, WorkerAnswers, answers_of

__all__ = ["SYSTEMS", "Profile", "connected"]

_ROLES = ("client", "scheduler", "worker")
_ANSWER = 30  # seconds within which a scheduler answers, and has a worker


@contextmanager
def connected(
    name: str, profile: Profile | None = None, tell: Callable[[str], object] = lambda _: None
) -> Iterator[RemoteWorkers]:
    """The workers of a Dask scheduler at an address, or those that a batch system starts.

    A ``name`` of ``SYSTEMS`` starts workers as its jobs, by a ``profile``; they end with the block.
    ``tell`` hears what is waited for. Raises ``UnusableCluster``, and ``ModuleNotFoundError``
    without the extra ``cluster``.
    """
    known = profile or Profile()
    distributed = needed("distributed", "cluster", "--cluster")
    with ExitStack() as stack:
        try:
            loop = stack.enter_context(running_loop())
            client = _client(stack, distributed, name, known, tell, loop)
            _found(client, name, known.wait if name in SYSTEMS else _ANSWER)
            processes = len(client.scheduler_info(n_workers=-1)["workers"])
            _check(client, name)
        except UnusableCluster:
            raise
        except (OSError, ValueError, RuntimeError, TimeoutError) as error:
            raise UnusableCluster(name, str(error).strip() or type(error).__name__) from error
        wanted = known.workers if name in SYSTEMS else 0
        yield RemoteWorkers(max(processes, wanted), _DaskWorkers(distributed, client, name).ask)


@contextmanager
def running_loop() -> Iterator[Any]:
    """The loop of Tornado in a thread of its own, for what Dask does; it ends with the block.

    Dask would start one itself, and ends where a busy machine needs ten seconds for that.
    """
    asyncio = loaded("asyncio")
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="cluster", daemon=True)
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(_tornado(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _tornado() -> Any:
    return loaded("tornado.ioloop:IOLoop").current()


def _client(
    stack: ExitStack, distributed: Any, name: str, profile: Profile,
    tell: Callable[[str], object], loop: Any,
) -> Any:  # fmt: skip
    if name not in SYSTEMS:
        host = name.rpartition("://")[2].rpartition(":")[0]
        if host and not is_host(host):  # a client that is not made to its end leaves a traceback
            raise UnusableCluster(name, "its host is no name that can be looked up")
        tell(f"waits for the scheduler {name}")
        client = distributed.Client(name, timeout=_ANSWER, set_as_default=False, loop=loop)
        return stack.enter_context(client)
    jobqueue = needed("dask_jobqueue", "cluster", f"--cluster {name}")
    # The certificates of this run lie where workers find them, and nobody else may read them.
    folder = stack.enter_context(
        TemporaryDirectory(prefix=".sssjob-cluster-", dir=profile.directory or Path.cwd())
    )
    started = getattr(jobqueue, SYSTEMS[name].type)(
        security=_secured(distributed, Path(folder)), loop=loop, **profile.told_to(name)
    )  # fmt: skip
    cluster = stack.enter_context(started)
    cluster.scale(jobs=profile.workers)
    tell(f"waits for {profile.workers} jobs of {name}")
    return stack.enter_context(distributed.Client(cluster, set_as_default=False))


def _secured(distributed: Any, folder: Path) -> Any:
    """Certificates of this run, as files in a folder that is removed behind all that uses them.

    What dask-jobqueue writes there of certificates in memory it would look for when it is gone.
    """
    made, files = distributed.Security.temporary(), {}
    roles = (f"tls_{role}_{kind}" for role in _ROLES for kind in ("key", "cert"))
    for name in ("tls_ca_file", *roles):
        files[name] = str(folder / f"{name}.pem")
        atomic.put(folder, f"{name}.pem", getattr(made, name).encode(), 0o600, durable=False)
    return distributed.Security(require_encryption=True, **files)


def _found(client: Any, name: str, seconds: int) -> None:
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError:
        raise UnusableCluster(name, f"no worker within {seconds} seconds") from None


def _check(client: Any, name: str) -> None:
    """Refuse workers of another version: they may make something else of a part."""
    try:
        versions = set(client.run(version).values())
    except ImportError as error:
        raise UnusableCluster(name, f"a worker has no sssjob ({error}): install it there") from None
    if versions != {__version__}:
        other = ", ".join(sorted(map(str, versions - {__version__})))
        raise UnusableCluster(name, f"workers have sssjob {other}, and this is {__version__}")


def version() -> str:
    """The version that a worker has."""
    return __version__


class _DaskWorkers:
    """Sends parts to the workers of a client of Dask."""

    def __init__(self, distributed: Any, client: Any, name: str) -> None:
        self._client, self._name = client, name
        self._lost = distributed.KilledWorker
        self._gone = loaded("asyncio:CancelledError"), OSError

    def ask(self, message: bytes, place: str) -> Callable[[], WorkerAnswers]:
        """Have a worker answer; see ``RemoteWorkers``."""
        try:
            future = self._client.submit(answers_of, message, pure=False)
        except RuntimeError as error:
            raise self._failed(place, str(error)) from error

        def wait() -> WorkerAnswers:
            try:
                found: WorkerAnswers = future.result()
            except self._lost:
                text = "several workers ended, one after the other, while they worked on it"
                raise self._failed(place, text) from None
            except self._gone as error:
                raise self._failed(place, f"the scheduler is gone ({error})") from error
            return found

        return wait

    def _failed(self, place: str, text: str) -> UnusableCluster:
        return UnusableCluster(self._name, f"{place}: {text}" if place else text)
