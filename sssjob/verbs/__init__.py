"""What can be done with what was named: each verb is one call, for a command, a page or a worker.

A verb takes sources and gives values; what cannot be read, and what else is worth knowing, goes to
a function of the caller, and the rest goes on. Nothing is printed here.
"""
