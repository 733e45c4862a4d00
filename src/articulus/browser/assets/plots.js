"use strict";
// One plot: its curves, its axes, the table below it, and what a pointer does on it. Windows and cursors are those of its desk.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make, PLOT_MODES, inUnit } = articulus;
  const DASHES = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
  const TELL = 80; // time between changes of the numbers under a plot [ms]
  const MOST = 12; // curves of a signal that are shown at first
  const NEAR = 7; // distance at which a cursor is taken [pixels]
  const MARGIN = { left: 54, right: 10, top: 16, bottom: 22 };
  const RIGHT = 54; // the margin of a second axis

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
          if (entries.length > 1) group.push({ key: `${signal.name}|*|${unit}`, text: all, signal: signal.name, meaning: signal.meaning, entries, unit });
        }
      }
      signal.labels.forEach((label, k) => {
        const name = label ? `${signal.name}.${label}` : signal.name;
        group.push({ key: `${signal.name}|${k}`, text: name, signal: signal.name, meaning: signal.meaning, entries: [k], unit: signal.units[k] });
      });
      out.push({ name: signal.meaning ? `${signal.name}: ${signal.meaning}` : signal.name, group });
    });
    return out;
  };

  articulus.Panel = class {
    // desk: what the plots share (plot_desk.js); key: the choice that is drawn first.
    constructor(desk, key) {
      this.desk = desk;
      this.hidden = new Set();
      this.keys = [];
      this.curves = [];
      this.mode = "time";
      this.log = false;
      this.against = null;
      this.time = desk.time;
      this.element = make("section", { className: "panel" });
      this.#build(key);
      this.#listen();
      this.ready = this.choose(key);
    }

    #build(key) {
      this.select = make("select", { "aria-label": "Signal of this plot" }, ...this.desk.groups());
      this.select.value = key;
      this.select.addEventListener("change", () => this.choose(this.select.value));
      this.unit = make("span", { className: "unit" });
      const close = make("button", { type: "button", className: "quiet", textContent: "×", "aria-label": "Remove this plot" });
      close.addEventListener("click", () => this.desk.remove(this));
      this.canvas = make("canvas", { role: "img", tabIndex: 0 });
      this.legend = make("div", { className: "legend" });
      this.line = make("i", { className: "cursor" });
      this.note = make("p", { className: "plot-note", role: "status", hidden: true });
      const sheet = make("div", { className: "sheet" }, this.canvas, this.line);
      this.element.append(make("div", { className: "panel-head" }, this.select, this.unit, this.#menu(), close), sheet, this.note, this.legend);
    }

    #menu() {
      const modes = Object.entries(PLOT_MODES).filter(([name]) => name !== "cross").map(([name, { text }]) => [name, text]);
      this.kind = make("select", { "aria-label": "What this plot shows" }, ...modes.map(([name, text]) => new Option(text, name)));
      this.kind.append(make("optgroup", { label: "against" }, ...this.desk.singles().map((c) => new Option(`against ${c.text}`, `cross:${c.key}`))));
      this.kind.addEventListener("change", () => this.show(this.kind.value));
      this.logBox = make("input", { type: "checkbox" });
      this.logBox.addEventListener("change", () => this.scale(this.logBox.checked));
      this.more = make("select", { "aria-label": "Add a signal to this plot" }, new Option("add a signal …", ""), ...this.desk.groups());
      this.more.addEventListener("change", async () => {
        await this.add(this.more.value);
        this.more.value = "";
      });
      const press = (text, act) => {
        const button = make("button", { type: "button", className: "quiet" }, text);
        button.addEventListener("click", async () => {
          await act(button);
          this.menu.open = false;
        });
        return button;
      };
      const body = make("div", { className: "menu-body" },
        make("label", {}, "Show ", this.kind), make("label", {}, this.logBox, "logarithmic"), make("label", {}, this.more),
        press("Save as CSV", () => articulus.save(new Blob([this.csv()], { type: "text/csv" }), `${this.fileName()}.csv`)),
        press("Copy as CSV", () => articulus.copy(this.csv())),
        press("Save as SVG", () => articulus.save(new Blob([this.svg()], { type: "image/svg+xml" }), `${this.fileName()}.svg`)),
        press("Save as PNG", async () => articulus.save(await this.png(), `${this.fileName()}.png`)));
      this.menu = make("details", { className: "menu" }, make("summary", { "aria-label": "More about this plot", title: "More" }, "⋯"), body);
      this.menu.addEventListener("focusout", (event) => {
        if (event.relatedTarget && !this.menu.contains(event.relatedTarget)) this.menu.open = false;
      });
      return this.menu;
    }

    fileName() {
      return this.keys.map((key) => this.desk.options.get(key).text).join(" ");
    }

    // Draw one choice alone.
    async choose(key) {
      this.hidden.clear();
      await this.#take([key]);
    }

    // Draw another choice with those that are drawn; units of a third kind have no axis to be read on.
    async add(key) {
      const choice = this.desk.options.get(key);
      if (!choice || this.keys.includes(key)) return;
      if (!this.units.includes(choice.unit) && this.units.length > 1) return this.say(`This plot has axes in ${this.units.join(" and ")}; ${choice.text} is in ${choice.unit}: give it a plot of its own.`);
      await this.#take([...this.keys, key]);
    }

    say(text) {
      this.note.textContent = text;
      this.note.hidden = !text;
      if (text) setTimeout(() => (this.note.hidden = true), 8000);
    }

    async #take(keys) {
      const chosen = keys.map((key) => this.desk.options.get(key));
      const curves = (await Promise.all(chosen.map((choice) => this.#load(choice)))).flat();
      this.keys = keys;
      this.choice = chosen[0];
      this.units = [...new Set(chosen.map((c) => c.unit))];
      const ids = [...new Set(curves.map((c) => c.id))];
      for (const curve of curves) curve.color = ids.indexOf(curve.id);
      for (const choice of chosen) for (const k of choice.entries.slice(MOST)) if (!this.curves.some((c) => c.id === `${choice.signal}|${k}`)) this.hidden.add(`${choice.signal}|${k}`);
      this.curves = curves;
      this.unit.textContent = this.units.filter((u) => u !== "-").join(", ");
      this.canvas.setAttribute("aria-label", `${chosen.map((c) => c.text).join(", ")} over time; click to go to a time`);
      this.#fillLegend();
      this.redraw();
      this.desk.changed();
    }

    // Draw the same signals again, of runs that have other values now.
    async renew() {
      if (!this.choice) return;
      const colors = new Map(this.curves.map((c) => [c.id, c.color]));
      this.curves = (await Promise.all(this.keys.map((key) => this.#load(this.desk.options.get(key))))).flat();
      for (const curve of this.curves) curve.color = colors.get(curve.id) ?? 0;
      this.redraw();
    }

    async #load(choice) {
      const curves = [];
      for (const [r, run] of this.desk.runs.entries()) {
        const signal = run.signals.get(choice.signal);
        if (!signal) continue;
        const table = await signal.load();
        table.extremes ??= new Map();
        for (const k of choice.entries) {
          if (k >= signal.labels.length) continue;
          const values = table.values.subarray(k * table.rows, (k + 1) * table.rows);
          if (!table.extremes.has(k)) table.extremes.set(k, new articulus.Extremes(values));
          const label = signal.labels[k] ? (choice.entries.length > 1 ? signal.labels[k] : `${choice.signal}.${signal.labels[k]}`) : choice.signal;
          curves.push({ run, r, t: run.t, values, extremes: table.extremes.get(k), label, unit: signal.units[k], signal: choice.signal, entry: k, id: `${choice.signal}|${k}` });
        }
      }
      return curves;
    }

    // Show values over time ("time"), a spectrum ("spectrum"), or values against those of a single entry ("cross:KEY").
    async show(what) {
      const [mode, key] = [what.split(":")[0], what.slice(what.indexOf(":") + 1)];
      this.against = mode === "cross" ? this.desk.options.get(key) : null;
      this.partners = this.against ? await this.#load(this.against) : [];
      this.mode = mode;
      this.kind.value = what;
      this.redraw();
      this.desk.changed();
    }

    // Draw values on a logarithmic or on a linear axis.
    scale(log) {
      this.log = this.logBox.checked = log;
      this.redraw();
      this.desk.changed();
    }

    // Return the curve on the axis across that belongs to a curve's run.
    partner(curve) {
      return this.partners.find((p) => p.r === curve.r);
    }

    spectrumOf(curve) {
      const [from, to] = this.desk.window;
      const at = `${from} ${to}`;
      if (curve.spectrum?.at !== at) curve.spectrum = { at, ...articulus.spectrum(curve.t, curve.values, this.desk.window) };
      return curve.spectrum;
    }

    #listen() {
      const share = (event) => {
        const box = this.canvas.getBoundingClientRect();
        return (event.clientX - box.left - MARGIN.left) / (box.width - MARGIN.left - this.right);
      };
      const timeOf = (event) => {
        const [from, to] = this.desk.window;
        return from + Math.min(1, Math.max(0, share(event))) * (to - from);
      };
      let act = null;
      this.canvas.addEventListener("pointerdown", (event) => {
        if (this.mode !== "time") return;
        this.canvas.setPointerCapture(event.pointerId);
        const name = this.#cursorAt(event);
        if (event.button === 1 || event.altKey) act = this.#panning(event);
        else if (event.button !== 0) act = null;
        else if (event.shiftKey) act = this.#zooming(timeOf(event));
        else if (name) act = (e) => this.desk.moveCursor(name, timeOf(e));
        else act = (e) => this.desk.seek(timeOf(e));
        act?.(event);
      });
      this.canvas.addEventListener("pointermove", (event) => (event.buttons ? act?.(event, timeOf(event)) : this.#hover(event)));
      this.canvas.addEventListener("pointerup", (event) => {
        act?.end?.(timeOf(event));
        act = null;
      });
      this.canvas.addEventListener("dblclick", () => this.desk.reset());
      this.canvas.addEventListener("wheel", (event) => {
        if (this.mode === "cross") return;
        event.preventDefault();
        const across = event.shiftKey ? event.deltaY : event.deltaX;
        const [from, to] = this.desk.window;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.desk.pan((0.001 * across * (to - from)));
        else this.desk.zoom(Math.exp(0.0015 * event.deltaY), this.mode === "time" ? timeOf(event) : 0.5 * (from + to));
      }, { passive: false });
      this.element.addEventListener("dragover", (event) => event.dataTransfer.types.includes("text/articulus") && event.preventDefault());
      this.element.addEventListener("drop", (event) => {
        event.preventDefault();
        event.stopPropagation();
        this.add(event.dataTransfer.getData("text/articulus"));
      });
    }

    #panning({ clientX }) {
      let before = clientX;
      return (event) => {
        const [from, to] = this.desk.window;
        this.desk.pan((-(event.clientX - before) / this.box.w) * (to - from));
        before = event.clientX;
      };
    }

    // Mark a stretch of time; when the pointer is let go, show it alone.
    #zooming(start) {
      const act = (event, now = start) => {
        this.marked = [start, now].sort((a, b) => a - b);
        this.redraw();
      };
      act.end = (now) => {
        this.marked = null;
        if (Math.abs(now - start) > 4e-3 * (this.desk.window[1] - this.desk.window[0])) this.desk.see([start, now].sort((a, b) => a - b));
        else this.redraw();
      };
      return act;
    }

    #cursorAt(event) {
      const { cursors } = this.desk;
      const x = event.clientX - this.canvas.getBoundingClientRect().left;
      return ["a", "b"].find((name) => cursors && Math.abs(this.axes.across.at(cursors[name]) - x) < NEAR);
    }

    #hover(event) {
      if (this.axes && this.mode === "time") this.canvas.style.cursor = this.#cursorAt(event) ? "ew-resize" : "";
    }

    #fillLegend() {
      this.values = new Map();
      this.cells = new Map();
      const several = this.desk.runs.length > 1;
      const heads = ["", ...(several ? ["run"] : []), "now", ...this.desk.columns()];
      const rows = this.curves.map((curve) => {
        const item = make("button", { type: "button", className: "entry", title: "Show or hide this curve", "aria-pressed": String(!this.hidden.has(curve.id)) });
        const mark = document.createElement("i");
        mark.style.background = `var(${series(curve.color)})`; // follows light and dark by itself
        item.append(mark, curve.label);
        item.addEventListener("click", () => this.hide(curve.id, !this.hidden.has(curve.id)));
        const cells = this.desk.columns().map(() => make("td", {}));
        const now = make("td", {});
        this.values.set(curve, now);
        this.cells.set(curve, cells);
        curve.item = item;
        return make("tr", {}, make("th", { scope: "row" }, item), ...(several ? [make("td", { className: "run" }, curve.run.name)] : []), now, ...cells);
      });
      this.legend.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads.map((h) => make(h ? "th" : "td", h ? { scope: "col" } : {}, h)))), make("tbody", {}, ...rows)));
    }

    // Show or hide the curves of an entry, of all runs.
    hide(id, away) {
      if (away) this.hidden.add(id);
      else this.hidden.delete(id);
      for (const curve of this.curves) if (curve.id === id) curve.item.setAttribute("aria-pressed", String(!away));
      this.redraw();
      this.desk.changed();
    }

    // Give the table other columns.
    retell() {
      this.#fillLegend();
      this.redraw();
    }

    visible() {
      return this.curves.filter((c) => !this.hidden.has(c.id) && c.run.shown());
    }

    redraw() {
      const ratio = globalThis.devicePixelRatio || 1;
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!this.curves.length || !width || !height) return;
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
      const pen = this.canvas.getContext("2d", { willReadFrequently: articulus.drawnBySoftware() }); // else emulated by a graphics card's driver
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, height);
      pen.font = "11px system-ui, sans-serif";
      this.paint(pen, width, height);
      this.line.hidden = this.mode !== "time";
      this.cursor(this.time);
    }

    // Draw everything with a pen: that of a canvas, or one that writes SVG.
    paint(pen, width, height) {
      const mode = PLOT_MODES[this.mode];
      this.style = getComputedStyle(this.element);
      const curves = this.visible();
      this.right = this.units.length > 1 ? RIGHT : MARGIN.right;
      const box = (this.box = { x: MARGIN.left, y: MARGIN.top, w: width - MARGIN.left - this.right, h: height - MARGIN.top - MARGIN.bottom });
      const across = (mode.xLog ? articulus.logAxis : articulus.linearAxis)(curves.length ? mode.xRange(this, curves) : [0, 1], box.x, box.x + box.w);
      const ups = new Map(this.units.map((unit) => [unit, this.#up(mode, curves.filter((c) => c.unit === unit), box)]));
      this.axes = { across, ups };
      this.range = [...ups.values()].map(({ low, high }) => [low, high])[0];
      this.#frame(pen, across, [...ups.entries()], mode);
      pen.save();
      pen.beginPath();
      pen.rect(box.x, box.y - 1, box.w, box.h + 2);
      pen.clip();
      this.#shade(pen);
      for (const curve of [...curves].reverse()) this.#curve(pen, curve, mode);
      this.#marks(pen);
      pen.restore();
    }

    #up(mode, curves, box) {
      const log = mode.yLog || this.log;
      const range = curves.length ? mode.yRange(this, curves) : [0, 1];
      return (log ? articulus.logAxis : articulus.linearAxis)(log && !mode.yLog ? articulus.positiveRange(this.#leastPositive(curves, range)) : range, box.y + box.h, box.y);
    }

    // Return the range of positive values in the window.
    #leastPositive(curves, [, high]) {
      let low = Infinity;
      for (const { t, values } of curves) {
        const [first, last] = articulus.within(t, this.desk.window);
        for (let i = first; i < last; i++) if (values[i] > 0 && values[i] < low) low = values[i];
      }
      return [Math.max(low, high / 1e9), high];
    }

    #frame(pen, across, ups, mode) {
      const { x, y, w, h } = this.box;
      pen.fillStyle = this.style.getPropertyValue("--soft").trim();
      pen.strokeStyle = this.style.getPropertyValue("--line").trim();
      pen.lineWidth = 1;
      ups.forEach(([unit, up], side) => {
        pen.textBaseline = "middle";
        pen.textAlign = side ? "left" : "right";
        for (const [v, text] of up.ticks(Math.max(2, h / 34))) {
          const at = Math.round(up.at(v)) + 0.5;
          if (!side) this.#stroke(pen, [[x, at], [x + w, at]]);
          pen.fillText(text, side ? x + w + 6 : x - 6, at);
        }
        pen.textBaseline = "top";
        if (unit !== "-") pen.fillText(`[${unit}]`, side ? x + w + 6 : x - 6, 0);
      });
      const label = mode.across(this);
      pen.textBaseline = "top";
      pen.textAlign = "right";
      pen.fillText(label, x + w + (ups.length > 1 ? RIGHT - 4 : 4), y + h + 6);
      const free = x + w - pen.measureText(label).width - 12;
      pen.textAlign = "center";
      for (const [v, text] of across.ticks(Math.max(2, w / 70))) {
        const at = across.at(v);
        this.#stroke(pen, [[Math.round(at) + 0.5, y + h], [Math.round(at) + 0.5, y + h + 4]]);
        if (at + 0.5 * pen.measureText(text).width < free) pen.fillText(text, at, y + h + 6);
      }
    }

    #stroke(pen, [start, ...rest]) {
      pen.beginPath();
      pen.moveTo(...start);
      for (const point of rest) pen.lineTo(...point);
      pen.stroke();
    }

    #curve(pen, curve, mode) {
      const up = this.axes.ups.get(curve.unit);
      pen.strokeStyle = pen.fillStyle = this.style.getPropertyValue(series(curve.color)).trim();
      pen.globalAlpha = curve.r === 0 ? 1 : 0.65;
      pen.lineWidth = curve.r === 0 ? 1.7 : 1.2;
      pen.setLineDash(DASHES[curve.r % DASHES.length]);
      pen.lineJoin = "round";
      pen.beginPath();
      const band = mode.band?.(this, curve);
      if (band) this.#band(pen, band, up);
      else this.#trace(pen, curve, mode, up);
      pen.setLineDash([]);
      pen.globalAlpha = 1;
    }

    #trace(pen, curve, mode, up) {
      const { across } = this.axes;
      let down = false;
      mode.trace(this, curve, (x, value) => {
        const y = up.at(value);
        if (!Number.isFinite(y)) down = false;
        else if (down) pen.lineTo(across.at(x), y);
        else {
          pen.moveTo(across.at(x), y);
          down = true;
        }
      });
      pen.stroke();
    }

    // Fill what lies between least and greatest values: a line of a thousand turns a stretch would be drawn for seconds.
    #band(pen, { times, low, high }, up) {
      const { across } = this.axes;
      const half = 0.5 * pen.lineWidth;
      const floor = this.box.y + this.box.h + 10;
      const at = (v) => Math.min(up.at(v), floor) || floor;
      for (let i = 0; i < times.length; i++) {
        if (!Number.isFinite(low[i])) continue;
        const first = i;
        pen.moveTo(across.at(times[i]), at(high[i]) - half);
        while (i + 1 < times.length && Number.isFinite(low[i + 1])) pen.lineTo(across.at(times[++i]), at(high[i]) - half);
        for (let k = i; k >= first; k--) pen.lineTo(across.at(times[k]), at(low[k]) + half);
      }
      pen.fill();
    }

    // The stretch that is being chosen.
    #shade(pen) {
      if (!this.marked) return;
      const [from, to] = this.marked.map((t) => this.axes.across.at(t));
      pen.fillStyle = this.style.getPropertyValue("--accent").trim();
      pen.globalAlpha = 0.15;
      pen.fillRect(from, this.box.y, to - from, this.box.h);
      pen.globalAlpha = 1;
    }

    // The two cursors; against another signal, where the curves are now.
    #marks(pen) {
      const { y, h } = this.box;
      pen.lineWidth = 1.2;
      pen.font = "bold 11px system-ui, sans-serif";
      if (this.mode === "time" && this.desk.cursors) {
        for (const name of ["a", "b"]) {
          const at = this.axes.across.at(this.desk.cursors[name]);
          pen.strokeStyle = pen.fillStyle = this.style.getPropertyValue("--ink").trim();
          pen.setLineDash([4, 3]);
          this.#stroke(pen, [[at, y], [at, y + h]]);
          pen.setLineDash([]);
          pen.textAlign = "left";
          pen.textBaseline = "top";
          pen.fillText(name.toUpperCase(), at + 3, y + 1);
        }
      }
      if (this.mode === "cross") {
        for (const curve of this.visible()) {
          const partner = this.partner(curve);
          if (!partner) continue;
          const [px, py] = [this.axes.across.at(articulus.between(partner.t, partner.values, this.time)), this.axes.ups.get(curve.unit).at(articulus.between(curve.t, curve.values, this.time))];
          pen.fillStyle = this.style.getPropertyValue(series(curve.color)).trim();
          pen.fillRect(px - 4, py - 4, 8, 8);
        }
      }
      pen.font = "11px system-ui, sans-serif";
    }

    // The line is an element of its own, so that the curves are not drawn again; numbers follow a few times a second.
    cursor(time) {
      this.time = time;
      if (!this.box) return;
      if (this.mode === "time") {
        this.cursorX = this.axes.across.at(time);
        const inside = this.cursorX >= this.box.x - 0.5 && this.cursorX <= this.box.x + this.box.w + 0.5;
        this.line.style.visibility = inside ? "" : "hidden";
        this.line.style.transform = `translate(${this.cursorX.toFixed(2)}px, ${this.box.y}px)`;
        this.line.style.height = `${this.box.h}px`;
      } else if (this.mode === "cross" && !this.queued) {
        this.queued = requestAnimationFrame(() => {
          this.queued = 0;
          if (this.drawnAt !== this.time) {
            this.drawnAt = this.time;
            this.redraw();
          }
        });
      }
      this.telling ??= setTimeout(() => this.tell(), TELL);
    }

    // Write the numbers of the table.
    tell() {
      clearTimeout(this.telling);
      this.telling = null;
      for (const curve of this.curves) {
        if (!this.values.has(curve)) continue; // of a run that has just come: its table is being made
        const there = !this.hidden.has(curve.id) && curve.run.shown();
        this.values.get(curve).textContent = there ? articulus.text(articulus.between(curve.t, curve.values, this.time)) : "";
        const numbers = there ? this.desk.tell(curve) : [];
        this.cells.get(curve).forEach((cell, k) => (cell.textContent = there ? articulus.text(numbers[k]) : ""));
      }
    }

    // Return what is seen as a table: the time and every visible curve, a row a sample.
    csv() {
      const curves = this.visible();
      const quote = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
      const several = this.desk.runs.length > 1;
      const name = (c) => quote(`${c.label.startsWith(c.signal) ? c.label : `${c.signal}.${c.label}`}${several ? ` (${c.run.name})` : ""}${inUnit(c.unit)}`);
      if (this.mode === "spectrum") return this.#table("frequency [Hz]", curves.map((c) => [name(c), this.spectrumOf(c).frequency, this.spectrumOf(c).amplitude, [-Infinity, Infinity]]));
      const all = this.mode === "cross" ? [...this.partners.filter((p) => p.run.shown()), ...curves] : curves;
      return this.#table("time [s]", all.map((c) => [name(c), c.t, c.values, this.desk.window]));
    }

    // Columns over the union of their places; a column without a number at a place is left empty there.
    #table(head, columns) {
      const rows = new Map();
      columns.forEach(([, places, values, [from, to]], k) => {
        places.forEach((place, i) => {
          if (place < from || place > to) return;
          if (!rows.has(place)) rows.set(place, new Array(columns.length).fill(""));
          rows.get(place)[k] = Number.isFinite(values[i]) ? String(values[i]) : "";
        });
      });
      const lines = [...rows.entries()].sort((a, b) => a[0] - b[0]).map(([place, cells]) => [place, ...cells].join(","));
      return `${[[head, ...columns.map(([name]) => name)].join(","), ...lines].join("\n")}\n`;
    }

    // Return the figure as SVG, in the colors of paper.
    svg(width = 720, height = 300) {
      return articulus.onPaper(() => {
        const pen = new articulus.SvgPen(width, height + 18 * Math.ceil(this.visible().length / 4));
        this.figure(pen, width, height);
        return pen.text();
      });
    }

    // Draw the plot with its legend below; return the height of it all.
    figure(pen, width, height) {
      pen.fillStyle = "#ffffff";
      const lines = 18 * Math.ceil(this.visible().length / 4);
      pen.fillRect(0, 0, width, height + lines);
      this.paint(pen, width, height);
      this.visible().forEach((curve, k) => {
        const [x, y] = [MARGIN.left + (k % 4) * ((width - MARGIN.left) / 4), height + 18 * Math.floor(k / 4) + 6];
        pen.fillStyle = this.style.getPropertyValue(series(curve.color)).trim();
        pen.fillRect(x, y - 1.5, 14, 3);
        pen.fillStyle = this.style.getPropertyValue("--ink").trim();
        pen.textAlign = "left";
        pen.textBaseline = "middle";
        pen.fillText(`${curve.label}${this.desk.runs.length > 1 ? `, ${curve.run.name}` : ""}`, x + 19, y);
      });
      this.redraw();
      return height + lines;
    }

    // Return the figure as a picture of twice the points.
    png(width = 720, height = 300) {
      return articulus.onPaper(() => {
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [2 * width, 2 * (height + 18 * Math.ceil(this.visible().length / 4))];
        const pen = canvas.getContext("2d");
        pen.scale(2, 2);
        pen.font = "11px Helvetica, Arial, sans-serif";
        this.figure(pen, width, height);
        return new Promise((done) => canvas.toBlob(done, "image/png"));
      });
    }

    // What an address keeps of this plot.
    get state() {
      return { k: this.keys, m: this.mode === "cross" ? `cross:${this.against.key}` : this.mode, l: this.log ? 1 : 0, h: [...this.hidden] };
    }

    async restore({ k, m, l, h }) {
      await this.ready;
      for (const key of k.slice(1)) await this.add(key);
      for (const id of h) this.hidden.add(id);
      this.#fillLegend();
      if (l) this.scale(true);
      if (m !== "time") await this.show(m);
      this.redraw();
    }
  };
})();
