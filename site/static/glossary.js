/* A word of the glossary says what it means where it stands: under the pointer, in focus, or at a first tap; the link
   stays. The definitions come when the first is asked for. */
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
    if (link && link !== shown) rest(link);
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
})();
