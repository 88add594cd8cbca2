/* The search, while you type: sections that have all the words, those of the glossary and those whose title says it
   first. A word that the book does not have is read as the nearest that it has; where no section has all, those with most. Enter leads to the first, arrow keys to the others. The words of the book come when the field is first used. */
(() => {
  "use strict";

  const MOST = 12;
  const AROUND = 90; // characters of the text on either side of what was found
  const root = document.documentElement.dataset.content_root;
  const source = new URL("sections.js", document.currentScript.src);
  let loading = null;

  const plain = (text) => text.toLowerCase().replace(/[’']/g, "'");
  /* Words that a question is asked with, and that say nothing about the answer. */
  const ASKING = new Set(
    "a am an and are be by can do does for from how i in is it me my of on or so the this to what when where which who why with you your".split(
      " ",
    ),
  );
  /** A word without the ending of its forms: coalesced, coalescing and coalesces begin alike. */
  const stem = (word) => (/^.{4,}?(?=(?:ing|ed|es|s)$)/.exec(word) ?? [word])[0];
  /** The words of a query, as what each must begin with. */
  const wordsOf = (query) => {
    const words = plain(query)
      .split(/[^\p{L}\p{N}_']+/u)
      .filter(Boolean);
    const telling = words.filter((word) => !ASKING.has(word));
    return (telling.length ? telling : words).map(stem);
  };
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

  /** How well a section answers, and how many of the words it has. */
  function worth({ address, title, text }, words) {
    const named = plain(title);
    const phrase = words.map(quoted).join("\\p{L}*[\\s-]+");
    const inGlossary = /glossary\.html#/.test(address);
    let sum = 0;
    let has = 0;
    for (const word of words) {
      const inTitle = named.search(starting(word)) >= 0;
      const times = (text.match(starting(word)) ?? []).length;
      if (!inTitle && !times) continue;
      has += 1;
      sum += 8 * inTitle + Math.min(4, times) + (inGlossary && inTitle ? 40 : 0);
    }
    if (!has) return { has, sum };
    if (new RegExp(phrase, "iu").test(named)) sum += 30;
    if (words.length > 1 && new RegExp(phrase, "iu").test(text)) sum += 15;
    if (inGlossary && new RegExp(`^${phrase}\\p{L}*$`, "iu").test(named)) sum += 100;
    else if (inGlossary && words.length === 1) sum += 20;
    // What other texts say, and lists, come after what the course explains.
    return { has, sum: /(?:fact-check|further-reading|interpreter)\.html/.test(address) ? sum / 3 : sum };
  }

  /** How many letters two words differ by; two that changed places count as one. */
  function distance(one, other) {
    let [before, last] = [[], [...Array(other.length + 1).keys()]];
    for (let i = 1; i <= one.length; i++) {
      const row = [i];
      for (let j = 1; j <= other.length; j++) {
        const same = one[i - 1] === other[j - 1];
        row[j] = Math.min(row[j - 1] + 1, last[j] + 1, last[j - 1] + !same);
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1])
          row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      [before, last] = [last, row];
    }
    return last.at(-1);
  }

  let vocabulary = null;
  /** The book's word nearest to one that it does not have, or the word itself. */
  function nearest(word, sections) {
    vocabulary ??= new Set(sections.flatMap(({ title, text }) => `${plain(title)} ${text}`.match(/\p{L}{4,}/gu) ?? []));
    const all = [...vocabulary];
    if (word.length < 4 || all.some((each) => each.startsWith(word))) return word;
    const most = word.length > 6 ? 2 : 1;
    let best = word;
    let least = most + 1;
    for (const each of all) {
      const off = Math.min(distance(word, each.slice(0, word.length)), distance(word, stem(each)));
      if (off < least) [best, least] = [stem(each), off];
    }
    return best;
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
      let words = wordsOf(field.value);
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
      words = words.map((word) => nearest(word, sections));
      const all = sections.map((section) => ({ section, ...worth(section, words) })).filter(({ has }) => has);
      const most = Math.max(0, ...all.map(({ has }) => has));
      const found = all.filter(({ has }) => has === most).sort((one, other) => other.sum - one.sum);
      const more = found.length > MOST ? `, the first ${MOST} shown` : "";
      const part = most < words.length ? ` with ${most} of these ${words.length} words` : "";
      status.textContent = found.length
        ? `${found.length} section${found.length > 1 ? "s" : ""}${part}${more}`
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
      stops[at + by].scrollIntoView({ block: "nearest" });
    });
    list.addEventListener("click", (event) => event.target.closest("a") && form.closest("dialog")?.close());
    const asked = new URLSearchParams(location.search).get("q");
    if (asked && !form.closest("dialog")) {
      field.value = asked;
      find();
    }
  }
})();
