"""Fuzzing of all that reads bytes of strangers, by chance or led by coverage, by atheris.

    python tests/long/fuzz.py chance|led [SECONDS [TARGET ...]]

`make fuzz` does both. Each target of ``fuzz_targets`` runs so long in a process of its own, over
its examples and what was kept of former runs in build/fuzz/kept/TARGET. An input that raises what
it must not, or takes more than a second of the processor (five under atheris, which makes code
slow) or 256 MiB beyond what the first one took, ends its target and stands in build/fuzz/found, by
the name of the target and a digest: nothing is tried from there, and none takes the place of
another.
By chance, each target tells what its inputs took.
What reaches something new and is small may be put into tests/data/fuzz/TARGET, which every run of
the tests tries again.
"""

import hashlib
import mmap
import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from importlib import import_module
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

KEPT, FOUND = (Path(__file__).parents[2] / "build/fuzz" / each for each in ("kept", "found"))
SLOW, MEMORY = 1, 256  # seconds of a processor for one input, and MiB beyond what was there before
_TOLD = 5  # times as long where code is made to tell what it reaches
_HANG = 600  # seconds by the clock, for what waits and takes no processor
_LONGEST = 1 << 20  # bytes of an input
CHANCE, LED = "by chance", "led by coverage"


def loaded(way):
    """All modules of ours, made to tell what they reach where that leads."""
    if way == LED:
        import atheris

        with atheris.instrument_imports(include=["sssjob"]):
            return imported()
    return imported()


def imported():
    import sssjob

    for module in pkgutil.walk_packages(sssjob.__path__, "sssjob."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    return import_module("fuzz_targets")


def led(targets, name, seconds, place, last):
    """Fuzz a target led by coverage; what reaches something new is kept.

    ``last`` has the input that takes too long, which ends the process without a word.
    """
    import atheris

    target = targets.TARGETS[name]
    seeds = [*target.seeds(name)] or [b""]
    for number, data in enumerate(seeds):
        (place / f"seed{number}").write_bytes(data)
    targets.tried(target.run, seeds[0])  # with what is imported and made for the first one only
    signal.signal(signal.SIGPROF, signal.SIG_DFL)

    def one(data):
        last.put(data)
        signal.setitimer(signal.ITIMER_PROF, SLOW * _TOLD)
        targets.tried(target.run, data)
        signal.setitimer(signal.ITIMER_PROF, 0)

    def other(data, most, seed):
        chance = Random(seed)
        if chance.random() < 0.5:
            return atheris.Mutate(data, most)
        return targets.mutated(data, chance)[:most]

    words = [
        name, str(place), f"-max_total_time={seconds}", f"-timeout={_HANG}",
        "-print_final_stats=1", f"-rss_limit_mb={pages(1) + MEMORY}",
        f"-max_len={targets.LARGEST}", f"-artifact_prefix={FOUND / place.name}-",
    ]  # fmt: skip
    atheris.Setup(words, one, custom_mutator=other)
    atheris.Fuzz()


class LastInput:
    """The input that a process is at, which who began it knows when it has ended."""

    def __init__(self) -> None:
        self._kept = mmap.mmap(-1, _LONGEST)

    def put(self, data):
        self._kept.seek(0)
        self._kept.write(len(data).to_bytes(8, "big") + data)

    def get(self):
        self._kept.seek(0)
        return self._kept.read(int.from_bytes(self._kept.read(8), "big"))


def pages(place):
    """MiB of this process: 1 of memory that it has, 5 of what it may write to."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[place]) * resource.getpagesize() >> 20


def hold():
    """Hold this process to the memory that one input may take; ``SLOW`` is set for each input.

    What threads keep ready and do not use is not counted.
    """
    most = pages(5) + MEMORY << 20
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    # Without a handler the process ends, whatever it does: also within one call of a library.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def by_chance(targets, name, seconds, last):
    """Fuzz a target by mutation alone; ``last`` has the input that ends it."""
    target = targets.TARGETS[name]
    seeds = [*target.seeds(name)] or [b""]
    targets.tried(target.run, seeds[0])  # with what is imported and made for the first one only
    hold()
    chance, before = Random(), pages(1)
    count, longest, end = 0, 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = targets.mutated(chance.choice(seeds), chance)
        last.put(data)
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        targets.tried(target.run, data)
        left, _ = signal.setitimer(signal.ITIMER_PROF, 0)
        longest = max(longest, SLOW - left)
        count += 1
    most = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10) - before
    print(f"{name}: {count} inputs, at most {longest:.3f} s, {max(most, 0)} MiB", flush=True)


def apart(way, targets, name, seconds):
    """Fuzz a target in a process of its own; whether nothing was found."""
    slug = name.replace(" ", "-")
    place, last = KEPT / slug, LastInput()
    FOUND.mkdir(parents=True, exist_ok=True)
    there = {*FOUND.glob(f"{slug}-*")}
    child = os.fork()
    if not child:
        status = 1
        try:
            if way == LED:
                place.mkdir(parents=True, exist_ok=True)
                led(targets, name, seconds, place, last)
            else:
                by_chance(targets, name, seconds, last)
            status = 0
        except SystemExit as end:
            status = end.code or 0
        finally:
            if sys.exc_info()[0] is not None:
                traceback.print_exc()
            sys.stdout.flush()
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if status and there == {*FOUND.glob(f"{slug}-*")}:  # what raises, atheris writes itself
        data = last.get()
        file = FOUND / f"{slug}-{hashlib.sha1(data).hexdigest()}"
        file.write_bytes(data)
        print(f"{name}: {os.waitstatus_to_exitcode(status)} {way}, see {file}")
    return not status


def main(way, seconds=60, *names):
    """Fuzz targets in one way, each so long."""
    targets = loaded(way)
    failed = []
    for name in names or targets.TARGETS:
        print(f"== {name}, {way}", flush=True)
        if not apart(way, targets, name, seconds):
            failed.append(name)
    print(f"failed {way}: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    ways = {"chance": CHANCE, "led": LED}
    sys.exit(main(ways[sys.argv[1]], *map(int, sys.argv[2:3]), *sys.argv[3:]))
