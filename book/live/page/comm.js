/* Widgets with a Python behind them, the page's own or a server's: the script that the static book mounts, with a model that talks. */
const BOOK = new URL("../../book/", import.meta.url); // the scripts that pages load by themselves

function load(name) {
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src: new URL(`${name}.js`, BOOK).href });
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${name}.js did not load`));
    document.head.append(script);
  });
}

/** Mount a widget that Python showed, and let both hear each other. */
export async function mount(box, { id, kind, state }, backend) {
  if (!window.tileByTile?.common) await load("widgets/common");
  if (!window.tileByTile.createModel) await load("widgets");
  if (!window.tileByTile[kind]) await load(`widgets/${kind}`);
  const model = window.tileByTile.createModel(state, (message) => backend.send({ id, ...message }));
  backend.listeners.set(id, (message) => model.hear(message));
  window.tileByTile[kind].render({ model, el: box });
}
