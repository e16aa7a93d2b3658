"""Faults planted in a room, one at a time: which of them do its tests not notice?

    python tests/long/mutate.py ROOM [COUNT [SEED [SECONDS [ONLY]]]]

All tests of the room are collected and run once, with a probe before each statement of the room: it
is recorded which statements each of them reaches, and how long it takes. A test that takes longer
than LONGEST is given up there and asked no more, as is one that needs another server: the quick
tests of a room are to notice what is wrong. The record is kept in build/mutate, so that the next
run records only tests whose file has changed since, or all where anything else has; and one that
was ended goes on where it was.
The code of functions is then exchanged in a process that is forked for each fault, so that nothing
is imported or collected anew, and the tests that reach the statement run until one fails: those of
the file that mirrors the module first, and of these and the others the quickest first. No more of
them are asked than take ASKING, so that no fault waits long, and one that takes much longer than
without a fault has noticed it. What only the import of a module comes to, where it makes its
tables, is wrong from there on in a new process.
Of all faults
that the rules can plant COUNT are tried, 0 for all, in an order that SEED draws: those that were
tried when SECONDS are over are a sample, too. What is printed are the survivors: each is a missing
case of a test, or means the same as the code (EQUIVALENT). ONLY is a file with what was printed:
the survivors in it are planted again and no other faults, wherever their lines stand by now. Or it
is a module of the room (sssjob.query.order), in which alone faults are planted.
"""

import ast
import builtins
import gc
import hashlib
import json
import math
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.machinery import SourceFileLoader
from itertools import accumulate, zip_longest
from pathlib import Path
from random import Random
from types import CodeType, FunctionType
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

HOME = Path(__file__).parents[2]
LONGEST = 3  # s of a processor for a test
ASKING = 30  # s of a processor for all tests that are asked about a fault
WAITING = 900  # s; a fault that lets tests wait for each other has been noticed, too
PATIENCE = (10, 5)  # s of a processor for any test, and times what it takes without a fault
KEPT = Path(os.environ.get("SSSJOB_MUTATE", HOME / "build/mutate"))  # which statements tests reach


class Room(NamedTuple):
    """Where its modules are below sssjob/, and the tests that are to notice what is wrong there.

    Of a module that only tests with another server reach, nothing is asked.
    """

    paths: tuple[str, ...]
    tests: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def modules(self) -> Iterator[str]:
        """The names of its modules, but for those that only say what a package has."""
        for path in self.paths:
            found = HOME / "sssjob" / path
            for file in sorted(found.rglob("*.py")) if found.is_dir() else [found]:
                if file.name not in ("__init__.py", *self.left_out):
                    yield ".".join(file.relative_to(HOME).with_suffix("").parts)

    def everything(self) -> list[str]:
        """Its tests, with the examples in its own docstrings."""
        return [
            *(f"tests/{name}" for name in self.tests),
            *(f"sssjob/{name}" for name in self.paths),
        ]


