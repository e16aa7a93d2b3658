"""Jobs to batch systems, exactly once; cancelled, held and released by their documents.

``submit`` and ``steer`` work on a ``Place``: a document in a file (``InFile``), or one of a store
(``InStore``). Which commands a batch system has, its folder declares: see ``Control``.
"""

from sssjob.states import OVER
from sssjob.submission.calling import How
from sssjob.submission.control import Control, Look, Marked, Seen, control, mark_of
from sssjob.submission.editing import Changed
from sssjob.submission.locks import Busy
from sssjob.submission.places import InFile, InMemory, InStore, Place
from sssjob.submission.planning import NotSubmitted
from sssjob.submission.states import BECAME, Known, Now, is_there, record, states
from sssjob.submission.steering import NoSuchJob, Order, Steered, alter, steer
from sssjob.submission.submitting import SubmitOptions, Submitted, prepared, shown, submit

__all__ = [
    "BECAME",
    "OVER",
    "Busy",
    "Changed",
    "Control",
    "How",
    "InFile",
    "InMemory",
    "InStore",
    "Known",
    "Look",
    "Marked",
    "NoSuchJob",
    "NotSubmitted",
    "Now",
    "Order",
    "Place",
    "Seen",
    "Steered",
    "SubmitOptions",
    "Submitted",
    "alter",
    "control",
    "is_there",
    "mark_of",
    "prepared",
    "record",
    "shown",
    "states",
    "steer",
    "submit",
]
