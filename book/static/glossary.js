/* A word of the glossary says what it means where it stands: under the pointer, in focus, or at a first tap; the link
   stays. Where a page has a margin, the first mention of a word says it there. The definitions come when the first is
   asked for. */
(() => {
  "use strict";

  const WORD = ".bd-article a[href*='glossary.html#']";
  const WAIT = 200; // milliseconds that a pointer rests on a word
  const source = new URL("words.js", document.currentScript.src);
  const box = Object.assign(document.createElement("div"), { id: "meaning", className: "meaning", hidden: true });
  box.setAttribute("role", "tooltip");
  document.body.append(box);
  let words = null;
  let shown = null;
  let timer = 0;

  function load() {
    words ??= new Promise((resolve) => {
      const script = Object.assign(document.createElement("script"), { src: source });
      script.onload = () => resolve(window.tileWords);
      script.onerror = () => {
        words = null;
        resolve({});
      };
      document.head.append(script);
    });
    return words;
  }

  function hide() {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    shown = null;
    box.hidden = true;
  }

  async function show(link) {
    const entry = (await load())[decodeURIComponent(link.hash.slice(1))];
    if (!entry || !link.isConnected) return;
    hide();
    const [title, text] = entry;
    box.replaceChildren(Object.assign(document.createElement("b"), { textContent: title }), ` ${text}`);
    box.hidden = false;
    const place = link.getClientRects()[0];
    const { width, height } = box.getBoundingClientRect();
    const below = place.bottom + height + 12 < innerHeight;
    box.style.left = `${scrollX + Math.max(8, Math.min(place.left, document.documentElement.clientWidth - width - 8))}px`;
    box.style.top = `${scrollY + (below ? place.bottom + 6 : place.top - height - 6)}px`;
    link.setAttribute("aria-describedby", box.id);
    shown = link;
  }

  const wordOf = (event) => event.target.closest?.(WORD);
  const rest = (link) => {
    clearTimeout(timer);
    timer = setTimeout(show, WAIT, link);
  };
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, WAIT); // time enough to reach the box
  };
  addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const link = wordOf(event);
    if (link && link !== shown && !link.dataset.noted) rest(link);
    else if (link || box.contains(event.target)) clearTimeout(timer);
    else if (shown || timer) leave();
  });
  addEventListener("focusin", (event) => {
    const link = wordOf(event);
    if (link?.matches(":focus-visible")) show(link);
    else if (shown) hide();
  });
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  let touched = false;
  addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (touched && shown && !wordOf(event) && !box.contains(event.target)) hide();
  });
  addEventListener("click", (event) => {
    const link = wordOf(event);
    if (!link || !touched || link === shown) return;
    event.preventDefault(); // the second tap follows the link
    show(link);
  });

  // ---- The margin ----
  const MARGIN = matchMedia("(min-width: 1500px)"); // reading.css has the same
  const ASIDE = "details, table, figure, .cell, .admonition, .widget"; // has no margin
  const OBSTACLES =
    ".cell, .cell-tools, .admonition, .math-block, .widget, .pst-scrollable-table-container, .note, figure, pre";
  const GAP = 12; // pixels between two notes
  const FAR = 110; // pixels, about four lines, by which a note may stand off its own
  const watch = new IntersectionObserver(
    (entries) => {
      const near = entries.filter((entry) => entry.isIntersecting).map(({ target }) => target);
      for (const link of near) watch.unobserve(link);
      if (near.length) load().then((meanings) => near.forEach((link) => note(link, meanings)));
    },
    { rootMargin: "600px 0px" },
  );

  /** Put the meaning of a word beside its line, or near it; where something else stands, nowhere. Screen readers have
      the link's own description, and the words of a note are no text of the page. */
  function note(link, meanings) {
    const entry = meanings[decodeURIComponent(link.hash.slice(1))];
    const holder = link.closest("p, li");
    if (!entry || !holder || !MARGIN.matches) return;
    const box = document.createElement("span");
    box.className = "note";
    box.setAttribute("aria-hidden", "true");
    [box.dataset.word, box.dataset.meaning] = entry;
    holder.append(box);
    const { top: start, left, height } = box.getBoundingClientRect();
    const line = link.getClientRects()[0].top;
    let low = -Infinity;
    let high = Infinity;
    for (const other of document.querySelectorAll(OBSTACLES)) {
      const { top, right, bottom } = other.getBoundingClientRect();
      if (other === box || right < left || bottom === top) continue;
      if (top <= line) low = Math.max(low, bottom + GAP);
      else high = Math.min(high, top - GAP);
    }
    const place = Math.min(Math.max(line, low), high - height);
    if (place < low || Math.abs(place - line) > FAR) return box.remove();
    box.style.top = `${place - start}px`;
    link.dataset.noted = "";
  }

  /** The first mention of each word in the running text. */
  function mentions() {
    const first = new Map();
    for (const link of document.querySelectorAll(WORD))
      if (!first.has(link.hash) && !link.closest(ASIDE)) first.set(link.hash, link);
    return first.values();
  }

  function annotate() {
    watch.disconnect();
    for (const old of document.querySelectorAll(".note")) old.remove();
    for (const link of document.querySelectorAll("[data-noted]")) delete link.dataset.noted;
    if (MARGIN.matches) for (const link of mentions()) watch.observe(link);
  }
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    annotate();
  });
  annotate();
})();
