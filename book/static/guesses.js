/* The guesses of a reader, which kept.js keeps: predict.js takes them, calibration.js tells of them. */
window.guesses = (() => {
  "use strict";

  const { KEY, own, part, read, write, keeps } = window.kept;
  const fits = (said) => said === null || Array.isArray(said);

  return {
    KEY,
    keeps,

    /** What was said to a box: a list with an answer per field, null for "show me", undefined for nothing yet. */
    get(page, id) {
      const said = own(part(part(read(), "predictions"), page), id);
      return fits(said) ? said : undefined;
    },

    put(page, id, said) {
      const all = read(),
        predictions = part(all, "predictions"),
        ours = { ...part(predictions, page) };
      if (said === undefined) delete ours[id];
      else ours[id] = said;
      write({ ...all, predictions: { ...predictions, [page]: ours } });
    },
  };
})();
