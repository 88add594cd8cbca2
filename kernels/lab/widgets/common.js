/* Shared by all widgets: elements, controls, tables, numbers. Every widget's own script follows this text. */

const SVG = "http://www.w3.org/2000/svg";

function assign(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: `make("p", { class: "summary", onclick: f }, "text", child)`. Strings become text, never HTML. */
const make = (tag, attributes = {}, ...children) => assign(document.createElement(tag), attributes, children);

/** An SVG element, in the same way. */
const draw = (tag, attributes = {}, ...children) => assign(document.createElementNS(SVG, tag), attributes, children);

let identifiers = 0;
/** A name that no other element of the page has. */
const unique = (stem) => `${stem}-${Date.now().toString(36)}-${++identifiers}`;

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const cdiv = (a, b) => Math.ceil(a / b);

/** 1234567 as "1,234,567". */
const integer = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

/** At most `digits` significant digits, without an exponent and without trailing zeros. */
const short = (value, digits = 3) =>
  Math.abs(value) >= 10 ** digits ? integer(value) : String(Number(value.toPrecision(digits)));

const PREFIXES = { "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P" };
/** A quantity with a decimal prefix and three digits, as `kernels.basics.units.quantity` writes it. */
function quantity(value, unit, digits = 3) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`;
  const rounded = Number(value.toPrecision(digits));
  const step = clamp(3 * Math.floor(Math.log10(Math.abs(rounded)) / 3), -9, 15);
  const scaled = rounded / 10 ** step;
  const decimals = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(scaled))));
  return `${scaled.toFixed(decimals)} ${PREFIXES[step]}${unit}`;
}

/** A share as a percentage of two figures, as `kernels.basics.units.percent` writes it. */
const percent = (share) => `${(100 * share).toFixed(Math.abs(share) >= 0.0995 ? 0 : 1)} %`;

/** Does the reader ask for less motion? */
const stillness = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** JupyterLab takes the arrow keys of a slider for its own: move the sliders of `root` ourselves and keep the keys. */
function moveSliders(root) {
  root.addEventListener("keydown", (event) => {
    const input = event.target;
    if (input.type !== "range" || event.ctrlKey || event.metaKey || event.altKey) return;
    const low = Number(input.min),
      high = Number(input.max),
      step = Number(input.step) || 1,
      now = Number(input.value);
    const page = Math.max(step, step * Math.round((high - low) / step / 10));
    const next = {
      ArrowLeft: now - step,
      ArrowDown: now - step,
      ArrowRight: now + step,
      ArrowUp: now + step,
      PageDown: now - page,
      PageUp: now + page,
      Home: low,
      End: high,
    }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    input.value = String(clamp(next, low, high));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
}

/**
 * The frame of a widget: a named group in `el` that keeps keys to itself, with a place for everything.
 *
 * `controls`, `picture` and `notes` are empty elements to fill; `say(text)` sets the text that stands for the picture
 * and that screen readers hear, at most every half second; `table(headings, rows, caption)` sets the table of the same
 * numbers; `onClose(f)` keeps `f` for `close()`, which is what `render` returns.
 */
function frame(el, name, title) {
  const undo = [];
  const controls = make("div", { class: "controls" });
  const picture = make("div", { class: "picture" });
  const summary = make("p", { class: "summary", "aria-live": "polite" });
  const notes = make("div", { class: "notes" });
  const numbers = make("div", {
    class: "scroll",
    tabindex: "0",
    role: "region",
    "aria-label": `${title}: the numbers`,
  });
  const details = make("details", {}, make("summary", {}, "The same in numbers"), numbers);
  const root = make(
    "section",
    { class: `tile-widget ${name}`, "aria-label": title, role: "group", "data-lm-suppress-shortcuts": "true" },
    controls,
    picture,
    summary,
    notes,
    details,
  );
  el.append(root);

  moveSliders(root);

  // What is folded away is printed all the same.
  let wasOpen = false;
  const open = () => {
    wasOpen = details.open;
    details.open = true;
  };
  const restore = () => {
    details.open = wasOpen;
  };
  addEventListener("beforeprint", open);
  addEventListener("afterprint", restore);
  undo.push(() => {
    removeEventListener("beforeprint", open);
    removeEventListener("afterprint", restore);
  });

  let timer = null,
    latest = "";
  undo.push(() => clearTimeout(timer));
  return {
    root,
    controls,
    picture,
    notes,
    details,
    say(text) {
      latest = text;
      if (timer === null) {
        summary.textContent = text;
        timer = setTimeout(() => {
          timer = null;
          if (summary.textContent !== latest) summary.textContent = latest;
        }, 500);
      }
    },
    table(headings, rows, caption = "") {
      numbers.replaceChildren(makeTable(headings, rows, caption));
    },
    onClose(f) {
      undo.push(f);
    },
    close() {
      undo.splice(0).forEach((f) => f());
      root.remove();
    },
  };
}

/** Settings that seldom change, folded above the controls; `name(text)` says on the fold what they are. */
function setUp(host, ...children) {
  const named = make("summary");
  const element = make("details", { class: "set-up" }, named, make("div", { class: "controls" }, children));
  host.controls.before(element);
  return {
    element,
    name(text) {
      if (named.textContent !== text) named.textContent = text;
    },
  };
}

/** A table; cells that are numbers, or arrays `[text]`, stand at the right. */
function makeTable(headings, rows, caption = "") {
  const right = headings.map(
    (_, i) => i > 0 && rows.every((row) => typeof row[i] === "number" || Array.isArray(row[i])),
  );
  const cell = (tag, value, i, scope) =>
    make(
      tag,
      { class: right[i] ? "number" : null, scope },
      typeof value === "number" ? short(value, 6) : String(value),
    );
  return make(
    "table",
    {},
    caption && make("caption", { class: "source" }, caption),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        headings.map((heading, i) => cell("th", heading, i, "col")),
      ),
    ),
    make(
      "tbody",
      {},
      rows.map((row) =>
        make(
          "tr",
          {},
          row.map((value, i) => cell(i ? "td" : "th", value, i, i ? null : "row")),
        ),
      ),
    ),
  );
}

/** A labelled slider. `write(value)` words the value; `change(value)` hears of it. Set it with `.show(value)`. */
function slider(label, { min, max, step = 1, write = String, change }) {
  // No <output>: the label would name it in place of the slider.
  const value = make("span", { class: "value", "aria-hidden": "true" });
  const input = make("input", { type: "range", min, max, step, "aria-label": label });
  const show = (wanted) => {
    input.value = String(wanted);
    value.textContent = write(Number(input.value));
    input.setAttribute("aria-valuetext", write(Number(input.value)));
  };
  input.addEventListener("input", () => {
    show(input.value);
    change(Number(input.value));
  });
  const element = make("label", {}, make("span", {}, `${label} `, value), input);
  return {
    element,
    input,
    show,
    limit(high) {
      input.max = String(high);
    },
  };
}

/** A labelled field for a whole number: `change` hears of every whole number typed, whatever its size. */
function numberField(label, { min, max, change }) {
  const input = make("input", { type: "number", min, max, step: 1, inputmode: "numeric" });
  input.addEventListener("input", () => {
    if (/^\d+$/.test(input.value)) change(Number(input.value));
  });
  // A key of JupyterLab or of the page must not reach past a field that is being typed in.
  input.addEventListener("keydown", (event) => event.stopPropagation());
  const element = make("label", {}, label, input);
  return {
    element,
    input,
    show(value) {
      if (Number(input.value) !== value) input.value = String(value);
    },
  };
}

/** What is wrong with the text of a field for whole numbers from 1 to `most`, in one line; empty if nothing is. */
function numberFault(name, text, most) {
  const typed = text.trim(),
    way = `use a whole number from 1 to ${integer(most)}`;
  if (!/^\d+$/.test(typed)) return `${name} is “${typed}”: ${way}.`;
  return Number(typed) < 1 || Number(typed) > most ? `${name} is ${typed}: ${way}.` : "";
}

/** A labelled choice among `options`, pairs of value and text. */
function choice(label, options, change) {
  const input = make(
    "select",
    { "aria-label": label },
    options.map(([value, text]) => make("option", { value }, text)),
  );
  input.addEventListener("change", () => change(input.value));
  return {
    element: make("label", {}, label, input),
    input,
    show(value) {
      input.value = value;
    },
  };
}

/** A labelled check box. */
function check(label, change) {
  const input = make("input", { type: "checkbox" });
  input.addEventListener("change", () => change(input.checked));
  return {
    element: make("label", { class: "check" }, input, label),
    input,
    show(value) {
      input.checked = value;
    },
  };
}

const button = (text, attributes = {}) => make("button", { type: "button", ...attributes }, text);

/** Hatches for readers without colour; `url(#…)` names come back by key. Give the result's `element` to an SVG. */
function hatches() {
  const lines = { a: "M0 8L8 0", b: "M0 0L8 8", c: "M4 0V8", t: "M0 8L8 0M0 0L8 8", none: "M0 4H8" };
  const names = {};
  const patterns = Object.entries(lines).map(([key, d]) => {
    names[key] = unique(`hatch-${key}`);
    const look = `stroke: var(--${key === "none" ? "edge" : key}); stroke-width: 1; fill: none`;
    return draw(
      "pattern",
      { id: names[key], width: 8, height: 8, patternUnits: "userSpaceOnUse" },
      draw("path", { d, style: look }),
    );
  });
  return { element: draw("defs", {}, patterns), fill: (key) => `url(#${names[key]})` };
}

/** A place under the controls for what is wrong with them: `.show(text)`, and `.quiet` while there is nothing. */
function warningLine(host) {
  const element = make("p", { class: "warning", role: "alert", hidden: true });
  host.controls.after(element);
  return {
    show(text) {
      element.hidden = !text;
      element.textContent = text;
    },
    get quiet() {
      return element.hidden;
    },
  };
}

/** Call `f` whenever the place of the picture changes its size. */
function followSize(host, f) {
  const watch = new ResizeObserver(f);
  watch.observe(host.picture);
  host.onClose(() => watch.disconnect());
}

/** Set settings of the model and tell the kernel, if there is one. */
function put(model, settings) {
  for (const [key, value] of Object.entries(settings)) model.set(key, value);
  model.save_changes();
}

/** Call `f` now, and once a frame whenever one of the model's traits changes; undone when the frame closes. */
function follow(model, keys, host, f) {
  let pending = null;
  const later = () => {
    if (pending === null)
      pending = requestAnimationFrame(() => {
        pending = null;
        f();
      });
  };
  for (const key of keys) model.on(`change:${key}`, later);
  host.onClose(() => {
    cancelAnimationFrame(pending);
    for (const key of keys) model.off(`change:${key}`, later);
  });
  f();
}

/** Say what colours mean: for each, the class of its rectangle, a text, and what else it looks like. */
function keys(...entries) {
  const key = ([name, text, look = {}]) =>
    make(
      "span",
      { class: "key" },
      draw(
        "svg",
        { width: 16, height: 14, "aria-hidden": "true" },
        draw("rect", { x: 1, y: 1, width: 14, height: 12, class: name, ...look }),
      ),
      text,
    );
  return make("p", { class: "source keys" }, ...entries.map(key));
}

export {
  make,
  draw,
  unique,
  clamp,
  cdiv,
  integer,
  short,
  quantity,
  percent,
  stillness,
  moveSliders,
  frame,
  setUp,
  makeTable,
  slider,
  numberField,
  numberFault,
  choice,
  check,
  button,
  hatches,
  keys,
  warningLine,
  followSize,
  put,
  follow,
};
