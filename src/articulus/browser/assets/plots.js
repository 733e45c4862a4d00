"use strict";
// Signals over time on canvases, with a cursor that follows the replay.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
  const TELL = 80; // time between changes of the numbers under a plot [ms]
  const MOST = 12; // curves of a signal that are shown at first
  const MARGIN = { left: 54, right: 10, top: 8, bottom: 22 };

  // Return the name of the color of a curve in the style sheet.
  const series = (k) => `--series-${k % 8}`;

  // What may be drawn: all entries of a signal that share a unit, or one entry.
  articulus.choices = (signals) => {
    const out = [];
    signals.forEach((signal) => {
      const units = [...new Set(signal.units)];
      const group = [];
      if (signal.labels.length > 1) {
        for (const unit of units) {
          const entries = signal.labels.map((_, k) => k).filter((k) => signal.units[k] === unit);
          const all = units.length > 1 ? `${signal.name}, all in ${unit}` : `${signal.name}, all`;
          if (entries.length > 1) group.push({ key: `${signal.name}|*|${unit}`, text: all, signal: signal.name, entries, unit });
        }
      }
      signal.labels.forEach((label, k) => {
        const name = label ? `${signal.name}.${label}` : signal.name;
        group.push({ key: `${signal.name}|${k}`, text: name, signal: signal.name, entries: [k], unit: signal.units[k] });
      });
      out.push({ name: signal.meaning ? `${signal.name}: ${signal.meaning}` : signal.name, group });
    });
    return out;
  };

  articulus.Panel = class {
    // runs: [{t, signals: Map of name to {labels, units, load()}, shown()}]; seek: called with a time.
    constructor(runs, choices, key, { seek, remove, span }) {
      this.runs = runs;
      this.options = new Map(choices.flatMap((c) => c.group).map((c) => [c.key, c]));
      this.span = span;
      this.hidden = new Set();
      this.element = document.createElement("section");
      this.element.className = "panel";
      this.#build(choices, key, remove);
      this.#listen(seek);
      this.time = span[0];
      this.choose(key);
    }

    #build(choices, key, remove) {
      const head = document.createElement("div");
      head.className = "panel-head";
      this.select = document.createElement("select");
      this.select.setAttribute("aria-label", "Signal of this plot");
      for (const { name, group } of choices) {
        const parent = document.createElement("optgroup");
        parent.label = name;
        for (const { key: k, text } of group) parent.append(new Option(text, k));
        this.select.append(parent);
      }
      this.select.value = key;
      this.select.addEventListener("change", () => this.choose(this.select.value));
      this.unit = document.createElement("span");
      this.unit.className = "unit";
      const close = document.createElement("button");
      close.type = "button";
      close.className = "quiet";
      close.textContent = "×";
      close.setAttribute("aria-label", "Remove this plot");
      close.addEventListener("click", () => remove(this));
      head.append(this.select, this.unit, close);
      this.canvas = document.createElement("canvas");
      this.canvas.setAttribute("role", "img");
      this.legend = document.createElement("div");
      this.legend.className = "legend";
      this.line = document.createElement("i");
      this.line.className = "cursor";
      const sheet = document.createElement("div");
      sheet.className = "sheet";
      sheet.append(this.canvas, this.line);
      this.element.append(head, sheet, this.legend);
    }

    #listen(seek) {
      const at = (event) => {
        const box = this.canvas.getBoundingClientRect();
        const share = (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - MARGIN.right);
        seek(this.span[0] + Math.min(1, Math.max(0, share)) * (this.span[1] - this.span[0]));
      };
      this.canvas.addEventListener("pointerdown", (event) => {
        this.canvas.setPointerCapture(event.pointerId);
        at(event);
      });
      this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && at(event));
    }

    async choose(key) {
      const choice = this.options.get(key);
      const curves = await this.#load(choice);
      this.choice = choice;
      this.curves = curves;
      this.hidden = new Set(choice.entries.slice(MOST));
      this.unit.textContent = choice.unit === "-" ? "" : choice.unit;
      this.canvas.setAttribute("aria-label", `${choice.text} over time; click to go to a time`);
      this.#fillLegend();
      this.redraw();
    }

    // Draw the same signal again, of runs that have other values now.
    async renew(span) {
      if (!this.choice) return;
      this.curves = await this.#load(this.choice);
      this.span = span;
      this.redraw();
    }

    async #load(choice) {
      const curves = [];
      for (const [r, run] of this.runs.entries()) {
        const signal = run.signals.get(choice.signal);
        if (!signal) continue;
        const table = await signal.load();
        choice.entries.forEach((k, color) => {
          if (k >= signal.labels.length) return;
          const values = table.values.subarray(k * table.rows, (k + 1) * table.rows);
          curves.push({ run, r, t: run.t, values, color, label: signal.labels[k] || choice.signal, key: k });
        });
      }
      return curves;
    }

    #fillLegend() {
      this.values = new Map();
      const first = this.curves.filter((c, k, all) => all.findIndex((o) => o.key === c.key) === k);
      this.legend.replaceChildren(...first.map((curve) => {
        const item = document.createElement("button");
        item.type = "button";
        item.className = "entry";
        item.setAttribute("aria-pressed", String(!this.hidden.has(curve.key)));
        item.title = "Show or hide this curve";
        const swatch = document.createElement("i");
        swatch.style.background = `var(${series(curve.color)})`; // follows light and dark by itself
        const value = document.createElement("b");
        item.append(swatch, curve.label, value);
        item.addEventListener("click", () => {
          if (!this.hidden.delete(curve.key)) this.hidden.add(curve.key);
          item.setAttribute("aria-pressed", String(!this.hidden.has(curve.key)));
          this.redraw();
        });
        this.values.set(curve.key, value);
        return item;
      }));
    }

    #visible() {
      return this.curves.filter((c) => !this.hidden.has(c.key) && c.run.shown());
    }

    #range(curves) {
      let low = Infinity;
      let high = -Infinity;
      for (const { values } of curves) {
        for (const y of values) {
          if (y < low) low = y;
          if (y > high) high = y;
        }
      }
      if (!(low <= high)) return [0, 1];
      const least = Math.max(1e-6 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
      const pad = Math.max(0.06 * (high - low), least);
      return [low - pad, high + pad];
    }

    redraw() {
      if (!this.curves) return;
      const ratio = globalThis.devicePixelRatio || 1;
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height) return;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.box = { x: MARGIN.left, y: MARGIN.top, w: width - MARGIN.left - MARGIN.right, h: height - MARGIN.top - MARGIN.bottom };
      const pen = this.canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      this.style = getComputedStyle(this.element);
      const curves = this.#visible();
      this.range = this.#range(curves);
      this.#grid(pen);
      for (const curve of [...curves].reverse()) this.#curve(pen, curve);
      this.cursor(this.time);
    }

    #x(t) {
      return this.box.x + ((t - this.span[0]) / (this.span[1] - this.span[0] || 1)) * this.box.w;
    }

    #y(value) {
      return this.box.y + (1 - (value - this.range[0]) / (this.range[1] - this.range[0])) * this.box.h;
    }

    #grid(pen) {
      const { x, y, w, h } = this.box;
      const soft = this.style.getPropertyValue("--soft");
      pen.font = "11px system-ui, sans-serif";
      pen.fillStyle = soft;
      pen.strokeStyle = this.style.getPropertyValue("--line");
      pen.lineWidth = 1;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      const [rows, rowStep] = articulus.ticks(this.range, Math.max(2, h / 34));
      for (const v of rows) {
        const at = Math.round(this.#y(v)) + 0.5;
        pen.beginPath();
        pen.moveTo(x, at);
        pen.lineTo(x + w, at);
        pen.stroke();
        pen.fillText(articulus.tickText(v, rowStep), x - 6, at);
      }
      pen.textBaseline = "top";
      pen.textAlign = "center";
      const [columns, columnStep] = articulus.ticks(this.span, Math.max(2, w / 70));
      for (const v of columns) {
        const at = this.#x(v);
        pen.fillText(`${articulus.tickText(v, columnStep)}`, Math.min(at, x + w - 8), y + h + 6);
        pen.beginPath();
        pen.moveTo(Math.round(at) + 0.5, y + h);
        pen.lineTo(Math.round(at) + 0.5, y + h + 4);
        pen.stroke();
      }
    }

    // More points than pixels are drawn as least and greatest value of each half pixel.
    #curve(pen, { t, values, color, r }) {
      pen.strokeStyle = this.style.getPropertyValue(series(color));
      pen.globalAlpha = r === 0 ? 1 : 0.65;
      pen.lineWidth = r === 0 ? 1.7 : 1.2;
      pen.setLineDash(DASHES[r % DASHES.length]);
      pen.lineJoin = "round";
      pen.beginPath();
      const cell = Math.max(1, Math.floor(values.length / (2 * this.box.w)));
      let down = false;
      for (let i = 0; i < values.length; i += cell) {
        let low = i;
        let high = i;
        for (let j = i; j < Math.min(i + cell, values.length); j++) {
          if (values[j] < values[low]) low = j;
          if (values[j] > values[high]) high = j;
        }
        for (const k of low === high ? [low] : [Math.min(low, high), Math.max(low, high)]) {
          if (!Number.isFinite(values[k])) {
            down = false;
            continue;
          }
          if (down) pen.lineTo(this.#x(t[k]), this.#y(values[k]));
          else pen.moveTo(this.#x(t[k]), this.#y(values[k]));
          down = true;
        }
      }
      pen.stroke();
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }

    // The line is an element of its own, so that the curves are not drawn again; numbers follow a few times a second.
    cursor(time) {
      this.time = time;
      if (!this.box) return;
      this.cursorX = this.#x(time);
      this.line.style.transform = `translate(${this.cursorX.toFixed(2)}px, ${this.box.y}px)`;
      this.line.style.height = `${this.box.h}px`;
      this.telling ??= setTimeout(() => this.#tell(), TELL);
    }

    #tell() {
      this.telling = null;
      const told = new Set();
      for (const curve of this.#visible()) {
        if (!told.has(curve.key)) this.values.get(curve.key).textContent = articulus.text(articulus.between(curve.t, curve.values, this.time));
        told.add(curve.key);
      }
    }
  };

  // Return a value between samples, by a straight line.
  articulus.between = (t, values, time) => {
    const i = articulus.lastAtMost(t, time);
    if (i + 1 >= t.length || time <= t[i]) return values[i];
    const s = (time - t[i]) / (t[i + 1] - t[i] || 1);
    return values[i] + s * (values[i + 1] - values[i]);
  };
})();
