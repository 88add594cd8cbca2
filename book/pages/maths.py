"""Formulas as MathML, which browsers draw without a script."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def mathml(latex: str, display: str) -> str:
    """Return one formula as MathML.

    Parameters
    ----------
    latex : str
        The formula in LaTeX.
    display : {"inline", "block"}
        Whether it stands in a line or on its own.
    """
    code = convert(latex.strip(), display=display)
    return code.replace("<math ", f'<math alttext="{html.escape(latex.strip())}" ', 1)


def visit_math(self: Any, node: nodes.math) -> None:
    """Write inline mathematics."""
    self.body.append(mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write displayed mathematics, with its number if it has one."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(mathml(node.astext(), "block"))
    if node.get("number"):
        self.body.append(f'<span class="eqno">({node["number"]})</span>')
        self.add_permalink_ref(node, "Link to this equation")
    self.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
