"""How much of a widget a redraw touches, beside taking it away and putting it there anew."""

from statistics import median

#: A redraw may touch as many elements as go and come when the whole widget is replaced, twice.
MOST = 2
#: Of each move of a slider: the elements that come, go or change, and those of the whole widget
#: before and after.
COUNTED = """([name, values]) => {
    const input = document.querySelector(`input[type=range][aria-label="${name}"]`);
    const root = input.closest(".tile-widget"), counts = [];
    const size = (node) => 1 + (node.querySelectorAll?.("*").length ?? 0);
    const touched = ({ type, addedNodes, removedNodes }) => type === "childList"
        ? [...addedNodes, ...removedNodes].reduce((sum, node) => sum + size(node), 0) : 1;
    let sum = 0;
    const observer = new MutationObserver((records) => {
        sum += records.reduce((all, one) => all + touched(one), 0);
    });
    observer.observe(root, {
        subtree: true, childList: true, attributes: true, characterData: true });
    const step = (value) => new Promise((done) => {
        const before = size(root);
        sum = 0;
        input.value = String(value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        // The first frame draws, and the second comes when that is done.
        requestAnimationFrame(() => requestAnimationFrame(() => {
            counts.push([sum, before + size(root)]);
            done();
        }));
    });
    return values.reduce((before, value) => before.then(() => step(value)), Promise.resolve())
        .then(() => { observer.disconnect(); return counts; });
}"""


def redraw_share(shown, slider: str, values) -> float:
    """What the redraws that moving a slider over some values causes touch, in replaced widgets."""
    values = list(values)
    counts = shown.page.evaluate(COUNTED, [slider, values])
    assert sum(touched > 0 for touched, _ in counts) >= len(values) - 1, "some moves drew nothing"
    share = median(touched / whole for touched, whole in counts)
    print(f"{slider}: a redraw touches {share:.2f} of the widget")
    return share
