"""Gathers the pages of the documentation site in a folder: python docs/site.py FOLDER.

The README and its like stand at the top of the project, and the reference of commands and of the
library is made from the code: here each becomes a page, with its links led to where they are now.
"""

import inspect
import json
import posixpath
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

import sssjob
from sssjob.accounting.table import schema as jobs_schema
from sssjob.cli import sssjob as program
from sssjob.cli.defaults import KEYS
from sssjob.conformance import examples, reference
from sssjob.errors import CODE, CODES
from sssjob.features.site import SETTINGS
from sssjob.lcginfo.config import OPTIONS
from sssjob.store.parquet import schema as store_schema

ROOT = Path(__file__).resolve().parent.parent
# Where each page outside of docs/ stands on the site.
PAGES = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "CODE_OF_CONDUCT.md": "conduct.md",
    "packaging/README.md": "packages.md",
    "schemas/README.md": "schemas.md",
    "benchmarks/README.md": "benchmarks.md",
}
# What the navigation shows; the pages of a section stand below the first of them.
SECTIONS = {
    "Tutorials": "tutorials/researcher tutorials/scheduler tutorials/accounting tutorials/site"
    " tutorials/data",
    "Documents": "requested queries store browse compare repair awareness sheets",
    "Batch systems": "translate submit status",
    "Accounting": "accounting logs formats record-fields reports ledger cluster usage-records"
    " audit",
    "Scheduling": "dependencies layout placement",
    "Sites": "features features-sites features-payloads features-pilots condor lcginfo"
    " installing packages",
    "Gateway": "gateway gold",
    "Python": "python library",
    "Reference": "commands command-line configuration elements columns findings conformance schemas"
    " editors limits glossary security stability changelog",
    "Developers": "contributing conduct first-change architecture benchmarks decisions/README",
}
_LINK = re.compile(r"(?<=\]\()([^)#\s:]+)(#[^)\s]*)?(?=\))")
_WIDTH = 100  # of the help of commands


