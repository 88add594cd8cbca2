/* A long page is laid out part by part. What is in view comes first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). The rest follows whenever the browser is idle, a few milliseconds at a time, so
   that no click waits for it. Whoever jumps or prints gets all of it at once. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const SLICE = 4; // milliseconds
  const waiting = [...document.querySelectorAll(".bd-article section section, .bd-article div.cell")];
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));

  function finish() {
    delete root.dataset.parts;
    waiting.splice(0);
  }

  function next() {
    const end = performance.now() + SLICE;
    do {
      const part = waiting.shift();
      if (!part) return finish();
      part.style.contentVisibility = "visible";
      part.getBoundingClientRect(); // lays it out, here and now
    } while (performance.now() < end);
    soon(next);
  }

  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
  if (document.readyState === "complete") soon(next);
  else addEventListener("load", () => soon(next));
})();
