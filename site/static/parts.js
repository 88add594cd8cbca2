/* A long page is laid out section by section. Those in view come first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). The rest follows once the page is there, whenever the browser is idle, one
   section at a time: before a reader stirs, the scroll bar tells the truth. Whoever jumps or prints gets all of it at
   once. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article > section > section")];
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));

  function finish() {
    delete root.dataset.parts;
    waiting.splice(0);
  }

  function next() {
    const part = waiting.shift();
    if (!part) return finish();
    part.style.contentVisibility = "visible";
    part.getBoundingClientRect(); // lays it out, here and now
    soon(next);
  }

  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
  if (document.readyState === "complete") soon(next);
  else addEventListener("load", () => soon(next));
})();
