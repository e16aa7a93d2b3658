"""From a configuration to the LDIF that is published: whole, or not at all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sssjob.errors import LimitExceeded, unheard
from sssjob.lcginfo import answers, glue, ldif
from sssjob.lcginfo.config import BadConfig, Config, refuse_nul
from sssjob.lcginfo.glue import GLUE1, GLUE2, MANAGER, GlueEntry
from sssjob.lcginfo.ldif import BadLDIF
from sssjob.lcginfo.site import Site
from sssjob.lcginfo.snapshot import Remark, Report

LDIF_DIRECTORY = "/var/lib/bdii/gip/ldif"
USUAL_NAMES = {
    GLUE1: "static-file-CE.ldif", GLUE2: "ComputingShare.ldif", MANAGER: "ComputingManager.ldif",
}  # fmt: skip
CONFIG_LIMIT = 1 << 16

_DIRECTORY = re.compile(
    r"^[ \t]*(?:export[ \t]+)?BDII_LDIF_DIR=(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s#;\"']*))",
    re.MULTILINE,
)


def targets(config: Config, report: Report = unheard) -> list[GlueEntry]:
    """The entries that are to get numbers: those of GLUE1, then those of GLUE2, in file order,
    and its managers, where something is asked of them.

    Raises ``BadLDIF`` for a file that cannot be used, and ``BadConfig``.
    """
    forms: tuple[str, ...] = (
        (GLUE1, GLUE2) if config.output_format == "both" else (config.output_format,)
    )
    found: list[GlueEntry] = []
    if GLUE2 in forms and any("ComputingManager" in name for name in config.attributes):
        forms = (*forms, MANAGER)
    for form in forms:
        for path in _files(config, form):
            found += _read(path, form, config.access_rule, report)
    if not found:
        report(Remark(0, f"no static entries for {' and '.join(forms)}: nothing to publish"))
    return found


def text(site: Site, wanted: Sequence[GlueEntry], estimator: str = "") -> bytes:
    """The LDIF for a site. Raises ``NoEstimator``, and whatever an estimator raises."""
    rows = answers.answers(site, glue.pairs(wanted), estimator)
    whole = answers.manager(site, {target.vo for target in wanted if target.vo})
    return ldif.encoded(glue.text(wanted, rows, site.config.attributes, whole))


def ldif_directory(config: Config) -> Path:
    """Where the BDII keeps static entries, as its configuration says. Raises ``BadConfig``."""
    path = Path(config.bdii_config_file)
    try:
        with path.open("rb") as stream:
            said = stream.read(CONFIG_LIMIT).decode("utf-8", "replace")
    except OSError as error:
        if "bdii_config_file" in config.stated:
            raise BadConfig(f"{path}: {error.strerror}") from error
        return Path(LDIF_DIRECTORY)
    refuse_nul(said, f"{path}: ")
    # As in a shell, the last assignment counts.
    values = ["".join(groups) for groups in _DIRECTORY.findall(said)]
    return Path(values[-1]) if values and values[-1] else Path(LDIF_DIRECTORY)


def _files(config: Config, form: str) -> list[Path]:
    """The static files of a schema: the one that is named, the usual one, or all there are.

    Without a format stated, a schema that has no files is left out: configurations from before
    GLUE2 name no file of it.
    """
    named = {
        GLUE1: config.static_ldif_file, GLUE2: config.static_share_file,
        MANAGER: config.static_manager_file,
    }  # fmt: skip
    if named[form]:
        return [Path(named[form])]
    directory = ldif_directory(config)
    usual = directory / USUAL_NAMES[form]
    if usual.is_file():
        return [usual]
    every = sorted(path for path in directory.glob("*.ldif") if path.is_file())
    optional = "output_format" not in config.stated and any(named.values())
    if not every and not optional:
        raise BadLDIF(f"no static file for {form}: none is named, and {directory} holds none")
    return every


def _read(path: Path, form: str, access_rule: str, report: Report) -> list[GlueEntry]:
    def placed(remark: Remark) -> None:
        report(Remark(0, f"{path}:{remark.line}: {remark.message}", remark.severity))

    try:
        with path.open("rb") as stream:
            data = stream.read(ldif.SIZE_LIMIT + 1)
        return glue.READERS[form](ldif.read(data, placed), access_rule, placed)
    except OSError as error:
        raise BadLDIF(f"{path}: {error.strerror}") from error
    except (BadLDIF, LimitExceeded) as error:
        raise BadLDIF(f"{path}: {error}") from error
