"""Without extras, what does not need them works, and the rest says what to install."""

import json
import os
import re
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from gold import KEY

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "examples" / "slurm" / "sacct.txt"

# The modules of each extra, which a plain installation lacks.
EXTRAS = {
    "cluster": "distributed",
    "columns": "pyarrow",
    "condor": "classad2",
    "delta": "deltalake",
    "gateway": "prometheus_client",
    "gold": "cryptography",
    "http": "requests",
    "ledger": "duckdb",
    "nodes": "ClusterShell",
    "numpy": "numpy",
    "pandas": "pandas",
    "parquet": "pyarrow",
    "place": "ortools",
    "polars": "polars",
    "postgresql": "psycopg",
    "s3": "s3fs",
    "web": "starlette",
}
WITHOUT = f"import sys; sys.modules.update(dict.fromkeys({[*EXTRAS.values()]}))\n"
COMMAND = WITHOUT + "from sssjob.__main__ import main; main()"

# Where modules may need an extra: any of these packages, and single modules of others.
NEEDING = ("sssjob.ledger.", "sssjob.web.", "sssjob.clusters.")
NEEDING_ELSEWHERE = {
    "sssjob.accounting.rows", "sssjob.accounting.table", "sssjob.accounting.writers.parquet",
    "sssjob.expression.columns", "sssjob.store.parquet", "sssjob.store.postgresql",
    "sssjob.verbs.ledger",
}  # fmt: skip
IMPORT_ALL = (
    WITHOUT
    + """
import importlib, pkgutil, sssjob
for module in pkgutil.walk_packages(sssjob.__path__, "sssjob."):
    if not module.name.endswith("__main__"):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            print(module.name)
"""
)
HELP_ALL = (
    WITHOUT
    + """
import click
from click.testing import CliRunner
from sssjob.cli import sssjob

def tell(words, command):
    result = CliRunner().invoke(sssjob, [*words, "--help"])
    if result.exit_code:
        print(*words, result.output)
    for name in command.list_commands(None) if isinstance(command, click.Group) else ():
        tell([*words, name], command.get_command(None, name))

tell([], sssjob)
"""
)


def python(code, *arguments, **options):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
        check=False, **options,
    )  # fmt: skip


@pytest.fixture
def config(tmp_path):
    (tmp_path / "auth_key").write_bytes(KEY + b"\n")
    (tmp_path / "auth_key").chmod(0o600)
    path = tmp_path / "gateway.toml"
    path.write_text(
        'listen = ["127.0.0.1:0"]\n[security]\nkey = "auth_key"\n[store]\naddress = "jobs.db"\n'
    )
    return path


def test_every_extra_is_left_out_here():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) - {"test", "dev", "docs"} == set(EXTRAS)


def test_every_other_module_can_be_imported():
    result = python(IMPORT_ALL)
    found = {name for name in result.stdout.split() if not name.startswith(NEEDING)}
    assert (result.returncode, found) == (0, NEEDING_ELSEWHERE), result.stderr


def test_every_command_can_be_asked_for_help():
    result = python(HELP_ALL)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


def test_a_gateway_serves_without_figures_and_says_so(config):
    words = [sys.executable, "-c", COMMAND, "serve", "-c", config]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        events = map(json.loads, process.stderr)
        first = next(events)
        place = next(each["address"] for each in events if each["event"] == "listening")
        with urllib.request.urlopen(f"http://{place}/healthz") as answer:
            assert answer.read() == b"ok\n"
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://{place}/metrics")
        process.terminate()
        assert process.wait() == 0
    said = "prometheus_client is not installed: pip install 'sssjob[gateway]'"
    assert (first["event"], first["reason"]) == ("no figures", said)
    with refused.value as answer:
        assert (answer.status, answer.read().decode()) == (404, f"{said}\n")


# Words that ask for an extra, and what is said.
ASKING = [
    ("gateway", "serve -c {config} --metrics", "--metrics: prometheus_client is not installed"),
    ("http", "serve -c {config} --forward http://gold/", "--forward: no library for HTTP"),
    ("http", "request Query Job --to http://127.0.0.1:9/ --key-file {key}", "requests is not"),
    ("http", "features show --job http://127.0.0.1:9/", "features over HTTP are read with"),
    ("gold", "request Query Job --encrypt --key-file {key}", "cryptography is not installed"),
    (
        "parquet",
        "convert --from slurm --to parquet -o {new} {records}",
        "--to parquet needs pyarrow",
    ),
    ("parquet", "store export --to parquet -o {new} {store}", "--to parquet needs pyarrow"),
    (
        "cluster",
        "convert --from slurm --cluster tcp://127.0.0.1:9 -o {new} {records}",
        "--cluster needs distributed",
    ),
    ("ledger", "ledger init {new}", "a ledger needs"),
    ("postgresql", "store stats postgresql://127.0.0.1/jobs", "PostgreSQL needs psycopg"),
    ("web", "browse {store}", "pages need starlette"),
    ("nodes", "layout --extended {nodes}", "--extended needs ClusterShell"),
    ("condor", "condor eval --htcondor 1", "--htcondor needs classad2"),
    ("place", "place --solver {nodes} --offers {offers}", "--solver needs OR-tools"),
]


@pytest.mark.parametrize("extra, words, said", ASKING, ids=[words for _, words, _ in ASKING])
def test_what_needs_an_extra_says_which(config, tmp_path, extra, words, said):
    nodes = tmp_path / "nodes.xml"
    nodes.write_text(
        "<Job><TaskDistribution type='TasksPerNode'>1</TaskDistribution>"
        "<Requested><Node aggregation='Range'>n[1-2]c[1-2]</Node></Requested></Job>"
    )
    store = tmp_path / "store"
    python("import sys; from sssjob import store; store.open(sys.argv[1], create=True)", store)
    words = words.format(
        config=config, key=tmp_path / "auth_key", new=tmp_path / "new", records=RECORDS,
        store=store, nodes=nodes, offers=os.devnull,
    )  # fmt: skip
    result = python(COMMAND, *words.split())
    assert result.returncode == 2, result.stderr
    assert re.search(rf"{said}.*pip install 'sssjob\[{extra}\]'", result.stderr), result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_configuration_that_insists_on_an_extra_is_told_which(config):
    config.write_text(
        config.read_text() + '[observe]\nmetrics = true\n[forward]\nto = "https://gold.example"\n'
    )
    result = python(COMMAND, "serve", "-c", config, "--check")
    assert result.returncode == 1
    first, second = result.stderr.splitlines()
    assert (
        "observe.metrics: found no library for it, expected pip install 'sssjob[gateway]'" in first
    )
    assert "forward.to: found no library for HTTP, expected pip install 'sssjob[http]'" in second
