/* Lets keys scroll what is too wide for its place, as it becomes so; what has room for all of itself is no stop on the
   way. The theme's script would do it by asking for the size of one element after the other, the whole page laid out
   anew for each: book/pages/theme.py takes that out. */
(() => {
  "use strict";

  const SCROLLING = "pre, .cell_output > .output, .pst-scrollable-table-container, .math-block, .trace";
  const NEARLY = 32; // pixels

  /** A listing that lacks a few pixels gets letters a little smaller, on lines as tall as before: no bar for so little. */
  function fit(listing) {
    listing.style.fontSize = listing.style.lineHeight = "";
    const { scrollWidth, clientWidth } = listing;
    if (scrollWidth <= clientWidth || scrollWidth > clientWidth + NEARLY) return;
    const { fontSize, lineHeight, paddingLeft } = getComputedStyle(listing);
    const inset = parseFloat(paddingLeft) + 1;
    listing.style.lineHeight = lineHeight;
    listing.style.fontSize = `${(parseFloat(fontSize) * (clientWidth - inset)) / (scrollWidth - inset)}px`;
  }

  const watch = new ResizeObserver((entries) => {
    entries.forEach(({ target }) => target.matches(".cell pre") && fit(target));
    const wide = entries.map(
      ({ target }) => target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight,
    );
    entries.forEach(({ target }, i) => {
      if (wide[i]) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    });
  });
  const follow = (root) => root.querySelectorAll(SCROLLING).forEach((element) => watch.observe(element));
  addEventListener("mounted", (event) => follow(event.target)); // by widgets.js and live.js
  follow(document);
})();
