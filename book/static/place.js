/* Where the reader is: the list beside the text follows, a phone's bar says it, and the first page leads back here. Arrow
   keys turn pages. Jumps of up to two screens glide; longer ones are there at once. */
(() => {
  "use strict";

  const article = document.querySelector(".bd-article");
  const list = document.querySelector("#pst-page-toc-nav");
  const links = new Map([...(list?.querySelectorAll("a[href^='#']") ?? [])].map((link) => [link.hash.slice(1), link]));
  const sections = [...article.querySelectorAll("section section[id]")].filter(({ id }) => links.has(id));
  if (list) list.id = "page-toc"; // the theme's script looks for its own name, and would mark a second entry

  const bar = document.createElement("span");
  bar.className = "whereabouts";
  bar.hidden = true;
  bar.innerHTML = '<span></span><span class="section"></span><span></span>';
  const parts = [...bar.children];
  bar.setAttribute("aria-hidden", "true");
  document.querySelector(".bd-header-article .header-article-items__start")?.append(bar);
  /* A heading without the sign that links to it; it may hold code. */
  const worded = (heading) =>
    [...heading.childNodes]
      .map((node) => (node.classList?.contains("headerlink") ? "" : node.textContent))
      .join("")
      .trim();
  const title = worded(article.querySelector("h1"));
  const chapter = /^(\d+)\./.exec(title)?.[1] ?? title;

  let current = null;
  function follow() {
    const line = innerHeight * 0.3;
    let found = null;
    for (const section of sections) if (section.getBoundingClientRect().top <= line) found = section;
    const { scrollHeight } = document.documentElement;
    const share = Math.round((100 * scrollY) / Math.max(1, scrollHeight - innerHeight));
    const name = found && worded(found.querySelector("h2, h3"));
    const told = scrollY < 200 ? [] : [chapter, name ?? "", `${Math.min(100, share)} %`];
    bar.hidden = !told.length;
    told.forEach((text, i) => (parts[i].textContent = text));
    parts[1].hidden = !name;
    if (found === current) return;
    if (current) links.get(current.id).removeAttribute("aria-current");
    current = found;
    if (!current) return;
    const link = links.get(current.id);
    link.setAttribute("aria-current", "location");
    const box = list.closest(".bd-sidebar-secondary");
    if (!box) return; // it is in the dialog of a narrow window
    const { top, bottom } = link.getBoundingClientRect();
    const frame = box.getBoundingClientRect();
    if (top < frame.top + 40 || bottom > frame.bottom - 40) box.scrollTop += top - frame.top - box.clientHeight / 2;
  }
  let asked = false;
  const ask = () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      follow();
    });
  };
  addEventListener("scroll", ask, { passive: true });
  addEventListener("resize", ask);
  if (scrollY || location.hash) ask();

  /* A page counts as the reader's place once she has run something on it, guessed, or read on past a screen or two. */
  const page = /(chapters\/[\w-]+\/[\w-]+)\.html$/.exec(location.pathname)?.[1];
  function stay() {
    try {
      localStorage.setItem("tile-by-tile.place", JSON.stringify({ page, title }));
    } catch {
      // The first page will not know.
    }
  }
  if (page && /\/\d\d\w?-/.test(page)) {
    const read = () => {
      if (scrollY < 2 * innerHeight) return;
      removeEventListener("scroll", read);
      stay();
    };
    addEventListener("scroll", read, { passive: true });
    addEventListener("click", ({ target }) => target.closest?.("[data-do], [data-way], form.guess button") && stay());
  }

  addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target !== document.body || document.querySelector("dialog[open]")) return;
    const side = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    const link = side && document.querySelector(`.prev-next-area .${side === "prev" ? "left-prev" : "right-next"}`);
    if (link) location.href = link.href;
  });

  addEventListener("beforeprint", () => {
    for (const terms of document.querySelectorAll("details.terms")) terms.open = true;
  });

  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  addEventListener("click", (event) => {
    const hash = event.target.closest?.("a[href^='#']")?.hash;
    const goal = hash && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!goal || calm.matches) return;
    const near = Math.abs(goal.getBoundingClientRect().top) < 2 * innerHeight;
    document.documentElement.style.scrollBehavior = near ? "smooth" : "auto";
    setTimeout(() => document.documentElement.style.removeProperty("scroll-behavior"), 1000);
  });
})();