ROOMS = {
    "units": Room(("units.py",), ("test_units.py",)),
    "words": Room(
        ("units.py", "integers.py", "legality.py", "resource_names.py", "suggestions.py",
         "visible.py", "json_text.py"),
        ("test_units.py", "test_integers.py", "test_legality.py", "test_resource_names.py",
         "test_suggestions.py", "test_visible.py", "test_json_text.py"),
    ),
    "meaning": Room(
        ("expression", "defaults", "graph", "nodes.py", "executable.py", "array_indices.py",
         "mail_addresses.py", "file_names.py", "feature_rules.py", "usage.py", "measures.py",
         "spans.py", "amounts.py", "states.py", "fold.py", "matching.py"),
        ("expression", "test_expression.py", "test_defaults.py", "test_graph.py", "test_nodes.py",
         "test_model.py", "test_programming.py", "verbs/test_match.py", "cli/test_match.py",
         "translate/test_overridden.py", "test_layout.py", "test_named_nodes.py",
         "test_executable.py", "translate/test_arrays.py", "test_file_names.py", "test_usage.py",
         "test_feature_rules.py", "test_measures.py", "test_job_usage.py",
         "accounting/test_report.py",
         "test_amounts.py", "test_states.py", "test_fold.py", "test_matching.py",
         "test_task_counts.py", "test_job_totals.py", "test_group_amounts.py",
         "test_node_requests.py", "test_tasks_on_nodes.py", "test_nodes_of_groups.py",
         "test_task_distribution.py", "test_only_group_choices.py", "test_choices_on_roads.py",
         "test_contradicting_names.py", "test_inside_and_outside.py", "test_one_verdict.py",
         "test_features_of_both.py", "test_spans.py", "ledger/test_distributions.py"),
    ),
    "document": Room(("document",), ("document",)),
    "check": Room(("check",), ("check", "verbs/test_validate.py", "test_matching.py")),
    "query": Room(
        ("query",),
        ("query", "verbs/test_query.py", "cli/test_query.py", "cli/test_query_forms.py"),
    ),
    "store": Room(
        ("store",),
        ("store", "verbs/test_stores.py", "verbs/test_store_report.py", "verbs/test_browse.py",
         "cli/test_store_command.py", "handlers/test_reach.py", "handlers/test_orders_of_runs.py",
         "handlers/test_totals_by_columns.py", "handlers/test_who_was_charged.py",
         "web/test_gate.py", "verbs/test_dashboards.py", "test_database_files.py"),
        ("postgresql.py",),
    ),
    "records": Room(
        ("records",),
        ("accounting", "test_workers.py", "delivery", "verbs/test_deliver.py",
         "systems/test_status.py", "systems/test_hostile_status.py", "cli/test_convert_parts.py"),
    ),
    "rmap": Room(("rmap",), ("rmap",)),
}  # fmt: skip
# Faults that change nothing that can be seen: the module, or the function where others have such a
# line; the line as it is, what stands there then, and the reason.
EQUIVALENT = {
    ("sssjob.units", "if stripped.isascii() and stripped.isdigit() and len(stripped) <= DIGITS:",
     "len(stripped) < DIGITS"): "what is longer is read in the other way",
    ("sssjob.units", "zeros = (whole & -whole).bit_length() - 1  # units are powers of 2^10",
     "whole | -whole"): "the negative of the same number, which has as many bits",
    ("sssjob.suggestions", "return _FARTHEST + 1", "2"): "too far is too far",
    ("sssjob.suggestions", "return _FARTHEST + 1  # no letter behind makes it less", "2"):
     "too far is too far",
    ("sssjob.suggestions", "row = list(range(len(other) + 1))", "2"): "a place that none asks for",
    ("sssjob.resource_names", "if text[: len(_GRES[0])].lower() in _GRES:", "1"):
     "both beginnings have as many letters",
    ("sssjob.resource_names", "text = text[len(_GRES[0]) :]", "1"):
     "both beginnings have as many letters",
    ("sssjob.units", "return inf if value > 0 else -inf", "value >= 0"): "0 is a double",
    ("sssjob.units", "return inf if value > 0 else -inf", "1"): "1 is a double",
    ("sssjob.units",
     'sign, scaled = "-" * (exact < 0), str(round(abs(exact) * 10**digits)).rjust(digits + 1, "0")',
     "exact <= 0"): "0 is whole",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:", "3"):
     "what is packed in one block has no end",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:",
     "len(value) <= 2 * _BLOCK"): "what is packed in one block has no end",
    ("sssjob.rmap.encryption", "if len(value) < 2 * _BLOCK or len(value) % _BLOCK:",
     "2 + _BLOCK"): "what is packed in one block has no end",
    ("sssjob.rmap.encryption",
     "if not 0 < count <= _BLOCK or padded[-count:] != bytes([count]) * count:",
     "0 <= count <= _BLOCK"): "all of it is not nothing",
    ("sssjob.rmap.encryption", "plain = opener.decompress(padded[:-count], limit + 1)", "2"):
     "one more than the limit is more than the limit",
    ("sssjob.rmap.encryption", "packed = gzip.compress(plain, mtime=0)", "1"):
     "a time that none looks at, in what is encrypted",
    ("sssjob.rmap.replies",
     "self._left: int | None = -1  # bytes of a chunk or body; -1: a line first; None: to the end",
     "2"): "what is below 0 is below 0",
    ("sssjob.rmap.keys", 'line = stream.read(_LONGEST + 1).split(b"\\n", 1)[0]', "2"):
     "one more than the limit is more than the limit",
    ("sssjob.rmap.gate", "start = part.start.search(message, 0, _AROUND)", "1"):
     "what begins with its part has no Envelope",
    ("sssjob.rmap.gate",
     "ends = list(part.end.finditer(message, max(len(message) - _AROUND, 0)))", "1"):
     "what begins with its part has no Envelope",
    ("sssjob.rmap.signature", "if len(element.attrib) > 1:", "len(element.attrib) >= 1"):
     "one attribute is in order",
    ("sssjob.rmap.replies", "self._left = -1", "2"): "what is below 0 is below 0",
    ("sssjob.graph.net",
     "for own, job in zip(defined, resolve(trimmed).block.blocks(Job), strict=True):", "False"):
     "there is a job for each",
    ("sssjob.graph.never", "yield vertex, (both & -both).bit_length() - 1", "both | -both"):
     "the negative of the same bit, which has as many bits",
    ("sssjob.graph.never", "for _ in range(_VISITS // (turn + 1) + 1):", "2"):
     "a bound of work, which is one of many",
    ("sssjob.graph.never", "if 0 in wants[target] and len(wants[target]) > 1:",
     "0 in wants[target] or len(wants[target]) > 1"): "a column with one side excludes nothing",
    ("sssjob.rmap.replies", "self._chunked = False", "True"): "_begin says so first",
    ("sssjob.rmap.replies", "if end < 0:", "1"): "no head ends where it begins",
    ("sssjob.rmap.replies", "if end < 0:", "end <= 0"): "no head ends where it begins",
    ("sssjob.rmap.framing", "if (end := end_of_head(self._buffer)) < 0:", "1"):
     "no head ends where it begins",
    ("sssjob.rmap.framing", "if (end := end_of_head(self._buffer)) < 0:",
     "(end := end_of_head(self._buffer)) <= 0"): "no head ends where it begins",
    ("sssjob.rmap.framing", 'if (end := buffer.find(b"\\n", 0, _LINE_LIMIT)) < 0:', "1"):
     "empty lines were taken before",
    ("sssjob.rmap.framing", 'if (end := buffer.find(b"\\n", 0, _LINE_LIMIT)) < 0:',
     "(end := buffer.find(b'\\n', 0, _LINE_LIMIT)) <= 0"): "empty lines were taken before",
    ("sssjob.rmap.framing", "found, limit = -1, HEAD_LIMIT", "2"): "what is below 0 is below 0",
    ("sssjob.rmap.framing", "if self._left < 0:", "self._left <= 0"):
     "a body of which nothing is left is complete",
    ("sssjob.rmap.framing", "self._chunks = 0", "1"): "_begin says so first",
    ("sssjob.rmap.framing", "self._chunked = False", "True"): "_begin says so first",
    ("sssjob.rmap.framing",
     "self._head, self._body, self._left = None, BytesIO(), -1", "2"): "_begin says so first",
    ("sssjob.rmap.framing",
     "self._head, self._body, self._left = None, BytesIO(), -1", "1"): "_begin says so first",
    ("sssjob.check.awareness", "for child, part in zip(children, parts, strict=True):", "False"):
     "a tree has an element for each part",
    ("sssjob.check.awareness",
     "is_known = not item.namespace and bool(element_level(group.name, item.name))",
     "item.namespace"): "what is understood says nothing, and is only left out",
    ("sssjob.check.awareness",
     "elif not item.attributes and not item.children and not item.namespace:", "item.namespace"):
     "the long way says the same",
    ("sssjob.check.walk",
     "f' {key}=\"{value}\"' for key, value in zip(keys, values, strict=True) if value", "False"):
     "there is a value for each key",
    ("sssjob.query.xpath2.query", "return True", "False"):
     "what one document answers by itself it answers among several, too",
    ("sssjob.fold", "self.ended = self.advances = False", "True"): "job() says both first",
    ("sssjob.document.batches", "start = place.start if piece.end >= 0 else -1", "1"):
     "no job object ends at byte 0; that -1 is not 1 has a case",
    ("sssjob.document.canonical",
     "meant = prefixes_in_content(replace(written, prefixes=whole.prefixes or block.prefixes))",
     "whole.prefixes and block.prefixes"): "defaults that are applied leave the prefixes",
    ("sssjob.expression.lint", "if len(distinct) > _WORLDS.bit_length():",
     "len(distinct) >= _WORLDS.bit_length()"): "as many as are kept are all of them",
    ("sssjob.document.canonical", "return (2, _BLOCKS.index(item.name), *_identity(item))", "3"):
     "what is inside stands behind all properties, whatever the number",
    ("sssjob.document.canonical",
     "return (not name, not name.isdigit(), len(name) if name.isdigit() else 0, name)", "1"):
     "names that are no numbers are told apart before",
    ("sssjob.document.repair.scan",
     'if plain not in ("\'", \'"\') or at >= limit:', "at > limit"):
     "what stands at the limit is no quote",
    ("sssjob.document.patch", "return type(item), item.name, item.namespace, item.attributes",
     "return None"): "what is patched is read again, and written anew if it is something else",
    ("sssjob.expression.columns", "return codes, 2 * len(points) + 2", "3"):
     "a class that no offer is of",
    ("sssjob.expression.offer", "1 if models == len(some) else 2", "3"):
     "what is said more than once is not known, however often",
    ("sssjob.expression.pattern.perl",
     "self.open = [_OpenGroup(-1, lambda part: part, self.flags)]", "1"):
     "the whole is never told as a group that is open",
    ("sssjob.expression.pattern.perl",
     "self.open = [_OpenGroup(-1, lambda part: part, self.flags)]", "2"):
     "the whole is never told as a group that is open",
    ("sssjob.records.runs", "table = _RunTable(1 << (2 * count).bit_length())", "2"):
     "a table with more room answers the same",
    ("sssjob.records.runs",
     "return _without(found, dict(zip((places[at] for at in order), verdicts, strict=True)))",
     "False"): "there is a verdict for each",
    ("sssjob.records.clock",
     "names = digits[:, _OF_HOUR] @ (10 ** np.arange(len(_OF_HOUR) - 1, -1, -1))", "11"):
     "digits of ten are told apart in a base of eleven, too",
    ("sssjob.records.clock",
     "return [str(hours[text[:14]] + within[text[14:]]) for text in texts]", "15"):
     "the long way says the same",
    ("sssjob.records.regular", "if len(places) < size:", "len(places) <= size"):
     "the long way says the same",
    ("sssjob.records.plan", "if len(texts) + found.count(None) < len(found):",
     "len(texts) - found.count(None)"): "the long way says the same",
    ("sssjob.records.engine",
     "self._ends_in_record = True  # what was read last, but for notes, became a job", "False"):
     "of_batches says so first",
    ("sssjob.nodes", "prefix, _ = _parted(given[0])", "1"): "it is that of all names, or none is",
    ("sssjob.nodes",
     "for size in range(part.width, max(part.width, len(str(part.high))) + 1):", "2"):
     "no number has so many digits",
    ("sssjob.store.where", "is_or = False", "True"): "the first of a level joins nothing",
    ("sssjob.store.where", "term, index = None, 0", "1"): "without a term no number is asked for",
    ("sssjob.store.rows", "if leaf.bytes >= 0:", "leaf.bytes > 0"):
     "the first column holds no bytes",
    ("sssjob.document.cutting", "line = self.use(end + 1 if end >= 0 else self.waiting)", "1"):
     "blank lines are used before: no wrong line is one",
    ("sssjob.document.repair.scan._value", "if end < 0:", "end <= 0"):
     "the quote that ends a value stands behind the one that begins it",
    ("sssjob.document.guesses",
     "if len(guess.data) > _LONGEST or may_hold_strangers(guess.data):",
     "len(guess.data) >= _LONGEST"): "the long way says the same",
    ("sssjob.document.batches",
     "for unit, piece in zip(self.units, self.pieces(), strict=True):", "False"):
     "there is a piece for each",
    ("sssjob.document.parsing",
     "begin = _line(data, said.line, encoding).rfind(sign, 0, said.column) if sign else -1", "2"):
     "what is below 0 is below 0",
    ("sssjob.document.guesses", "enough = len(self.rest) >= SIZE or ended",
     "len(self.rest) > SIZE"): "where a batch ends says nothing",
    ("sssjob.document.repair.scan._head", "return 0", "return None"):
     "where a search begins that is told nothing",
    ("sssjob.document.text", "if dialect and type(item) is Property:",
     "dialect or type(item) is Property"):
     "without a dialect a name is itself, and none has another one for a reference",
    ("sssjob.store.facts",
     "low, high = near - _ROUNDED * ulp(near), near + _ROUNDED * ulp(near)",
     "_ROUNDED + ulp(near)"):
     "with wider bounds more documents are asked, which answer the same",
    ("sssjob.query.xpath2.context.iter_descendants", "yield item", "(yield None)"):
     "elementpath takes the item of the context",
    ("sssjob.document.guesses", "yield Piece(line, place, place.start + len(line)), end",
     "place.start - len(line)"): "nobody asks where a line of a document ends in its source",
    ("sssjob.records.json_objects", "tried = 0", "1"): "no object has one character",
    ("sssjob.records.json_objects", 'line_begin = text.text.rfind("\\n", 0, text.at) + 1', "1"):
     "the long way says the same",
    ("sssjob.records.json_parts._by_line", "return 0", "return None"): "no end is no end",
    ("sssjob.records.parts", "return layout.cut.many if isinstance(layout.cut, Lines) else None",
     "None if isinstance(layout.cut, Lines) else layout.cut.many"):
     "one by one they are the same; what is folded is lines",
    ("sssjob.records.plan", "return self._made(text) if self._varied else self[text]",
     "self[text] if self._varied else self._made(text)"): "what is made again is the same",
    ("sssjob.records.regular",
     'if not is_ascii or np.count_nonzero(data < 0x20) > size - 1 or b"\\x7f" in block:',
     "data <= 32"): "the long way says the same",
    ("sssjob.records.runs",
     "own = next((_clock_of(row, clock) for row in wanted if row.column == column), None)",
     "row.column != column"): "the long way says the same",
    ("sssjob.store.ledger", "until = max(each.until or 0, former.until or 0)", "1"):
     "nothing is reserved until a second after 1970",
    ("sssjob.store.writing", "for each, runs in zip(documents, found_runs, strict=True)", "False"):
     "there are runs for each",
    ("sssjob.store.access_paths",
     "return looks_inside and len(names) == 1 and names <= _LEADING and _is_served(part)", "2"):
     "by another way the same is found",
    ("sssjob.store.access_paths", "most = (last or 0) // _FEW", "(last or 0) * _FEW"):
     "by another way the same is found",
    ("sssjob.store.changed_since",
     'return moment.fetch(f"{_ASK} AND deleted = 0 ORDER BY number", (-1,))', "2"):
     "no change is below 0",
    ("sssjob.store.packing", "level, format=_FORMAT, write_checksum=True, write_dict_id=False",
     "True"): "what is packed with its dictionary's number is unpacked, too",
    ("sssjob.store.packing", "if number != NO_DICTIONARY and number not in self._fetched:",
     "number != NO_DICTIONARY or number not in self._fetched"):
     "what is fetched again is the same, and nothing is fetched where there is none",
    ("sssjob.store.reading", "size = 0", "1"): "one byte more may wait",
    ("sssjob.store.rolled", "if block > first:", "block >= first"): "a gap of no rows has none",
    ("sssjob.records.json_objects", "if text.kept < 2:", "3"): "more is read, which is there",
    ("sssjob.records.plan", "return self._column(texts, False)", "True"):
     "a number has nothing to be escaped",
    ("sssjob.records.state",
     'return SeenLog(name, now.st_dev, now.st_ino, StreamPlace(), 0, "", UNREAD, told)', "1"):
     "no bytes have an empty mark, and what is not read has no place",
    ("sssjob.records.runs",
     "return max(map(len, seconds)) <= len(_LAST) and max(seconds) <= _LAST",
     "max(map(len, seconds)) < len(_LAST)"): "the long way says the same",
    ("sssjob.records.clock", "if len(self.twice) > 10_000:", "len(self.twice) >= 10000"):
     "what is forgotten is worked out again",
    ("sssjob.records.clock", 'digits = (characters - np.uint8(ord("0"))).astype(np.int64)',
     "characters + np.uint8(ord('0'))"): "the long way says the same",
    ("sssjob.records.clock",
     "new = {text[:14]: text for text in texts if text[:14] not in hours}", "15"):
     "what is read again is the same",
    ("sssjob.records.xml_records", "if known and end < 0:", "1"):
     "no end stands before its beginning",
    ("sssjob.records.json_parts._by_brace", "while place >= 0:", "place > 0"):
     "an object begins before it ends",
    ("sssjob.records.xml_records",
     "begun, name, at, seen, apart = mark.start(), mark[2], mark.end(), True, 0", "1"):
     "a bound of many MiB, of which it is one byte",
    ("sssjob.store.answers",
     "return sum(match.is_true for match in self.matches(places=False))", "True"):
     "how many there are says nothing of places",
    ("sssjob.store.answers", "return float(whole_sum)", "return None"):
     "added one by one they are the same",
    ("sssjob.store.totals",
     "answer = etree.XPath(self.expression, smart_strings=False)(nowhere, **values)", "True"):
     "a text that knows where it stood is a text",
    ("sssjob.store.incoming",
     "marks = (Marks(*each) for each in zip(*self.marks, strict=True))", "False"):
     "there are all marks of each",
    ("sssjob.store.reading",
     "known = told(found[0]) if len(found) == 1 and found[0][_KIND] == JOB else None",
     "len(found) != 1"): "the document says the same",
    ("sssjob.store.packing", "if size > _MOST:", "size >= _MOST"):
     "a dictionary of as much is as good",
    ("sssjob.records.texts", "there = np.bincount(both, minlength=count * width) > 0",
     "count + width"): "what is not there needs no count",
    ("sssjob.query.hints._element", 'return ""', "return None"): "no message is no message",
    ("sssjob.query.forms", "yield name, [Match(answer, is_node=False)]", "True"):
     "nobody asks whether it is true",
}  # fmt: skip

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


