"""The ledger: what each run of each job used, by the hundred million, for reports.

Files of Parquet in a directory, read by DuckDB, and manifests that say which of them count. How
it works, and why, is told in ``manifest.py``, ``merging.py`` and ``report.py``. It needs the extra
``ledger``.
"""
