/* What this browser keeps for a reader of the course, under one key: ticks, the answers to quizzes, guesses. Whatever is
   found there that could not be ours counts as nothing. A browser that keeps nothing has it until the reader leaves.
   Under a key of its own there is the token that `make serve` printed: `token`. */
window.kept = (() => {
  "use strict";

  const KEY = "tile-by-tile.progress";
  const TOKEN = "tile-by-tile-token";
  const isPlain = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  const own = (object, key) =>
    isPlain(object) && Object.prototype.hasOwnProperty.call(object, key) ? object[key] : undefined;
  let held = null;

  /** Taken on whichever page is opened first, for every page of this server, and out of the address bar. */
  function takeToken() {
    const query = new URLSearchParams(location.search);
    const given = query.get("token");
    try {
      if (given === null) return localStorage.getItem(TOKEN) ?? "";
      localStorage.setItem(TOKEN, given);
    } catch {
      // For this page alone.
    }
    if (given === null) return "";
    query.delete("token");
    history.replaceState(null, "", location.pathname + (query.size ? `?${query}` : "") + location.hash);
    return given;
  }

  return {
    KEY,
    token: takeToken(),
    own,
    keeps: () => !held,

    /** A part of something read, by its name; an empty one where there is none. */
    part(object, key) {
      const found = own(object, key);
      return isPlain(found) ? found : {};
    },

    read() {
      let found = held;
      try {
        found ??= JSON.parse(localStorage.getItem(KEY));
      } catch (error) {
        if (!(error instanceof SyntaxError)) found = held = { format: 1 };
      }
      return isPlain(found) && found.format === 1 ? found : { format: 1 };
    },

    /** Keep all of it anew, or with null nothing any more. */
    write(all) {
      try {
        if (all) localStorage.setItem(KEY, JSON.stringify(all));
        else localStorage.removeItem(KEY);
        held = null;
      } catch {
        held = all ?? { format: 1 };
      }
    },
  };
})();
