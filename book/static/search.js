/* The search, while you type: sections that have all the words, those of the glossary and those whose title says it
   first. Enter leads to the first, arrow keys to the others. The words of the book come when the field is first used. */
(() => {
  "use strict";

  const MOST = 12;
  const AROUND = 90; // characters of the text on either side of what was found
  const root = document.documentElement.dataset.content_root;
  const source = new URL("sections.js", document.currentScript.src);
  let loading = null;

  const plain = (text) => text.toLowerCase().replace(/[’']/g, "'");
  /** The words of a query, without the s of a plural: each must begin a word. */
  const wordsOf = (query) =>
    plain(query)
      .split(/[^\p{L}\p{N}_']+/u)
      .filter(Boolean)
      .map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
  const quoted = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const starting = (word) => new RegExp(`(?<![\\p{L}\\p{N}_])${quoted(word)}`, "giu");

  function load() {
    loading ??= new Promise((resolve, reject) => {
      const script = Object.assign(document.createElement("script"), { src: source, onload: resolve, onerror: reject });
      document.head.append(script);
    }).then(() =>
      window.tileSections.map(([address, page, title, text]) => ({
        address,
        page,
        title,
        text: plain(text),
        told: text,
      })),
    );
    return loading;
  }

  /** How well a section answers; 0 if one of the words is missing. */
  function worth({ address, title, text }, words) {
    const named = plain(title);
    const phrase = words.join("[\\s-]+");
    let sum = 0;
    for (const word of words) {
      const inTitle = named.search(starting(word)) >= 0;
      const times = (text.match(starting(word)) ?? []).length;
      if (!inTitle && !times) return 0;
      sum += 8 * inTitle + Math.min(4, times);
    }
    if (new RegExp(phrase, "i").test(named)) sum += 30;
    if (words.length > 1 && new RegExp(phrase, "i").test(text)) sum += 15;
    if (/glossary\.html#/.test(address) && new RegExp(`^${phrase}s?$`, "i").test(named)) sum += 100;
    else if (/glossary\.html#/.test(address) && words.includes(named)) sum += 40;
    // What other texts say comes after what the course says itself.
    return /(?:fact-check|further-reading)\.html/.test(address) ? sum / 3 : sum;
  }

  const make = (tag, text, name) =>
    Object.assign(document.createElement(tag), { textContent: text, className: name ?? "" });

  /** The text around what was found, marked. */
  function excerpt({ told, text }, words) {
    const at = Math.max(0, Math.min(...words.map((word) => text.search(starting(word))).filter((place) => place >= 0)));
    const from = Number.isFinite(at) && at > AROUND ? told.indexOf(" ", at - AROUND) + 1 : 0;
    const part = told.slice(from, (Number.isFinite(at) ? at : 0) + AROUND);
    const line = make("p", "");
    line.append(from ? "… " : "");
    let last = 0;
    for (const hit of part.matchAll(new RegExp(words.map((word) => starting(word).source).join("|"), "giu"))) {
      line.append(part.slice(last, hit.index), make("mark", hit[0]));
      last = hit.index + hit[0].length;
    }
    line.append(part.slice(last), part.length + from < told.length ? " …" : "");
    return line;
  }

  function entry(section, words) {
    const link = Object.assign(make("a", section.title), { href: root + section.address });
    if (section.title !== section.page) link.append(make("small", section.page));
    const item = make("li", "");
    item.append(link, excerpt(section, words));
    return item;
  }

  for (const form of document.querySelectorAll("form.bd-search")) {
    const field = form.querySelector("input");
    const status = make("p", "", "count");
    status.setAttribute("role", "status");
    const list = make("ul", "", "found");
    form.after(status, list);

    async function find() {
      const words = wordsOf(field.value);
      if (!words.length) {
        status.textContent = "";
        return list.replaceChildren();
      }
      let sections;
      try {
        sections = await load();
      } catch {
        loading = null;
        status.textContent = "The words of the book did not load.";
        return;
      }
      const found = sections
        .map((section) => ({ section, value: worth(section, words) }))
        .filter(({ value }) => value)
        .sort((one, other) => other.value - one.value);
      const more = found.length > MOST ? `, the first ${MOST} shown` : "";
      status.textContent = found.length
        ? `${found.length} section${found.length > 1 ? "s" : ""}${more}`
        : "Nothing found.";
      list.replaceChildren(...found.slice(0, MOST).map(({ section }) => entry(section, words)));
    }

    field.addEventListener("focus", () => load().catch(() => (loading = null)), { once: true });
    field.addEventListener("input", find);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      await find();
      list.querySelector("a")?.click();
    });
    form.parentElement.addEventListener("keydown", (event) => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const stops = [field, ...list.querySelectorAll("a")];
      const at = stops.indexOf(document.activeElement);
      if (!by || at < 0 || !stops[at + by]) return;
      event.preventDefault();
      stops[at + by].focus();
    });
    list.addEventListener("click", (event) => event.target.closest("a") && form.closest("dialog")?.close());
    const asked = new URLSearchParams(location.search).get("q");
    if (asked && !form.closest("dialog")) {
      field.value = asked;
      find();
    }
  }
})();
