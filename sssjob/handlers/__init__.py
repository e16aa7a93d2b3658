"""What answers requests about jobs: handlers for Job and JobGroup over a store, without sockets.

service      which handler answers which action, and who may ask
roles        who may do what, with which jobs
attributes   what a job is asked for by name; view: a job as a flat row
conditions   Where; finding: the jobs that a request is about
columns      Get; totals: what is added up and grouped; paths: Get with an expression
query        Query
documents    job objects that a request carries
changes      one change, done once for each id of a request; editing: Create, Modify, Delete
ledger_entries  the ledger follows the documents; entries: Transaction, Reservation, Quotation
rates        what a job costs; charging: Charge, Reserve, Quote, Refund; used: what ran, what asks
hooks        commands of a scheduler: Cancel and Hold
submitting   Submit, Cancel, Hold, Release, Refresh: jobs in a batch system
stores       a connection to the store for each thread
"""
