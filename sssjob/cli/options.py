"""Options that several commands have, each told once."""

from __future__ import annotations

import click

SELECT = click.option(
    "--select", metavar="XPATH|ID", help="Jobs or task groups; an id, or an XPath."
)
JSON_OBJECT = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
JSON_LINES = click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object on each line."
)
JSON_JOBS = click.option(
    "--json", "as_json", is_flag=True, help="Print a JSON object for each job."
)
OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="Write to FILE, whole or not at all.",
)
OUTPUT_OF_PICTURES = click.option(
    "-o", "--output", metavar="FILE", help="Write there instead of standard output."
)
NOW = click.option(
    "--now",
    metavar="SECONDS",
    type=click.IntRange(0),
    help="What time it is, in seconds since 1970.",
)
EFFECTIVE = click.option("--effective", is_flag=True, help="Apply defaults elements first.")
LINES = click.option("--lines", is_flag=True, help="One job object on each line, not indented.")
RAW = click.option(
    "--raw", is_flag=True, help="Keep cells of CSV that a spreadsheet would take for formulas."
)
MATCHING = click.option(
    "--match",
    "matching",
    type=click.Choice(["full", "search", "glob"]),
    default="full",
    show_default=True,
    help="A pattern is the whole name, a part of it, or has * and ?.",
)
ZONE = click.option(
    "--tz",
    "zone",
    metavar="ZONE",
    default="",
    help="The zone of times that state none, such as Europe/London. Default: UTC.",
)
MEMORY_SCOPE = click.option(
    "--memory-scope",
    type=click.Choice(("job", "task", "node")),
    default="job",
    show_default=True,
    help="Whose memory the Memory of a job is.",
)
PARALLEL = click.option(
    "--pe",
    "parallel",
    metavar="NAME",
    default="smp",
    show_default=True,
    help="Grid Engine's parallel environment.",
)
OUTPUT_DIRECTORY = click.option(
    "--output-dir",
    metavar="DIR",
    type=click.Path(file_okay=False),
    help="Write each job to a file of its own in DIR, named by its Id.",
)
SITE = click.option(
    "--site",
    "site_file",
    metavar="FILE",
    type=click.Path(),
    help="The site's configuration (TOML): ratings, notice, shutdown.",
)
NODE = click.option("--node", metavar="NAME", help="Which node is meant; without it, this machine.")
HOST = click.option(
    "--host/--no-host",
    default=True,
    show_default=True,
    help="Ask this machine how many processors and cores it has.",
)
QUEUE = click.option(
    "--queue", metavar="NAME", default="", help="The queue of jobs that name none."
)
PLOT = click.option("--svg", metavar="FILE", help="Write that plot to FILE.")
CONFIGURATION = click.option("-c", "--config", "path", metavar="FILE", help="The configuration.")
ESTIMATOR = click.option("--estimator", metavar="NAME", default="", help="Use this estimator.")
REASON = click.option("--reason", metavar="TEXT", default="", help="Why, for the history.")
