"""Fuzzing of all that reads bytes of strangers, led by coverage where atheris is installed.

    python tests/long/fuzz.py [SECONDS [TARGET ...]]

Each target of ``fuzz_targets`` runs so long in a process of its own, over its examples and what was
kept of former runs in build/fuzz. An input that raises what it must not, or takes ten seconds or
1 GiB, ends its target and stands in build/fuzz/TARGET, as found-last where atheris is missing. What
reaches something new and is small may be put into tests/data/fuzz/TARGET, which every run of the
tests tries again.
"""

import os
import pkgutil
import resource
import signal
import sys
import time
import traceback
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

KEPT = Path(__file__).parents[2] / "build/fuzz"
SLOW, MEMORY = 10, 1 << 10  # seconds and MiB of one input
IS_LED = find_spec("atheris") is not None


def loaded():
    """All modules of ours, made to tell what they reach where atheris can."""
    if IS_LED:
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


def led(targets, name, seconds, place):
    """Fuzz a target led by coverage; what reaches something new is kept."""
    import atheris

    target = targets.TARGETS[name]
    for number, data in enumerate(target.seeds(name)):
        (place / f"seed{number}").write_bytes(data)

    def one(data):
        targets.tried(target.run, data)

    def other(data, most, seed):
        chance = Random(seed)
        if chance.random() < 0.5:
            return atheris.Mutate(data, most)
        return targets.mutated(data, chance)[:most]

    words = [
        name, str(place), f"-max_total_time={seconds}", f"-timeout={SLOW}", "-print_final_stats=1",
        f"-rss_limit_mb={MEMORY}", f"-max_len={targets.LARGEST}",
        f"-artifact_prefix={place}/found-",
    ]  # fmt: skip
    atheris.Setup(words, one, custom_mutator=other)
    atheris.Fuzz()


def hold():
    """Hold this process to the memory that one input may take; ``SLOW`` is set for each input."""
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    most = used + (MEMORY << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    # Without a handler the process ends, whatever it does: also within one call of a library.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def by_chance(targets, name, seconds, place):
    """Fuzz a target by mutation alone; the input that ends it stands in found-last."""
    target = targets.TARGETS[name]
    hold()
    seeds = [*target.seeds(name)] or [b""]
    chance = Random()
    count, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        data = targets.mutated(chance.choice(seeds), chance)
        (place / "found-last").write_bytes(data)
        signal.setitimer(signal.ITIMER_PROF, SLOW)  # of a processor
        targets.tried(target.run, data)
        signal.setitimer(signal.ITIMER_PROF, 0)
        count += 1
    (place / "found-last").unlink(missing_ok=True)
    print(f"{name}: {count} inputs")


def main(seconds=60, *names):
    """Fuzz targets, each so long."""
    targets = loaded()
    if not IS_LED:
        print("atheris is not installed: mutation alone")
    failed = []
    for name in names or targets.TARGETS:
        place = KEPT / name.replace(" ", "-")
        place.mkdir(parents=True, exist_ok=True)
        print(f"== {name}", flush=True)
        child = os.fork()
        if not child:
            status = 1
            try:
                (led if IS_LED else by_chance)(targets, name, seconds, place)
                status = 0
            except SystemExit as end:
                status = end.code or 0
            finally:
                if sys.exc_info()[0] is not None:
                    traceback.print_exc()
                sys.stdout.flush()
                os._exit(status)
        if os.waitpid(child, 0)[1]:
            failed.append(name)
    print(f"failed: {', '.join(failed) or 'none'}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2]), *sys.argv[2:]))
