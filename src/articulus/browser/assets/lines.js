"use strict";
// Curves over frequency or time on one pair of axes, each with a name that is read under the pointer.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const MARGIN = { left: 50, right: 10, top: 8, bottom: 22 };
  const REACH = [1e-4, 1e4]; // sizes that are drawn on a logarithmic axis

  articulus.LinesChart = class extends articulus.Chart {
    // log: whether both axes are logarithmic (over frequency); else linear over time.
    constructor(name, title, label, log) {
      super(name, title, label);
      this.log = log;
    }

    // curves: [{name, x, values, color, dash}], color the name of one of the style sheet; levels: [{at, text}]; about, unit, note: texts;
    // reach: least and greatest size that are drawn; across: unit of a linear x; free: whether a linear y need not show zero.
    show(data) {
      this.data = data;
      this.about.textContent = this.about.title = data.about;
      this.redraw();
    }

    paint(pen) {
      const { left, right, top, bottom } = MARGIN;
      this.box = { x: left, y: top, w: this.width - left - right, h: this.height - top - bottom };
      const { x, y, w, h } = this.box;
      const { curves, levels = [], unit } = this.data;
      const [from, to] = [Math.min(...curves.map((c) => c.x[0])), Math.max(...curves.map((c) => c.x.at(-1)))];
      const all = [...curves.flatMap((c) => c.values), ...levels.map((l) => l.at)].filter((v) => v !== null);
      this.across = this.log ? articulus.logAxis(articulus.halves(from, to), x, x + w) : articulus.linearAxis([from, to], x, x + w);
      this.up = this.log ? this.#sizes(all, y, h) : this.#values(all, y, h);
      this.frame(pen, this.box, this.across, this.up);
      pen.fillStyle = this.color("soft");
      pen.textAlign = "right";
      pen.textBaseline = "top";
      if (unit !== "-") pen.fillText(unit, x + w - 4, y + 3);
      pen.textBaseline = "bottom";
      pen.fillText(this.log ? "rad/s" : (this.data.across ?? "s"), x + w - 4, y + h - 2);
      this.inside(pen, this.box, () => {
        for (const level of levels) this.#level(pen, level);
        for (const curve of curves) this.#draw(pen, curve);
      });
    }

    #sizes(all, y, h) {
      const [low, high] = this.data.reach ?? REACH;
      const shown = all.filter((v) => v > 0).map((v) => Math.min(high, Math.max(low, v)));
      return articulus.logAxis(shown.length ? articulus.halves(Math.min(...shown), Math.max(...shown)) : [0.1, 1], y + h, y);
    }

    #values(all, y, h) {
      const zero = this.data.free ? [] : [0];
      const [low, high] = all.length ? [...zero, ...all].reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]) : [0, 1];
      const pad = Math.max(0.06 * (high - low), 1e-6 * Math.abs(high)) || 1;
      return articulus.linearAxis([low - pad, high + pad], y + h, y);
    }

    #level(pen, { at, text }) {
      const y = this.up.at(at);
      pen.strokeStyle = pen.fillStyle = this.color("soft");
      pen.lineWidth = 1;
      pen.setLineDash([2, 3]);
      this.line(pen, [[this.box.x, y], [this.box.x + this.box.w, y]]);
      pen.setLineDash([]);
      pen.textAlign = "left";
      pen.textBaseline = "bottom";
      pen.fillText(text, this.box.x + 4, y - 2);
    }

    #draw(pen, { x, values, color, dash, width = 1.7 }) {
      pen.strokeStyle = this.color(color);
      pen.lineWidth = width;
      pen.setLineDash(dash ?? []);
      this.line(pen, x.map((v, k) => (values[k] === null || (this.log && values[k] <= 0) ? null : [this.across.at(v), this.up.at(values[k])])));
      pen.setLineDash([]);
    }

    point(pen, px, py) {
      const at = this.across.value(px);
      if (px < this.box.x || px > this.box.x + this.box.w) return null;
      const places = this.data.curves.map((curve) => {
        const k = this.log ? articulus.nearestOf(curve.x, at) : articulus.lastAtMost(curve.x, at);
        return { curve, k, value: curve.values[k] };
      }).filter(({ value }) => value !== null && (!this.log || value > 0));
      if (!places.length) return null;
      const away = (p) => Math.abs(this.up.at(p.value) - py);
      const nearest = places.reduce((best, p) => (away(p) < away(best) ? p : best));
      pen.fillStyle = this.color(nearest.curve.color);
      pen.beginPath();
      pen.arc(this.across.at(nearest.curve.x[nearest.k]), this.up.at(nearest.value), 3.5, 0, 7);
      pen.fill();
      const x = nearest.curve.x[nearest.k];
      const place = this.log ? `ω ${articulus.hertz(x)}` : `t ${articulus.text(x)} ${this.data.across ?? "s"}`;
      return `${place}: ${nearest.curve.name} ${articulus.text(nearest.value)} ${this.data.unit === "-" ? "" : this.data.unit}`;
    }

    // A line at a place along x, which goes with the time; null for none.
    at(x) {
      this.now = x;
      this.mark();
    }

    mark() {
      super.mark();
      if (!this.width || this.now === undefined || this.now === null) return;
      const pen = this.canvas.getContext("2d"), px = this.across.at(this.now);
      pen.strokeStyle = this.color("accent");
      pen.lineWidth = 1.2;
      this.line(pen, [[px, this.box.y], [px, this.box.y + this.box.h]]);
    }

    idle() {
      return this.data.note ?? "";
    }
  };
})();
