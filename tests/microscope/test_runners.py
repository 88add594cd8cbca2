"""The parsers of the GPU tools' reports, on samples of their output."""

from types import SimpleNamespace

import pytest

from kernels.measure import ncu
from tests.microscope import counters


def case(name, function):
    return SimpleNamespace(name=name, function=SimpleNamespace(__name__=function))


LAUNCHES = [
    ncu.ProfiledLaunch(
        "cudapy::truth_kernels::vec_add[abi:v1](Array<float, 1>)",
        {
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1024,
            "smsp__inst_executed_op_shared_ld.sum": 0,
            "smsp__sass_inst_executed_op_shared_ld.sum": 3,
        },
    ),
    ncu.ProfiledLaunch(
        "cudapy::truth_kernels::naive[abi:v2](Array<float, 2>)",
        {
            "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 64,
            "smsp__sass_inst_executed_op_shared_ld.sum": 12,
            "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum": 250,
        },
    ),
]


def test_launches_become_cases():
    found = counters.assign([case("a", "vec_add"), case("b", "naive")], LAUNCHES)
    assert found["a"] == {"global_load_requests": 1024, "shared_load_instructions": 0}
    assert found["b"] == {
        "global_load_requests": 64,
        "shared_load_instructions": 12,
        "global_red_sectors": 250,
    }


def test_launches_that_are_not_the_cases():
    with pytest.raises(ValueError, match="1 cases but 2 profiled"):
        counters.assign([case("a", "vec_add")], LAUNCHES)
    with pytest.raises(ValueError, match="case a expects tiled"):
        counters.assign([case("a", "tiled"), case("b", "naive")], LAUNCHES)


def test_accesses_in_compiled_code():
    ptx = """
    ld.param.u64 %rd1, [p0];
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];
    @%p1 ld.shared.f32 %f5, [%r1];
    bar.sync 0;
    st.shared.f32 [%r1], %f5;
    """
    assert counters.PTX_ACCESS.findall(ptx) == [
        "ld.param.u64",
        "ld.global.v4.f32",
        "ld.shared.f32",
        "bar.sync",
        "st.shared.f32",
    ]
    sass = """
        /*0010*/  LDG.E.64 R2, desc[UR4][R2.64] ;
        /*0020*/  @P0 LDS.128 R4, [R8+UR4] ;
        /*0030*/  RED.E.ADD.F32.FTZ.RN.STRONG.GPU desc[UR4][R2.64], R5 ;
        /*0040*/  SHFL.DOWN PT, R3, R2, 0x10, 0x1f ;
    """
    assert counters.SASS_ACCESS.findall(sass) == [
        "LDG.E.64",
        "LDS.128",
        "RED.E.ADD.F32.FTZ.RN.STRONG.GPU",
        "SHFL.DOWN",
    ]
