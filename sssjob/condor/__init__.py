"""HTCondor execution points in the terms of job objects.

``job_ad`` and ``from_ad`` map between a job object and a job ad, ``requirements`` between a
request and Requirements with Rank, ``slot`` takes machine features, job features and offers from
the ads of slots. ``hooks`` are the programs that a startd and a starter run, over the jobs of a
``queue``; ``usage`` folds what they report into Delivered. Hooks start for every job: what they
import first (``hooks``, ``queue``, ``spool``, ``slot``) imports little itself.
"""
