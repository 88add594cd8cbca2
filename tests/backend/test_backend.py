"""The backend is chosen once, from what there is and from KERNELS_BACKEND."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kernels import backend, cuda, cupy, float32, float64, int32, on_gpu, uint32
from kernels.backend.device import Device, limited
from kernels.basics import data_sheets
from kernels.host import cpp
from kernels.rungs.order import LADDER

ROOT = Path(backend.__file__).parents[2]


def python(code: str, **environment) -> subprocess.CompletedProcess:
    """Run code in a new process that sees the repository."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_cpu_on_request():
    run = python(
        "import kernels; from kernels import backend;print(kernels.on_gpu, backend.why_cpu)",
        KERNELS_BACKEND="CPU",
    )
    assert run.stdout.strip() == "False KERNELS_BACKEND=cpu asks for the CPU"


def test_the_interpreter_needs_neither_numba_nor_cupy():
    run = python(
        "import sys; sys.modules['numba'] = sys.modules['cupy'] = None\n"
        "from kernels import LADDER\nfrom kernels.measure import oracle\n"
        "for rung in LADDER.values():\n"
        "    if rung.in_microscope: oracle.verify(rung.matmul, [(17, 5, 31)])\n"
        "print('right')",
        KERNELS_BACKEND="cpu",
    )
    assert run.stdout.strip() == "right", run.stderr


@pytest.mark.skipif(on_gpu, reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_clear_line():
    run = python("from kernels import cuda", KERNELS_BACKEND="gpu")
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError: KERNELS_BACKEND=gpu, but ")
    assert last.endswith(": use KERNELS_BACKEND=cpu")


def test_an_unknown_backend_is_one_clear_line():
    run = python("from kernels import cuda", KERNELS_BACKEND="tpu")
    assert run.stderr.strip().splitlines()[-1] == (
        "ValueError: KERNELS_BACKEND='tpu' is no backend: use cpu, gpu, or leave it unset"
    )


def test_only_the_backend_runs_kernels_with_numba_cuda():
    """Two others import its compiler: to read the code that it makes, and to add instructions."""
    importers = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "kernels").rglob("*.py")
        if "from numba import cuda" in path.read_text(encoding="utf-8")
        or "numba.cuda import" in path.read_text(encoding="utf-8")
        or "import numba.cuda" in path.read_text(encoding="utf-8")
    ]
    assert sorted(importers) == [
        "kernels/backend/__init__.py", "kernels/measure/ptx.py", "kernels/ptx/numba_intrinsic.py",
    ]  # fmt: skip


def test_scalar_types_make_scalars_of_their_size():
    for kind, size in ((float32, 4), (float64, 8), (int32, 4), (uint32, 4)):
        assert np.dtype(str(kind) if on_gpu else kind).itemsize == size


def test_small_grids_are_no_warning(recwarn):
    @cuda.jit
    def fill(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = i

    x = cupy.zeros(5, cupy.float32)
    fill[1, 32](x)
    assert cupy.asnumpy(x).tolist() == [0, 1, 2, 3, 4]
    assert not [w for w in recwarn if "under-utilization" in str(w.message)]


def test_limits_of_another_gpu_are_imposed_on_a_larger_one():
    h200 = Device(
        "NVIDIA H200", (9, 0), sms=132, clock=1.98e9, shared_per_block_optin=227 * 1024,
        memory_bytes=141 * 10**9,
    )  # fmt: skip
    found = limited(h200, data_sheets.gpu("t4"))
    assert found.compute_capability == (7, 5) and found.hardware == (9, 0)
    assert found.shared_per_block_optin == 64 * 1024 and found.memory_bytes == 16 * 10**9
    assert found.fp32_peak == h200.fp32_peak, "its lanes stay those of the hardware"
    assert data_sheets.gpu(found.name) == data_sheets.gpu("h200")
    assert "sm_80" in LADDER["async_tiled"].missing(capability=found.compute_capability)
    with pytest.raises(ValueError, match="asks for compute capability 10.0, but the NVIDIA H200"):
        limited(h200, data_sheets.gpu("b200"))


def test_limits_of_an_unknown_gpu_are_one_clear_line():
    run = python("from kernels import cuda", KERNELS_LIMITS="abacus")
    assert (
        run.stderr.strip()
        .splitlines()[-1]
        .startswith("ValueError: KERNELS_LIMITS='abacus' is no GPU: use t4, v100, ")
    )


def test_numba_compiles_for_the_imposed_capability():
    run = python(
        "import os; from kernels.backend import imposed\n"
        "print(os.environ['NUMBA_FORCE_CUDA_CC'], imposed)",
        KERNELS_LIMITS="t4", KERNELS_BACKEND="cpu",
    )  # fmt: skip
    assert run.stdout.split() == ["7.5", "None"], "without a GPU nothing is imposed"


def test_a_block_that_asks_for_too_much_shared_memory_is_one_clear_line():
    cpp.check_shared("tiled", 48 * 1024)
    with pytest.raises(ValueError, match="^tiled asks for 10000000 bytes of shared memory"):
        cpp.check_shared("tiled", 10_000_000)
