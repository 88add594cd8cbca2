"""``python -m microscope``, and programs written for Numba that run without it."""

import sys
import textwrap

import numpy as np
import pytest

import microscope
from microscope import __main__ as command
from microscope import cuda

PROGRAM = """
import numpy as np
from numba import cuda, float32, int64, njit

OFFSET = 2


@njit
def shifted(x):
    return x + OFFSET


@cuda.jit("float32(float32)", device=True)
def doubled(x):
    return x * float32(2)


@cuda.jit((float32, float32[:], float32[:, :]))
def fill(scale, x, y):
    i = cuda.grid(1)
    if i < x.size:
        y[i, 0] = scale * doubled(x[i]) + shifted(x[i])


@cuda.jit
def shift(a):
    s = cuda.shared.array(64, int64)
    t = cuda.threadIdx.x
    s[t] = a[t]
    a[t] = s[(t + 32) % 64]


class Kernels:
    @cuda.jit
    def nothing(a):
        pass


if __name__ == "__main__":
    y = cuda.device_array((100, 2), np.float32)
    for _ in range(3):
        fill[4, 32](1.5, cuda.to_device(np.ones(100, np.float32)), y)
    print("and so", y.copy_to_host()[:2, 0], shifted(5))
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """The path of a program; what loading it leaves behind goes again."""
    path = tmp_path / "stranger.py"
    path.write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    yield str(path)
    sys.modules.pop("stranger", None)


def test_every_launch_of_a_program_is_traced_and_runs(program, capsys):
    assert command.main([program]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("and so [6. 6.] 7\nfill: grid 4, block 32, all blocks traced")
    assert said.out.count("store y[i, 0]") == 1 and not said.err
    assert said.out.endswith("No problem found.\nThis is the first of 3 such launches.\n")


def test_one_kernel_of_a_file_is_traced_with_arguments_from_their_texts(program, tmp_path, capsys):
    words = f"{program}:fill --grid 4 --block 32 --args float32:1.5 float32[100]:arange".split()
    saved = str(tmp_path / "after.npz")
    assert command.main([*words, "float32[100,2]:zeros", "--save", saved]) == 0
    assert "load x[i]" in capsys.readouterr().out
    x = np.arange(100, dtype=np.float32)
    with np.load(saved) as after:
        assert (after["y"][:, 0] == 1.5 * (2 * x) + (x + 2)).all()


def test_a_problem_and_its_schedule_show_in_the_table_and_in_the_status(program, capsys):
    words = [f"{program}:shift", *"--grid 1 --block 64 --args int64[64]:random".split()]
    assert command.main([*words, "--schedule", "warps"]) == 1
    said = capsys.readouterr().out
    assert "all blocks traced, warps\n" in said and "reads it at line 30; no barrier" in said


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("3", 3), ("2.5", 2.5), ("-1", -1), ("True", True), ("(1, 2.5)", (1, 2.5)), ("None", None),
        ("float32:2.5", np.float32(2.5)), ("int8:-3", np.int8(-3)),
        ("float32[2,3]:7", np.full((2, 3), 7, np.float32)), ("int64[4]:arange", np.arange(4)),
        ("complex64[2]:1j", np.full(2, 1j, np.complex64)), ("uint8[2]:ones", np.ones(2, np.uint8)),
    ],
)  # fmt: skip
def test_an_argument_is_what_its_text_says(text, meant):
    made = command.argument(text)
    assert type(made) is type(meant) and np.array_equal(made, meant)
    assert getattr(made, "dtype", None) == getattr(meant, "dtype", None)


def test_random_arrays_are_the_same_in_every_run_and_not_constant(tmp_path):
    a, b = command.argument("float32[50]"), command.argument("float32[50]:random")
    assert (a == b).all() and a.dtype == np.float32 and len(np.unique(a)) == 50
    whole = command.argument("int32[500]:random")
    assert set(whole.tolist()) == set(range(10))
    np.save(tmp_path / "a.npy", a)
    assert (command.argument(str(tmp_path / "a.npy")) == a).all()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (":fill --grid 1", "a kernel needs --grid and --block: --help says how"),
        (":fill --grid 1 --block 32 --args 1", "fill takes (scale, x, y), got 1 arguments: x, y "
         "missing"),
        (":fill --grid 1 --block 32 --args float33[3]", "argument 'float33[3]' cannot be read (data"
         " type 'float33' not understood): write float32[1000,300]:random, data.npy, float32:2.5 or"
         " a number"),
        (":nope --grid 1 --block 32", "stranger has no kernel nope; it has: shifted, doubled, fill,"
         " shift"),
        (":fill --grid 1 --block 0 --args 1 2 3", "block (0,) has an axis of 0: give at least 1"),
        (":fill --grid a --block 1", "argument --grid: invalid sizes value: 'a'; --help says how"),
        (" --grid 3", "these options are for one kernel: name it, as in FILE.py:KERNEL"),
        (":Kernels.nothing --grid 1 --block 1 --args a.npy", "argument 'a.npy' cannot be read ("
         "[Errno 2] No such file or directory: 'a.npy'): write float32[1000,300]:random, data.npy, "
         "float32:2.5 or a number"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(words, line, program, capsys):
    assert command.main(f"{program}{words}".split()) == 2
    assert capsys.readouterr().err == f"error: {line}\n"


def test_an_error_of_the_program_itself_names_its_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    path = tmp_path / "broken.py"
    path.write_text("import numba\n\n1 / 0\n", encoding="utf-8")
    assert command.main([str(path)]) == 2
    assert "broken.py, line 3: ZeroDivisionError: division by zero" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        command.main([str(path), "--traceback"])
    assert command.main([str(tmp_path / "none.py:k"), "--grid", "1", "--block", "1"]) == 2
    assert "there is no file" in capsys.readouterr().err


def test_a_launch_that_fails_is_shown_with_its_problem(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "argv", list(sys.argv))
    path = tmp_path / "over.py"
    path.write_text(
        "import numpy as np\nfrom numba import cuda\n\n\n@cuda.jit\ndef over(a):\n"
        "    a[cuda.grid(1)] = 1\n\n\nover[2, 32](np.zeros(60))\n",
        encoding="utf-8",
    )
    assert command.main([str(path)]) == 1
    assert "out of bounds: line 7: " in capsys.readouterr().out


def test_the_stand_in_leaves_everything_as_it_was():
    before = {name: module for name, module in sys.modules.items() if name.startswith("numba")}
    with microscope.stand_in_for_numba():
        from numba import cuda as within

        assert within is cuda and sys.modules["numba.cuda"] is cuda
        assert cuda.is_available() and len(cuda.gpus) == 1
    assert not cuda.is_available()
    after = {name: module for name, module in sys.modules.items() if name in before}
    assert after == before and not hasattr(cuda, "__path__")


def test_recording_keeps_each_launch_and_ends_with_its_block():
    @cuda.jit
    def count(a):
        a[cuda.grid(1)] += 1

    a = np.zeros(64, np.int64)
    with microscope.recording() as traces:
        count[2, 32](a)
        count[1, 32](a)
    count[2, 32](a)
    assert a.tolist() == [3] * 32 + [2] * 32
    assert [(seen.kernel, seen.grid) for seen in traces] == [
        ("count", (2, 1, 1)),
        ("count", (1, 1, 1)),
    ]
    assert traces[1].outputs["a"].tolist() == [2] * 32 + [1] * 32
