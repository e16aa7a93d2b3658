"""The files that come with the package: schemas, XSLT sheets, cases of the standard, examples.

A wheel carries them in ``sssjob/_data``; in a checkout, and so in an editable install, they are
the top-level folders ``schemas/``, ``xslt/``, ``conformance/`` and ``examples/``.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def schema(name: str) -> Path:
    """Where the XML schema of this name is, with or without its ending.

    Raises FileNotFoundError, naming the schemas there are, when it is none of them.

    >>> schema("sssjob").name
    'sssjob.xsd'
    """
    return _named(name, _files("schemas", ".xsd"), "schema")


def catalog() -> Path:
    """The catalog of XML by which editors and other programs find the schemas."""
    return _named("catalog", _files("schemas", ".xml"), "catalog")


def sheet(name: str) -> Path:
    """Where the XSLT sheet of this name is, with or without its ending.

    Raises FileNotFoundError, naming the sheets there are, when it is none of them.
    """
    return _named(name, sheets(), "sheet")


def sheets() -> tuple[Path, ...]:
    """Every XSLT sheet that comes with the package, by name."""
    return _files("xslt", ".xsl")


def cases() -> tuple[Path, ...]:
    """The files of cases that show what the standard says, in the order of its sections."""
    return _files("conformance", ".toml")


def case_format() -> Path:
    """The text that explains the form in which cases are exported."""
    return _named("README", _files("conformance", ".md"), "text")


def examples() -> Path:
    """The folder of the examples that the README and the pages of docs/ use."""
    return _folder("examples")


def _files(folder: str, suffix: str) -> tuple[Path, ...]:
    return tuple(sorted(_folder(folder).glob(f"*{suffix}")))


def _folder(folder: str) -> Path:
    places = (_PACKAGE / "_data" / folder, _PACKAGE.parent / folder)
    for place in places:
        if place.is_dir():
            return place
    looked = " or ".join(str(place) for place in places)
    raise FileNotFoundError(f"the folder {folder} of sssjob is missing: looked for {looked}")


def _named(name: str, files: tuple[Path, ...], kind: str) -> Path:
    # Names are compared, not joined to a path: "../other.xsl" is no sheet of ours.
    for file in files:
        if name in (file.name, file.stem):
            return file
    known = ", ".join(file.stem for file in files) or "none"
    raise FileNotFoundError(f"sssjob has no {kind} named {name!r}; there are: {known}")
