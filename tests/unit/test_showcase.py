"""The front page: its table is the record's, and nothing else on it changes."""

import pytest

from kernels.lab import showcase
from kernels.lab.records import Record, RecordError
from tests.unit import synthetic

PAGE = "# Title\n\n<!-- ladder -->\nold\n<!-- /ladder -->\n\nEnd\n"


def test_the_table_stands_between_the_markers(tmp_path):
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    written = showcase.write(synthetic.record(), tmp_path)
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert text.startswith("# Title\n\n<!-- ladder -->\n| rung | language | 1024³ | 2048³ | 4096³ ")
    assert text.endswith("<!-- /ladder -->\n\nEnd\n")
    assert "old" not in text and "Recorded on H200, synthetic" in text
    assert "| tiled 32 | CUDA C++ | 180 (18 %) | 360 (18 %) | 720 (18 %) |" in text
    assert "| cuBLAS | library | 1 000 | 2 000 | 4 000 |" in text
    assert [path.name for path in written] == ["README.md", "ladder.svg", "ladder-dark.svg"]


def test_writing_twice_changes_nothing(tmp_path):
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    written = showcase.write(synthetic.record(), tmp_path)
    before = [path.read_bytes() for path in written]
    assert showcase.write(synthetic.record(), tmp_path) == written
    assert [path.read_bytes() for path in written] == before


def test_no_markers_or_no_record_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="README.md lacks the markers"):
        showcase.write(synthetic.record(), tmp_path)
    with pytest.raises(RecordError, match="Nothing is recorded yet"):
        showcase.write(Record(""), tmp_path)
