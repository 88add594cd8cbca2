"""The pictures of memory access: what is drawn follows from the arguments."""

import re
import xml.etree.ElementTree as ElementTree

import pytest

from chapters.ch05_memory_access import drawings
from kernels.lab import plots


def texts(fig):
    return [text.get_text() for text in fig.axes[0].texts if text.get_text()]


def test_the_picture_is_stable_small_and_fits_a_telephone():
    text = plots.svg(drawings.structs_and_fields())
    ElementTree.fromstring(text)
    assert text == plots.svg(drawings.structs_and_fields())
    assert float(re.search(r'viewBox="0 0 ([\d.]+)', text)[1]) < 400, "points"
    assert len(text) < 90_000


@pytest.mark.parametrize("sectors", [2, 3])
def test_each_sector_of_structs_is_a_particle_and_has_one_of_each_field(sectors):
    told = texts(drawings.structs_and_fields(field="y", sectors=sectors))
    assert [told.count(letter) for letter in "xyzq"] == [sectors, 9 * sectors, sectors, sectors]
    assert f"particle {sectors - 1}" in told and "particles 8 to 15" in told
