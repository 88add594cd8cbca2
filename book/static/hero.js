/* The first screen moves: arrow keys from anywhere, a click or a swipe on the picture. And its link leads on to where the
   reader was. Without this the radio buttons still choose. */
(() => {
  "use strict";

  const hero = document.querySelector(".hero");
  const steps = [...hero.querySelectorAll("input")];
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const now = () => steps.findIndex((step) => step.checked);

  /** Slide what is loaded along k: along a row of A, down a column of B. */
  function play() {
    if (calm.matches) return;
    const far = now() === 2 ? 80 : 20;
    for (const [name, axis] of [
      ["along", "X"],
      ["down", "Y"],
    ])
      for (const group of hero.querySelectorAll(`.${name}`)) {
        group.getAnimations().forEach((one) => one.cancel());
        group.animate([{ transform: `translate${axis}(0)` }, { transform: `translate${axis}(${far}px)` }], {
          delay: 700,
          duration: 900,
          easing: "steps(2)",
        });
      }
  }

  function go(to) {
    const next = Math.max(0, Math.min(steps.length - 1, to));
    if (next === now()) return;
    steps[next].checked = true;
    play();
  }

  /** Step through all kernels once, until somebody else does. */
  function tour() {
    if (calm.matches || now() > 0) return;
    const each = setInterval(() => {
      go(now() + 1);
      if (now() === steps.length - 1) clearInterval(each);
    }, 1600);
    for (const what of ["pointerdown", "keydown", "focusin"])
      addEventListener(what, () => clearInterval(each), { capture: true, once: true });
  }

  hero.addEventListener("change", play);
  const steer = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || scrollY > innerHeight) return;
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by || event.target !== document.body || document.querySelector("dialog[open]")) return;
    event.preventDefault(); // place.js would turn the page
    go(now() + by);
  };
  addEventListener("keydown", steer, { capture: true });
  let from = null;
  let swiped = false;
  hero.querySelector(".pic").addEventListener("click", () => !swiped && go((now() + 1) % steps.length));
  hero.addEventListener("pointerdown", (event) => {
    from = event.clientX;
    swiped = false;
  });
  hero.addEventListener("pointerup", (event) => {
    const by = event.clientX - from;
    swiped = event.pointerType !== "mouse" && Math.abs(by) > 40;
    if (swiped) go(now() + (by < 0 ? 1 : -1));
  });

  try {
    const { page, title } = JSON.parse(localStorage.getItem("tile-by-tile.place")) ?? {};
    const known = /^[\w/-]+$/.test(page) && document.querySelector(`.bd-sidebar-primary a[href="${page}.html"]`);
    if (known && title) {
      const start = hero.querySelector(".start");
      start.href = `${page}.html`;
      start.textContent = `Continue: ${known.textContent.trim()}`;
    } else tour();
  } catch {
    tour(); // Nothing kept, or nothing of ours.
  }
})();
