"""Pictures of jobs, graphs, layouts and amounts: as text for a terminal, as SVG, and as DOT.

Whatever shows them (a command, a page, a notebook) asks here, so that one thing looks one way.
"""
