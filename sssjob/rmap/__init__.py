"""SSSRMAP: the protocol by which schedulers and accounting managers exchange job objects.

    message      requests and responses as values; codes the status codes
    envelope     the Envelope around a Body; reading, writing: Bodies to messages and back
    gate         what bytes tell of a message before it is parsed, so that strangers cost nothing
    forms        what peers digest of a Body; signature, keys, encryption, replay
    framing      what clients put around a message; replies what servers do
    address      where servers are
    responder    the bytes of a request to the bytes of its answer, by way of a handler

Bytes go in and bytes come out: nothing here opens a socket.
"""
