/* A long page is laid out section by section. Those in view come first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). The rest follows as soon as the reader stirs, or once a page has lain still
   for some seconds: one section at a time, whenever the browser is idle, so that the scroll bar tells the truth. Whoever
   jumps or prints gets all of it at once.

   A browser that offers to fill in forms asks of each, once the page is there, whether it is in view, which lays out the
   section around it. So the forms of the sections that wait are outside the page until it is their turn. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article > section > section")];
  const aside = new Map(); // each section's forms, with the marks that keep their places
  const STIRS = ["scroll", "wheel", "keydown", "pointerdown", "pointermove", "touchstart"];
  const STILL = 6000; // milliseconds: by then all that a page loads is there
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));

  function setAside(part) {
    const forms = [...part.querySelectorAll("form")].map((form) => [form, document.createComment("form")]);
    for (const [form, mark] of forms) form.replaceWith(mark);
    aside.set(part, forms);
  }

  function putBack(part) {
    for (const [form, mark] of aside.get(part) ?? []) mark.replaceWith(form);
    aside.delete(part);
  }

  function finish() {
    delete root.dataset.parts;
    for (const part of waiting.splice(0)) putBack(part);
  }

  function next() {
    const part = waiting.shift();
    if (!part) return finish();
    putBack(part);
    part.style.contentVisibility = "visible";
    part.getBoundingClientRect(); // lays it out, here and now
    soon(next);
  }

  function begin() {
    clearTimeout(waited);
    for (const name of STIRS) removeEventListener(name, begin);
    soon(next);
  }

  // By then the scripts that know the forms have found them.
  addEventListener("DOMContentLoaded", () => {
    if (!window.ContentVisibilityAutoStateChangeEvent) return; // nothing is passed over, or nobody tells when it ends
    const near = 2 * innerHeight;
    for (const part of waiting.filter((each) => each.getBoundingClientRect().top > near)) {
      part.addEventListener("contentvisibilityautostatechange", ({ skipped }) => skipped || putBack(part));
      setAside(part);
    }
  });
  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
  const waited = setTimeout(begin, STILL);
  for (const name of STIRS) addEventListener(name, begin, { passive: true });
})();
