"""The scripts of PBS: prologue and epilogue of pbs_mom, and lines for the shell."""

from __future__ import annotations

from collections.abc import Iterator

from sssjob.features.batch.scripts import Installation, Scripts, exports


class PBSScripts(Scripts):
    """prologue and epilogue run as root; they are told of the job by arguments."""

    command = "qstat"
    handed = ("PBS_SERVER", "PBS_CONF_FILE")
    arguments = '"$@"'
    prolog = ("prologue", "PBS prologue")
    epilog = ("epilogue", "PBS epilogue")

    def more(self, at: Installation) -> dict[str, str]:
        """A profile of the shell: a prologue cannot change the environment of a job."""
        head = at.head("/etc/profile.d", "tells the shell").partition("\n")[2]
        lines = exports("    ", at.root_word(), "$PBS_JOBID")
        return {
            "profile.sh": f'{head}if [ -n "$PBS_JOBID" ]; then\n{lines}    unset mjf\nfi\n',
        }

    def configuration(self, at: Installation) -> Iterator[str]:
        """The commands that put the files where PBS looks for them."""
        home = "$PBS_HOME/mom_priv"
        yield "# As root, on every node that runs jobs; PBS wants the files to be root's:"
        yield f"install -m 500 {at.place('prologue')} {home}/prologue"
        yield f"install -m 500 {at.place('epilogue')} {home}/epilogue"
        yield f"install -m 644 {at.place('profile.sh')} /etc/profile.d/sssjob-features.sh"
