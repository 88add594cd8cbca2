"""Tuning without a GPU: the legal space, what is pruned and why, the search, and its files."""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from kernels import cli
from kernels.backend import on_gpu
from kernels.basics import data_sheets
from kernels.budget.here import gpu_here
from kernels.cli import tune as tune_command
from kernels.host import rung as rungs
from kernels.host import tuned
from kernels.rungs.order import LADDER
from kernels.tuning import tune
from kernels.tuning.predict import predict

ABOUT = {"gpu": "NVIDIA Test 1", "driver": "1.0", "date": "2001-01-01 00:00 UTC"}
SHAPE = (512, 256, 128)
TILES = [{"tile": side} for side in (8, 16, 32)]
without_gpu = pytest.mark.skipif(on_gpu, reason="there is a GPU")


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNELS_TUNED", str(tmp_path))
    monkeypatch.setattr(tuned, "_looked", (0.0, None))
    tuned._read_once.cache_clear()
    return tmp_path


@pytest.fixture
def on_a_gpu(monkeypatch):
    """The store behaves as on the GPU of ABOUT."""

    class Here:
        name = ABOUT["gpu"]
        compute_capability = (7, 5)
        max_threads_per_block = 1024

    for module in (tuned, rungs):
        monkeypatch.setattr(module, "on_gpu", True)
        monkeypatch.setattr(module, "device", lambda: Here)
    return Here


class Watch:
    """Times that are made up, and a count of who was measured."""

    def __init__(self, times, stop_after=None):
        self.times, self.stop_after, self.asked = times, stop_after, []

    def __call__(self, options, longer):
        if len(self.asked) == self.stop_after:
            raise KeyboardInterrupt
        self.asked.append((options["tile"], longer))
        found = self.times[options["tile"]]
        if isinstance(found, Exception):
            raise found
        return {"median": found, "q1": 0.9 * found, "q3": 1.1 * found, "n": 5}


def plan(**rest):
    return tune.plan(LADDER["tiled"], SHAPE, data_sheets.gpu("t4"), **rest)


# The space ------------------------------------------------------------------------


def test_every_set_of_options_is_kept_or_has_a_reason():
    for name in ("tiled", "thread_tiled"):
        rung = LADDER[name]
        count = 1
        for values in rung.options.values():
            count *= len(values)
        found = tune.plan(rung, (4096, 4096, 4096), data_sheets.gpu("h200"), most=10)
        assert len(found.kept) + len(found.pruned) == count
        assert bool(found.pruned) == (name == "thread_tiled"), "three tiles are soon measured"
        assert all(candidate.reason for candidate in found.pruned)
        assert not any(candidate.reason for candidate in found.kept)
        own = rung.chosen("numba")
        assert all(c.options in own for c in found.kept[: len(own)]), "the rung's own come first"
        assert len(found.kept) <= 10 + len(own)


def test_what_is_kept_can_be_launched():
    rung = LADDER["thread_tiled"]
    found = tune.plan(rung, (4096, 4096, 4096), data_sheets.gpu("h200"))
    for candidate in found.kept:
        grid, block = rung.launch(4096, 4096, **candidate.options)
        assert block[0] * block[1] <= 1024
        assert rung.footprint(**candidate.options)["shared_bytes"] <= 48 * 1024


def test_illegal_options_are_left_out_with_the_rung_s_own_words():
    found = tune.plan(LADDER["thread_tiled"], (4096, 4096, 4096), data_sheets.gpu("h200"))
    reasons = [candidate.reason for candidate in found.pruned]
    assert any("not legal" in reason and "threads per block" in reason for reason in reasons)
    assert any("not legal" in reason and "registers" in reason for reason in reasons)


def test_slow_predictions_are_left_out_with_figures():
    found = tune.plan(
        LADDER["thread_tiled"], (128, 8192, 8192), data_sheets.gpu("h200"), within=1.2
    )
    assert any("times as slow as the best" in candidate.reason for candidate in found.pruned)
    assert any("blocks leave SMs idle" in candidate.reason for candidate in found.pruned)
    best = min(candidate.prediction.seconds for candidate in found.kept)
    own = LADDER["thread_tiled"].chosen("numba")
    late = [c for c in found.kept if c.prediction.seconds > 1.2 * best and c.options not in own]
    assert late == []


@pytest.mark.parametrize(
    "given, told",
    [({"engine": "rust"}, "is not written in rust"), ({"dtype": "int8"}, "takes no int8")],
)
def test_what_a_rung_is_not_made_for_is_told(given, told):
    with pytest.raises(ValueError, match=told):
        plan(**given)


# The prediction -------------------------------------------------------------------


