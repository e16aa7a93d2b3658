"""Bytes to trees, with safe limits: a stream of job objects from a source of any size.

A source may be one document (a Job, a JobGroup, or any wrapper around many of them) or many
documents one after the other, with one document on each line or not; gzip, xz and zstd are read
as they are. Memory holds one job object at a time.
"""

from __future__ import annotations

import gzip
import io
import lzma
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import IO, BinaryIO, cast

import zstandard
from lxml import etree

from sssjob import spec
from sssjob.errors import Finding, UnreadableDocument, finding

Source = str | PathLike[str] | bytes | BinaryIO

CHUNK = 1 << 16
BATCH = 250  # lines parsed together: a parser costs as much as a small job

_UNITS = ("Job", "JobGroup")
_TAGS = tuple(f"{{*}}{name}" for name in _UNITS)
_LOCAL_UNITS = frozenset(
    f"{{{namespace}}}{name}" if namespace else name
    for namespace in spec.NAMESPACES
    for name in _UNITS
)
_MAGIC = ((b"\x1f\x8b", "gzip"), (b"\xfd7zXZ\x00", "xz"), (b"\x28\xb5\x2f\xfd", "zstd"))
_SPACE = b" \t\r\n"
_DECLARATION = re.compile(rb"<\?xml[ \t\r\n][^>]*\?>")
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zstandard.ZstdError)
