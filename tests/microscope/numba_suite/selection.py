"""Which of numba-cuda's tests are about the language.

Whole files first: `FILES` names those of a folder that judge kernels and launches by what they do.
Left out are files about what the compiler makes on its way (its own representations, its type
inference as a Python library, machine code, debug information, caches on disk), about the driver
(contexts, linking, processes, several GPUs, memory managers), and about adding types to Numba. Of
the files that stay, `machinery` leaves out single tests that look into the compiler as well: they
call one of its functions, or read machine code.
"""

from __future__ import annotations

import inspect
import re

PACKAGE = "numba.cuda.tests"
FILES = {
    "cudapy": """
        alignment array array_alignment array_args array_methods array_reductions atomics
        bfloat16 bfloat16_bindings blackscholes boolean cache_hints casting complex
        complex_kernel const_string constmem cooperative_groups cuda_array_interface
        cuda_jit_no_types datetime device_array_capture device_func dispatcher enums errors
        exception fastmath flow_control forall fp8_bindings freevar frexp_ldexp globals
        gufunc gufunc_scalar gufunc_scheduling idiv inline intrinsics iterators lang laplace
        libdevice localmem make_function_to_jit_function mandel math matmul minmax
        montecarlo multithreads nondet numba_interop operator optimization powi print
        py2_div_issue random record_dtype recursion reduction retrieve_autoconverted_arrays
        slicing sm sm_creation ssa stream_api sync transpose ufuncs userexc vector_type
        vectorize vectorize_complex vectorize_decor vectorize_device vectorize_scalar_arg
        warning warp_ops
    """,
    "cudadrv": """
        array_attr cuda_array_slicing cuda_auto_context cuda_devicerecord cuda_ndarray events
        host_alloc is_fp16 managed_alloc pinned select_device streams
    """,
    "cudasim": "cudasim_issues",
    "doc_examples": """
        cg cpointer cpu_gpu_compat ffi globals laplace matmul montecarlo random reduction sessionize
        ufunc vecadd
    """,
}
#: What a test looks into that no interpreter has.
MACHINERY = re.compile(
    r"compile_ptx|cuda\.compile|compile_for_current|compile_all|inspect_(asm|llvm|sass|types)"
    r"|get_regs_per|get_max_threads|get_shared_mem_per|get_const_mem|get_local_mem|assertFileCheck"
    r"|cuda_native_module|nvdisasm|\.overloads|_init_compiler|linkable_code|link=|declare_device"
    r"|get_ufunc_info|driver\.|_ptx\b|ptx_|load_module|nopython_signatures|cuda_int\d*_from_cpu"
)


def modules() -> list[str]:
    """The names of the test modules, in the order of `FILES`."""
    return [
        f"{PACKAGE}.{folder}.test_{name}" for folder, text in FILES.items() for name in text.split()
    ]


def machinery(test) -> bool:
    """Say whether a test looks into the compiler or the driver."""
    method = getattr(type(test), test._testMethodName)
    try:
        return bool(MACHINERY.search(inspect.getsource(inspect.unwrap(method))))
    except (OSError, TypeError):
        return False
