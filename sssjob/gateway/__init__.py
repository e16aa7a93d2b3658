"""The server around SSSRMAP: sockets, limits, keys in files, what is logged and counted.

settings     a TOML file as tables that say what is wrong, and in which line
config       what the file of a gateway may say
server       connections: bytes to the responder, and its answers back; memory: what they free
actions      which function answers which action on which object
figures      what Prometheus asks for; log: one JSON object a line; systemd: its unit
"""
