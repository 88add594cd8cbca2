"""The library as a wheel: one package, under a name that is nobody else's."""

import os
import subprocess
import sys

import pytest

from kernels.basics.files import ROOT

pytest.importorskip("setuptools", reason="setuptools builds the wheel")
USED = """
import sys
import numpy as np
import tile_by_tile

A, B = np.ones((5, 7), np.float32), np.arange(21, dtype=np.float32).reshape(7, 3)
assert np.array_equal(tile_by_tile.matmul(A, B), A @ B)
found = tile_by_tile.matmul(A, B, bias=np.ones(3, np.float32), activation="relu")
assert np.array_equal(found, A @ B + 1)
assert tile_by_tile.choose(4096, 4096, 4096).why == "recorded"
print(*sorted({"kernels", "microscope"} & {name.partition(".")[0] for name in sys.modules}), "end")
"""


def test_it_holds_all_that_a_product_needs(tmp_path):
    build = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(tmp_path / "lib")]
    subprocess.run(build, cwd=ROOT / "wheel", check=True, capture_output=True, timeout=100)
    assert [path.name for path in (tmp_path / "lib").iterdir()] == ["tile_by_tile"]
    here = os.environ | {"PYTHONPATH": str(tmp_path / "lib"), "KERNELS_BACKEND": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", USED], cwd=tmp_path, env=here, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.stdout == "end\n", done.stdout + done.stderr
