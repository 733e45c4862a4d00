"use strict";
// A loop cut open at its commands: magnitude and phase with the margins drawn on them, and its characteristic loci about -1.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const MARGIN = { left: 50, right: 10, top: 8, bottom: 22, between: 16 };
  const SHARE = 0.56; // of the height, for the magnitude
  const [LEAST, GREATEST] = [1e-4, 1e5]; // sizes that are drawn
  const FAR = 4; // loci are looked at up to this distance from the origin

  articulus.LoopChart = class extends articulus.Chart {
    constructor() {
      super("loop", "Loop with margins", "Magnitude and phase of the loop at a command over frequency, with its gain and phase margins");
      this.select = make("select", { "aria-label": "Command at which the loop is cut" });
      this.select.addEventListener("change", () => this.redraw());
      this.element.insertBefore(make("div", { className: "ramp" }, this.select), this.canvas);
    }

    // channels, before: see study/linear/curves.py; before may be null.
    show({ channels, before }) {
      const chosen = Math.max(0, this.select.selectedIndex);
      this.data = { channels, before };
      this.select.replaceChildren(...channels.map(({ name }, k) => new Option(`at ${name}`, String(k))));
      this.select.selectedIndex = Math.min(chosen, channels.length - 1);
      this.about.textContent = channels.length > 1 ? "the others closed" : "";
      this.redraw();
    }

    get channel() {
      return this.data.channels[this.select.selectedIndex];
    }

    get other() {
      return this.data.before?.find((c) => c.name === this.channel.name) ?? null;
    }

    paint(pen) {
      const { left, right, top, bottom, between } = MARGIN;
      const [x, w, h] = [left, this.width - left - right, this.height - top - bottom - between];
      this.above = { x, y: top, w, h: SHARE * h };
      this.below = { x, y: top + SHARE * h + between, w, h: (1 - SHARE) * h };
      const curves = [this.other, this.channel].filter(Boolean);
      const sizes = curves.flatMap((c) => c.magnitude).filter((m) => m > LEAST && m < GREATEST);
      const phases = [...curves.flatMap((c) => c.phase).filter((p) => p !== null), -180];
      this.across = articulus.logAxis(articulus.halves(Math.min(...curves.map((c) => c.omega[0])), Math.max(...curves.map((c) => c.omega.at(-1)))), x, x + w);
      const { above, below } = this;
      this.size = articulus.logAxis(articulus.halves(Math.min(...sizes, 1), Math.max(...sizes, 1)), above.y + above.h, above.y);
      const turns = [Math.floor(Math.min(...phases) / 45 - 0.02), Math.ceil(Math.max(...phases) / 45 + 0.02)];
      this.angle = articulus.linearAxis(turns.map((k) => 45 * k), below.y + below.h, below.y);
      this.frame(pen, above, this.across, this.size, { below: false });
      this.frame(pen, below, this.across, articulus.degrees(this.angle));
      pen.fillStyle = this.color("soft");
      pen.textAlign = "right";
      pen.textBaseline = "bottom";
      pen.fillText("rad/s", below.x + below.w - 4, below.y + below.h - 2);
      for (const curve of curves) this.#draw(pen, curve, curve === this.channel);
      this.#margins(pen, this.channel);
    }

    #draw(pen, { omega, magnitude, phase }, now) {
      pen.strokeStyle = now ? this.color("series-0") : this.color("soft");
      pen.lineWidth = now ? 1.8 : 1.3;
      pen.setLineDash(now ? [] : [5, 3]);
      const through = (values, axis, good) => omega.map((w, k) => (good(values[k]) ? [this.across.at(w), axis.at(values[k])] : null));
      this.inside(pen, this.above, () => this.line(pen, through(magnitude, this.size, (m) => m > 0)));
      this.inside(pen, this.below, () => this.line(pen, through(phase, this.angle, (p) => p !== null)));
      pen.setLineDash([]);
    }

    // Levels of gain one and of phase -180 degrees (and what is the same but for turns), and from the curves to them the margins.
    #margins(pen, channel) {
      const { above, below } = this;
      const { marks, omega, phase } = channel;
      pen.strokeStyle = this.color("soft");
      pen.lineWidth = 1;
      pen.setLineDash([2, 3]);
      this.inside(pen, above, () => this.line(pen, [[above.x, this.size.at(1)], [above.x + above.w, this.size.at(1)]]));
      this.inside(pen, below, () => {
        for (let level = -180 - 360 * 4; level < 1800; level += 360) this.line(pen, [[below.x, this.angle.at(level)], [below.x + below.w, this.angle.at(level)]]);
      });
      pen.setLineDash([]);
      this.inside(pen, above, () => {
        for (const side of ["up", "down"]) this.#gain(pen, marks[`gain_${side}`], marks[`omega_${side}`], side);
      });
      if (marks.phase !== null && marks.omega_phase > 0) {
        const at = phase[articulus.nearestOf(omega, marks.omega_phase)];
        if (at !== null) this.inside(pen, below, () => this.#phase(pen, marks, at));
      }
    }

    #bar(pen, x, from, to, text, color) {
      pen.strokeStyle = pen.fillStyle = this.color(color);
      pen.lineWidth = 2.4;
      this.line(pen, [[x - 4, from], [x + 4, from], null, [x, from], [x, to], null, [x - 4, to], [x + 4, to]]);
      const box = from < this.above.y + this.above.h && to < this.below.y ? this.above : this.below;
      const right = x > box.x + 0.6 * box.w;
      pen.textAlign = right ? "right" : "left";
      pen.textBaseline = "middle";
      pen.fillText(text, x + (right ? -7 : 7), Math.min(box.y + box.h - 8, Math.max(box.y + 8, 0.5 * (from + to))));
    }

    #gain(pen, factor, omega, side) {
      if (!factor || omega === null) return;
      this.#bar(pen, this.across.at(Math.max(omega, this.across.low)), this.size.at(1 / factor), this.size.at(1), `gain ${side === "up" ? "×" : "down to ×"} ${articulus.text(factor)}`, "series-3");
    }

    #phase(pen, { phase, omega_phase: omega }, at) {
      const levels = [-900, -540, -180, 180, 540, 900];
      const near = levels.reduce((best, level) => (Math.abs(Math.abs(at - level) - phase) < Math.abs(Math.abs(at - best) - phase) ? level : best));
      this.#bar(pen, this.across.at(omega), this.angle.at(at), this.angle.at(near), `phase ${articulus.text(phase)}°`, "series-2");
    }

    point(pen, x) {
      const omega = this.across.value(x);
      if (omega < this.across.low || omega > this.across.high) return null;
      const c = this.channel;
      const k = articulus.nearestOf(c.omega, omega);
      pen.strokeStyle = this.color("accent");
      pen.lineWidth = 1.2;
      const px = this.across.at(c.omega[k]);
      this.line(pen, [[px, this.above.y], [px, this.below.y + this.below.h]]);
      return c.magnitude[k] === null ? "a pole" : `ω ${articulus.hertz(c.omega[k])}: ${articulus.text(c.magnitude[k])}, ${articulus.fixed(c.phase[k], 1)}°`;
    }

    idle() {
      const { marks } = this.channel;
      const limit = (x, unit) => (x === null ? "∞" : `${articulus.text(x)}${unit}`);
      return `gain ${articulus.text(marks.gain_down ?? 0)} … ${limit(marks.gain_up, "")} · phase ${limit(marks.phase, "°")} · delay ${limit(marks.delay === null ? null : 1e3 * marks.delay, " ms")} · disk ${limit(marks.disk, "")} · peak S ${limit(marks.sensitivity, "")}`;
    }
  };

  articulus.LociChart = class extends articulus.PlaneChart {
    constructor() {
      super("loci", "Nyquist: characteristic loci", "Eigenvalues of the loop in the complex plane over frequency, about the point minus one; wheel zooms, dragging shifts");
    }

    // loci, before: see study/linear/curves.py; before may be null; disk: disk margin of all commands, null where there is none; stable: by the poles.
    show({ loci, before, disk, stable }) {
      this.data = { loci, before, disk, stable };
      this.about.textContent = loci.failure ?? `${loci.re.length} ${loci.re.length === 1 ? "locus" : "loci"}`;
      this.redraw();
    }

    paint(pen) {
      const { left, right, top, bottom } = MARGIN;
      this.box = { x: left, y: top, w: this.width - left - right, h: this.height - top - bottom };
      if (this.data.loci.failure) return;
      this.look(this.#extent());
      this.#plane(pen);
      this.inside(pen, this.box, () => {
        if (this.data.before && !this.data.before.failure) this.#draw(pen, this.data.before, false);
        this.#draw(pen, this.data.loci, true);
        this.#critical(pen);
      });
    }

    #extent() {
      const { re, im } = this.data.loci;
      const clip = (x) => Math.max(-FAR, Math.min(FAR, x));
      const all = re.flatMap((row, k) => row.map((x, i) => [x, im[k][i]])).filter(([x, y]) => x !== null && Math.hypot(x, y) < FAR);
      const reach = Math.max(1.4, ...all.map(([, y]) => Math.abs(clip(y))));
      return { left: Math.min(-1.8, ...all.map(([x]) => clip(x))), right: Math.max(0.6, ...all.map(([x]) => clip(x))), bottom: -reach, top: reach };
    }

    #plane(pen) {
      const { x, y, w, h } = this.box;
      const across = articulus.linearAxis([this.re(x), this.re(x + w)], x, x + w);
      const up = articulus.linearAxis([this.im(y + h), this.im(y)], y + h, y);
      this.frame(pen, this.box, across, up);
      pen.strokeStyle = this.color("grid");
      this.inside(pen, this.box, () => {
        this.line(pen, [[x, this.y(0)], [x + w, this.y(0)], null, [this.x(0), y], [this.x(0), y + h]]);
        pen.beginPath();
        pen.arc(this.x(0), this.y(0), 1 / this.view.scale, 0, 7);
        pen.stroke();
      });
    }

    #draw(pen, { re, im }, now) {
      re.forEach((row, k) => {
        pen.strokeStyle = now ? this.color(`series-${k % 8}`) : this.color("soft");
        const path = (sign) => row.map((x, i) => (x === null || im[k][i] === null ? null : [this.x(x), this.y(sign * im[k][i])]));
        pen.lineWidth = now ? 1.8 : 1.2;
        pen.setLineDash(now ? [] : [5, 3]);
        this.line(pen, path(1));
        pen.lineWidth = 0.8;
        pen.setLineDash([2, 3]);
        this.line(pen, path(-1));
      });
      pen.setLineDash([]);
    }

    // The point -1, and about it the disk that the Nyquist curve of one command may not enter: all L with |S - T| / 2 at least 1 / disk.
    #critical(pen) {
      const { disk, loci } = this.data;
      pen.strokeStyle = pen.fillStyle = this.color("bad");
      pen.lineWidth = 2;
      const [x, y] = [this.x(-1), this.y(0)];
      this.line(pen, [[x - 6, y], [x + 6, y], null, [x, y - 6], [x, y + 6]]);
      if (loci.re.length > 1 || !(disk > 0 && disk < 2)) return;
      const [low, high] = [-(2 + disk) / (2 - disk), -(2 - disk) / (2 + disk)];
      pen.globalAlpha = 0.12;
      pen.beginPath();
      pen.arc(this.x(0.5 * (low + high)), y, (0.5 * (high - low)) / this.view.scale, 0, 7);
      pen.fill();
      pen.globalAlpha = 1;
    }

    point(pen, px, py) {
      const { loci } = this.data;
      let best = null;
      loci.re?.forEach((row, k) => row.forEach((x, i) => {
        const away = x === null ? Infinity : Math.hypot(this.x(x) - px, this.y(loci.im[k][i]) - py);
        if (away < (best?.away ?? 14)) best = { away, k, i };
      }));
      if (!best) return null;
      const { k, i } = best;
      pen.fillStyle = this.color(`series-${k % 8}`);
      pen.beginPath();
      pen.arc(this.x(loci.re[k][i]), this.y(loci.im[k][i]), 4, 0, 7);
      pen.fill();
      return `ω ${articulus.hertz(loci.omega[i])}: ${articulus.text(loci.re[k][i])} ${loci.im[k][i] < 0 ? "−" : "+"} ${articulus.text(Math.abs(loci.im[k][i]))} j`;
    }

    idle() {
      const { loci, stable } = this.data;
      if (loci.failure) return loci.failure;
      return `${loci.turns} turns about −1 · closed loop ${stable ? "stable" : "not stable"} · nearest ${articulus.text(loci.away)} at ω ${articulus.text(loci.at)} rad/s`;
    }
  };
})();
