/* Ticks for exercises, in the chapters and in the list of them all; the list also tells what the quizzes keep. All of it
   lies in this browser's storage, under one key. Whatever is found there that could not be ours counts as nothing. */
(() => {
  "use strict";

  const KEY = "tile-by-tile.progress";
  const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const part = (object, key) => (isPlain(object) && Object.prototype.hasOwnProperty.call(object, key) && isPlain(object[key]) ? object[key] : {});
  let keeps = true;

  function read() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(KEY));
    } catch (error) {
      if (!(error instanceof SyntaxError)) keeps = false;
    }
    return isPlain(kept) && kept.format === 1 ? kept : { format: 1 };
  }

  function write(kept) {
    try {
      if (kept) localStorage.setItem(KEY, JSON.stringify(kept));
      else localStorage.removeItem(KEY);
    } catch {
      keeps = false;
    }
  }

  const isDone = (page, id) => part(part(read(), "exercises"), page)[id] === true;

  function setDone(page, id, on) {
    const kept = read(), exercises = part(kept, "exercises"), ours = { ...part(exercises, page) };
    if (on) ours[id] = true;
    else delete ours[id];
    write({ ...kept, exercises: { ...exercises, [page]: ours } });
  }

  /** How many questions of a quiz are answered, and how many at the first try; `rights` names each question's right option. */
  function score(name, rights) {
    const kept = part(part(read(), "quizzes"), name), all = Object.entries(rights);
    const tried = ([id]) => (Object.prototype.hasOwnProperty.call(kept, id) && Array.isArray(kept[id]) ? kept[id] : []);
    const solved = all.filter((question) => tried(question).includes(question[1]));
    return { of: all.length, solved: solved.length, first: solved.filter((question) => tried(question)[0] === question[1]).length };
  }

  const make = (tag, attributes, ...children) => {
    const element = Object.assign(document.createElement(tag), attributes);
    element.append(...children);
    return element;
  };

  function box(page, exercise) {
    const input = make("input", { type: "checkbox", checked: isDone(page, exercise.id) });
    Object.assign(input.dataset, { page, exercise: exercise.id });
    return input;
  }

  function list(place, chapters) {
    const root = document.documentElement.dataset.content_root ?? "";
    const exercises = chapters.flatMap(({ page, exercises: all }) => all.map(({ id }) => isDone(page, id)));
    const scores = chapters.map(({ name, quiz }) => score(name, quiz));
    const sum = (key) => scores.reduce((n, each) => n + each[key], 0);
    const total = `${exercises.filter(Boolean).length} of ${exercises.length} exercises done, ${sum("solved")} of ${sum("of")} questions answered, ${sum("first")} of them at the first try.`;
    const parts = chapters.map((chapter, i) => {
      const { of, solved, first } = scores[i];
      const link = (text, anchor) => make("a", { href: `${root}${chapter.page}.html${anchor}` }, text);
      const items = chapter.exercises.map((exercise) => {
        const input = box(chapter.page, exercise);
        input.setAttribute("aria-label", `Done: ${exercise.title}`);
        return make("li", {}, input, " ", link(exercise.title, `#${exercise.id}`));
      });
      const asked = of ? [make("p", {}, link("Quiz", "#check-yourself"), `: ${solved} of ${of} answered, ${first} at the first try.`)] : [];
      return make("section", {}, make("h2", {}, link(chapter.title, "")), ...asked, make("ul", { className: "ticks" }, ...items));
    });
    const forget = make("button", { type: "button" }, "Forget everything");
    forget.addEventListener("click", () => {
      if (forget.dataset.sure === undefined) {
        forget.dataset.sure = "";
        forget.textContent = "Yes, forget all ticks and answers";
        return;
      }
      write(null);
      list(place, chapters);
    });
    const note = keeps ? "" : " This browser keeps nothing for this page: it is forgotten when you leave.";
    place.replaceChildren(make("p", { className: "total" }, total + note), ...parts, forget);
    place.querySelector(".total").setAttribute("role", "status");
  }

  const place = document.getElementById("progress"), data = document.getElementById("chapters");
  const chapters = data && JSON.parse(data.textContent);
  const show = () => {
    if (place) list(place, chapters);
    else document.querySelectorAll("input[data-exercise]").forEach((input) => { input.checked = isDone(input.dataset.page, input.dataset.exercise); });
  };
  addEventListener("change", ({ target }) => {
    if (target.dataset?.exercise === undefined) return;
    setDone(target.dataset.page, target.dataset.exercise, target.checked);
    if (place) {
      const { page, exercise } = target.dataset;
      list(place, chapters);
      [...place.querySelectorAll("input")].find((each) => each.dataset.page === page && each.dataset.exercise === exercise)?.focus();
    }
  });
  addEventListener("storage", (event) => event.key === KEY && show()); // another page of the course
  addEventListener("pageshow", (event) => event.persisted && show());
  show();
})();
