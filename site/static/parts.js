/* A long page is laid out part by part, while the browser has nothing else to do: what is in view comes first, and no
   click waits for the rest. Until then book.css lets the browser pass over what is out of view (`data-parts`, which
   layout.html sets). Whoever jumps or prints gets the whole page at once. */
(() => {
  "use strict";

  const root = document.documentElement;
  if (root.dataset.parts === undefined) return;
  const waiting = [...document.querySelectorAll(".bd-article section section, .bd-article div.cell")];
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 50));

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

  const jumps = (event) => event.target.closest?.("a[href*='#']") && finish();
  addEventListener("click", jumps, { capture: true, passive: true });
  for (const name of ["hashchange", "beforeprint"]) addEventListener(name, finish);
  if (document.readyState === "complete") soon(next);
  else addEventListener("load", () => soon(next));
})();
