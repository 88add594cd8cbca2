"""How long a widget takes to draw itself again, layout included."""

from statistics import median

TIMED = """([name, values]) => {
    const input = document.querySelector(`input[type=range][aria-label="${name}"]`);
    const later = requestAnimationFrame;
    const times = [];
    window.requestAnimationFrame = (draw) => later((now) => {
        const start = performance.now();
        draw(now);
        document.body.offsetHeight;
        times.push(performance.now() - start);
    });
    const step = (i) => new Promise((done) => {
        input.value = String(values[i]);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        later(() => later(done));
    });
    return values.reduce((before, _, i) => before.then(() => step(i)), Promise.resolve())
        .then(() => { window.requestAnimationFrame = later; return times; });
}"""


def redraw_time(shown, slider: str, values) -> float:
    """Median milliseconds of the redraws that moving a slider over some values causes."""
    times = shown.page.evaluate(TIMED, [slider, list(values)])
    assert len(times) >= len(list(values)) - 1, "some moves drew nothing"
    print(f"{slider}: median {median(times):.1f} ms, most {max(times):.1f} ms")
    return median(times)
