"""What a job may use, in small files that the job reads: Machine/Job Features of 2014 and 2016.

``here`` reads what this process was given, and says how much of it is left:

>>> from sssjob import features
>>> given = features.here({"JOBFEATURES": "/nowhere"})
>>> given.job, given.left(cpu_used=0).time
({}, None)
>>> given.problems
('$MACHINEFEATURES is not set', "$JOBFEATURES: [Errno 2] No such file or directory: '/nowhere'")

The modules do the work of sites and pilots: ``derive`` and ``machine`` give the values of both
directories, ``write``, ``update`` and ``serve`` offer them, ``read`` takes them back, ``status``
and ``pilot`` are about $JOBSTATUS, ``fold`` turns it all into facts about a job object.
"""

from sssjob.features.here import Here, here
from sssjob.features.left import Left, left

__all__ = ["Here", "Left", "here", "left"]
