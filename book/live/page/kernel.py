"""What a Jupyter kernel gets before the first cell of a page; NEEDS is the text of `needs`.

The page then asks ``page_needs`` which cells to run first and which are out of date, and gets
Markdown as HTML.
"""

import contextlib
import sys
import types

from IPython import get_ipython
from IPython.display import Markdown

module = sys.modules["page_needs"] = types.ModuleType("page_needs")
exec(NEEDS, module.__dict__)  # noqa: F821

with contextlib.suppress(ImportError):
    from markdown_it import MarkdownIt

    reader = MarkdownIt().enable("table")
    formatter = get_ipython().display_formatter.formatters["text/html"]
    formatter.for_type(Markdown, lambda shown: reader.render(shown.data))
