/* Predict, commit, reveal: takes the guesses of the boxes that book/pages/predict.py has dressed, lifts the veil from the
   answers, and says how far off a guess was. Guesses are kept by guesses.js. */
(() => {
  "use strict";

  const make = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  const plain = (value) => Number(value.toPrecision(3)).toLocaleString("en-GB", { maximumSignificantDigits: 3 });
  const whole = (value) => (Number.isInteger(value) ? value.toLocaleString("en-GB") : plain(value));
  const short = (value, unit) => whole(value) + (unit.startsWith("×") ? "×" : unit.startsWith("%") ? "\u00a0%" : "");
  const withUnit = (value, unit) => {
    if (!unit || unit.startsWith("×")) return whole(value) + unit;
    return `${whole(value)}\u00a0${value === 1 ? unit.replace(/^((?:shared )?\w{3,})s\b/, "$1") : unit}`;
  };

  /** How far a guess was off, in words: "exact", "12 % too high", "too low by a factor of 8". */
  function distance(said, is) {
    if (said === is) return "exact";
    const low = said < is ? "low" : "high";
    if (said <= 0 || is <= 0) return `too ${low}`;
    const ratio = said / is,
      times = ratio < 1 ? 1 / ratio : ratio;
    if (times < 1.005) return "as good as exact";
    return times < 2
      ? `${Math.max(1, Math.round(100 * Math.abs(ratio - 1)))}\u00a0% too ${low}`
      : `too ${low} by a factor of ${plain(times)}`;
  }

  /** A field's guess; throws a line to show where there is none. */
  const taken = {
    number(field) {
      const input = field.querySelector("input"),
        text = input.value.trim();
      if (!text) throw ["Type a number, or press “Show me”.", input];
      const bare = text
        .replace(/[\s\u00a0\u202f]/g, "")
        .replace(/,(?=\d{3}(?!\d))/g, "")
        .replace(/^(-?\d+),(\d+)$/, "$1.$2") // a decimal comma
        .replace("−", "-")
        .replace(/[%×]$/, "");
      const value = bare === "" ? NaN : Number(bare);
      if (!Number.isFinite(value)) throw [`“${text}” is not a number: type digits, such as 12 or 0.25.`, input];
      if (value < Number(input.dataset.least))
        throw [`${text} is impossible here: the least is ${input.dataset.least}.`, input];
      return value;
    },
    choice(field) {
      const input = field.querySelector(":checked");
      if (!input) throw ["Choose an answer, or press “Show me”.", field.querySelector("input")];
      return Number(input.value);
    },
    sketch(field) {
      const inputs = [...field.querySelectorAll("input")];
      const drawn = inputs.map(({ dataset, value }) => (dataset.touched === undefined ? null : Number(value)));
      if (drawn.every((value) => value === null)) throw ["Draw a point or more, or press “Show me”.", inputs[0]];
      return drawn;
    },
    words(field) {
      const input = field.querySelector("textarea");
      if (!input.value.trim()) throw ["Write a few words, or press “Show me”.", input];
      return input.value.trim();
    },
  };
  const fits = {
    number: Number.isFinite,
    choice: Number.isInteger,
    sketch: (said) =>
      Array.isArray(said) &&
      said.some(Number.isFinite) &&
      said.every((value) => value === null || Number.isFinite(value)),
    words: (said) => typeof said === "string",
  };

  /** What there is to say of a field once it is open. */
  function verdict({ dataset: { asks: kind, label, unit, by } }, field, said, is) {
    if (kind === "words") return said === undefined ? "The answer is below." : `You wrote: ${said}`;
    if (is === null)
      return `${label}: ${said === undefined ? "the answer is below" : "noted; compare it with the output"}.`;
    const option = (place) => `“${field.querySelectorAll("label")[place]?.textContent}”`;
    if (kind === "choice") {
      if (said === undefined) return `${label}: ${option(is)}.`;
      return said === is
        ? `${label}: you ${option(said)}: right.`
        : `${label}: you ${option(said)}, ${by} ${option(is)}.`;
    }
    if (kind === "sketch") {
      if (said === undefined) return "The filled points are the answer.";
      const top = Number(field.dataset.top),
        offs = said.flatMap((value, i) => (value === null ? [] : [Math.abs(value - is[i])])),
        off = offs.reduce((sum, each) => sum + each) / offs.length;
      return `Hollow points: yours. Filled points: ${by === "recorded" ? by : "the answer"}. On average you are off by ${plain((100 * off) / top)}\u00a0% of the axis.`;
    }
    if (said === undefined) return `${label}: ${withUnit(is, unit)}.`;
    return `${label}: you ${short(said, unit)}, ${by} ${withUnit(is, unit)}: ${distance(said, is)}.`;
  }

  function upgrade(form) {
    const box = form.closest(".predict"),
      { page } = form.dataset,
      is = JSON.parse(form.dataset.is),
      fields = [...form.querySelectorAll(".field")],
      told = box.querySelector(".said"),
      fault = form.querySelector(".fault");
    const veils = document.querySelectorAll(`[data-veil="${box.id}"]`);

    function complain(text, input) {
      fault.textContent = text;
      form.querySelectorAll("[aria-invalid]").forEach((each) => each.removeAttribute("aria-invalid"));
      input?.setAttribute("aria-invalid", "true");
      input?.focus();
    }

    function draw(said) {
      fields.forEach((field, i) => {
        if (field.dataset.asks !== "sketch") return;
        field.querySelectorAll("label").forEach((label, j) => {
          label.style.setProperty("--is", (said === undefined ? NaN : is[i]?.[j]) / field.dataset.top);
          const input = label.querySelector("input");
          if (said?.[i]) input.value = said[i][j] ?? 0;
          if (typeof said?.[i]?.[j] === "number") input.dataset.touched = "";
          input.disabled = said !== undefined;
        });
      });
    }

    /** Show a box as it stands: open with what was said, or waiting. */
    function settle(said) {
      const open = said !== undefined;
      form.classList.toggle("done", open);
      veils.forEach((each) => each.classList.toggle("open", open));
      told.hidden = !open;
      complain("");
      draw(said);
      if (!open) return;
      told.replaceChildren(...fields.map((field, i) => make("p", verdict(field, field, said?.[i], is[i]))));
      if (!window.guesses.keeps())
        told.append(make("p", "This browser keeps nothing: the guess is forgotten when you leave."));
      const again = make("button", said ? "Forget this guess" : "Guess after all");
      again.type = "button";
      again.onclick = () => {
        window.guesses.put(page, box.id);
        settle();
        form.querySelector("input, textarea").focus();
      };
      told.append(again);
    }

    function close(said, look) {
      window.guesses.put(page, box.id, said);
      settle(said);
      if (look) told.focus();
    }

    const kept = () => {
      const said = window.guesses.get(page, box.id);
      const whole =
        said && said.length === fields.length && fields.every((field, i) => fits[field.dataset.asks](said[i]));
      settle(said === null || whole ? said : undefined);
    };

    form.addEventListener("submit", (event) => {
      event.preventDefault();
      try {
        close(
          fields.map((field) => taken[field.dataset.asks](field)),
          true,
        );
      } catch (reason) {
        if (!Array.isArray(reason)) throw reason;
        complain(...reason);
      }
    });
    form.querySelector(".show").onclick = () => close(null, true);
    form.addEventListener("input", ({ target }) => {
      if (target.type !== "range") return;
      target.dataset.touched = "";
      target.nextElementSibling.value = withUnit(Number(target.value), target.closest(".field").dataset.unit);
    });
    // Whoever runs the cell has the answer.
    for (const each of veils)
      each.closest(".cell")?.addEventListener("click", ({ target }) => {
        if (target.closest('[data-do="run"]') && !form.classList.contains("done")) close(null, false);
      });
    addEventListener("storage", ({ key }) => key === window.guesses.KEY && kept()); // another page of the course
    addEventListener("pageshow", ({ persisted }) => persisted && kept());
    kept();
  }

  document.querySelectorAll(".predict form.guess").forEach(upgrade);
})();
