"""Whose word counts: the user of a job about that job, and few others about every one.

Who somebody is tells the file that he left, never what stands in it.
"""

from __future__ import annotations

import os

from sssjob.users import user_id, user_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sssjob.model import Job
    from sssjob.systems.condor.hooks.settings import HookSettings


NOBODY = -1  # the uid of a document of which is not known whose it is


class Untrusted(ValueError):
    """Who says something about a job that is another one's, as a sentence."""


class Trust:
    """Those by their uids who may speak for any user."""

    __slots__ = ("uids",)

    def __init__(self, uids: frozenset[int]) -> None:
        self.uids = uids

    def owner(self, job: Job, uid: int) -> str:
        """As whom a job runs whose document is of a uid; empty if the site says so.

        Raises ``Untrusted``.
        """
        stated = job.get("User")
        if uid in self.uids:
            return stated
        if uid == NOBODY:
            raise Untrusted(
                "whose its document was, before reports were folded into it, is not known: "
                "put it there anew, without its Extension Starts"
            )
        name = user_name(uid)
        if not name:
            raise Untrusted(f"its document belongs to uid {uid}, which is no user here")
        if stated not in ("", name):
            raise Untrusted(f"its User is {stated}, and its document belongs to {name}")
        return name

    def counts(self, uid: int, owner: str) -> bool:
        """Whether what a uid left counts for the jobs of a user."""
        return uid in self.uids or (bool(owner) and uid == user_id(owner))

    def check(self, uid: int, owner: str) -> None:
        """Raise ``Untrusted`` if what a uid left does not count for the jobs of a user."""
        if not self.counts(uid, owner):
            raise Untrusted(f"uid {uid} left it, and the job is one of {owner or 'nobody'}")


def trust(settings: HookSettings) -> Trust:
    """Root, whoever runs this, and those whom the site names."""
    named = (user_id(name) for name in settings.trust)
    return Trust(frozenset({0, os.getuid(), *(uid for uid in named if uid is not None)}))


def reporters(settings: HookSettings) -> Trust:
    """The same about reports, and the owner of the queue, who could write the documents."""
    return Trust(trust(settings).uids | {os.geteuid()})
