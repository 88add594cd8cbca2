/* What the exercises write, kept in this browser alone, for all pages of the course and all that are open at once. */
const KEY = "tile-by-tile.exercises";
let held = null; // where the browser keeps nothing, until the reader leaves

/** The progress as text, or null. */
export function progress() {
  if (held) return held;
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** Keep what a run has changed, and what another page has kept meanwhile; returns whether this browser keeps it. */
export function keep({ before, after }) {
  const text = merged(before, after, progress());
  try {
    localStorage.setItem(KEY, text);
    return true;
  } catch {
    held = text;
    return false;
  }
}

function merged(before, after, now) {
  if (!now || now === before) return after;
  const [old, ours, theirs] = [before ?? "{}", after, now].map((text) => JSON.parse(text));
  const changed = Object.entries(ours.exercises).filter(
    ([name, entry]) => JSON.stringify(entry) !== JSON.stringify(old.exercises?.[name]),
  );
  return JSON.stringify({ ...theirs, exercises: { ...theirs.exercises, ...Object.fromEntries(changed) } });
}
