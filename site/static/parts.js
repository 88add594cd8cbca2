/* A long page is laid out section by section. Those in view come first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). The rest follows as soon as the reader stirs, or once a page has lain still
   for some seconds: one section at a time, whenever the browser is idle, so that the scroll bar tells the truth. Whoever
   jumps or prints gets all of it at once. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article > section > section")];
  const STIRS = ["scroll", "wheel", "keydown", "pointerdown", "pointermove", "touchstart"];
  const STILL = 6000; // milliseconds: by then all that a page loads is there
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

  function begin() {
    clearTimeout(waited);
    for (const name of STIRS) removeEventListener(name, begin);
    soon(next);
  }

  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
  const waited = setTimeout(begin, STILL);
  for (const name of STIRS) addEventListener(name, begin, { passive: true });
})();
