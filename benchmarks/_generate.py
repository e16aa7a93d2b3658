"""Make job objects to measure with: like the standard's Moderate Example, the same for a seed.

    python benchmarks/_generate.py --count 1000 --lines jobs.xml

Now and then the order of properties is another, a value has a character to escape or one beyond
ASCII, and a job still waits: it has neither times nor Delivered.
"""

import argparse
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TextIO
from xml.sax.saxutils import escape

DATA = Path(__file__).parent / "data"

# fmt: off
APPLICATIONS = (
    # Application, Executable,                     Arguments,                     Name
    ("NWChem",     "/usr/local/nwchem/bin/nwchem", "-input basis.in",             "Heavy Water"),
    ("NAMD",       "/opt/namd/2.14/bin/namd2",     "+p16 apoa1.namd > apoa1.log", "ApoA1 & lipids"),
    ("VASP",       "/opt/vasp/6.4.2/bin/vasp_std", "-k 0",                        "TiO2 <surface>"),
    ("WRF",        "/home/wrf/run/wrf.exe",        "--domains 3",                 "Météo Zürich"),
    ("BLAST",      "/usr/bin/blastn",              "-db nt -query seq.fa",        "blastn nt"),
    ("R",          "/usr/bin/Rscript",             "--vanilla fit.R 42",          "bootstrap"),
)
# fmt: on
USERS = ("peterk", "scottmo", "keith", "amy", "jbloggs", "u00417", "müller", "x_anders")
PROJECTS = ("nwchemdev", "GrandChallenge18", "climate", "bio-17", "materials")
MACHINES = ("Colony", "SMP2.emsl.pnl.gov", "mpp2")
QUEUES = ("batch_normal", "batch", "long", "debug")
QUALITIES = ("BottomFeeder", "Premium", "Normal")
PROCESSORS = (1, 2, 4, 8, 12, 16, 32, 64, 128, 256)
ENDED = ("Completed",) * 14 + ("Failed", "Canceled")
EPOCH = 1051557713


def jobs(count: int, seed: int = 1) -> Iterator[str]:
    """Job elements, one a line and without its newline."""
    chance = Random(seed)
    time = EPOCH
    for number in range(1, count + 1):
        time += chance.randrange(40)
        yield _job(number, time, chance)


def write(out: TextIO, count: int, *, wrapped: bool, seed: int = 1) -> None:
    """Write the jobs one a line, with one ``<Jobs>`` around them all when wrapped."""
    if wrapped:
        out.write("<Jobs>\n")
    out.writelines(f"{job}\n" for job in jobs(count, seed))
    if wrapped:
        out.write("</Jobs>\n")


def corpus(count: int, *, wrapped: bool = True, seed: int = 1) -> Path:
    """A file with so many jobs, made at the first time and kept in benchmarks/data."""
    # The name knows the text of this module, so that no file outlives the way it was made.
    made_by = zlib.crc32(Path(__file__).read_bytes())
    form = "wrapped" if wrapped else "lines"
    path = DATA / f"{form}-{count}-{seed}-{made_by:08x}.xml"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        with part.open("w", encoding="utf-8") as out:
            write(out, count, wrapped=wrapped, seed=seed)
        part.rename(path)
    return path


def _job(number: int, time: int, chance: Random) -> str:
    application, executable, arguments, name = chance.choice(APPLICATIONS)
    user = chance.choice(USERS)
    processors = chance.choice(PROCESSORS)
    gigabytes = chance.randrange(1, 64)
    limit = chance.randrange(1, 49) * 1800
    taken = chance.randrange(1, limit)
    waits = chance.random() < 1 / 16

    properties = [
        f"<Name>{escape(name)}</Name>",
        f"<Project>{chance.choice(PROJECTS)}</Project>",
        f"<User>{user}</User>",
        f"<Application>{application}</Application>",
        f"<Executable>{executable}</Executable>",
        f"<Arguments>{escape(arguments)}</Arguments>",
        f"<InitialWorkingDirectory>/home/{user}/run{number % 97}</InitialWorkingDirectory>",
        f"<Machine>{chance.choice(MACHINES)}</Machine>",
        f"<QualityOfService>{chance.choice(QUALITIES)}</QualityOfService>",
        f"<Queue>{chance.choice(QUEUES)}</Queue>",
        f"<State>{'Idle' if waits else chance.choice(ENDED)}</State>",
    ]
    if not waits:
        properties += [
            f"<StartTime>{time}</StartTime>",
            f"<EndTime>{time + taken}</EndTime>",
            f"<Charge>{processors * taken}</Charge>",
        ]
    properties.append(
        f'<Requested><Processors op="GE">{processors}</Processors>'
        f'<Memory op="GE" units="GB">{gigabytes}</Memory><Duration>{limit}</Duration></Requested>'
    )
    if not waits:
        used = gigabytes * chance.random()
        properties.append(
            f"<Delivered><Processors>{processors}</Processors>"
            f'<Memory metric="Average" units="GB">{used:.2f}</Memory>'
            f"<Duration>{taken}</Duration></Delivered>"
        )
    properties.append(
        f'<Environment><Variable name="PATH">/usr/bin:/home/{user}</Variable></Environment>'
    )
    if chance.random() < 1 / 16:
        chance.shuffle(properties)
    return f"<Job><Id>PBS.{number}.0</Id>{''.join(properties)}</Job>"


def main() -> None:
    """Read the options and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", help="where to write; - is standard output")
    parser.add_argument("--count", type=int, default=10_000, help="jobs (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other jobs")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--wrapped", action="store_true", default=True, help="in one <Jobs>")
    form.add_argument("--lines", dest="wrapped", action="store_false", help="one document a line")
    chosen = parser.parse_args()
    with open(1 if chosen.file == "-" else chosen.file, "w", encoding="utf-8") as out:
        write(out, chosen.count, wrapped=chosen.wrapped, seed=chosen.seed)


if __name__ == "__main__":
    main()
