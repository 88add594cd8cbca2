"""How much of a widget is made anew when it draws itself again."""

#: Nodes that one redraw may make or change, for each that the widget then has.
MOST = 2
#: Counts, for each move of a slider, the nodes that were added, and attributes and texts changed.
COUNTED = """([name, values]) => {
    const input = document.querySelector(`input[type=range][aria-label="${name}"]`);
    const root = input.closest(".tile-widget");
    const size = (node) => 1 + (node.querySelectorAll?.("*").length ?? 0);
    let touched = 0;
    const watch = new MutationObserver((records) => {
        for (const { type, addedNodes } of records)
            touched += type === "childList"
                ? [...addedNodes].reduce((n, node) => n + size(node), 0) : 1;
    });
    watch.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
    const step = (value) => new Promise((done) => {
        touched = 0;
        input.value = String(value);
        input.dispatchEvent(new Event("input", { bubbles: true }));
        requestAnimationFrame(() => requestAnimationFrame(() => done([touched, size(root)])));
    });
    return values.reduce(
        async (before, value) => [...(await before), await step(value)], Promise.resolve([]),
    ).finally(() => watch.disconnect());
}"""


def redraw_share(shown, slider: str, values) -> float:
    """The most nodes that one move of a slider touches, for each node of the widget."""
    counts = shown.page.evaluate(COUNTED, [slider, list(values)])
    still = sum(touched == 0 for touched, _ in counts)
    assert still <= 1, f"{still} moves drew nothing"  # the first may be where the slider stands
    share = max(touched / size for touched, size in counts)
    print(f"{slider}: {share:.2f} of the widget's nodes")
    return share
