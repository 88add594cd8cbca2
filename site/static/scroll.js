/* What scrolls sideways can be reached, and so scrolled, by keys; what has room for all of itself is no stop on the way. */
(() => {
  "use strict";

  const SCROLLING = ".math-block, .trace, .widget .code";
  const watch = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
      else target.removeAttribute("tabindex");
    }
  });
  const follow = (root) => root.querySelectorAll(SCROLLING).forEach((element) => watch.observe(element));
  addEventListener("mounted", (event) => follow(event.target)); // by widgets.js
  follow(document);
})();
