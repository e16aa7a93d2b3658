"""ClassAds, the language of HTCondor: values, expressions, and the four forms of writing them.

``values`` has what an attribute can be, ``forms`` reads and writes ads in the long (old), new,
JSON and XML form, ``evaluate`` gives the value of an expression between two ads, and ``quoting``
splits and joins arguments and environments. Hooks start for every job, so that nothing is
imported here, and modules on their way do without dataclasses.

>>> from sssjob.classads import evaluate, forms
>>> [slot] = forms.read_text("Cpus = 8\\nMemory = 2 * 1024\\n")
>>> evaluate.attribute(slot, "Memory")
2048
"""
