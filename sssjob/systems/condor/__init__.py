"""HTCondor: its ads in the terms of job objects, its histories, its queues and its hooks.

``job_ad`` and ``from_ad`` map between a job object and a job ad, ``requirements`` between a
request and Requirements with Rank, ``slot`` takes machine features, job features and offers from
the ads of slots, and ``usage`` what was delivered.
"""
