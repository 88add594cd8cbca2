"""An output that speaks of *here* says where that was."""

from bs4 import BeautifulSoup
from pages import stored

from kernels import records

PAGE = """<div class="cell_output"><pre>measured here: 3 µs</pre></div>
<div class="cell_output"><pre>{}</pre></div><p>measured here</p>"""


def test_only_outputs_that_tell_of_the_machine_are_labelled():
    body = BeautifulSoup(PAGE.format("3 blocks"), "html.parser")
    stored.label(body)
    (note,) = body.select("p.engine-note")
    assert note.parent.pre.text == "measured here: 3 µs" and note.find_next_sibling() is not None
    assert f"Printed on an {records.load().device['name']} when" in note.text


def test_the_first_output_of_the_climb_names_its_gpu(book):
    page = BeautifulSoup((book / "chapters/00-climb.html").read_text("utf-8"), "html.parser")
    first = page.select_one(".cell_output")
    assert "Kernels run on" in first.text and first.p.text.startswith("Printed on an NVIDIA")
