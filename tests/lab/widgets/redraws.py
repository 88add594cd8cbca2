"""How long a widget takes to draw itself again, against what the browser itself needs for it."""

from statistics import median

#: Copies of the whole widget that the browser may lay out in the time of one redraw.
MOST = 6
#: A redraw is timed with the layout that follows. So is, right after it, putting a copy of the
#: whole widget into the page: that is the work which no script can save.
TIMED = """([name, values]) => {
    const input = document.querySelector(`input[type=range][aria-label="${name}"]`);
    const root = input.closest(".tile-widget"), later = requestAnimationFrame;
    const timed = (work) => {
        const start = performance.now();
        work();
        document.body.offsetHeight;
        return performance.now() - start;
    };
    const times = [];
    window.requestAnimationFrame = (draw) => later((now) => {
        const redraw = timed(() => draw(now));
        const copy = root.cloneNode(true);
        times.push([redraw, timed(() => root.after(copy))]);
        copy.remove();
    });
    const step = (value) => new Promise((done) => {
        input.value = String(value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        later(() => later(done));
    });
    return values.reduce((before, value) => before.then(() => step(value)), Promise.resolve())
        .then(() => { window.requestAnimationFrame = later; return times; });
}"""


def redraw_share(shown, slider: str, values) -> float:
    """Time of the redraws that moving a slider over some values causes, in copies of the widget."""
    values = list(values)
    times = shown.page.evaluate(TIMED, [slider, values])
    assert len(times) >= len(values) - 1, "some moves drew nothing"
    redraws, copies = zip(*times, strict=True)
    share = median(redraws) / median(copies)
    print(f"{slider}: a redraw {median(redraws):.1f} ms, of copies {share:.2f}")
    return share
