"""What limits a layer: the three times by hand, the turning point by trying, refusals."""

import pytest

from kernels.basics.data_sheets import gpus
from kernels.basics.layer import FORMATS, Layer


def test_the_times_of_one_input_by_hand():
    one = Layer(M=1, N=4096, K=8192, dtype="float16", gpu="h200", launch=3)
    assert one.flop == 2 * 4096 * 8192
    assert one.nbytes == 2 * (8192 + 8192 * 4096 + 4096)
    sheet = gpus()["h200"]
    assert one.times == {
        "arithmetic": one.flop / (sheet.fp16_tensor_tflops * 1e12),
        "memory": one.nbytes / (sheet.bandwidth_gbs * 1e9),
        "launch": 3e-6,
    }
    assert one.limit == "memory"
    assert 0.99 < one.intensity < 1  # one multiply-add for each weight of 2 bytes


def test_each_limit_is_found():
    assert Layer(M=1, N=64, K=64).limit == "launch"
    assert Layer(M=1, N=8192, K=8192).limit == "memory"
    assert Layer(M=8192, N=8192, K=8192).limit == "arithmetic"


@pytest.mark.parametrize("gpu", gpus())
@pytest.mark.parametrize("dtype", FORMATS)
def test_the_turning_point_is_the_least_such_m(gpu, dtype):
    for N, K in ((64, 64), (4096, 4096), (11008, 4096), (65536, 128)):
        try:
            one = Layer(M=1, N=N, K=K, dtype=dtype, gpu=gpu)
        except ValueError as error:
            assert str(error).endswith(f"has no tensor cores for {dtype}: use float16 or float32")
            return
        M = one.turning_point

        def arithmetic_is_longer(M, N=N, K=K):
            times = Layer(M=M, N=N, K=K, dtype=dtype, gpu=gpu).times
            return times["arithmetic"] >= times["memory"]

        if M is None or M > 65_536:
            assert not arithmetic_is_longer(65_536)
        else:
            assert arithmetic_is_longer(M) and not (M > 1 and arithmetic_is_longer(M - 1))


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"M": 0}, ValueError, "^M is 0: use 1 to 65536$"),
        ({"K": 65_537}, ValueError, "^K is 65537: use 1 to 65536$"),
        ({"dtype": "int4"}, ValueError,
         "^no number format 'int4': use one of float32, float16, bfloat16$"),
        ({"dtype": "bfloat16", "gpu": "t4"}, ValueError,
         "^the Tesla T4 has no tensor cores for bfloat16: use float16 or float32$"),
        ({"gpu": "voodoo"}, LookupError, "^.?no data sheet of 'voodoo'"),
    ],
)  # fmt: skip
def test_what_a_layer_cannot_be(settings, error, message):
    with pytest.raises(error, match=message):
        Layer(**{"M": 1, "N": 64, "K": 64} | settings)
