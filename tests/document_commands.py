"""The commands that read documents, and how each ends with good and with bad ones."""
# ruff: noqa: E501 (a row is a line)

import pytest

JOB = (
    "<Job><Id>a.{0}</Id><User awarenessPolicy='Ignore'>amy</User><Executable>/bin/true</Executable><State>Completed</State><Queue>q</Queue>"
    "<Requested><Processors>1</Processors></Requested><Delivered><Processors>1</Processors></Delivered>"
    "<SubmitTime>1</SubmitTime><StartTime>2</StartTime><EndTime>4</EndTime><Duration>2</Duration></Job>"
)
FIRST, LAST = JOB.format(1), JOB.format(3)

# fmt: off
READ = {"E-XML": 2, "E-UNKNOWN": 1}  # what cannot be read, and what is read and wrong
COMMANDS = [
    #            arguments                                       exit codes: all good, some bad, only bad
    pytest.param("show --to sss-lines @",                        0, 2, 2, id="show"),
    pytest.param("show --effective --json @",                    0, 2, 2, id="show --effective"),
    pytest.param("show --deref --to sss-lines @",                0, 2, 2, id="show --deref"),
    pytest.param("show --explain @",                             0, 2, 2, id="show --explain"),
    pytest.param("query //Job/Id @",                             0, 2, 2, id="query"),
    pytest.param("query Id @",                                   0, 2, 2, id="query, relative"),
    pytest.param("query --effective //Job/Id @",                 0, 2, 2, id="query --effective"),
    pytest.param("query --xpath 2.0 //Job/Id @",                 0, 2, 2, id="query --xpath 2.0"),
    pytest.param("convert --from sss @",                         0, 2, 2, id="convert"),
    pytest.param("graph @",                                      0, 2, 2, id="graph"),
    pytest.param("match @ --offers OFFERS",                      0, 2, 2, id="match"),
    pytest.param("explain @",                                    0, 2, 2, id="explain"),
    pytest.param("alternatives @",                               0, 2, 2, id="alternatives"),
    pytest.param("layout @",                                     0, 2, 2, id="layout"),
    pytest.param("place @ --no-solver --offers OFFERS",          0, 2, 2, id="place"),
    pytest.param("condor ad @",                                  0, 2, 2, id="condor ad"),
    pytest.param("translate @ --from sss --to sbatch --output-dir STORE", 0, 2, 2, id="translate"),
    pytest.param("translate @ --from sss --to all --explain",    0, 2, 2, id="translate --explain"),
    pytest.param("query --workers 2 //Job/Id @",                    0, 2, 2, id="query --workers"),
    pytest.param("validate --workers 2 @",                          0, READ, READ, id="validate --workers"),
    pytest.param("report --workers 2 @",                            0, 2, 2, id="report --workers"),
    pytest.param("profile @",                                    1, 2, 2, id="profile"),
    pytest.param("transform to-3.1.0 @",                         0, 2, 2, id="transform"),
    pytest.param("canon @",                                      0, 2, 2, id="canon"),
    pytest.param("lcginfo lrms --from sss @",                    0, 2, 2, id="lcginfo lrms"),
    pytest.param("store import STORE @",                         0, 2, 2, id="store import"),
    pytest.param("ledger ingest LEDGER @",                       0, 2, 2, id="ledger ingest"),
    pytest.param("report @",                                     0, 2, 2, id="report"),
    pytest.param("audit @",                                      0, 2, 2, id="audit"),
    pytest.param("lcginfo backtest @",                           0, 2, 2, id="lcginfo backtest"),
    pytest.param("validate @",                                   0, READ, READ, id="validate"),
    pytest.param("validate --closed @",                          0, READ, READ, id="validate --closed"),
    pytest.param("validate --profile recommended @",             0, READ, READ, id="validate --profile"),
    # These are about documents as a whole: one with something bad in it is not asked, or changed.
    pytest.param("query //Id @",                                 0, 2, 2, id="query, whole"),
    pytest.param("query --xpath 3.1 //Id @",                     0, 2, 2, id="query, whole, 3.1"),
    pytest.param("diff @ @",                                     0, 2, 2, id="diff"),
    pytest.param("match GOOD --offers @",                        0, 2, 2, id="match --offers"),
    pytest.param("features job --dry-run --select a.1 @",        0, 2, 2, id="features job"),
    pytest.param("features machine --no-host --dry-run --select a.1 --job @", 1, 2, 2, id="features machine"),
    pytest.param("features submit --dry-run --for slurm --select a.1 @", 0, 2, 2, id="features submit"),
    pytest.param("submit --dry-run --to slurm @",                0, 2, 2, id="submit"),
    pytest.param("cancel --to slurm @",                          1, 2, 2, id="cancel"),
    pytest.param("hold --to slurm @",                            1, 2, 2, id="hold"),
    pytest.param("release --to slurm @",                         1, 2, 2, id="release"),
    pytest.param("deliver @ --record RECORDS",                   1, 2, 2, id="deliver"),
    pytest.param("deliver --in-place DIRECTORY --record RECORDS", 1, 2, 2, id="deliver, a directory"),
    pytest.param("request Create Job --data @ --to localhost:1", 2, 2, 2, id="request"),
    pytest.param("condor queue --documents DIRECTORY",                0, 2, 2, id="condor queue"),
]
# fmt: on
