/* How much of a chapter is done, as a thin bar under its name: in the contents of every page, and in the list of them all.
   Shown once there is something to show. */
(() => {
  "use strict";

  const { read, part } = window.kept;

  /** The share of a chapter's exercises and questions that this browser keeps as done. */
  function share({ page, name, exercises, quiz }) {
    const kept = read();
    const ticked = Object.values(part(part(kept, "exercises"), page)).filter((done) => done === true).length;
    const tried = part(part(kept, "quizzes"), name);
    const right = Object.entries(quiz).filter(([id, i]) => Array.isArray(tried[id]) && tried[id].includes(i)).length;
    return (Math.min(ticked, exercises) + right) / (exercises + Object.keys(quiz).length);
  }

  function show() {
    for (const chapter of window.tileTotals) {
      const done = share(chapter);
      const here = location.pathname.endsWith(`/${chapter.name}.html`);
      const names = [".bd-sidebar-primary nav", "#progress h2"].map(
        (place) => `${place} a[href$="${chapter.name}.html"]`,
      );
      if (here) names.push('.bd-sidebar-primary nav a.current[href="#"]');
      for (const link of document.querySelectorAll(names.join())) {
        link.style.setProperty("--done", done);
        link.classList.toggle("begun", done > 0);
        link.title = done ? `${Math.round(100 * done)} % of its exercises and questions done` : "";
      }
    }
  }

  for (const event of ["change", "click", "storage", "pageshow", "tile-by-tile-progress"])
    addEventListener(event, () => setTimeout(show));
  show();
})();