def test_predictions_put_the_ladder_in_order():
    gpu, order = data_sheets.gpu("h200"), ("naive", "tiled", "thread_tiled")
    times = [predict(LADDER[name], {}, 4096, 4096, 4096, gpu).seconds for name in order]
    assert times == sorted(times, reverse=True)
    assert times[-1] > 2 * 4096**3 / gpu.fp32_peak, "no faster than the peak"


def test_predictions_know_idle_sms():
    gpu, rung = data_sheets.gpu("h200"), LADDER["thread_tiled"]
    large = {"BM": 128, "BN": 128}
    few = predict(rung, large, 128, 8192, 8192, gpu)
    assert (few.blocks, few.waves) == (64, 1) and few.tail == pytest.approx(64 / 132)
    many = predict(rung, {"BM": 64, "BN": 64}, 128, 8192, 8192, gpu)
    assert many.seconds < few.seconds


def test_predictions_know_that_tiles_may_be_divided():
    gpu, size = data_sheets.gpu("h200"), (256, 8192, 8192)
    whole, shares = (predict(LADDER[name], {}, *size, gpu) for name in ("persistent", "stream_k"))
    assert whole.tail == pytest.approx(64 / 132) and shares.tail == pytest.approx(128 / 132)
    assert shares.compute == pytest.approx(whole.compute / 2)
    other = predict(LADDER["stream_k"], {}, 8192, 8192, 8192, replace(gpu, sms=114))
    assert other.tail > 0.99, "shares follow the SMs of the GPU that is asked about"


def test_a_gpu_that_is_not_here_has_a_data_sheet():
    assert gpu_here("t4").sms == 40
    with pytest.raises(LookupError, match="no data sheet of 't5'"):
        gpu_here("t5")


# The search -----------------------------------------------------------------------


def test_a_shape_that_no_options_can_launch_is_one_line():
    todo = tune.plan(LADDER["tiled"], (3_000_000, 8, 8), data_sheets.gpu("t4"))
    with pytest.raises(RuntimeError, match="no set of options is left to measure: .* blocks along "
                       "y are too many; this GPU allows 65535: use larger blocks"):  # fmt: skip
        tune.search(todo, Watch({}), ABOUT)


def test_the_fastest_right_options_are_stored_with_their_origin(own_folder):
    watch = Watch({8: 3e-3, 16: 2e-3, 32: ValueError("a wrong product")})
    found, measured = tune.search(plan(), watch, ABOUT)
    assert (found.options, found.seconds, found.default_seconds) == ({"tile": 16}, 2e-3, 2e-3)
    assert (found.tried, found.shape, found.provenance) == (3, "512x256x128", ABOUT)
    assert [m.options["tile"] for m in measured] == [16, 8, 32]
    assert measured[-1].note == "a wrong product"
    assert tuned.read(tuned.path(ABOUT["gpu"]), ABOUT["gpu"]) == [found]
    assert [file.name for file in own_folder.iterdir()] == ["test-1.json"]


def test_the_fastest_are_measured_again_and_longer():
    watch = Watch({8: 3e-3, 16: 2e-3, 32: 1e-3})
    tune.search(plan(), watch, ABOUT)
    assert [who for who, longer in watch.asked if longer] == [32, 16, 8]


def test_an_interrupted_search_goes_on_where_it_stopped(own_folder):
    times = {8: 3e-3, 16: 2e-3, 32: 1e-3}
    with pytest.raises(tune.Interrupted, match="interrupted: 2 of 7 measurements are kept"):
        tune.search(plan(), Watch(times, stop_after=2), ABOUT)
    assert [file.name for file in own_folder.iterdir()] == ["test-1.unfinished.json"]
    watch = Watch(times)
    found, _ = tune.search(plan(), watch, {**ABOUT, "date": "2001-01-02 00:00 UTC"})
    assert len(watch.asked) == 6 - 2 and found.options == {"tile": 32}
    assert not (own_folder / "test-1.unfinished.json").exists()


def test_figures_of_another_driver_or_shape_are_measured_anew():
    times = {8: 3e-3, 16: 2e-3, 32: 1e-3}
    for todo, about in (
        (plan(), {**ABOUT, "driver": "2.0"}),
        (tune.plan(LADDER["tiled"], (64, 64, 64), data_sheets.gpu("t4")), ABOUT),
    ):
        with pytest.raises(tune.Interrupted):
            tune.search(plan(), Watch(times, stop_after=2), ABOUT)
        watch = Watch(times)
        tune.search(todo, watch, about)
        assert len(watch.asked) == 6


@pytest.mark.parametrize("text", ["", "{", "[]", '{"same": 1}', '{"measured": 7, "same": {}}'])
def test_half_a_file_of_an_interrupted_search_costs_only_time(own_folder, text):
    (own_folder / "test-1.unfinished.json").write_text(text)
    watch = Watch({8: 3e-3, 16: 2e-3, 32: 1e-3})
    tune.search(plan(), watch, ABOUT)
    assert len(watch.asked) == 6


