"""The whole numbers of 64 bits: what columns, attributes, records and their readers can hold.

A payload imports this module: it imports nothing.
"""

LARGEST = 2**63 - 1
SMALLEST = -LARGEST - 1
