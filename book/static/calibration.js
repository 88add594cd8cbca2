/* How well a reader guesses: every judged guess of the course as a dot, from far too low to far too high. */
(() => {
  "use strict";

  const strip = document.getElementById("calibration");
  const boxes = JSON.parse(strip.querySelector("script").textContent);
  const WIDEST = 16;

  /** Every judged field of a box that was guessed: its kind, what was said and what it is. */
  const judged = ({ page, id, kinds, is }) =>
    (window.guesses.get(page, id) ?? [])
      .slice(0, kinds.length)
      .map((said, i) => ({ kind: kinds[i], said, is: is[i] }))
      .filter(({ said, is }) => Number.isFinite(said) && Number.isFinite(is));
  const isNear = ({ said, is }) => said === is || (said / is >= 0.5 && said / is <= 2);

  function tell(all) {
    const numbers = all.filter(({ kind }) => kind === "number"),
      choices = all.filter(({ kind }) => kind === "choice");
    const parts = [];
    if (numbers.length)
      parts.push(
        `${numbers.length} ${numbers.length === 1 ? "number" : "numbers"} guessed, ${numbers.filter(isNear).length} within a factor of two`,
      );
    if (choices.length)
      parts.push(
        `${choices.filter(({ said, is }) => said === is).length} of ${choices.length} ${choices.length === 1 ? "choice" : "choices"} right`,
      );
    return parts.join("; ");
  }

  function dot({ said, is }) {
    const mark = document.createElement("i"),
      ratio = said === is ? 1 : said / is;
    const share = 0.5 + Math.log(Math.min(WIDEST, Math.max(1 / WIDEST, ratio))) / Math.log(WIDEST) / 2;
    mark.style.setProperty("--at", share);
    return mark;
  }

  function show() {
    const chapters = new Map();
    for (const box of boxes) chapters.set(box.title, [...(chapters.get(box.title) ?? []), ...judged(box)]);
    const all = [...chapters.values()].flat(),
      opened = boxes.filter(({ page, id }) => window.guesses.get(page, id) !== undefined).length;
    strip.querySelector(".count").textContent =
      `${opened} of ${boxes.length} predictions opened. ${all.length ? `${tell(all)}.` : "No guess to judge yet."}` +
      (window.guesses.keeps() ? "" : " This browser keeps nothing for this page.");
    strip.querySelector(".dots").replaceChildren(...all.filter(({ kind }) => kind === "number").map(dot));
    strip
      .querySelector(".by-chapter")
      .replaceChildren(
        ...[...chapters]
          .filter(([, guessed]) => guessed.length)
          .map(([title, guessed]) =>
            Object.assign(document.createElement("li"), { textContent: `${title}: ${tell(guessed)}.` }),
          ),
      );
  }

  addEventListener("storage", ({ key }) => key === window.guesses.KEY && show());
  addEventListener("pageshow", ({ persisted }) => persisted && show());
  document.querySelector("#progress .forget")?.addEventListener("click", () => setTimeout(show));
  show();
})();
