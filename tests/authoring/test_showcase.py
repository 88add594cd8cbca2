"""The front page: its table is the record's, and nothing else on it changes."""

import pytest

from authoring import showcase
from kernels.records import Record, RecordError, Row
from tests.records import synthetic

PAGE = (
    "# Title\n\n<!-- ladder -->\nold\n<!-- /ladder -->\n<!-- caption -->\n<!-- /caption -->\nEnd\n"
)


def test_the_table_stands_between_the_markers(tmp_path):
    (tmp_path / "index.md").write_text(PAGE, encoding="utf-8")
    written = showcase.write(synthetic.record(), tmp_path)
    text = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "| 1,000 |" in text and "| 180 (18\u00a0%) |" in text, "no line ends in a number"
    text = text.replace("\u00a0", " ")
    assert text.startswith("# Title\n\n<!-- ladder -->\nGFLOP/s in fp32")
    assert "| rung | language | 1024³ | 2048³ | 4096³ | 8192³ |" in text
    assert (
        "<!-- caption -->\n*Two 8192 × 8192 matrices of 32-bit floats, multiplied on H200, syn"
        in text
    )
    assert text.endswith("<!-- /caption -->\nEnd\n")
    assert "old" not in text and "Recorded on H200, synthetic" in text
    assert (
        "| Tiled in shared memory | CUDA C++ | 180 (18 %) | 360 (18 %) | 720 (18 %) | 738 (18 %) |"
    ) in text
    assert "| cuBLAS | library | 1,000 | 2,000 | 4,000 |" in text
    charts = "ladder", "ladder-short", "ladder-budget"
    drawn = [f"{name}{ending}.svg" for name in charts for ending in ("", "-dark")]
    assert [path.name for path in written] == ["index.md", *drawn]


def measured(rung, engine, shape, gflops, library, dtype="float32"):
    M, N, K = shape
    return Row(
        rung=rung, engine=engine, options={}, dtype=dtype, M=M, N=N, K=K, gflops=gflops,
        seconds=synthetic.spread(1.0), cublas_gflops=library, correct=True, date=synthetic.DATE,
    )  # fmt: skip


def test_other_shapes_and_tensor_cores_have_tables_of_their_own():
    record = synthetic.record()
    thin = (128, 8192, 4096)
    record.tables["timings"] += [
        measured("cublas", "library", thin, 1000.0, 1000.0),
        measured("naive", "numba", thin, 300.0, 1000.0),
        measured("tiled", "numba", thin, 500.0, 1000.0),
        measured("tiled", "cpp", thin, 900.0, 1000.0),
        measured("cublas", "library", (4097,) * 3, 2000.0, 2000.0),
        measured("naive", "cpp", (8192,) * 3, 8000.0, 10000.0, "float16"),
        measured("cublas", "library", (8192,) * 3, 10000.0, 10000.0, "float16"),
        measured("fp8", "cpp", (8192,) * 3, 19000.0, 20000.0, "e4m3"),
        measured("cublaslt_promoted", "library", (8192,) * 3, 18000.0, 20000.0, "e4m3"),
        measured("cublas", "library", (8192,) * 3, 20000.0, 20000.0, "e4m3"),
    ]
    text = showcase.tables(record).replace("\u00a0", " ")
    assert (
        "| 128×8192×4096 | 1,000 | Tiled in shared memory: 500 (50 %) "
        "| Tiled in shared memory: 900 (90 %) |"
    ) in text
    assert "| 4097³ | 2,000 |  |  |" in text
    assert "4097³" not in text.split("Other shapes")[0], "an odd size is no column"
    half = text.split("A and B in fp16")[1]
    assert "| Naive | CUDA C++ | 8,000 (80 %) |" in half and "| cuBLAS | library | 10,000 |" in half
    assert "8,000" not in text.split("A and B in fp16")[0]
    byte = half.split("Tensor cores: A and B in fp8 (e4m3).")[1]
    assert "| fp8 | CUDA C++ | 19,000 (95 %) |" in byte
    assert "| cuBLASLt, sums promoted | library | 18,000 (90 %) |" in byte


def test_writing_twice_changes_nothing(tmp_path):
    (tmp_path / "index.md").write_text(PAGE, encoding="utf-8")
    written = showcase.write(synthetic.record(), tmp_path)
    before = [path.read_bytes() for path in written]
    assert showcase.write(synthetic.record(), tmp_path) == written
    assert [path.read_bytes() for path in written] == before


def test_no_markers_or_no_record_is_an_error(tmp_path):
    with pytest.raises(RecordError, match="index.md lacks the markers"):
        showcase.write(synthetic.record(), tmp_path)
    with pytest.raises(RecordError, match="Nothing is recorded yet"):
        showcase.write(Record(""), tmp_path)
