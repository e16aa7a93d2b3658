"""One call for each thing that can be done with sources: for a command, a web page or a worker.

A verb takes sources and gives values. It tells a function of the caller what cannot be read and
what else is worth knowing, and goes on with the rest. It prints nothing.
"""
