/* What a cell shows, as elements: streams, tables, pictures, widgets, and errors of one line. */
import { mount } from "./comm.js";

const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

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

function output(area, { data }, backend) {
  if (data.widget) {
    const box = make("div", { className: "widget" });
    area.append(box);
    return mount(box, data.widget, backend).catch((error) =>
      box.append(`This figure could not be drawn: ${error.message}`),
    );
  }
  const html = data["text/html"] ?? data["image/svg+xml"];
  if (html !== undefined) area.append(make("div", { className: "output text_html", innerHTML: html }));
  else if (data["image/png"])
    area.append(make("img", { className: "output", alt: "", src: `data:image/png;base64,${data["image/png"]}` }));
  else area.append(plainText(data["text/plain"]));
}

function failure(area, { name, value, cell, line, traceback }, goTo) {
  const [first] = value.split("\n");
  const said = make("p", { className: "engine-error" }, `${name}${first ? `: ${first}` : ""} `);
  if (line) {
    const way = make("button", { type: "button", textContent: `Line ${line}` });
    way.onclick = () => goTo(cell, line);
    said.append(way);
  }
  const box = make("div", { className: "output" }, said);
  if (traceback) box.append(make("details", {}, make("summary", {}, "All of it"), plainText(traceback)));
  area.append(box);
}

/** Show one message of Python in a cell's area; `goTo(cell, line)` leads to a line of a cell. */
export function show(area, message, { backend, goTo }) {
  if (message.type === "stream") stream(area, message);
  else if (message.type === "output") output(area, message, backend);
  else if (message.type === "error") failure(area, message, goTo);
  else if (message.type === "clear") area.replaceChildren();
  area.dispatchEvent(new Event("mounted", { bubbles: true })); // scroll.js hears it
}
