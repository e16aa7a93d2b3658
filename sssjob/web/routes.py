"""The table of views: the address, the forms, and the parameters of each.

The application and its description in OpenAPI are both made from it, so that none has what the
other lacks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args

from starlette.convertors import Convertor, register_url_convertor
from starlette.responses import Response

from sssjob.accounting.report import GROUPINGS
from sssjob.check.vocabulary import LEVELS
from sssjob.expression.offer import Mode
from sssjob.integers import whole
from sssjob.measures import MEASURES
from sssjob.store.browsing import FACETS, MOST, SHOWN
from sssjob.web import charts, listing, posted, queues, requested, views
from sssjob.web.parameters import Parameter
from sssjob.web.views import CSV, HTML, JSON, LINES, PARQUET, XML, PageRequest

_INTEGER: dict[str, object] = {"type": "integer", "minimum": 0}
_TIME: dict[str, object] = {"type": "integer", "minimum": 1, "maximum": posted.LATEST}
_TEXT: dict[str, object] = {"type": "string"}


_DIGITS = 4000  # of a number in a path


class NumberInPath(Convertor[int]):
    """A whole number in a path, of no more digits than Python reads at once."""

    regex = f"[0-9]{{1,{_DIGITS}}}"

    def convert(self, value: str) -> int:
        """The number of digits that the path is known to have."""
        return whole(value, _DIGITS) or 0

    def to_string(self, value: int) -> str:
        """The digits of a number."""
        return str(value)


register_url_convertor("whole", NumberInPath())


class View(NamedTuple):
    """A view: its path, as Starlette writes it, without the ending of a form; what it is for; how
    it is answered; its forms; and its parameters in the path and behind it.

    ``body`` says what has to come with a request, which is a POST then; it is a GET without.
    ``shape`` is the command whose ``--json`` has the schema of the answer, where one has.
    """

    path: str
    summary: str
    answer: Callable[[PageRequest], Response]
    forms: tuple[str, ...]
    parameters: tuple[Parameter, ...] = ()
    places: tuple[Parameter, ...] = ()
    body: str = ""
    shape: str = ""
    media: str = "application/octet-stream"  # of what has to come
    schema: dict[str, Any] | None = None  # of it, in JSON
    headers: tuple[Parameter, ...] = ()

    @property
    def method(self) -> str:
        """How it is asked."""
        return "POST" if self.body else "GET"


# fmt: off
_JOB = (
    Parameter("document", "The number of the document in the store.", _INTEGER),
    Parameter("place", "0 for the document itself, or a job's place in its JobGroup, from 1 on.",
              _INTEGER),
)
_MODE = (
    Parameter("mode", "A number of an offer is the most that it has (fit, the default for JSON), "
              "or is compared as it is (exact, the default for job objects).",
              {"enum": [*get_args(Mode)]}),
)
_FACET = (Parameter("name", "The column, or month.",
                    {"enum": [*dict.fromkeys((*FACETS, *SHOWN))]}),)

VIEWS: tuple[View, ...] = (
    View("/", "Leads to the jobs.", views.start, (HTML,)),
    View("/jobs", "A table of jobs.", views.jobs, (HTML, JSON, LINES, CSV, XML, PARQUET),
         listing.PARAMETERS),
    View("/facets/{name}", "How many jobs have each value of a column.", views.facet,
         (HTML, JSON, CSV, PARQUET), listing.PARAMETERS, _FACET),
    View("/jobs/by-id", "Leads to the last run of the job with an Id.", views.by_id, (HTML,),
         (Parameter("id", "The Id.", _TEXT, required=True),)),
    View("/jobs/{document:whole}/{place:whole}", "All that is known of a job or a JobGroup.",
         views.job, (HTML, JSON, XML), (), _JOB),
    View("/jobs/{document:whole}/{place:whole}/translation", "A job as another system takes it.",
         views.translation, (HTML, JSON),
         (Parameter("to", "The system.", _TEXT, required=True),), _JOB),
    View("/usage", "What jobs used over time.", charts.usage, (HTML, JSON, CSV, PARQUET),
         charts.USAGE),
    View("/waits", "How jobs spread over wait times and sizes.", charts.waits,
         (HTML, JSON, CSV, PARQUET), charts.WAITS),
    View("/queues", "States and response times of queues, where they are kept.", queues.queues,
         (HTML, JSON, CSV, PARQUET), queues.PARAMETERS),
    View("/query", "What XPath finds.", views.query, (HTML, JSON, CSV, PARQUET),
         (Parameter("xpath", "The expression.", _TEXT),
          Parameter("version", "The version of XPath.", {"enum": [*views.VERSIONS]}),
          Parameter("size", "How many answers.",
                    {"type": "integer", "minimum": 1, "maximum": MOST,
                     "default": views.ANSWERS}))),
    View("/report", "What jobs used, added up: as sssjob report --json.", posted.report, (JSON,),
         (Parameter("by", f"What to group by, with commas between: {', '.join(GROUPINGS)}.", _TEXT),
          Parameter("since", "Only jobs that ended then or later, in seconds since 1970.", _TIME),
          Parameter("until", "Only jobs that ended before, in seconds since 1970.", _TIME),
          Parameter("sort", "A measure to sort by.",
                    {"enum": [each.name for each in MEASURES]}),
          Parameter("limit", "How many groups.",
                    {"type": "integer", "minimum": 1, "maximum": MOST})), shape="report"),
    View("/validate", "Every finding about documents: as sssjob validate --json.",
         posted.validate, (JSON,),
         (Parameter("profile", "Check what an implementation of this level accepts.",
                    {"enum": [*LEVELS]}),),
         body="Documents in XML, compressed or not.", shape="validate"),
    View("/match", "What jobs ask of offers: as sssjob match --json.", posted.match, (JSON,),
         _MODE, body='{"jobs": a document as a text, "offers": offers in JSON, or a document}.',
         shape="match"),
    View("/jobs/{document:whole}/{place:whole}/match",
         "What a job asks of offers: as sssjob match --json.", posted.match_job, (JSON,), _MODE,
         _JOB, body="Offers in JSON, or job objects whose Delivered counts.", shape="match"),
    View("/convert", "Records as job objects: as sssjob convert --to jsonl.", posted.convert,
         (LINES,),
         (Parameter("from", "What the records are; auto recognises them.", _TEXT),
          Parameter("tz", "The zone of times that state none.", _TEXT)),
         body="Records of a batch system, or documents, compressed or not."),
)
# What the pages of a gateway have beside them.
SERVED: tuple[View, ...] = (
    View("/requests", "A request to the gateway, as sssjob request sends it: with Idempotency-Key "
         "where it changes something.", requested.answer, (JSON,), media="application/json",
         body="The request, with texts as sssjob request takes them.", schema=requested.SCHEMA,
         headers=(Parameter("Idempotency-Key", "The id of the request: with the same one it is "
                            "done once. What changes something needs it.", requested.KEY),)),
)
# fmt: on
