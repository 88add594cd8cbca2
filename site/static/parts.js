/* A long page is laid out part by part. What is in view comes first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). Once the reader scrolls or touches anything the rest follows, a part whenever
   the browser is idle, so that the length of the page is soon its own. Whoever jumps or prints gets all of it at once. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article section section, .bd-article div.cell")];
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));
  const SIGNS = ["scroll", "pointerdown", "pointermove", "keydown"];

  function finish() {
    delete root.dataset.parts;
    waiting.splice(0);
  }

  function next() {
    const part = waiting.shift();
    if (!part) return finish();
    part.style.contentVisibility = "visible";
    requestAnimationFrame(() => soon(next));
  }

  function begin() {
    for (const sign of SIGNS) removeEventListener(sign, begin);
    soon(next);
  }

  for (const sign of SIGNS) addEventListener(sign, begin, { passive: true });
  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
})();
