"""How the documentation is built: ``sphinx-build -W -b html docs OUTPUT``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import _made

from granum import __version__

project = "granum"
author = "The granum developers"
copyright = author
version = release = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["reference/made/parts/*"]
language = "en_GB"
smartquotes = False  # options begin with two dashes

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"granum {version}"
html_copy_source = False
python_use_unqualified_type_names = True


def setup(app: object) -> None:
    """Make the pages that come from the source, before any page is read."""
    _made.make()
