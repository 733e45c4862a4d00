"use strict";
// One coordinate over time, for values of a parameter over its range.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const MARGIN = { left: 46, right: 8, top: 8, bottom: 22 };

  const column = ({ rows, values }, k) => values.subarray(k * rows, (k + 1) * rows);

  articulus.FamilyChart = class extends articulus.Chart {
    constructor() {
      super("family", "Family", "A coordinate over time for values of a parameter over its range");
      this.select = make("select", { "aria-label": "Coordinate of the family" });
      this.select.addEventListener("change", () => this.redraw());
      this.low = make("span", {});
      this.high = make("span", {});
      this.bar = make("i", {});
      this.element.insertBefore(make("div", { className: "ramp" }, this.low, this.bar, this.high, this.select), this.canvas);
    }

    // family: {name, labels, units, lines: [{value, t, q}]}, unpacked; now, before: {t, q} of the runs shown, before may be null.
    show(data) {
      const { family } = data;
      const chosen = Math.max(0, this.select.selectedIndex);
      this.data = data;
      this.about.textContent = `over ${family.name}`;
      this.select.replaceChildren(...family.labels.map((label, k) => new Option(`q.${label} [${family.units[k]}]`, String(k))));
      this.select.selectedIndex = Math.min(chosen, family.labels.length - 1);
      const { lines } = family;
      [this.low.textContent, this.high.textContent] = [lines[0], lines.at(-1)].map(({ value }) => articulus.text(value));
      this.bar.style.background = `linear-gradient(90deg, ${lines.map((_, k) => articulus.ramp(k / Math.max(1, lines.length - 1))).join(", ")})`;
      this.redraw();
    }

    paint(pen) {
      const { left, right, top, bottom } = MARGIN;
      this.box = { x: left, y: top, w: this.width - left - right, h: this.height - top - bottom };
      const { x, y, w, h } = this.box;
      const { family, now, before } = this.data;
      const entry = this.select.selectedIndex;
      this.curves = family.lines.map((line, k) => ({ ...this.#curve(line, entry), value: line.value, color: articulus.ramp(k / Math.max(1, family.lines.length - 1)) }));
      const others = [before && { ...this.#curve(before, entry), color: this.color("soft"), dash: [5, 3] }, { ...this.#curve(now, entry), color: this.color("ink") }].filter(Boolean);
      const all = [...this.curves, ...others].filter((c) => c.t.length);
      const range = (lists) => [Math.min(...lists.map((v) => v.reduce((a, b) => Math.min(a, b)))), Math.max(...lists.map((v) => v.reduce((a, b) => Math.max(a, b))))];
      const [low, high] = range(all.map((c) => c.values));
      const pad = Math.max(0.06 * (high - low), 1e-6 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
      this.across = articulus.linearAxis(range(all.map((c) => c.t)), x, x + w);
      this.up = articulus.linearAxis([low - pad, high + pad], y + h, y);
      this.frame(pen, this.box, this.across, this.up);
      for (const curve of this.curves) this.#draw(pen, curve, 1.1, 0.6);
      for (const curve of others) this.#draw(pen, curve, curve.dash ? 1.3 : 1.8, 1);
    }

    #curve({ t, q }, entry) {
      return { t, values: column(q, entry) };
    }

    #draw(pen, { t, values, color, dash }, width, opacity) {
      pen.strokeStyle = color;
      pen.lineWidth = width;
      pen.globalAlpha = opacity;
      pen.setLineDash(dash ?? []);
      this.line(pen, Array.from(values, (v, k) => (Number.isFinite(v) ? [this.across.at(t[k]), this.up.at(v)] : null)));
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }

    point(pen, x, y) {
      const t = this.across.value(x);
      const there = this.curves.filter((c) => c.t.length && t >= c.t[0] && t <= c.t.at(-1));
      const found = there
        .map((curve) => ({ curve, v: articulus.between(curve.t, curve.values, t) }))
        .sort((a, b) => Math.abs(this.up.at(a.v) - y) - Math.abs(this.up.at(b.v) - y))[0];
      if (!found) return null;
      this.#draw(pen, found.curve, 2.4, 1);
      const { family } = this.data;
      return `${family.name} = ${articulus.text(found.curve.value)}: ${articulus.text(found.v)} ${family.units[this.select.selectedIndex]} at ${articulus.text(t)} s`;
    }

    idle() {
      const ended = this.data.family.lines.filter((l) => l.failure).length;
      return ended ? `${ended} of ${this.data.family.lines.length} runs fail` : "";
    }
  };
})();