def test_no_right_product_is_an_error():
    watch = Watch(dict.fromkeys((8, 16, 32), ValueError("a wrong product")))
    with pytest.raises(RuntimeError, match="none of 3 sets of options .*: a wrong product"):
        tune.search(plan(), watch, ABOUT)


def test_other_entries_of_the_file_stay():
    watch = Watch({8: 3e-3, 16: 2e-3, 32: 1e-3})
    tune.search(plan(), watch, ABOUT)
    tune.search(tune.plan(LADDER["tiled"], (64, 64, 64), data_sheets.gpu("t4")), watch, ABOUT)
    tune.search(plan(engine="cpp"), watch, ABOUT)
    tune.search(plan(), Watch({8: 1e-4, 16: 2e-3, 32: 1e-3}), ABOUT)
    held = tuned.read(tuned.path(ABOUT["gpu"]), ABOUT["gpu"])
    assert [(one.engine, one.shape, one.options["tile"]) for one in held] == [
        ("numba", "512x256x128", 8), ("numba", "64x64x64", 32), ("cpp", "512x256x128", 32),
    ]  # fmt: skip


# The file -------------------------------------------------------------------------


def stored(**changes):
    found, _ = tune.search(plan(), Watch({8: 1e-3, 16: 2e-3, 32: 3e-3}), ABOUT)
    file = tuned.path(ABOUT["gpu"])
    held = json.loads(file.read_text(encoding="utf-8"))
    held["tuned"][0] |= changes
    file.write_text(json.dumps(held), encoding="utf-8")
    return found


