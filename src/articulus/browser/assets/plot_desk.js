"use strict";
// What all plots of a page share: their runs and signals, the window of time, two cursors, and the tools above them.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;

  articulus.PlotDesk = class {
    // element: where plots go; seen: what marks the window on the line of time; seek: called with a time; watch: called when something
    // changes that an address keeps.
    constructor(element, { seen, seek, watch }) {
      this.element = element;
      this.seen = seen;
      this.seek = seek;
      this.changed = watch;
      this.panels = [];
      this.runs = [];
      this.cursors = null;
      this.time = 0;
      this.span = this.window = [0, 1];
      this.options = new Map();
      this.#tools();
      element.addEventListener("dragover", (event) => event.dataTransfer.types.includes("text/articulus") && event.preventDefault());
      element.addEventListener("drop", (event) => {
        event.preventDefault();
        this.add(event.dataTransfer.getData("text/articulus"));
      });
    }

    #tools() {
      const press = (text, label, act) => {
        const button = make("button", { type: "button", className: "quiet", title: label, "aria-label": label }, text);
        button.addEventListener("click", act);
        return button;
      };
      this.about = make("output", { className: "window" });
      this.mark = press("A | B", "Two cursors: differences, slope and mean between them", () => this.useCursors(!this.cursors));
      this.mark.setAttribute("aria-pressed", "false");
      this.tools = make("div", { className: "plot-tools", role: "toolbar", "aria-label": "Window of time of all plots" },
        press("−", "Show a longer time", () => this.zoom(1.6)), press("+", "Show a shorter time", () => this.zoom(1 / 1.6)),
        press("‹", "Earlier", () => this.pan(-0.25 * (this.window[1] - this.window[0]))), press("›", "Later", () => this.pan(0.25 * (this.window[1] - this.window[0]))),
        press("all", "The whole time (double click)", () => this.reset()), this.mark, this.about);
      this.element.before(this.tools);
    }

    // Show other runs; plots of signals that they have stay.
    put(runs, signals, span) {
      this.runs = runs;
      this.lists = articulus.choices(signals);
      this.options = new Map(this.lists.flatMap((c) => c.group).map((c) => [c.key, c]));
      this.extend(span);
      this.panels = [];
      this.element.replaceChildren();
      this.tools.hidden = !this.lists.length || span[0] === span[1];
    }

    // The runs are of another time now; a window of the whole stays one.
    extend(span) {
      const whole = this.window[0] <= this.span[0] && this.window[1] >= this.span[1];
      this.span = span;
      this.window = whole ? [...span] : this.#inside(...this.window);
      this.#tell();
    }

    groups() {
      return this.lists.map(({ name, group }) => make("optgroup", { label: name }, ...group.map(({ key, text }) => new Option(text, key))));
    }

    singles() {
      return [...this.options.values()].filter((c) => c.entries.length === 1);
    }

    add(key) {
      if (!this.options.has(key)) return null;
      const panel = new articulus.Panel(this, key);
      this.panels.push(panel);
      this.element.append(panel.element);
      return panel;
    }

    remove(panel) {
      this.panels = this.panels.filter((p) => p !== panel);
      panel.element.remove();
      this.changed();
    }

    redraw() {
      if (this.queued) return;
      this.queued = requestAnimationFrame(() => {
        this.queued = 0;
        for (const panel of this.panels) panel.redraw();
      });
    }

    // A window that lies in the time of the runs.
    #inside(from, to) {
      const [low, high] = this.span;
      const length = Math.min(high - low, Math.max(to - from, 1e-9 * (high - low), 1e-12));
      const start = Math.min(Math.max(from, low), high - length);
      return [start, start + length];
    }

    // Show a stretch of time in all plots.
    see([from, to]) {
      const next = this.#inside(from, to);
      if (next[0] === this.window[0] && next[1] === this.window[1]) return;
      this.window = next;
      this.#tell();
      this.redraw();
      this.changed();
    }

    zoom(factor, about = this.#middle()) {
      const [from, to] = this.window;
      this.see([about - factor * (about - from), about + factor * (to - about)]);
    }

    // The time of the replay where it is in the window, else the middle.
    #middle() {
      const [from, to] = this.window;
      return this.time >= from && this.time <= to ? this.time : 0.5 * (from + to);
    }

    pan(shift) {
      this.see(this.window.map((t) => t + shift));
    }

    reset() {
      this.see(this.span);
    }

    // Follow the replay: a window that the time leaves goes on to it.
    cursor(time) {
      this.time = time;
      const [from, to] = this.window;
      if ((time > to || time < from) && to - from < this.span[1] - this.span[0]) this.see([time - 0.1 * (to - from), time + 0.9 * (to - from)]);
      for (const panel of this.panels) panel.cursor(time);
    }

    #tell() {
      const [from, to] = this.window;
      const digits = Math.max(0, Math.min(9, 3 - Math.floor(Math.log10(to - from || 1))));
      const whole = from <= this.span[0] && to >= this.span[1];
      const between = this.cursors ? ` · B − A = ${articulus.text(this.cursors.b - this.cursors.a)} s` : "";
      const share = (t) => `${(100 * (t - this.span[0])) / (this.span[1] - this.span[0] || 1)}%`;
      this.seen.hidden = whole;
      Object.assign(this.seen.style, { left: share(from), width: `calc(${share(to - from + this.span[0])})` });
      this.about.textContent = `${whole ? "" : `${from.toFixed(digits)} to ${to.toFixed(digits)} s`}${between}`;
    }

    useCursors(on) {
      const [from, to] = this.window;
      this.cursors = on ? { a: from + 0.25 * (to - from), b: from + 0.75 * (to - from) } : null;
      this.mark.setAttribute("aria-pressed", String(on));
      this.#tell();
      for (const panel of this.panels) panel.retell();
      this.changed();
    }

    moveCursor(name, time) {
      this.cursors[name] = time;
      this.#tell();
      for (const panel of this.panels) panel.tell();
      this.redraw();
      this.changed();
    }

    // The columns of the tables below plots, behind the value now.
    columns() {
      return this.cursors ? ["A", "B", "B − A", "slope", "mean", "integral"] : ["least", "greatest"];
    }

    // Return the numbers of a curve in these columns: at the cursors and between them, or of the window.
    tell(curve) {
      if (!this.cursors) return articulus.rangeIn(curve, this.window);
      const { a, b } = this.cursors;
      const [at, to] = [a, b].map((time) => articulus.between(curve.t, curve.values, time));
      const integral = articulus.integral(curve.t, curve.values, a, b);
      return [at, to, to - at, (to - at) / (b - a), integral / (b - a), integral];
    }

    get state() {
      const whole = this.window[0] <= this.span[0] && this.window[1] >= this.span[1];
      return { w: whole ? null : this.window, c: this.cursors && [this.cursors.a, this.cursors.b], p: this.panels.filter((p) => p.keys.length).map((p) => p.state) };
    }

    // Take a window, cursors and plots from an address; what it names and the runs do not have is left out.
    async restore({ w, c, p }) {
      if (w) this.see(w);
      if (c) {
        this.useCursors(true);
        [this.cursors.a, this.cursors.b] = c;
        this.#tell();
      }
      const known = p.map((state) => ({ ...state, k: state.k.filter((key) => this.options.has(key)) })).filter((state) => state.k.length);
      if (!known.length) return;
      for (const panel of [...this.panels]) this.remove(panel);
      await Promise.all(known.map((state) => this.add(state.k[0]).restore(state)));
    }
  };
})();
