"""Configuration of the documentation: `python -m sphinx -W -n --keep-going docs docs/_build`.

Pages of the reference are generated before each build by `_make/reference.py`. Notebooks are
executed if GANGSAW_DOCS_EXECUTE is set; else their stored outputs are shown.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_make"))

import addresses  # noqa: E402 - it lies in the folder that was added
import reference  # noqa: E402

from gangsaw import __version__ as release  # noqa: E402

reference.write_pages(HERE)

project, author, copyright = "Gangsaw", "The Gangsaw developers", "The Gangsaw developers"
version = release
extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
]
if intersphinx_mapping := addresses.references():  # in a published build: CI has no network
    extensions.append("sphinx.ext.intersphinx")
exclude_patterns = ["_build", "jupyter_execute", "_make", "**/.ipynb_checkpoints"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb", ".rst": "restructuredtext"}

# Markdown and notebooks
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "smartquotes"]
myst_heading_anchors = 4
nb_execution_mode = "force" if os.environ.get("GANGSAW_DOCS_EXECUTE") else "off"
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_merge_streams = True

# API
autosummary_generate = False  # `_make/reference.py` writes the pages
autodoc_typehints = "none"  # docstrings state types, shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
nitpick_ignore_regex = [
    ("py:.*", r"(numpy|dask|distributed|xarray|zarr|numcodecs|pyarrow)\..*"),
    ("py:class", r"gangsaw\.codecs\.\w+\.params\.Params"),  # parameters are in the codec's page
]

# Page
html_theme = "pydata_sphinx_theme"
html_title = f"Gangsaw {release}"
html_static_path = ["_static"]
html_css_files = ["gangsaw.css"]
html_logo = html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "Gangsaw"},
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    **addresses.theme_options(),
}
copybutton_prompt_text = r"\$ |>>> "
copybutton_prompt_is_regexp = True
