"""Outputs that speak of *here*: the page says where that was, until the reader runs the cell."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag

from kernels import records

HERE = re.compile(r"measured here|Kernels run on")


def label(body: Tag) -> None:
    """Put a line above each output that tells of the machine which the cell ran on."""
    outputs = [each for each in body.select(".cell_output") if HERE.search(each.get_text())]
    if not outputs:
        return
    gpu = records.load().device["name"]
    said = f"Printed on an {gpu} when this page was made. Run the cell to see your own machine."
    for output in outputs:
        line = f'<p class="engine-note">{said}</p>'
        output.insert(0, BeautifulSoup(line, "html.parser"))
