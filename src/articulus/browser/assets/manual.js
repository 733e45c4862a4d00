"use strict";
// The manual in the page: a sentence for every control and every signal. The sentences are those of the documentation (manual.py, and the
// meanings of signals); they are told by screen readers, stand beside the pointer and in the dialog "?".
(() => {
  const articulus = (globalThis.articulus ??= {});
  const $ = (id) => document.getElementById(id);
  const { make } = articulus;
  const CONTROL = "button, select, input, textarea, summary, canvas";

  articulus.Manual = class {
    // entries: selector, name and sentence of each control; signals(): those of the page.
    constructor(entries, signals) {
      Object.assign(this, { entries, signals });
      this.dialog = $("keys");
      const keys = $("key-list");
      this.search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search the manual" });
      this.search.addEventListener("input", () => this.#filter());
      this.controls = make("dl", {});
      this.list = make("dl", {});
      this.signalHead = make("h3", {}, "Signals");
      this.dialog.querySelector("h2").replaceWith(make("div", { className: "manual-head" }, make("h2", {}, "Manual"), this.search));
      this.dialog.querySelector("form").before(make("div", { className: "manual", tabIndex: 0, role: "region", "aria-label": "Controls, signals and keys" },
        make("h3", {}, "Controls"), this.controls, this.signalHead, this.list, make("h3", {}, "Keyboard"), keys));
      for (const kind of ["pointerover", "focusin"]) addEventListener(kind, (event) => this.tell(event.target.closest?.(CONTROL)));
      addEventListener("keydown", (event) => {
        if (event.key !== "F1") return;
        event.preventDefault();
        this.open(document.activeElement);
      });
    }

    // Return the entry of a control: the last one whose selector it matches.
    entry(element) {
      return element?.matches ? this.entries.findLast(([at]) => element.matches(at)) : undefined;
    }

    // Let a control have its sentence, beside the pointer and for screen readers.
    tell(element) {
      const text = this.entry(element)?.[2];
      if (!text || element.hasAttribute("aria-describedby") || element.hasAttribute("aria-description")) return;
      if (element.title) element.setAttribute("aria-description", text);
      else element.title = text;
    }

    // Open the dialog, at the entry of a control.
    open(element) {
      const own = this.entry(element);
      const there = this.entries.filter(([at]) => document.querySelector(at));
      this.controls.replaceChildren(...there.flatMap(([, name, text]) => this.#pair(name, text, own?.[1] === name)));
      const signals = this.signals();
      this.signalHead.hidden = !signals.length;
      this.list.replaceChildren(...signals.flatMap(({ name, meaning, units }) => this.#pair(name, `${meaning ? `${meaning[0].toUpperCase()}${meaning.slice(1)}` : "A signal of this model"}${this.#units(units)}.`)));
      this.search.value = "";
      this.#filter();
      this.dialog.showModal();
      this.dialog.querySelector(".own")?.scrollIntoView({ block: "center" });
    }

    #units(units) {
      const different = [...new Set(units)].filter((u) => u && u !== "-");
      return different.length ? ` [${different.join(", ")}]` : "";
    }

    #pair(name, text, own = false) {
      return [make("dt", own ? { className: "own" } : {}, name), make("dd", {}, text)];
    }

    #filter() {
      const wanted = this.search.value.trim().toLowerCase();
      for (const term of this.dialog.querySelectorAll("dt")) {
        const hidden = !`${term.textContent} ${term.nextElementSibling.textContent}`.toLowerCase().includes(wanted);
        term.hidden = term.nextElementSibling.hidden = hidden;
      }
    }
  };
})();
