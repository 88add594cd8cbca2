/* Quiz: one question at a time, and the reader pages. Every answer, once opened, says whether it is right and why. What was
   opened is kept in the browser alone. */

import { make, unique, button } from "../common.js";

const KEY = "tile-by-tile.progress";
const own = (object, key) => Object.prototype.hasOwnProperty.call(object, key);
const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** All that is kept for this course, from its text; whatever is no such thing counts as nothing kept. */
function parse(text) {
  let kept = null;
  try {
    kept = JSON.parse(text);
  } catch {
    /* not ours */
  }
  return isPlain(kept) && kept.format === 1 ? kept : { format: 1 };
}

/** The options that were opened, question by question, in their order; anything that cannot be so is left out. */
function opened(kept, chapter, questions) {
  const quiz = isPlain(kept.quizzes) && own(kept.quizzes, chapter) ? kept.quizzes[chapter] : {};
  return Object.fromEntries(
    questions.map(({ id, options }) => {
      const found = isPlain(quiz) && own(quiz, id) && Array.isArray(quiz[id]) ? quiz[id] : [];
      const able = found.filter((i) => Number.isInteger(i) && i >= 0 && i < options.length);
      return [id, [...new Set(able)]];
    }),
  );
}

/** The same text with what was opened in one quiz; what is kept for other chapters stays. */
function withQuiz(text, chapter, answers) {
  const kept = parse(text),
    quizzes = isPlain(kept.quizzes) ? kept.quizzes : {};
  return JSON.stringify({ ...kept, quizzes: { ...quizzes, [chapter]: answers } });
}

/** How many questions are answered, and how many of them at the first try. */
function score(questions, answers) {
  const isRight = ({ options }, i) => i !== undefined && options[i].right;
  const solved = questions.filter((q) => answers[q.id].some((i) => isRight(q, i)));
  return {
    of: questions.length,
    solved: solved.length,
    first: solved.filter((q) => isRight(q, answers[q.id][0])).length,
  };
}

/** Text whose parts between backticks are code. */
const worded = (text) => text.split("`").map((part, i) => (i % 2 ? make("code", {}, part) : part));

/** Where to read what answers a question; a page of the book knows its address. */
function leadBack({ section, href }) {
  const heading = href ? [make("a", { href }, ...worded(section))] : worded(section);
  return make("span", { class: "again" }, "Read again: ", ...heading);
}

function render({ model, el }) {
  const chapter = model.get("chapter"),
    questions = model.get("questions");
  let keeps = true;
  const read = () => {
    try {
      return localStorage.getItem(KEY) ?? "";
    } catch {
      keeps = false;
      return "";
    }
  };
  let answers = opened(parse(read()), chapter, questions);
  const keep = () => {
    try {
      localStorage.setItem(KEY, withQuiz(read(), chapter, answers));
    } catch {
      keeps = false;
    }
    dispatchEvent(new Event("tile-by-tile-progress"));
  };

  const says = make("p", { role: "status" });
  const tell = () => {
    const { of, solved, first } = score(questions, answers);
    const how =
      solved === of
        ? `All ${of} answered, ${first} at the first try.`
        : `${solved} of ${of} answered${solved ? `, ${first} at the first try` : ""}.`;
    says.textContent = `${how} ${keeps ? "This is kept in your browser and nowhere else." : "Your browser keeps nothing for this page, so it is forgotten when you leave."}`;
  };
  const boxes = [];
  const items = questions.map((question) => {
    const name = unique("ask");
    const options = question.options.map(({ text, right, why }, i) => {
      const box = make(
        "details",
        { class: "option" },
        make("summary", {}, ...worded(text)),
        make(
          "p",
          {},
          make("span", { class: "verdict" }, right ? "Right. " : "Not so. "),
          ...worded(why),
          right ? null : leadBack(question),
        ),
      );
      const mark = () => box.classList.add(right ? "right" : "wrong");
      if (answers[question.id].includes(i)) {
        box.open = true;
        mark();
      }
      box.addEventListener("toggle", () => {
        if (!box.open || answers[question.id].includes(i)) return;
        answers[question.id].push(i);
        mark();
        keep();
        tell();
      });
      boxes.push(box);
      return box;
    });
    return make(
      "li",
      {},
      make("p", { class: "ask", id: name }, ...worded(question.ask)),
      make("div", { role: "group", "aria-labelledby": name }, options),
    );
  });
  let at = 0;
  const place = make("p", { class: "place", "aria-live": "polite" });
  const back = button("Back", { onclick: () => turn(at - 1) }),
    next = button("Next", { onclick: () => turn(at + 1) });
  function turn(to) {
    at = Math.max(0, Math.min(questions.length - 1, to));
    items.forEach((item, i) => (item.hidden = i !== at));
    place.textContent = `Question ${at + 1} of ${questions.length}`;
    back.disabled = at === 0;
    next.disabled = at === questions.length - 1;
  }
  const again = button("Start again", {
    onclick: () => {
      turn(0);
      answers = opened({}, chapter, questions);
      for (const box of boxes) {
        box.open = false;
        box.classList.remove("right", "wrong");
      }
      keep();
      tell();
    },
  });
  const root = make(
    "section",
    { class: "tile-widget quiz", role: "group", "aria-label": "Quiz", "data-lm-suppress-shortcuts": "true" },
    place,
    make("ol", { class: "questions" }, items),
    make("div", { class: "pages controls" }, back, next),
    make("div", { class: "end controls" }, again, says),
  );
  el.append(root);
  turn(questions.findIndex((q) => !answers[q.id].some((i) => q.options[i].right)));
  tell();
  return () => root.remove();
}

export const formulas = { parse, opened, withQuiz, score };
export default { render };
