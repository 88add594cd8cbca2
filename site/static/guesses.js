/* The guesses of a reader, as kept in this browser beside the ticks: predict.js takes them, calibration.js tells of them. */
window.guesses = (() => {
  "use strict";

  const KEY = "tile-by-tile.progress";
  const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const own = (object, key) =>
    isPlain(object) && Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
  const beside = {}; // for a browser that keeps nothing
  let keeps = true;

  function read() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(KEY));
    } catch (error) {
      if (!(error instanceof SyntaxError)) keeps = false;
    }
    if (!keeps) return { format: 1, predictions: beside };
    return isPlain(kept) && kept.format === 1 ? kept : { format: 1 };
  }

  const fits = (said) => said === null || Array.isArray(said);

  return {
    KEY,
    keeps: () => keeps,

    /** What was said to a box: a list with an answer per field, null for "show me", undefined for nothing yet. */
    get(page, ids) {
      const kept = own(own(read(), "predictions"), page);
      return ids.map((id) => own(kept, id)).find((said) => said !== undefined && fits(said));
    },

    put(page, ids, said) {
      const kept = read(),
        all = isPlain(kept.predictions) ? kept.predictions : {},
        ours = isPlain(own(all, page)) ? { ...all[page] } : {};
      for (const id of ids) delete ours[id];
      if (said !== undefined) ours[ids[0]] = said;
      try {
        localStorage.setItem(KEY, JSON.stringify({ ...kept, predictions: { ...all, [page]: ours } }));
      } catch {
        keeps = false;
      }
      if (!keeps) beside[page] = ours;
    },
  };
})();
