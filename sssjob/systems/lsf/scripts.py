"""The scripts of LSF: HOST_PRE_EXEC and HOST_POST_EXEC of a queue, and its JOB_STARTER."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.features.batch.scripts import VARIABLES, Installation, Scripts, becoming, exports


class LSFScripts(Scripts):
    """They run as root on each host of a job; the starter as the user, on the first.

    The variables of the user's environment are theirs, too: ``$LSF_ENVDIR`` is not handed on, by
    which a user could have root read another lsf.conf. # decision 560
    """

    command = "bjobs"
    handed = ("LSB_JOBID", "LSB_JOBINDEX", "LSB_MCPU_HOSTS")
    prolog = ("prolog", "LSF HOST_PRE_EXEC")
    epilog = ("epilog", "LSF HOST_POST_EXEC")

    def more(self, at: Installation) -> dict[str, str]:
        """The JOB_STARTER: a HOST_PRE_EXEC cannot change the environment of a job."""
        text = (
            f"{at.head('LSF JOB_STARTER', 'tells the job')}"
            "job=$LSB_JOBID\n"
            '[ "${LSB_JOBINDEX:-0}" = 0 ] || job="$job[$LSB_JOBINDEX]"\n'
            "# bsub hands on the environment that it is called in, maybe that of another job.\n"
            f"unset {' '.join(VARIABLES)}\n"
            f"{exports('', at.root_word(), '$job')}"
            f"{becoming('/bin/sh')}"
        )
        return {"starter": text}

    def configuration(self, at: Installation) -> Iterator[str]:
        """The lines of a queue, and of lsf.sudoers."""
        yield "# lsb.queues, for each queue; then: badmin reconfig"
        yield f"HOST_PRE_EXEC = {at.place('prolog')}"
        yield f"HOST_POST_EXEC = {at.place('epilog')}"
        yield f'JOB_STARTER = {at.place("starter")} "%USRCMD"'
        yield "# /etc/lsf.sudoers on every host, root's, mode 600; then: badmin hrestart all"
        yield "LSB_PRE_POST_EXEC_USER=root"
        yield "# lsf.conf has to be found in /etc there: what a user can set is not handed on"
