"""*Your GPU* on Chromium's software adapter: results, messages and layout, never a speed."""

from __future__ import annotations

import json
import re

import pytest
from bs4 import BeautifulSoup

from kernels import records
from kernels.budget import ladder
from kernels.rungs.order import LADDER as RUNGS
from kernels.rungs.webgpu.ladder import SHADERS, Variant
from tests.book.test_browser import AXE, RUN_AXE, Listener
from tests.lab.widgets.keys import PROFILES
from tests.pages import settle

PAGE = "chapters/your-gpu.html"
#: The second lets a machine with a GPU use the software adapter, too.
SOFTWARE = ("--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader")
LADDER, SINGLE = ("[data-part=ladder]", "[data-part=single]")
CHOICES = [Variant(rung, options) for rung in SHADERS.values() for options in rung.choices]
HELPERS = """
const data = JSON.parse(document.getElementById("gpu-rungs").textContent);
const of = (name, n = -1) => {
    const rung = data.rungs.find((each) => each.name === name);
    return { rung, choice: rung.choices.at(n), prologue: data.prologue };
};
const told = async (f) => { try { await f(); return "nothing"; } catch (e) { return e.message; } };
"""


@pytest.fixture(scope="module")
def software(browser):
    """A Chromium that offers WebGPU on the CPU."""
    from book.browser import FLAGS, installed

    chromium = browser.browser_type.launch(executable_path=installed(), args=[*FLAGS, *SOFTWARE])
    yield chromium
    chromium.close()