BAD = {
    "half": lambda text: text[: len(text) // 2],
    "empty": lambda text: "",
    "a list": lambda text: "[]",
    "another format": lambda text: text.replace('"format": 1', '"format": 99'),
    "another GPU": lambda text: text.replace("NVIDIA Test 1", "NVIDIA H200"),
    "options as text": lambda text: text.replace('"tile": 8', '"tile": "8"'),
    "no options": lambda text: text.replace('"options"', '"choices"'),
    "another class": lambda text: text.replace("512x256x128", "64x64x64"),
    "no time": lambda text: text.replace('"seconds": 0.001', '"seconds": -1'),
    "entries as text": lambda text: text.replace('"tuned": [', '"tuned": ["x", '),
}


@pytest.mark.parametrize("how", BAD)
def test_a_file_that_tune_did_not_write_is_one_line(how, on_a_gpu):
    stored()
    file = tuned.path()
    file.write_text(BAD[how](file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(tuned.TunedError, match="delete it and tune") as caught:
        tuned.read(file, on_a_gpu.name)
    assert "\n" not in str(caught.value) and "test-1.json" in str(caught.value)
    with pytest.raises(tuned.TunedError):
        tune.search(plan(), Watch({}), ABOUT)
    with pytest.warns(UserWarning, match="tuned options are left out: .*test-1.json"):
        assert tuned.known() == ()


def test_the_stamp_changes_with_the_file_and_with_the_folder(on_a_gpu, monkeypatch, tmp_path):
    assert tuned.stamp() is None
    found = stored()
    before = tuned.stamp()
    assert before == tuned.stamp() and tuned.known() == (found,)
    tuned.write(replace(found, dtype="float16"), on_a_gpu.name)
    assert tuned.stamp() != before and len(tuned.known()) == 2
    monkeypatch.setenv("KERNELS_TUNED", str(tmp_path / "elsewhere"))
    monkeypatch.setattr(tuned, "_looked", (0.0, None))  # LOOK_AGAIN seconds later
    assert tuned.stamp() is None and tuned.known() == ()


def test_bytes_that_are_no_text_are_one_line(on_a_gpu):
    tuned.path().write_bytes(b"\xff\xfe\x00")
    with pytest.raises(tuned.TunedError, match="cannot be read"):
        tuned.read(tuned.path(), on_a_gpu.name)


@pytest.mark.parametrize(
    "size, kind",
    [
        ((4096, 4096, 4096), "4096x4096x4096"),
        ((4097, 5000, 3000), "4096x4096x4096"),
        ((128, 8192, 1), "128x8192x64"),
        ((100_000, 8192, 8192), "16384x8192x8192"),
    ],
)
def test_classes_of_shapes(size, kind):
    assert tuned.shape_class(*size) == kind


# What a rung makes of it ----------------------------------------------------------


class Watched(rungs.Rung):
    """A rung that launches nothing, and remembers the options it should have launched with."""

    seen = {}

    def operands(self, A, B, out, engine):
        return SimpleNamespace(result=lambda: None)

    def launcher(self, product, options):
        self.seen["options"] = options.values
        return lambda: None


def test_a_rung_takes_what_was_tuned_unless_options_are_given(on_a_gpu):
    stored()
    rung, seen = Watched(**vars(LADDER["tiled"])), Watched.seen
    A, B = np.zeros((500, 130), np.float32), np.zeros((130, 250), np.float32)
    rung.matmul(A, B)
    assert seen["options"] == {"tile": 8}, "tuned for this class"
    rung.matmul(A, B, tile=32)
    assert seen["options"] == {"tile": 32}, "given"
    rung.matmul(A, B, engine="cpp")
    assert seen["options"] == {"tile": 16}, "the default: nothing was tuned for C++"
    rung.matmul(A[:60], B)
    assert seen["options"] == {"tile": 16}, "the default: another class of shapes"
    for forged, told in (({"side": 8}, "has no option 'side'"), ({"tile": 64}, "4096 threads")):
        stored(options=forged)
        tuned._read_once.cache_clear()
        with pytest.warns(UserWarning, match=f"tuned options of tiled are left out: .*{told}"):
            rung.matmul(A, B)
        assert seen["options"] == {"tile": 16}, "the default"


@without_gpu
def test_without_a_gpu_nothing_tuned_is_used():
    stored()
    assert tuned.known() == () and tuned.options("tiled", "numba", "float32", *SHAPE) == {}


# The command ----------------------------------------------------------------------


def call(capsys, line):
    code = cli.main(line.split())
    return code, *capsys.readouterr()


@pytest.mark.parametrize(
    "line, told",
    [
        pytest.param("tune tiled", "tuning needs an NVIDIA GPU, but", marks=without_gpu),
        ("tune tiled --size 3x4", "size '3x4' has 2 parts: use N or MxNxK"),
        ("tune tiled --size 0", "size must be at least 1, got 0"),
        ("tune tiled --size axbxc", "size 'a' is not a whole number"),
        ("tune tield", "no rung 'tield': did you mean 'tiled'?"),
        ("tune tiled --dry-run --gpu t5", "no data sheet of 't5'; there are"),
        ("tune tiled --gpu t4", "--gpu is for --dry-run"),
        ("tune tiled --dry-run --dtype float16", "tiled takes no float16: use float32"),
        ("tune tiled --dry-run --most 0", "most must be at least 1, got 0"),
    ],
)
def test_bad_input_is_one_line(capsys, line, told):
    code, _, error = call(capsys, line)
    assert code == 2 and error.startswith("error: ") and error.count("\n") == 1
    assert told in error


def test_a_dry_run_lists_what_is_measured_and_what_is_not(capsys):
    code, out, _ = call(capsys, "tune thread_tiled --dry-run --gpu t4 --size 128x8192x8192")
    assert code == 0
    assert "Thread tile, 2-D, Numba, float32, 128×8192×8192" in out
    assert "sets of options on Tesla T4" in out
    assert "to measure" in out and "left out" in out and "not legal" in out


@pytest.fixture
def command_on_a_gpu(monkeypatch, on_a_gpu):
    """The command as on a GPU, with a stopwatch of its own."""

    def install(watch):
        monkeypatch.setattr(tune_command, "on_gpu", True)
        monkeypatch.setattr(tune_command, "gpu_here", lambda name: data_sheets.gpu("t4"))
        monkeypatch.setattr(tune_command, "provenance", lambda: ABOUT)
        monkeypatch.setattr(tune, "stopwatch", lambda todo: watch)

    return install


def test_a_search_says_what_it_found_and_where_it_is(capsys, command_on_a_gpu, own_folder):
    command_on_a_gpu(Watch({8: 3e-3, 16: 2e-3, 32: 1e-3}))
    code, out, error = call(capsys, "tune tiled --size 512x256x128")
    assert (code, error) == (0, "")
    assert "best: tile=32, 2 times the speed of the defaults" in out
    assert str(own_folder / "test-1.json") in out and "class 512x256x128" in out


def test_ctrl_c_says_what_is_kept_and_the_next_call_resumes(capsys, command_on_a_gpu):
    times = {8: 3e-3, 16: 2e-3, 32: 1e-3}
    command_on_a_gpu(Watch(times, stop_after=3))
    code, _, error = call(capsys, "tune tiled --size 512x256x128")
    assert code == 130
    assert error.strip() == (
        "error: interrupted: 3 of 7 measurements are kept; the same command goes on from there"
    )
    watch = Watch(times)
    command_on_a_gpu(watch)
    assert call(capsys, "tune tiled --size 512x256x128")[0] == 0
    assert len(watch.asked) == 3


def test_a_folder_that_cannot_be_written_is_one_line(capsys, command_on_a_gpu, monkeypatch):
    monkeypatch.setenv("KERNELS_TUNED", "/dev/null/x")
    command_on_a_gpu(Watch({8: 3e-3, 16: 2e-3, 32: 1e-3}))
    code, _, error = call(capsys, "tune tiled")
    assert code == 2 and "cannot write to the folder /dev/null/x" in error
