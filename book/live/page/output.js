/* What a cell shows, as elements: streams, tables, pictures, widgets, and errors of one line. */
import { mount } from "./comm.js";

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");
/** Where a picture names its hatches: those of the recorded one, which is hidden, would not show. */
const NAMES = /\bid="|href="#|url\(#/g;

/** Make an element; text stays text. */
export function make(tag, fields = {}, ...children) {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
}

/** A text without a terminal's colours. */
export const plain = (text) => text.replace(ESCAPES, "");

/** Plain text, as the book shows it. */
const plainText = (text, kind = "") =>
  make(
    "div",
    { className: `output ${kind} highlight-myst-ansi notranslate` },
    make("div", { className: "highlight" }, make("pre", { textContent: text })),
  );

function stream(area, { name, text }) {
  const last = area.lastElementChild;
  if (last?.dataset.stream === name) return last.querySelector("pre").append(plain(text));
  const box = plainText(plain(text), "stream");
  box.dataset.stream = name;
  area.append(box);
}

function output(cell, { data }, context) {
  const { area } = cell;
  if (data.widget) {
    const box = make("div", { className: "widget" });
    area.append(box);
    return mount(box, data.widget, context.backend).catch((error) =>
      box.append(`This figure could not be drawn: ${error.message}`),
    );
  }
  const html = data["text/html"] ?? data["image/svg+xml"];
  if (html !== undefined) {
    const box = make("div", { className: "output text_html", innerHTML: html });
    const picture = box.querySelector("figure.drawn");
    if (picture) picture.outerHTML = cell.dressed(picture).replace(NAMES, "$&live-");
    area.append(box);
    return leadToLines(cell, box, context);
  }
  if (data["image/png"])
    area.append(make("img", { className: "output", alt: "", src: `data:image/png;base64,${data["image/png"]}` }));
  else area.append(plainText(data["text/plain"]));
  return null;
}

/** A button that leads to a line of a cell, which is marked there. */
function wayTo(from, cell, line, { goTo, mark }) {
  const way = make("button", { type: "button", className: "run-line-of", textContent: `Line ${line}` });
  way.onclick = () => goTo(cell, line);
  mark(from, cell, line);
  return way;
}

/** The grader names lines and their text: the nearest cell above that has them there is meant. */
function leadToLines(from, box, context) {
  const lines = {}; // by cell
  for (const place of box.querySelectorAll("[data-line]")) {
    const line = Number(place.dataset.line);
    const code = place.querySelector("code");
    const cell = context.holding(line, code?.textContent, from);
    if (!cell) continue;
    place.replaceChildren(wayTo(from, cell, line, context), " ", code);
    lines[cell] = [...(lines[cell] ?? []), line];
    context.mark(from, cell, ...lines[cell]);
  }
}

function failure(from, { name, value, cell, line, places, traceback }, context) {
  const [first] = value.split("\n");
  // The interpreter names a line of the kernel, wherever it was launched.
  const inKernel = context.launched(from, Number(/^line (\d+): /.exec(value)?.[1]));
  if (inKernel) [cell, line] = inKernel;
  for (const place of places ?? []) context.mark(from, ...place);
  const said = make("p", { className: "run-error" }, `${name}${first ? `: ${first}` : ""} `);
  if (line) said.append(wayTo(from, cell, line, context));
  const box = make("div", { className: "output" }, said);
  if (traceback) box.append(make("details", {}, make("summary", {}, "All of it"), plainText(traceback)));
  from.area.append(box);
}

/** Show one message of Python at a cell; the page, `context`, has its backend and finds lines of cells. */
export function show(cell, message, context) {
  const { area } = cell;
  if (message.type === "stream") stream(area, message);
  else if (message.type === "output") output(cell, message, context);
  else if (message.type === "error") failure(cell, message, context);
  else if (message.type === "clear") area.replaceChildren();
  area.dispatchEvent(new Event("mounted", { bubbles: true })); // scroll.js hears it
}
