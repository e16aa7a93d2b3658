"""Batch systems: all that one of them prints, takes or calls a thing stands in its own folder."""
