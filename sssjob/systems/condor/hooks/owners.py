"""As whom a startd runs jobs, and which of them it cannot run.

One of root runs each job as its Owner, any other one all of them as itself.
"""

from __future__ import annotations

from sssjob.users import user_id

WITHOUT_USER = "a job without User cannot be run by a startd that is root"


# decision 887
def refused(owner: str, personal: str) -> str:
    """Why a startd cannot run a job of an owner, "" if it can.

    ``personal`` is as whom it runs all jobs, "" for one of root.
    """
    if personal:
        is_its_own = owner in ("", personal)
        told = f"it is to run as {owner}, and a startd of {personal} runs all jobs as {personal}"
        return "" if is_its_own else told
    if not owner:
        return WITHOUT_USER
    uid = user_id(owner)
    if uid is None:
        return f"it is to run as {owner}, who is no user here"
    # decision 894
    return "" if uid else f"it is to run as {owner}, and HTCondor runs no job as root"
