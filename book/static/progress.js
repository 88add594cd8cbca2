/* Ticks for exercises, in the chapters and in the list of them all; the list also tells what the quizzes keep. kept.js
   holds all of it. */
(() => {
  "use strict";

  const { KEY, own, part, read, write, keeps } = window.kept;

  const isDone = (page, id) => part(part(read(), "exercises"), page)[id] === true;

  function setDone(page, id, on) {
    const all = read(),
      exercises = part(all, "exercises"),
      ours = { ...part(exercises, page) };
    if (on) ours[id] = true;
    else delete ours[id];
    write({ ...all, exercises: { ...exercises, [page]: ours } });
  }

  /** How many questions of a quiz are answered, and how many at the first try; `rights` names each question's right option. */
  function score(name, rights) {
    const quiz = part(part(read(), "quizzes"), name),
      all = Object.entries(rights);
    const tried = ([id]) => (Array.isArray(own(quiz, id)) ? quiz[id] : []);
    const solved = all.filter((question) => tried(question).includes(question[1]));
    return {
      of: all.length,
      solved: solved.length,
      first: solved.filter((question) => tried(question)[0] === question[1]).length,
    };
  }

  const data = document.getElementById("chapters"); // on the page with the list
  const chapters = data ? JSON.parse(data.textContent) : [];
  const total = document.querySelector("#progress .total"),
    forget = document.querySelector("#progress .forget");

  function show() {
    document.querySelectorAll("input[data-exercise]").forEach((input) => {
      input.checked = isDone(input.dataset.page, input.dataset.exercise);
    });
    if (total) tell();
  }

  function tell() {
    const done = chapters.flatMap(({ page, exercises }) => exercises.map(({ id }) => isDone(page, id)));
    const scores = chapters.map(({ name, quiz }) => score(name, quiz));
    chapters.forEach(({ name }, i) => {
      const place = document.querySelector(`[data-quiz="${name}"]`);
      if (place)
        place.textContent = `${scores[i].solved} of ${scores[i].of} answered, ${scores[i].first} at the first try.`;
    });
    const sum = (key) => scores.reduce((n, each) => n + each[key], 0);
    total.textContent =
      `${done.filter(Boolean).length} of ${done.length} exercises done, ${sum("solved")} of ${sum("of")} questions answered, ${sum("first")} of them at the first try.` +
      (keeps() ? "" : " This browser keeps nothing for this page: it is forgotten when you leave.");
  }

  forget?.addEventListener("click", () => {
    const sure = forget.dataset.sure !== undefined;
    if (sure) {
      delete forget.dataset.sure;
      write(null);
      show();
    } else forget.dataset.sure = "";
    forget.textContent = sure ? "Forget everything" : "Yes, forget all ticks and answers";
  });
  addEventListener("change", ({ target }) => {
    if (target.dataset?.exercise === undefined) return;
    setDone(target.dataset.page, target.dataset.exercise, target.checked);
    if (total) tell();
  });
  addEventListener("storage", (event) => event.key === KEY && show()); // another page of the course
  addEventListener("pageshow", (event) => event.persisted && show());
  show();
})();
