/* Mounts the widgets stored in a page without a kernel: each is an ES module and its state. Works from file:// too. */
(() => {
  "use strict";

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

  async function mount(element) {
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
      element.querySelector(".widget-fallback")?.remove();
      element.dataset.mounted = "";
      element.dispatchEvent(new Event("mounted", { bubbles: true }));
    } catch (error) {
      element.querySelector(".widget-fallback p").textContent = `This figure could not be drawn: ${error.message}`;
      element.dataset.failed = "";
    } finally {
      URL.revokeObjectURL(address);
    }
  }

  document.querySelectorAll(".widget").forEach(mount);
})();
