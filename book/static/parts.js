/* A long page is laid out section by section. Those in view come first: book.css lets the browser pass over the rest
   (`data-parts`, which layout.html sets). The rest follows as soon as the reader stirs, or once a page has lain still
   for some seconds: one section at a time, whenever the browser is idle, so that the scroll bar tells the truth. Whoever
   jumps or prints gets all of it at once.

   Until its turn a section takes the room that its words, lines and pictures will, as far as they tell: the scroll bar
   then hardly moves.

   A browser that offers to fill in forms asks of each, once the page is there, whether it is in view, which lays out the
   section around it. So the forms of the sections that wait are outside the page until it is their turn. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article > section > section")];
  const aside = new Map(); // each section's forms, with the marks that keep their places
  const STIRS = ["scroll", "wheel", "keydown", "pointerdown", "pointermove", "touchstart"];
  const FOLDED = "details:not([open]) > :not(summary), .dropdown > :not(.admonition-title), .widget > *";
  const STILL = 6000; // milliseconds: by then all that a page loads is there
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));

  /** About how tall a section will be, in pixels, without laying it out. */
  function guess(part) {
    const { fontSize, lineHeight } = getComputedStyle(document.body);
    const line = parseFloat(lineHeight);
    const width = Math.min(innerWidth - 34, 38 * parseFloat(fontSize));
    const across = (2.1 * width) / parseFloat(fontSize); // letters
    const shown = (selector) => [...part.querySelectorAll(selector)].filter((each) => !each.closest(FOLDED));
    let sum = 0;
    for (const { textContent } of shown("p, li, h2, h3, summary, dt, dd")) {
      sum += Math.ceil(textContent.trim().length / across) * line + 0.7 * line;
    }
    for (const { textContent } of shown("pre"))
      sum += textContent.trimEnd().split("\n").length * 0.78 * line + 3 * line;
    for (const row of shown("tr")) if (!row.closest(".widget")) sum += 1.4 * line;
    for (const picture of shown("figure > svg")) {
      const [, , wide, tall] = (picture.getAttribute("viewBox") ?? "0 0 1 1").split(" ").map(Number);
      sum += (Math.min(parseFloat(picture.style.maxWidth) || width, innerWidth - 34) * tall) / wide + line;
    }
    const [small, large] = innerWidth < 600 ? [310, 750] : [190, 600]; // widgets, the median of each kind
    for (const { dataset } of shown(".widget")) sum += dataset.kind === "Micro" ? small : large;
    return Math.round(sum);
  }

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
    for (const part of waiting) part.style.containIntrinsicHeight = `auto ${guess(part)}px`;
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