def gather(folder: Path) -> None:
    """Write every page, and what pages show or lead to, into a folder that is made anew."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    for path in sorted((ROOT / "docs").rglob("*.md")):
        source = path.relative_to(ROOT).as_posix()
        _write(folder, _on_site(source), _led(path.read_text("utf-8"), source, folder))
    for path in sorted((ROOT / "docs").rglob("*.ipynb")):
        source = path.relative_to(ROOT).as_posix()
        text = "\n".join(_cells(json.loads(path.read_text("utf-8"))))
        _write(folder, _on_site(source), _led(text, source, folder))
    for source, target in PAGES.items():
        _write(folder, target, _led((ROOT / source).read_text("utf-8"), source, folder))
    with (folder / PAGES["README.md"]).open("a", encoding="utf-8") as index:
        index.writelines(_navigation())
    _write(folder, "commands.md", "\n".join(_commands()))
    _write(folder, "library.md", "\n".join(_library()))
    _write(folder, "findings.md", "\n".join(_findings()))
    _write(folder, "elements.md", "\n".join(_elements()))
    _write(folder, "columns.md", "\n".join(_columns()))
    _write(folder, "configuration.md", "\n".join(_configuration()))


def _write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _on_site(path: str) -> str:
    page = PAGES.get(path, path.removeprefix("docs/"))
    return f"{page.removesuffix('.ipynb')}.md" if page.endswith(".ipynb") else page


def _cells(notebook: dict[str, Any]) -> Iterator[str]:
    """The cells of a notebook, and what they print and show."""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield f"{text}\n"
            continue
        yield f"```python\n{text}\n```\n"
        for output in cell["outputs"]:
            shown = output.get("data", {"text/plain": output.get("text", [])})
            if html := "".join(shown.get("text/html", [])):
                yield f"```{{raw}} html\n<div class='output'>{html}</div>\n```\n"
            else:
                yield f"```text\n{''.join(shown['text/plain'])}\n```\n"


def _led(text: str, source: str, folder: Path) -> str:
    """A page with its links led from where its file stands to where they are on the site."""
    here = posixpath.dirname(_on_site(source)) or "."

    def lead(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), found[1]))
        target = _on_site(path)
        if target == path and (ROOT / path).is_file():  # a file of the project, to be looked at
            target = f"files/{path}"
            _write(folder, target, (ROOT / path).read_text("utf-8"))
            return f"path:{posixpath.relpath(target, here)}"
        return posixpath.relpath(target, here) + (found[2] or "")

    return _LINK.sub(lead, text)


def _navigation() -> Iterator[str]:
    for title, names in {**SECTIONS, "Decisions": _decisions()}.items():
        pages = "\n".join(names.split())
        yield f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n:maxdepth: 1\n\n{pages}\n```\n"


def _decisions() -> str:
    """The pages that the table of decisions lists, in its order."""
    table = (ROOT / "docs" / "decisions" / "README.md").read_text("utf-8")
    return " ".join(f"decisions/{page[1].removesuffix('.md')}" for page in _LINK.finditer(table))


def _commands() -> Iterator[str]:
    """The help of every command."""
    yield "# Commands\n\nWhat `--help` prints of each.\n"
    yield from _helps(program, click.Context(program, info_name="sssjob", terminal_width=_WIDTH))


def _helps(command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            inner = click.Context(found, parent=context, info_name=name, terminal_width=_WIDTH)
            yield from _helps(found, inner)


def _findings() -> Iterator[str]:
    """Every kind of finding."""
    yield "# Findings\n\nWhat `sssjob validate` tells, by its code.\n"
    yield "| code | severity | means |\n| --- | --- | --- |"
    yield from (f"| `{code.name}` | {code.weighs} | {code.meaning} |" for code in CODES)


def _elements() -> Iterator[str]:
    """Every name of the standard but those of findings, with all its meanings."""
    yield "# Elements and attributes\n\nWhat `sssjob explain NAME` tells of each name.\n"
    for name in sorted(reference.names() - CODE.keys(), key=str.lower):
        yield f"## {name}\n"
        for topic in reference.topics(name):
            section = f", {topic.section}" if topic.section else ""
            yield f"{topic.about} ({topic.kind}{section}).\n"
            yield from (f"- {label}: {text}" for label, text in topic.facts)
            if topic.example:
                yield f"\n```xml\n{examples.laid_out(topic.example)}\n```"
            yield ""


def _columns() -> Iterator[str]:
    """Every column of the tables that are written."""
    yield "# Columns\n"
    for title, about, schema in (
        ("Tables of jobs", "`sssjob convert --to parquet` and `sssjob.jobs(...).to_arrow()`, "
         "`to_pandas()` and `to_polars()`", jobs_schema()),
        ("Tables of a store", "`sssjob store export --to parquet`", store_schema()),
    ):  # fmt: skip
        rows = ((f"`{each.name}`", str(each.type), _path(each), _says(each)) for each in schema)
        yield f"## {title}\n\nWhat {about} have.\n"
        yield from _table(("column", "type", "path in a job", "what it holds"), rows)


def _path(field: Any) -> str:
    path = (field.metadata or {}).get(b"path", b"").decode()
    return f"`{path}`" if path else ""


def _says(field: Any) -> str:
    return str((field.metadata or {}).get(b"says", b"the document").decode())


def _configuration() -> Iterator[str]:
    """Every key of the files that configure something."""
    yield "# Configuration\n\n## Defaults of options\n"
    yield "`~/.config/sssjob/config.toml`: [where it is looked for](command-line.md).\n"
    rows = ((f"`{name}`", f"`{key.of}`", ", ".join(key.metavars)) for name, key in KEYS.items())
    yield from _table(("key", "is the default of", "what it names"), rows)
    yield "## Machines of a site\n\nThe file of `--site FILE`: [how it is used](features-sites.md)."
    yield "A `[[nodes]]` table with `names` has them for some machines.\n"
    settings = (
        (f"`{name}`", row.kind, row.meaning if name == row.name else f"gives `{row.name}`, too")
        for name, row in SETTINGS.items()
    )
    yield from _table(("key", "type", "meaning"), settings)
    yield "## Queue states of the grid\n\n`sssjob lcginfo -c FILE`: [how it is used](lcginfo.md).\n"
    options = ((each.section, f"`{each.name}`", each.meaning) for each in OPTIONS)
    yield from _table(("section", "option", "meaning"), options)
    for title, name in (("The gateway", "gateway"), ("The gateway, with a store", "site")):
        text = (ROOT / "examples" / "gateway" / f"{name}.toml").read_text("utf-8")
        yield f"## {title}\n\n`sssjob serve --config FILE`: [how it is used](gateway.md).\n"
        yield f"```toml\n{text}```\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |\n|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _library() -> Iterator[str]:
    """Every name of the library, by Sphinx's autodoc."""
    yield "# The library\n\nThe names of `sssjob`; [how to use them](python.md).\n"
    for name in sssjob.__all__:
        value = getattr(sssjob, name)
        if inspect.isclass(value):
            kind = "autoexception" if issubclass(value, Exception) else "autoclass"
            yield f"```{{eval-rst}}\n.. {kind}:: sssjob.{name}\n   :members:\n```\n"
        elif inspect.isroutine(value):
            yield f"```{{eval-rst}}\n.. autofunction:: sssjob.{name}\n```\n"


if __name__ == "__main__":
    gather(Path(sys.argv[1]))