@pytest.fixture
def visit(software, book):
    """Open the page: ``visit(width=390)``; skip where this Chromium has no software adapter."""
    contexts = []

    def open_page(width: int = 1280, mode: str = "light", script: str = "", query: str = ""):
        context = software.new_context(
            viewport={"width": width, "height": 900}, color_scheme=mode, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.add_init_script(script)
        page.goto((book / PAGE).as_uri() + query)
        found = "navigator.gpu?.requestAdapter().then((adapter) => Boolean(adapter))"
        if not script and not page.evaluate(found):
            pytest.skip("this Chromium has no software adapter for WebGPU")
        return page

    yield open_page
    for context in contexts:
        context.close()


def evaluate(page, body: str, argument=None):
    """Run some JavaScript that has the page's data and a way to a rung."""
    return page.evaluate(f"async (x) => {{ {HELPERS} {body} }}", argument)


def run(page, part: str) -> str:
    """Send a form by keyboard, wait until it's done, and return what it says."""
    page.evaluate(
        """(part) => {
            const stop = document.querySelector(`${part} [data-is=stop]`);
            window.ended = false;
            const watch = new MutationObserver(() => { ended ||= stop.hidden; });
            watch.observe(stop, { attributes: true });
        }""",
        part,
    )
    page.locator(f"{part} [type=submit]").focus()
    page.keyboard.press("Enter")
    page.wait_for_function("ended")
    return page.locator(f"{part} [data-is=status]").inner_text()


def choose(page, rung: str, **options: int) -> None:
    page.select_option(f"{SINGLE} [name=rung]", rung)
    if options:
        words = ", ".join(f"{name} {value}" for name, value in options.items())
        page.select_option(f"{SINGLE} [name=choice]", label=words)


# -- One source of truth


@pytest.mark.parametrize("sizes", [(1, 1, 1), (101, 83, 57), (2048, 1024, 512)])
def test_models_and_grids_are_those_of_python(visit, sizes):
    M, N, K = sizes
    told = evaluate(
        visit(),
        "const [M, N, K] = x; return data.rungs.flatMap((rung) => rung.choices.map((choice) =>"
        " [yourGpu.model(rung, choice, { M, N, K }), yourGpu.grid(rung, choice, M, N)]))",
        list(sizes),
    )
    for choice, (model, grid) in zip(CHOICES, told, strict=True):
        theirs = choice.model(M, N, K)
        assert model["loads"] == sum(theirs.loads.values())
        assert (model["flops"], model["bytes"]) == (theirs.flops, theirs.bytes_requested)
        down, across = -(-M // choice.tile[0]), -(-N // choice.tile[1])
        assert grid == ([down, across] if choice.rung.swapped else [across, down])


# -- Results


@pytest.mark.parametrize("name", SHADERS)
def test_a_rung_is_exact_at_odd_shapes_and_in_bands(visit, name):
    wrong = evaluate(
        visit(),
        """const gpu = await yourGpu.open(), { rung, choice, prologue } = of(x.name), wrong = [];
        const code = yourGpu.complete({ rung, options: choice.options, prologue });
        for (const [M, N, K, bands] of x.shapes) {
            const product = { rung, choice, sizes: { M, N, K }, kind: "whole", code, bands };
            const found = await gpu.checked(product, true);
            const whole = found.right && found.elements === M * N;
            if (!whole) wrong.push([M, N, K, yourGpu.verdict(found)]);
        }
        gpu.close();
        return wrong;""",
        {
            "name": name,
            "shapes": [(1, 1, 1, 1), (133, 141, 37, 1), (1, 130, 7, 1), (130, 33, 29, 3)],
        },
    )
    assert wrong == []


@pytest.mark.parametrize(
    ("name", "text", "broken", "said"),
    [
        ("naive", "row < p.M && col < p.N", "row < p.M", "past the rows' ends"),
        ("naive", "k < p.K;", "k < p.K - 1u;", "elements wrong"),
        ("naive", "row < p.M && col < p.N", "row < p.M && col + 1 < p.N", "never written"),
        ("tiled", "row < p.M && k0 + tx < p.K", "row < p.M", "elements wrong"),
        ("vectorized", "return kept(A[row * (p.lda / 4) + k / 4], k, p.K)",
         "return A[row * (p.lda / 4) + k / 4]", "elements wrong"),
    ],
)  # fmt: skip
def test_a_wrong_kernel_is_told_from_a_right_one(visit, name, text, broken, said):
    verdict = evaluate(
        visit(),
        """const gpu = await yourGpu.open(), { rung, choice, prologue } = of(x.name);
        const changed = { ...rung, text: rung.text.replaceAll(x.text, x.broken) };
        if (changed.text === rung.text) return "nothing was changed";
        const sizes = { M: 64, N: 64, K: 64 };
        const found = await gpu.measure({ rung: changed, choice, sizes, prologue });
        gpu.close();
        return found.flops ? "timed" : yourGpu.verdict(found.small);""",
        {"name": name, "text": text, "broken": broken},
    )
    assert verdict.startswith("wrong: ") and said in verdict


def test_the_ladder_is_climbed_by_keys_and_the_guess_is_compared_and_kept(visit):
    page = visit(width=390, mode="dark")
    listener = Listener(page)
    page.fill(f"{LADDER} [name=tiled]", "5")
    page.fill(f"{LADDER} [name=best]", "20.5")
    page.select_option(f"{LADDER} [name=size]", "128")
    said = run(page, LADDER)
    assert said.startswith("Done: 128 × 128 × 128 on google swiftshader"), said
    results = page.locator(f"{LADDER} [data-is=results]")
    told = results.inner_text()
    assert "software adapter" in told and "All 7 products are right." in told
    assert "you said 5 times" in told and "you said 21 times" in told
    assert results.locator("tbody tr").count() == results.locator("svg circle").count() == 7
    widths = results.locator(".fill").evaluate_all("(all) => all.map((e) => e.offsetWidth)")
    assert len(set(widths)) > 1
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert (listener.errors, listener.foreign) == ([], [])
    page.add_script_tag(path=AXE)
    assert page.evaluate(RUN_AXE) == []
    page.reload()
    assert page.input_value(f"{LADDER} [name=tiled]") == "5"


def test_a_run_stops_and_the_focus_stays(visit):
    page = visit()
    page.select_option(f"{LADDER} [name=size]", "256")
    page.click(f"{LADDER} [type=submit]")
    page.locator(f"{LADDER} [data-is=stop]").focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{LADDER} [data-is=stop]", state="hidden")
    assert page.inner_text(f"{LADDER} [data-is=status]") == "Stopped."
    assert page.evaluate("document.activeElement.type") == "submit"
    assert page.is_hidden(f"{LADDER} [data-is=problem]")


@pytest.mark.parametrize("missing", ["barrier 1", "barrier 2", "guard"])
def test_what_is_taken_away_is_missed(visit, missing):
    page = visit(query="?rung=tiled&tile=8")
    assert page.input_value(f"{SINGLE} [name=rung]") == "tiled"
    page.uncheck(f"{SINGLE} [name='{missing}']")
    page.fill(f"{SINGLE} [name=N]", "99")
    assert "gone" in page.locator(f"{SINGLE} [data-is=text]").text_content()
    said = run(page, SINGLE)
    assert re.match(r"Wrong elements in five launches: (\d+, ){4}\d+ of 12672\.", said), said
    row = page.locator(f"{SINGLE} tbody tr").first.inner_text()
    assert "tile 8" in row and missing in row and "not timed" in row and "wrong: " in row


def test_a_kernel_with_all_its_parts_is_right_and_timed(visit):
    page = visit(query="?rung=tiled&tile=8")
    for name, value in {"M": "70", "N": "101", "K": "53"}.items():
        page.fill(f"{SINGLE} [name={name}]", value)
    assert "and right." in run(page, SINGLE)
    row = page.locator(f"{SINGLE} tbody tr").first.inner_text()
    assert "70 × 101 × 53" in row and "nothing" in row and "FLOP/s" in row


# -- What goes wrong


@pytest.mark.parametrize(
    ("fields", "rung", "options", "said"),
    [
        ({"M": "0"}, "naive", {}, "M is 0: use a whole number from 1 to 16,384."),
        ({"K": "1e3"}, "naive", {}, "K is “1e3”: use a whole number"),
        ({}, "tiled", {"tile": 32}, "needs 1024 threads per block; this GPU gives the browser"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(visit, fields, rung, options, said):
    page = visit()
    choose(page, rung, **options)
    page.evaluate("document.querySelector('[data-part=single] form').noValidate = true")
    for name, value in fields.items():
        field = page.locator(f"{SINGLE} [name={name}]")
        field.evaluate("(field) => { field.type = 'text'; }")
        field.fill(value)
    run(page, SINGLE)
    problem = page.inner_text(f"{SINGLE} [data-is=problem]")
    assert said in problem and "\n" not in problem


def test_limits_are_told_before_anything_is_launched(visit):
    told = evaluate(
        visit(),
        """const gpu = await yourGpu.open(), { rung, choice, prologue } = of("naive");
        const ask = (sizes) => told(() => gpu.measure({ rung, choice, sizes, prologue }));
        const lines = [await ask({ M: 30000, N: 30000, K: 4 })];
        gpu.limits.maxComputeWorkgroupsPerDimension = 8;
        lines.push(await ask({ M: 64, N: 100, K: 4 }));
        gpu.expected = async () => 61000;
        lines.push(await ask({ M: 64, N: 64, K: 4 }));
        const wide = of("vectorized", 0);
        gpu.limits.maxComputeWorkgroupStorageSize = 4096;
        lines.push(yourGpu.fault(wide.rung, wide.choice, gpu));
        gpu.close();
        return lines;""",
    )
    expected = (
        "needs a matrix of",
        "needs 13 blocks in a row",
        "about 61 s",
        "bytes of shared memory",
    )
    for line, part in zip(told, expected, strict=True):
        assert part in line and "\n" not in line


def test_a_lost_gpu_ends_the_run_with_one_line(visit):
    said = evaluate(
        visit(),
        """const gpu = await yourGpu.open(), { rung, choice, prologue } = of("naive");
        setTimeout(() => gpu.device.destroy(), 200);
        const sizes = { M: 256, N: 256, K: 256 };
        const what = { rung, choice, sizes, prologue };
        return told(async () => { for (;;) await gpu.measure(what); });""",
    )
    assert said.startswith("The browser lost the GPU") and "\n" not in said


GONE = "Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });"
INSECURE = f"{GONE} Object.defineProperty(globalThis, 'isSecureContext', {{ get: () => false }});"
NONE = "GPU.prototype.requestAdapter = async () => null;"
FORBIDDEN = "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } });"


@pytest.mark.parametrize(
    ("script", "said"), [(GONE, "This browser has no WebGPU"), (INSECURE, "https:// or localhost")]
)
def test_without_webgpu_the_page_says_so_and_shows_the_record(visit, script, said):
    page = visit(script=script)
    problem = page.inner_text(f"{LADDER} [data-is=problem]")
    assert said in problem and "recorded ladder" in problem and "\n" not in problem
    assert page.is_disabled(f"{LADDER} [type=submit]")
    assert page.locator(".recorded-ladder tbody tr").count() > 6


def test_without_an_adapter_one_line_says_what_to_do(visit):
    page = visit(script=NONE)
    run(page, LADDER)
    assert "offers no GPU here" in page.inner_text(f"{LADDER} [data-is=problem]")
    assert page.is_enabled(f"{LADDER} [type=submit]")


def test_where_nothing_can_be_kept_the_page_works(visit):
    page = visit(script=FORBIDDEN)
    page.fill(f"{LADDER} [name=tiled]", "3")
    assert page.is_enabled(f"{LADDER} [type=submit]")


@pytest.mark.parametrize(("width", "mode"), PROFILES)
def test_without_scripts_the_record_is_there(browser, book, width, mode):
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=mode, java_script_enabled=False
    )
    page = context.new_page()
    page.goto((book / PAGE).as_uri())
    line = page.locator(f"{LADDER} noscript p")
    assert "needs JavaScript and a browser with WebGPU" in line.text_content() and line.is_visible()
    assert page.locator(".recorded-ladder tbody tr").count() > 6
    assert page.is_disabled(f"{LADDER} [type=submit]")
    context.close()


def test_the_recorded_tables_are_the_record(book):
    markup = BeautifulSoup((book / PAGE).read_text("utf-8"), "html.parser")
    tables = markup.select(".recorded-ladder table")
    record = records.load()
    shown = [row.select("td")[1].text for row in tables[0].select("tbody tr")]
    speeds = [row.gflops * 1e9 for row in record.ladder(M=2048) if row["rung"] in SHADERS]
    from kernels.basics.units import quantity

    assert shown == [quantity(speed, "FLOP/s") for speed in speeds]
    assert not any("WGSL" in cell.text for cell in tables[0].select("td"))


def test_the_tile_player_leads_to_the_page(browser, book):
    page = browser.new_page()
    page.goto((book / "chapters/ch04_tiled/04-tiled.html").as_uri())
    page.evaluate("document.querySelectorAll('.widget-fallback button').forEach((b) => b.click())")
    link = page.locator(".tile-player .source a").first
    assert link.text_content() == "Run on your GPU"
    assert re.match(r"your-gpu\.html\?rung=tiled&tile=\d+#", link.get_attribute("href"))
    page.close()


# -- Beside other GPUs

BESIDE = "[data-part=beside]"
#: An adapter that calls itself what the browsers of a T4's owner say.
TURING = """
for (const [name, value] of Object.entries({
    vendor: "nvidia", architecture: "turing", device: "", description: "",
    isFallbackAdapter: false,
})) Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => value });
"""


def test_ceilings_and_cycles_are_those_of_the_budget(visit):
    """Of every rung that the H200's record profiled as it timed it."""
    found = visit(script=GONE).evaluate(
        """() => {
            const { recorded } = JSON.parse(document.getElementById("gpu-rungs").textContent);
            const record = recorded.find(({ provenance }) => provenance.gpu === "NVIDIA H200");
            return record.timings.map((row) =>
                [row.rung, row.engine, yourGpu.standing(record, row)]);
        }"""
    )
    record = records.load()
    theirs = {(one.rung, one.engine): one for one in ladder.standings(record)}
    seen = 0
    for rung, engine, ours in found:
        row = next(iter(record.rows(
            "timings", rung=rung, engine=engine, options=RUNGS[rung].default(engine),
            dtype="float32", M=2048, N=2048, K=2048,
        )))  # fmt: skip
        clock = row.get("clock") or record.device["clock"]
        assert ours["cycles"] == pytest.approx(row.median * clock * 132 / (2048**3 / 32))
        one = theirs.get((rung, engine))
        if one and one.budget.verdict in ("issue", "wavefronts", "fp32"):
            assert ours["share"] * ours["cycles"] == pytest.approx(one.budget.cycles)
            seen += 1
    assert seen >= 12


def test_a_ladder_joins_the_recorded_ones_and_stays(visit):
    page = visit(script=TURING)
    if not page.evaluate("navigator.gpu?.requestAdapter().then(Boolean)"):
        pytest.skip("this Chromium has no software adapter for WebGPU")
    page.select_option(f"{LADDER} [name=size]", "128")
    run(page, LADDER)
    told = page.locator(f"{LADDER} [data-is=results]")
    assert "has 64 FP32 lanes, so it starts 2 FMAs" in told.inner_text()
    assert "cycles per FMA" in told.locator("th").all_inner_texts()
    heads = f"{BESIDE} thead th"
    for _ in "now", "after a reload":
        assert page.locator(heads).nth(1).inner_text() == "nvidia turing, WGSL, 128³"
        assert "NVIDIA H200, CUDA C++, 2048³" in page.locator(heads).all_inner_texts()
        assert page.locator(f"{BESIDE} tbody tr").count() >= 10
        page.reload()
    with page.expect_download() as saved:
        page.click(f"{BESIDE} [data-is=save]")
    kept = json.loads(saved.value.path().read_text())
    assert saved.value.suggested_filename == "nvidia-turing.json"
    assert kept["device"]["lanes"] == 64 and {row["engine"] for row in kept["webgpu"]} == {"wgsl"}
    page.click(f"{BESIDE} [data-is=forget]")
    assert "turing" not in page.inner_text(f"{BESIDE} table")
    page.set_input_files(f"{BESIDE} [data-is=file]", saved.value.path())
    page.wait_for_selector(f"{heads}:has-text('turing')")


def test_the_file_of_a_short_benchmark_joins_too(visit, tmp_path):
    page = visit(script=GONE)
    record = records.load("h100-80gb-hbm3")
    tables = {name: [dict(row) for row in record.tables[name]] for name in ("timings", "levels")}
    about = {**record.provenance, "gpu": "Somebody’s T4"}
    path = tmp_path / "t4.json"
    path.write_text(json.dumps({"provenance": about, "device": record.device, **tables}))
    page.set_input_files(f"{BESIDE} [data-is=file]", path)
    page.wait_for_selector(f"{BESIDE} th:has-text('Somebody’s T4, CUDA C++, 2048³')")
    assert page.is_hidden(f"{BESIDE} [data-is=problem]")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it isn't JSON"),
        ("null", "it names no GPU"),
        ('{"provenance": {"gpu": 1}}', "it names no GPU"),
        ('{"provenance": {"gpu": "T4"}}', "it has no rung that was timed"),
        ('{"provenance": {"gpu": "T4"}, "timings": {}}', "it has no rung that was timed"),
        (
            '{"provenance": {"gpu": "T4"}, "timings": [{"rung": "naive", "engine": "cpp"}]}',
            "a row has no sizes, options or seconds",
        ),
    ],
)
def test_a_file_of_something_else_is_refused_in_one_line(visit, tmp_path, text, why):
    page = visit(script=GONE)
    before = page.inner_text(f"{BESIDE} table")
    (tmp_path / "else.json").write_text(text)
    page.set_input_files(f"{BESIDE} [data-is=file]", tmp_path / "else.json")
    page.wait_for_selector(f"{BESIDE} [data-is=problem]:visible")
    said = page.inner_text(f"{BESIDE} [data-is=problem]")
    assert said.startswith(f"“else.json” can't be shown: {why}.") and "\n" not in said
    assert page.inner_text(f"{BESIDE} table") == before
