"""The programs that a startd and a starter of HTCondor run, over the jobs of a queue.

They start for every job: what they import first (``programs``, ``queue``, ``spool``, and ``slot``
beside this folder) imports little itself.
"""
