/* On a narrow screen, a program that is wider than it can break its lines: one button at each, for all of them. */
(() => {
  "use strict";

  const STORE = "tile-by-tile.wrap";
  const root = document.documentElement;
  const narrow = matchMedia("(max-width: 600px)");
  const label = () => (root.dataset.wrap === undefined ? "Break lines" : "Keep lines");

  function choose(wrap) {
    if (wrap) root.dataset.wrap = "";
    else delete root.dataset.wrap;
    document.querySelectorAll(".wrap-lines").forEach((button) => (button.textContent = label()));
  }

  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const frame = target.closest("div.highlight");
      if (!narrow.matches || target.scrollWidth <= target.clientWidth || frame.querySelector(".wrap-lines")) continue;
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: label() });
      button.className = "wrap-lines";
      frame.append(button);
    }
  });
  document.querySelectorAll(".bd-article div.highlight pre").forEach((pre) => watch.observe(pre));
  addEventListener("click", ({ target }) => {
    if (!target.matches?.(".wrap-lines")) return;
    const before = target.getBoundingClientRect().top;
    choose(root.dataset.wrap === undefined);
    scrollBy({ top: target.getBoundingClientRect().top - before, behavior: "instant" }); // it stays under the finger
    try {
      localStorage.setItem(STORE, root.dataset.wrap ?? "no");
    } catch {
      // For this page alone.
    }
  });
  try {
    if (localStorage.getItem(STORE) === "") choose(true);
  } catch {
    // As the lines are.
  }
})();
