"""Each command that has --json, called so that it prints much of what it can print."""
# ruff: noqa: E501 (a row is a line)

import shutil
from pathlib import Path

import jsonschema

import sssjob
from sssjob import store
from sssjob.ledger import columns, ledger
from sssjob.verbs.shapes import SHAPES, schema

ROOT = Path(__file__).parents[1]

# fmt: off
CALLS = {
    "validate":           ["examples/message.xml", "examples/awareness.xml", "examples/broken/job.xml"],
    "show":               ["examples/queries/jobs.xml", "--effective examples/requested/workflow.xml"],
    "query":              ["//Job/Id examples/queries/jobs.xml", "count(//Job) examples/queries/jobs.xml", "//Job examples/queries/jobs.xml --columns Id,User"],
    "diff":               ["examples/queries/jobs.xml other.xml", "examples/message.xml examples/message.xml"],
    "repair":             ["examples/broken/job.xml", "examples/message.xml"],
    "store init":         ["new.db"],
    "store import":       ["jobs.db examples/queries/jobs.xml"],
    "store export":       ["jobs.db"],
    "store query":        ["//Job/Id jobs.db"],
    "store log":          ["jobs.db"],
    "store delete":       ["jobs.db 1"],
    "store stats":        ["jobs.db"],
    "store check":        ["jobs.db"],
    "store compact":      ["jobs.db"],
    "store settings":     ["jobs.db"],
    "store upgrade":      ["jobs.db"],
    "submit":             [],
    "status":             ["examples/status/qstat.json"],
    "deliver":            ["-o done.xml good.xml --record examples/slurm/sacct.txt"],
    "report":             ["examples/slurm/sacct.txt", "--by user,day examples/slurm/sacct.txt", "--by month examples/queries"],
    "ledger init":        ["new"],
    "ledger ingest":      ["usage examples/slurm/sacct.txt"],
    "ledger report":      ["usage --by user,day", "usage --by user --percentiles 50,99.9",
                           "usage --histograms --by user,day --limit 1"],
    "ledger show":        ["usage 7"],
    "ledger query":       ["//Job/Id usage"],
    "ledger audit":       ["usage", "--against examples/slurm/sacct.txt usage"],
    "ledger sql":         ["usage VALUES(1,'a',[NULL])"],
    "ledger check":       ["usage"],
    "ledger repair":      ["usage"],
    "ledger compact":     ["usage"],
    "audit":              ["examples/slurm/sacct.txt", "--against examples/records/sacct.json examples/slurm/sacct.txt"],
    "explain":            ["Memory op", "examples/requested/workflow.xml", "State"],
    "match":              ["examples/requested/workflow.xml --offers examples/requested/offers.json", "--select sim.1 examples/requested/placement.xml --offers examples/requested/nodes.json"],
    "alternatives":       ["examples/requested/workflow.xml"],
    "place":              ["examples/requested/placement.xml --no-solver --offers examples/requested/nodes.json"],
    "layout":             ["examples/requested/workflow.xml"],
    "graph":              ["examples/requested/dependencies.xml", "examples/queries/workflow.xml"],
    "profile":            ["examples/requested/workflow.xml"],
    "features job":       ["--dry-run good.xml"],
    "features machine":   ["--dry-run --site examples/features/site.toml"],
    "features live":      ["--dry-run --job-id 7 --start 1 --wall 3600"],
    "features set":       ["shutdowntime +3600 mjf"],
    "features expire":    ["mjf"],
    "features sweep":     ["--for slurm --root /run/no-job-was-here"],
    "features watch":     [],
    "features sample":    [],
    "features prove":     [],
    "features discover":  [],
    "features show":      ["--machine mjf --job jf"],
    "features left":      ["--machine mjf --job jf"],
    "features status":    ["--in js"],
    "features pilots":    ["js"],
    "features install":   ["--for slurm"],
    "condor features":    ["--machine-ad examples/condor/slot.ad"],
    "condor why":         ["examples/condor/slot.ad examples/condor/slot.ad"],
    "condor queue":       ["--documents jobs"],
    "condor check":       ["--no-files examples/condor/config.txt"],
    "condor simulate":    ["--documents jobs"],
    "lcginfo check":      ["-c examples/lcginfo/lcg-info-dynamic-scheduler.conf"],
    "lcginfo estimate":   ["--lrms examples/lcginfo/lrmsinfo --caps examples/lcginfo/vomaxjobs"],
    "lcginfo backtest":   ["--samples 3 examples/lcginfo/yesterday.sss"],
    "request":            [],
    "conformance":        [""],
    "config show":        [""],
}
# fmt: on
GOOD = (
    "<Job><Id>7</Id><User>amy</User><Executable>/bin/true</Executable><Requested><Processors>2"
    '</Processors><Memory units="GB">2</Memory><Duration>3600</Duration></Requested></Job>'
)


def prepare(place):
    """Make what the commands are asked about below a directory."""
    shutil.copytree(ROOT / "examples", place / "examples")
    (place / "good.xml").write_text(GOOD)
    text = (place / "examples/queries/jobs.xml").read_text().replace("scottmo", "amy")
    (place / "other.xml").write_text(text)
    ledger.create(place / "usage").add([columns.row(sssjob.loads(GOOD))])
    (place / "jobs").mkdir(mode=0o755)
    (place / "jobs" / "7.xml").write_text(GOOD)
    with store.open(place / "jobs.db", create=True) as jobs:
        jobs.load(GOOD.replace(">7<", ">1<").encode())
    for name, values in {
        "mjf": {"total_cpu": "4", "hs06": "40"},
        "jf": {"allocated_cpu": "2", "wall_limit_secs": "3600", "jobstart_secs": "1"},
        "js": {"used_CPU": "2", "last_job_start": "1", "max_job_CPU": "2"},
    }.items():
        (place / name).mkdir(mode=0o755)
        for key, value in values.items():
            (place / name / key).write_text(f"{value}\n")


def keeps_to_its_schema(name, printed):
    """Fail unless the schema of a command names all that it printed, or printed on a line."""
    jsonschema.Draft202012Validator(_closed(schema(name, SHAPES[name]))).validate(printed)


def _closed(shape):
    """The same schema, by which members that it does not name are none."""
    if isinstance(shape, dict):
        made = {name: _closed(inner) for name, inner in shape.items()}
        return {"additionalProperties": False, **made} if "properties" in made else made
    return [_closed(each) for each in shape] if isinstance(shape, list) else shape
