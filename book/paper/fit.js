/* Shrinks what is wider than the sheet, lets long tables and programs go on over the next, and names what is still
   larger than a sheet. */
window.fit = () => {
  const WIDE = ".pst-scrollable-table-container, table, pre, .output, .trace, .math-block, .exercise, .widget-fallback";
  const LONG = 450,
    HIGH = 960; // pixels: half a sheet, and a whole one
  const sheet = document.querySelector(".bd-article").getBoundingClientRect();
  const all = [...document.querySelectorAll(".bd-article, .bd-article *")].filter(
    (each) => !each.closest("svg *, math"),
  );
  const box = (each) => each.getBoundingClientRect();
  const over = (each) => Math.max(each.scrollWidth - (each.clientWidth || Infinity), box(each).right - sheet.right);

  for (const each of all.filter((each) => each.matches(WIDE) && over(each) > 1))
    each.style.zoom = 0.99 * (1 - over(each) / (over(each) + each.clientWidth || each.offsetWidth));
  for (const each of all.filter(
    (each) => each.matches("table, figure:has(table), .highlight, pre, .output") && box(each).height > LONG,
  ))
    each.style.breakInside = "auto";
  const large = all.filter((each) => over(each) > 2 || (each.matches("img, svg") && box(each).height > HIGH));
  return large.map((each) => each.outerHTML.slice(0, 100));
};
