"""What other systems say, to job objects and back: against libraries that read or fill the like.

``squeue --json`` is that of Slurm 24.11, some 9 kB a job; ``json.loads`` takes it as a whole. Jobs
are written as scripts of sbatch and read again; jinja2 fills a template with the same values, which
asks nothing about them, keeps no list of losses, and proves nothing by reading back.

What bounds it: of the time for a job of ``squeue`` a fifth is orjson, which makes all 134 members,
more than a quarter is the reading of 57 of them, and the rest is finding where it ends, and its
text. A job of 17 values takes some 700 calls to a script: a rule for each property, and who holds
what; where its properties stand is known from the job before it, and plain texts are options as
they are. With a residual, what no rule is sure of is read back, too: here the amounts. A process of
5000 jobs makes the job objects as well, and takes its start-up.
"""

import json
from pathlib import Path

from _measure import Case, compare, options, program, sssjob

ROOT = Path(__file__).parents[1]
PRINTED = ROOT / "tests/data/lcginfo/slurm-24.11/squeue.json"
JOBS = 5000
LOADS = """
import json, sys
with open(sys.argv[1], "rb") as stream:
    json.loads(stream.read())
"""
VALUES = """
import sys

def values(number):
    return {
        "Name": f"analysis-{number}", "Queue": "batch", "QualityOfService": "normal",
        "Project": "physics", "Priority": str(number % 900 + 1), "Executable": "/sw/bin/solve",
        "Arguments": f"--input data-{number}.h5 --steps {number % 77}",
        "InitialWorkingDirectory": f"/home/u{number % 50}/run",
        "OutputFile": f"/home/u{number % 50}/out-{number}.txt",
        "ErrorFile": f"/home/u{number % 50}/err-{number}.txt",
        "Dependency": str(100000 + number),
    }

def requested(number):
    return {
        "NodeCount": str(number % 16 + 1), "Processors": str((number % 16 + 1) * 8),
        "Memory": str((number % 16 + 1) * (number % 7 + 1)), "Feature": "avx2",
        "Duration": str(600 + number % 400 * 60),
    }

def variables(number):
    return {"INDEX": str(number), "OMP_NUM_THREADS": "8"}
"""
FILLED = (
    VALUES
    + '''
import jinja2

template = jinja2.Environment().from_string("""#!/bin/sh
#SBATCH --job-name={{ job.Name }}
#SBATCH --priority={{ job.Priority }}
{% if job.Project %}#SBATCH --account={{ job.Project }}
{% endif %}#SBATCH --partition={{ job.Queue }}
{% if job.QualityOfService %}#SBATCH --qos={{ job.QualityOfService }}
{% endif %}#SBATCH --chdir={{ job.InitialWorkingDirectory }}
#SBATCH --output={{ job.OutputFile }}
#SBATCH --error={{ job.ErrorFile }}
{% if job.Dependency %}#SBATCH --dependency=afterok:{{ job.Dependency }}
{% endif %}#SBATCH --nodes={{ asked.NodeCount }}
#SBATCH --ntasks={{ asked.Processors }}
#SBATCH --mem={{ asked.Memory }}G
#SBATCH --time={{ asked.Duration }}
{% if asked.Feature %}#SBATCH --constraint={{ asked.Feature }}
{% endif %}{% for name, value in variables.items() %}export {{ name }}={{ value }}
{% endfor %}exec {{ job.Executable }} {{ job.Arguments }}
""")
for number in range(int(sys.argv[1])):
    template.render(job=values(number), asked=requested(number), variables=variables(number))
'''
)
WRITTEN = (
    VALUES
    + """
from sssjob import Job, Property, Requested, translate
from sssjob.translate import Settings, read

settings = Settings(unstated="Warn", residual=sys.argv[2] == "residual")
back = sys.argv[3] == "back"
for number in range(int(sys.argv[1])):
    asked = Requested(tuple(
        Property(name, text, {"units": "GB"} if name == "Memory" else {})
        for name, text in requested(number).items()
    ))
    environment = Property("Environment", "", {}, (
        Property("Variable", text, {"name": name}) for name, text in variables(number).items()
    ))
    plain = (Property(name, text) for name, text in values(number).items())
    found = translate(Job((*plain, environment, asked)), "sbatch", settings)
    if back:
        [*read(found.text.encode(), "sbatch", settings)]
"""
)


def squeue(count: int) -> Path:
    """The queue of a Slurm with so many jobs, made of the jobs of a real one."""
    file = Path(__file__).parent / "data" / f"squeue-{count}.json"
    if not file.exists():
        document = json.loads(PRINTED.read_bytes())
        jobs = document["jobs"]
        document["jobs"] = [
            {**jobs[place % len(jobs)], "job_id": place + 1, "name": f"job-{place}",
             "user_name": f"user{place % 50}"}
            for place in range(count)
        ]  # fmt: skip
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(document, indent=2))
    return file


if __name__ == "__main__":
    chosen = options(__doc__, count=20_000, rounds=3).parse_args()
    queue = squeue(chosen.count)
    print(f"squeue --json, {queue.stat().st_size / chosen.count:.0f} bytes a job")
    compare(
        [
            Case("json.loads", program(LOADS, queue)),
            Case("status", sssjob("status", "--from", "squeue-json", queue), aim=1),
        ],
        chosen,
    )
    chosen.count, count = JOBS, str(JOBS)
    print(f"{count} jobs as scripts of sbatch")
    compare(
        [
            Case("jinja2", program(FILLED, count)),
            Case("written", program(WRITTEN, count, "plain", ""), aim=4),
            Case("with a residual", program(WRITTEN, count, "residual", "")),
            Case("written and read", program(WRITTEN, count, "plain", "back"), aim=12),
            Case("both, with a residual", program(WRITTEN, count, "residual", "back")),
        ],
        chosen,
    )
