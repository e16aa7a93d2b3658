"""Queue states of grid sites: lrmsinfo in and out, caps, free slots and response times.

``lrmsinfo`` and ``caps`` read and write the two formats, ``config`` the configuration, ``site``
counts jobs and slots, ``estimators`` holds the estimators and ``answers`` puts all together.
``backends`` ask batch systems, ``jobs`` turns entries into job objects and back.
"""
