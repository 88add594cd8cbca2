/* Lets keys scroll what is too wide for its place, as it becomes so; what has room for all of itself is no stop on the
   way. The theme's script would do it by asking for the size of one element after the other, the whole page laid out
   anew for each: book/pages/theme.py takes that out. */
(() => {
  "use strict";

  const SCROLLING = "pre, .cell_output > .output, .pst-scrollable-table-container, .math-block, .trace";
  const watch = new ResizeObserver((entries) => {
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
