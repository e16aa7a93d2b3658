"""How Sphinx makes the site of the pages that docs/site.py gathers: make docs."""

from sssjob import __version__

project = "sssjob"
release = version = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
root_doc = "index"
html_theme = "furo"  # system fonts: no page loads anything from elsewhere
html_title = "sssjob"
html_favicon = "pictures/icon.svg"
html_copy_source = False
myst_heading_anchors = 4
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
