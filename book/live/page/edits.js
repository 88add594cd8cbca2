/* What the reader wrote into this page's cells: kept by her browser until she takes it back. An entry has the page's own
   text, `was`, and hers, `now`; what belongs to no cell of today's page, or to another tab, stays as it is. */
const KEY = `tile-by-tile.edits:${location.pathname}`; // live.js reads it when the page is loaded

function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {};
  } catch {
    return {};
  }
}

/** Keep a cell's text, or forget it where it is the page's own. */
export function keep({ number, text, source }) {
  const edits = read();
  const there = edits[number];
  if (there && there.was !== text) edits[`before ${Date.now()}`] = there;
  if (source === text) delete edits[number];
  else edits[number] = { was: text, now: source };
  write(edits);
}

/** Forget an entry that belongs to no cell. */
export function forget(name) {
  const edits = read();
  delete edits[name];
  write(edits);
}

function write(edits) {
  try {
    if (Object.keys(edits).length) localStorage.setItem(KEY, JSON.stringify(edits));
    else localStorage.removeItem(KEY);
  } catch {
    // They last until the reader leaves.
  }
}
