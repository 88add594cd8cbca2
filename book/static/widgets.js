/* Mounts the widgets stored in a page without a kernel: their scripts have added themselves to `tileByTile`, and each
   widget brings its state. Works from file:// too. A widget is mounted when it comes near the view, or when keys or a
   jump lead to it; until then its still stands in its place, where find-in-page, print and screen readers meet the same
   numbers. What is mounted is out of view, so that nothing in view moves; whoever jumps gets all widgets at once. */
(() => {
  "use strict";

  const NEAR = "1200px 0px";

  /** The part of anywidget's model that a widget may rely on, over a plain object. With a Python behind it, `tell` takes
      what is for that side, and `hear` what it says. */
  function createModel(state, tell) {
    const listeners = new Map();
    let unsaved = {};
    const emit = (event, ...values) => [...(listeners.get(event) ?? [])].forEach((f) => f(...values));
    const change = (name, next) => {
      state[name] = next;
      emit(`change:${name}`, undefined, next);
      emit("change", undefined, undefined);
    };
    return {
      widget_manager: tell && {}, // by which a widget knows that a Python listens
      get: (key) => state[key],
      set(key, value) {
        const changes = typeof key === "object" ? Object.entries(key) : [[key, value]];
        for (const [name, next] of changes) {
          if (state[name] === next) continue;
          unsaved[name] = next;
          change(name, next);
        }
      },
      on(event, f) {
        listeners.set(event, [...(listeners.get(event) ?? []), f]);
      },
      off(event, f) {
        if (event === undefined || event === null) listeners.clear();
        else listeners.set(event, f ? (listeners.get(event) ?? []).filter((g) => g !== f) : []);
      },
      save_changes() {
        if (Object.keys(unsaved).length) tell?.({ state: unsaved });
        unsaved = {};
      },
      hear({ state: changes }) {
        Object.entries(changes).forEach(([name, next]) => change(name, next));
      },
    };
  }
  window.tileByTile.createModel = createModel;

  const widgets = [...document.querySelectorAll(".widget")];
  const waiting = new Set(widgets);

  /** Mount a widget, once. */
  function mount(element) {
    if (!waiting.delete(element)) return;
    watch.unobserve(element);
    const still = element.querySelector(".widget-fallback");
    const box = document.createElement("div");
    element.append(box);
    try {
      const model = createModel(JSON.parse(element.querySelector("script").textContent));
      window.tileByTile[element.dataset.kind].render({ model, el: box });
    } catch (error) {
      box.remove();
      still.querySelector("p").textContent = `This figure could not be drawn: ${error.message}`;
      element.dataset.failed = "";
      return;
    }
    const focused = still.contains(document.activeElement);
    still.remove();
    // What is folded away takes no focus: the first that does.
    if (focused)
      [...box.querySelectorAll("summary, button, input, select, [tabindex]")].some((each) => {
        each.focus({ preventScroll: true });
        return document.activeElement === each;
      });
    element.dataset.mounted = "";
    element.dispatchEvent(new Event("mounted", { bubbles: true }));
  }

  const watch = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => mount(entry.target)),
    { rootMargin: NEAR },
  );
  for (const element of widgets) {
    watch.observe(element);
    element.addEventListener("focusin", () => mount(element));
    element.querySelector(".widget-fallback button").addEventListener("click", () => mount(element));
  }
  const mountAll = () => widgets.forEach(mount);
  if (location.hash) mountAll();
  addEventListener("hashchange", mountAll);
  addEventListener("click", (event) => event.target.closest?.("a[href*='#']") && mountAll(), { capture: true });

  // A page may be printed before all of it was read: the pictures of what is not mounted are there by then.
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 1000));
  const fetchPictures = () =>
    document.querySelectorAll(".widget-fallback img").forEach((image) => {
      image.loading = "eager";
    });
  if (document.readyState === "complete") soon(fetchPictures);
  else addEventListener("load", () => soon(fetchPictures));
})();
