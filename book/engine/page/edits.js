/* What the reader changed in this page's cells: kept by her browser until she resets the page. */
const KEY = `tile-by-tile.edits:${location.pathname}`; // live.js reads it when the page is loaded

/** Keep the changed texts, by the number of the cell: `now`, and the page's own, `was`. */
export function keep(cells) {
  const changed = cells.filter((cell) => cell.changed);
  const edits = Object.fromEntries(changed.map((cell) => [cell.number, { was: cell.text, now: cell.source }]));
  try {
    if (changed.length) localStorage.setItem(KEY, JSON.stringify(edits));
    else localStorage.removeItem(KEY);
  } catch {
    // They last until the reader leaves.
  }
}
