/* The guesses of a reader, which kept.js keeps: predict.js takes them, calibration.js tells of them. */
window.guesses = (() => {
  "use strict";

  const { KEY, own, part, read, write, keeps } = window.kept;
  const fits = (said) => said === null || Array.isArray(said);

  return {
    KEY,
    keeps,

    /** What was said to a box: a list with an answer per field, null for "show me", undefined for nothing yet. */
    get(page, ids) {
      const ours = part(part(read(), "predictions"), page);
      return ids.map((id) => own(ours, id)).find((said) => said !== undefined && fits(said));
    },

    put(page, ids, said) {
      const all = read(),
        predictions = part(all, "predictions"),
        ours = { ...part(predictions, page) };
      for (const id of ids) delete ours[id];
      if (said !== undefined) ours[ids[0]] = said;
      write({ ...all, predictions: { ...predictions, [page]: ours } });
    },
  };
})();
