"""Machine/Job Features: what a job may use, as files that the job reads.

``derive`` gives the values of ``$JOBFEATURES`` for a job object, ``write`` puts them into a
directory, ``read`` takes a directory back, and ``facts`` turns it into what can be folded
into the job. The texts are those of 2014 and of 2016 (HSF-TN-2016-02).
"""