def faulty(node):
    """Each way in which a node can be wrong, as another node."""
    match node:
        case ast.Compare(ops=[first, *others]) if type(first) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(first)](), *others], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        case ast.BinOp() if type(node.op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(value=int(value)):
            yield ast.Constant(value + 1)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.If():
            yield ast.If(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
        case ast.Return(value=ast.Constant(value=None | False)):  # who asks whether hears no
            pass
        case ast.Return(value=ast.expr()):
            yield ast.Return(ast.Constant(None))
        case ast.Continue():
            yield ast.Break()
        case ast.Yield(value=ast.expr()):
            yield ast.Yield(ast.Constant(None))


class Place(NamedTuple):
    """Where a node stands in the tree of a module."""

    function: ast.FunctionDef
    lines: range  # of its statement, without those that it holds
    parent: ast.AST
    field: str
    index: int | None  # in a list

    def put(self, node):
        if self.index is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.index] = node


class Fault(NamedTuple):
    """Where a module is wrong: its line as it is, and what stands there then."""

    module: str
    line: int
    code: str
    was: str
    tree: ast.Module
    place: Place
    node: Any
    other: Any

    @property
    def key(self):
        """By what it is known that it changes nothing."""
        return self.module, self.code, self.was

    @property
    def key_in_function(self):
        """The same, where other functions of its module have such a line."""
        return f"{self.module}.{self.place.function.name}", self.code, self.was

    @property
    def changes_nothing(self):
        return self.key in EQUIVALENT or self.key_in_function in EQUIVALENT

    @property
    def lines(self):
        """Those of its statement."""
        return self.place.lines

    def plant(self):
        """Make the tree of its module wrong."""
        self.place.put(ast.copy_location(self.other, self.node))
        if isinstance(self.node, ast.Return | ast.Yield):
            # A function has to close over what it closed over before, to be given this code.
            self.place.function.body.append(
                ast.If(ast.Constant(0), [ast.Expr(self.node.value)], [])
            )
        return ast.fix_missing_locations(self.tree)

    def told(self, what):
        """A line about it, from which named() knows it again."""
        return f"{self.module}:{self.line}: {what}: {self.code}  ->  {self.was}"


def named(text):
    """By what the faults are known that lines of a text tell of."""
    return set(re.findall(r"(?m)^([\w.]+):\d+: [\w ]+: (.*)  ->  (.*)$", text))


def parsed(module):
    """The file of a module, its text and its tree."""
    path = path_of(module)
    text = Path(path).read_text("utf-8")
    return path, text, ast.parse(text)


def path_of(module):
    return str(HOME.joinpath(*module.split(".")).with_suffix(".py"))


def faults(module):
    """All faults of the functions of a module."""
    _, text, tree = parsed(module)
    lines = text.splitlines()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for place, node in places(function):
                line = getattr(node, "lineno", 0)
                for other in faulty(node):
                    code = lines[line - 1].strip()
                    yield Fault(module, line, code, shown(other), tree, place, node, other)


def shown(node):
    """The first line of a node."""
    if isinstance(node, ast.If):
        node = ast.If(node.test, [ast.Pass()], [])
    return ast.unparse(ast.fix_missing_locations(node)).splitlines()[0]


def places(function):
    """The nodes of a function's body, and where they stand."""
    stack = [(range(0), function, "body")]
    while stack:
        lines, parent, field = stack.pop()
        value = getattr(parent, field)
        for index, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(node, ast.AST) or isinstance(node, ast.FunctionDef | ast.arguments):
                continue
            own = own_lines(node) or lines
            yield Place(function, own, parent, field, index), node
            stack += [(own, node, name) for name in node._fields if name != "annotation"]


def own_lines(node):
    """The lines of a statement, without those of statements that it holds; none of what is none."""
    if not isinstance(node, ast.stmt):
        return range(0)
    held = getattr(node, "body", [])
    return range(node.lineno, max(node.lineno, held[0].lineno - 1 if held else node.end_lineno) + 1)


def probed(tree):
    """A tree that calls PROBE with the line of each statement and each lambda that is reached."""
    for node in [*ast.walk(tree)]:
        if isinstance(node, ast.Lambda):
            node.body = ast.BoolOp(ast.Or(), [probe(node.lineno), node.body])
        elif not isinstance(node, ast.Module):
            for field in ("body", "orelse", "finalbody"):
                if isinstance(statements := getattr(node, field, None), list):
                    setattr(node, field, [*between(statements)])
    return ast.fix_missing_locations(tree)


PROBE = "__reached__"


def probe(line):
    return ast.Call(ast.Name(PROBE, ast.Load()), [ast.Constant(line)], [])


def between(statements):
    for each in statements:
        yield ast.copy_location(ast.Expr(probe(each.lineno)), each)
        yield each


def codes(code):
    """The code objects within one, by what they are called and where and how often before."""
    found, counts = {}, Counter()
    stack = [code]
    while stack:
        each = stack.pop()
        place = each.co_qualname, each.co_firstlineno
        found[*place, counts[place]] = each
        counts[place] += 1
        stack += [const for const in reversed(each.co_consts) if isinstance(const, CodeType)]
    return found


class Functions:
    """All functions of modules that there are, however they are wrapped, cached or closed over."""

    def __init__(self, modules):
        self.places, files = {}, set()
        for module in modules:
            file, text, _ = parsed(module)
            files.add(file)
            there = codes(compile(text, file, "exec", dont_inherit=True))
            self.places |= {(file, code): place for place, code in there.items()}
        gc.unfreeze()
        self.found = defaultdict(list)
        for each in gc.get_objects():
            if type(each) is FunctionType:
                file = each.__code__.co_filename
                if (place := self.places.get((file, each.__code__))) is not None:
                    self.found[file].append((each, place))
                elif file in files:
                    raise LookupError(f"{each.__qualname__} has another code than {file}")
        gc.freeze()

    def exchange(self, file, tree):
        """Give those of a file the code of a tree."""
        new = codes(compile(tree, file, "exec", dont_inherit=True))
        for function, place in self.found[file]:
            if place in new:  # else its fault takes it away
                function.__code__ = new[place]


class Reached(NamedTuple):
    """The statements of a room that a test reaches, and how long it takes."""

    lines: dict[str, list[int]]  # by file
    seconds: float
    how: str  # given up, failed or passed


class GivenUp(BaseException):
    """A test takes longer than LONGEST."""


def reached(session, modules, functions, told, kept):
    """What each quick test reaches, the quickest first; what is known of it stands in a file.

    No test finds what another one has had remembered, so that each reaches all that it needs.
    """
    sources = Sources()
    now = {item.nodeid: sources.digest(item.path) for item in session.items}
    known = known_in(kept, now)
    settled = {test for test, each in known.items() if each.how != "failed"}
    new = [item for item in session.items if item.nodeid not in settled]
    if new:
        assert in_a_fork(lambda: record(new, now, kept, session, modules, functions))
        known = known_in(kept, now)
    quick = {test: each for test, each in known.items() if each.how == "passed"}
    for test, each in known.items():
        if each.how == "failed":
            print(f"{test} fails without a fault", file=told, flush=True)
    if given_up := len(known) - len(quick):
        print(f"{given_up} of {len(known)} tests are given up", file=told, flush=True)
    return dict(sorted(quick.items(), key=lambda each: each[1].seconds))


def known_in(kept, now):
    """What was recorded of tests whose sources are still the same: a line for each."""
    lines = kept.read_text("utf-8").splitlines() if kept.exists() else []
    return {
        test: Reached(*each)
        for test, digest, *each in map(json.loads, lines)
        if now.get(test) == digest
    }


def record(items, now, kept, session, modules, functions):
    """Write what each of these tests reaches behind what is known, as each has ended."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = {}
    for module in modules:
        name, _, tree = parsed(module)
        lines[name] = set()
        vars(sys.modules[module])[PROBE] = lines[name].add
        functions.exchange(name, probed(tree))
    with kept.open("a", encoding="utf-8") as file:
        for each in items:
            found = timed(session, each, lines)
            print(json.dumps([each.nodeid, now[each.nodeid], *found]), file=file, flush=True)
    return 0


class Sources:
    """What tests depend on: all of the library, what tests share, and their own file."""

    def __init__(self):
        self.shared = hashlib.sha256(sys.version.encode())
        for place in ("sssjob", "tests", "conformance"):
            for path in sorted((HOME / place).rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts and not is_of_tests(path):
                    self.shared.update(path.read_bytes())
        self.digests = {}

    def digest(self, path):
        if path not in self.digests:
            whole = self.shared.copy()
            for each in sorted(with_what_it_takes(path)):
                whole.update(each.read_bytes())
            self.digests[path] = whole.hexdigest()
        return self.digests[path]


def is_of_tests(path):
    """Whether a file holds tests, each of which depends on its own, or is this one."""
    return path.match("test_*.py") or path == Path(__file__).resolve()


def with_what_it_takes(path):
    """A file of tests, and those that it takes something from."""
    found, left = set(), [path]
    while left:
        each = left.pop()
        if each not in found:
            found.add(each)
            for name in re.findall(r"(?m)^\s*from (test_\w+) import", each.read_text("utf-8")):
                left += (HOME / "tests").rglob(f"{name}.py")
    return found


# A test that waits for others waits longer where the machine is busy.
LIMITS = (
    (signal.ITIMER_PROF, signal.SIGPROF, LONGEST),
    (signal.ITIMER_REAL, signal.SIGALRM, WAITING / 3),
)


def timed(session, item, lines):
    """Run a test, and see what it reaches."""

    is_over = False

    def over(*_):
        nonlocal is_over
        is_over = True
        raise GivenUp

    for each in lines.values():
        each.clear()
    forget()
    before = time.process_time()
    for timer, which, most in LIMITS:
        signal.signal(which, over)
        signal.setitimer(timer, most)
    with suppress(GivenUp):  # where pytest itself is on its way
        run(session, [item])
    for timer, which, _ in LIMITS:
        signal.setitimer(timer, 0)
        signal.signal(which, signal.SIG_DFL)
    took = time.process_time() - before
    failed, session.testsfailed = session.testsfailed, 0
    how = "given up" if is_over else "failed" if failed else "passed"
    return Reached({file: [*met] for file, met in lines.items() if met}, took, how)


def forget():
    """Whatever functions of the library remember."""
    for name in [*sys.modules]:
        if name.partition(".")[0] == "sssjob":
            for each in remembering(name):
                each.cache_clear()


@cache
def remembering(name):
    """The functions of a module that remember."""
    module = sys.modules[name]
    inner = [each for each in vars(module).values() if isinstance(each, type)]
    return [
        each
        for found in [module, *inner]
        for each in vars(found).values()
        if hasattr(each, "cache_clear") and not isinstance(each, type)
    ]


def tests_of(fault, found):
    """The quickest tests that reach the statement of a fault, of what all of them reach."""
    lines = {*fault.lines}
    return quickest(
        fault.module,
        {
            test: each.seconds
            for test, each in found.items()
            if not lines.isdisjoint(each.lines.get(path_of(fault.module), ()))
        },
    )


def tests_of_module(fault, found):
    """The quickest tests that come to its module at all."""
    path = path_of(fault.module)
    return quickest(
        fault.module, {test: each.seconds for test, each in found.items() if each.lines.get(path)}
    )


def quickest(module, tests):
    """As many of them as may be asked, and how long they take; first those that mirror a module."""
    mirror = f"/test_{module.rpartition('.')[2]}.py::"
    ordered = dict(sorted(tests.items(), key=lambda each: mirror not in each[0]))
    return {
        test: ordered[test]
        for test, before in zip(ordered, accumulate(ordered.values()), strict=True)
        if before < ASKING or before == ordered[test]
    }


def survives(fault, session, items, functions):
    """Whether all tests pass with a fault that take so many seconds of a processor without."""

    def plant():
        functions.exchange(path_of(fault.module), fault.plant())
        forget()
        return run(session, [*items], [*items.values()])

    return in_a_fork(plant, ASKING)


AT_IMPORT = "--at-import"


def survives_import(fault, number, tests, seconds):
    """Whether these tests pass where a fault of its module stands there from its import on.

    So does one that the import does not come to.
    """
    if not tests:
        return True
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("\n".join(tests))
        file.flush()
        told = [AT_IMPORT, fault.module, str(number), f"@{file.name}"]
        return in_a_fork(
            lambda: os.execv(sys.executable, [sys.executable, __file__, *told]), seconds
        )


def asked_at_import(module, number, tests):
    """Plant one of the faults of a module, import it, and ask the tests if that comes to it."""
    fault = [*faults(module)][int(number)]
    usual, lines = SourceFileLoader.get_code, set()
    vars(builtins)[PROBE] = lines.add

    def get_code(loader, name):
        if name != module:
            return usual(loader, name)
        return compile(probed(fault.plant()), loader.path, "exec", dont_inherit=True)

    SourceFileLoader.get_code = get_code
    import_module(module)
    if lines.isdisjoint(fault.lines):
        return 0
    return int(pytest.main([*WORDS, "-x", tests], [Hasty()]))


def in_a_fork(act, seconds=0):
    """Whether what is done in a process of its own ends with 0."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1] == 0
    status = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        if seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
            signal.alarm(WAITING)
        status = act()
    finally:
        os._exit(status)


def run(session, items, seconds=()):
    """Run tests of a session, until one has failed: how many have.

    Where it is known how long they take, the process ends with one that takes much longer.
    """
    for item, following, usual in zip_longest(items, items[1:], seconds):
        if usual is not None:
            limit = math.ceil(time.process_time() + PATIENCE[0] + PATIENCE[1] * usual)
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            break
    return session.testsfailed


# Assertions stay as they are: pytest would write those of a module anew that a room names.
WORDS = (
    "-n0", "--assert=plain", "-p", "no:cacheprovider", "-m", "not interop and not packaging",
)  # fmt: skip


class Hasty:
    """A plugin of pytest: that a case fails is enough, and nobody looks for a smaller one."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self):
        phases = [Phase.explicit, Phase.generate, Phase.target]
        settings.register_profile("planted", settings.get_profile("ci"), phases=phases)
        settings.load_profile("planted")


class Planting(Hasty):
    """Instead of running its tests, it asks them about each fault."""

    def __init__(self, room, chosen, end, told, kept):
        self.room, self.chosen, self.end, self.kept = room, chosen, end, kept
        self.tried = self.same = self.survivors = 0
        self.told = told
        signal.signal(signal.SIGTERM, self.stop)

    def stop(self, *_):
        """Who is to end tells how far it came, behind the fault that it is at."""
        self.end = 0

    def pytest_runtestloop(self, session):
        assert not session.testsfailed, "not all tests can be collected"
        session.config._tmp_path_factory.getbasetemp()  # one for all processes
        modules = [*self.room.modules()]
        for module in modules:
            import_module(module)
        functions = Functions(modules)
        found = reached(session, modules, functions, self.told, self.kept)
        items = {item.nodeid: item for item in session.items}
        for number, fault in self.chosen:
            if time.monotonic() > self.end:
                break
            self.tried += 1
            if fault.changes_nothing:
                self.same += 1
                continue
            tests = tests_of(fault, found)
            asked = tests_of_module(fault, found)
            if (
                survives(
                    fault, session, {items[test]: took for test, took in tests.items()}, functions
                )
                if tests
                else survives_import(
                    fault, number, asked, ASKING + math.ceil(3 * sum(asked.values()))
                )
            ):
                self.survivors += 1
                what = "not noticed" if tests else "no test comes here"
                print(fault.told(what), file=self.told, flush=True)
        return True


def main(name, count=100, seed=7, most=0, only=None):
    """Try so many faults of a room, or for so many seconds, and print those that nobody noticed."""
    modules = [*ROOMS[name].modules()]
    again = None
    if only in modules:
        modules = [only]
    elif only:
        again = named(Path(only).read_text("utf-8"))
    os.chdir(HOME)
    end = time.monotonic() + most if most else math.inf
    room = ROOMS[name]
    planted_here = [
        each
        for module in modules
        for each in enumerate(faults(module))
        if again is None or each[1].key in again
    ]
    chosen = Random(seed).sample(planted_here, min(count or math.inf, len(planted_here)))
    with os.fdopen(os.dup(1), "w") as told:  # and nothing of what pytest says
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        planting = Planting(room, chosen, end, told, KEPT / f"{name}.jsonl")
        status = pytest.main([*WORDS, *room.everything()], [planting])
        real = planting.tried - planting.same
        noticed = 100 * (real - planting.survivors) // max(real, 1)
        print(
            f"{name}: {planting.tried} of {len(planted_here)} faults,"
            f" {planting.same} that change nothing\n"
            f"{noticed} % noticed, {planting.survivors} not noticed",
            file=told,
        )
    return int(status)


if __name__ == "__main__":
    os.environ["SSSJOB_TESTS_WALK_HERE"] = "1"  # tests/kill_walks.py: another process has no faults
    if sys.argv[1] == AT_IMPORT:
        sys.exit(asked_at_import(*sys.argv[2:]))
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:5]), *sys.argv[5:]))
