/* Mounts the widgets stored in a page without a kernel: each is an ES module and its state. Works from file:// too.
   A widget is mounted when it comes near the view, or when keys or a jump lead to it; until then its still stands in
   its place, where find-in-page, print and screen readers meet the same numbers. */
(() => {
  "use strict";

  const NEAR = "1200px 0px";

  /** The part of anywidget's model that a widget may rely on, over a plain object. */
  function createModel(state) {
    const listeners = new Map();
    const emit = (event, value) => [...(listeners.get(event) ?? [])].forEach((f) => f(undefined, value));
    return {
      get: (key) => state[key],
      set(key, value) {
        const changes = typeof key === "object" ? Object.entries(key) : [[key, value]];
        for (const [name, next] of changes) {
          if (state[name] === next) continue;
          state[name] = next;
          emit(`change:${name}`, next);
          emit("change", undefined);
        }
      },
      on(event, f) {
        listeners.set(event, [...(listeners.get(event) ?? []), f]);
      },
      off(event, f) {
        if (event === undefined || event === null) listeners.clear();
        else listeners.set(event, f ? (listeners.get(event) ?? []).filter((g) => g !== f) : []);
      },
      save_changes() {},
      send() {},
    };
  }

  const mounting = new Map();
  /** Mount a widget, once; the promise is fulfilled when it is drawn or has failed. */
  function mount(element) {
    if (!mounting.has(element)) mounting.set(element, mountNow(element));
    return mounting.get(element);
  }

  async function mountNow(element) {
    const state = JSON.parse(element.querySelector("script").textContent);
    if (state._css) {
      const style = document.createElement("style");
      style.textContent = state._css;
      document.head.append(style);
    }
    const address = URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" }));
    try {
      const module = await import(address);
      const widget = typeof module.default === "function" ? await module.default() : module.default;
      const model = createModel(state);
      const box = document.createElement("div");
      await widget.initialize?.({ model });
      element.append(box);
      await widget.render({ model, el: box });
      const still = element.querySelector(".widget-fallback");
      const focused = still.contains(document.activeElement);
      still.remove();
      if (focused) box.querySelector("button, input, select, [tabindex]")?.focus({ preventScroll: true });
      element.dataset.mounted = "";
      element.dispatchEvent(new Event("mounted", { bubbles: true }));
    } catch (error) {
      element.querySelector(".widget-fallback p").textContent = `This figure could not be drawn: ${error.message}`;
      element.dataset.failed = "";
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  const watch = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      watch.unobserve(target);
      mount(target);
    }
  }, { rootMargin: NEAR });
  for (const element of document.querySelectorAll(".widget")) {
    watch.observe(element);
    element.addEventListener("focusin", () => mount(element));
    element.querySelector(".widget-fallback button").addEventListener("click", () => mount(element));
  }
  // A page may be printed before all of it was read: the pictures of what is not mounted are there by then.
  const soon = window.requestIdleCallback ?? ((f) => setTimeout(f, 1000));
  const fetchPictures = () => document.querySelectorAll(".widget-fallback img").forEach((image) => { image.loading = "eager"; });
  if (document.readyState === "complete") soon(fetchPictures);
  else addEventListener("load", () => soon(fetchPictures));
})();
