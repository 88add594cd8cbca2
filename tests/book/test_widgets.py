"""What the book gives the widgets of its pages when it is built."""

from __future__ import annotations

import json

import nbformat
from bs4 import BeautifulSoup

from authoring import notebooks
from kernels import records
from tests.records import synthetic


def test_a_new_record_is_shown_without_recording_a_chapter_anew(tmp_path, monkeypatch):
    from book.pages import widgets as pages

    for path in records.FOLDER.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setenv("KERNELS_RECORDS", str(tmp_path))
    new = synthetic.record("a-new-gpu")
    new.provenance["gpu"] = "NVIDIA </script> 1"
    stored = notebooks.widget_html(
        "Roofline", {"gpu": "h200", "gpus": {}, "intensity": 2.0, "counted": "asked"}, ""
    )
    page = BeautifulSoup(stored, "html.parser")
    records.write(new)
    assert pages.mount(page, "chapters/x") == ["Roofline"]
    cell = nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data")])
    cell.outputs[0].data["text/html"] = stored
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    assert tmp_path / "a-new-gpu.json" in pages.sources(text)
    assert pages.sources(text.replace("Roofline", "Quiz")) == []
    again = BeautifulSoup(str(page), "html.parser")
    traits = json.loads(again.select_one('script[type="application/json"]').string)
    assert traits["gpu"] == "h200" and traits["intensity"] == 2.0
    assert traits["gpus"]["a-new-gpu"]["points"] and traits["gpus"]["h200"]["points"]
    assert "</script>" in traits["gpus"]["a-new-gpu"]["name"]
