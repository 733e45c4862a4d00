"use strict";
// Frequency response of a loop: magnitude and phase over frequency, over that of the run as it was.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const MARGIN = { left: 46, right: 8, top: 8, bottom: 22, between: 16 };
  const MAGNITUDE = 0.58; // part of the height
  const DEEPEST = 1e-8; // least magnitude that is drawn, in parts of the greatest

  // Return a range of positive numbers, to about half powers of ten, so that axes do not creep.
  articulus.halves = (low, high) => {
    const from = Math.floor(2 * Math.log10(low) + 0.1);
    return [10 ** (from / 2), 10 ** (Math.max(from + 1, Math.ceil(2 * Math.log10(high) - 0.1)) / 2)];
  };

  articulus.hertz = (omega) => `${articulus.text(omega)} rad/s (${articulus.text(omega / (2 * Math.PI))} Hz)`;

  // Return an axis of phases with ticks at multiples of 45 degrees.
  articulus.degrees = (axis) => {
    const { low, high } = axis;
    const step = 45 * Math.max(1, 2 ** Math.ceil(Math.log2((high - low) / 45 / 4)));
    const ticks = [];
    for (let v = Math.ceil(low / step) * step; v <= high; v += step) ticks.push([v, `${v}°`]);
    return { ...axis, ticks: () => ticks };
  };

  // Return the number of the nearest of rising frequencies, by their ratio.
  articulus.nearestOf = (omega, wanted) => {
    const k = articulus.lastAtMost(omega, wanted);
    return k + 1 < omega.length && omega[k + 1] / wanted < wanted / omega[k] ? k + 1 : k;
  };

  articulus.ResponseChart = class extends articulus.Chart {
    constructor(name = "response", title = "Frequency response") {
      super(name, title, "Magnitude and phase over frequency [rad/s]");
    }

    // response, reference: {input, output, unit, omega, magnitude, phase}; the reference may be null.
    show(data) {
      this.data = data;
      this.about.textContent = this.about.title = `${data.response.output} / ${data.response.input}`;
      this.canvas.setAttribute("aria-label", `Magnitude [${data.response.unit}] and phase [degrees] of ${this.about.textContent} over frequency [rad/s]`);
      this.redraw();
    }

    #curves() {
      const { response, reference } = this.data;
      return reference ? [reference, response] : [response];
    }

    paint(pen) {
      const { left, right, top, bottom, between } = MARGIN;
      const [x, w, h] = [left, this.width - left - right, this.height - top - bottom - between];
      this.above = { x, y: top, w, h: MAGNITUDE * h };
      this.below = { x, y: top + MAGNITUDE * h + between, w, h: (1 - MAGNITUDE) * h };
      const curves = this.#curves();
      const greatest = Math.max(0, ...curves.flatMap((c) => c.magnitude));
      const sizes = curves.flatMap((c) => c.magnitude).filter((m) => m > DEEPEST * greatest);
      const phases = curves.flatMap((c) => c.phase).filter((p) => p !== null);
      this.across = articulus.logAxis(articulus.halves(Math.min(...curves.map((c) => c.omega[0])), Math.max(...curves.map((c) => c.omega.at(-1)))), x, x + w);
      const { above, below } = this;
      this.size = articulus.logAxis(sizes.length ? articulus.halves(Math.min(...sizes), greatest) : [0.1, 1], above.y + above.h, above.y);
      const turns = phases.length ? [Math.floor(Math.min(...phases) / 45 - 0.02), Math.ceil(Math.max(...phases) / 45 + 0.02)] : [-1, 1];
      this.angle = articulus.linearAxis(turns.map((k) => 45 * k), below.y + below.h, below.y);
      this.frame(pen, above, this.across, this.size, { below: false });
      this.frame(pen, below, this.across, articulus.degrees(this.angle));
      for (const curve of curves) this.#draw(pen, curve, curve === this.data.response);
      this.#units(pen);
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

    #units(pen) {
      pen.fillStyle = this.color("soft");
      pen.textAlign = "right";
      pen.textBaseline = "top";
      pen.fillText(this.data.response.unit, this.above.x + this.above.w - 4, this.above.y + 3);
      pen.textBaseline = "bottom";
      pen.fillText("rad/s", this.below.x + this.below.w - 4, this.below.y + this.below.h - 2);
    }

    point(pen, x) {
      const { response, reference } = this.data;
      const omega = this.across.value(x);
      if (omega < this.across.low || omega > this.across.high) return null;
      const k = articulus.nearestOf(response.omega, omega);
      this.#cursor(pen, response, k);
      const before = reference ? ` · as run ${this.#values(reference, articulus.nearestOf(reference.omega, response.omega[k]))}` : "";
      return `ω ${articulus.hertz(response.omega[k])}: ${this.#values(response, k)}${before}`;
    }

    #values({ magnitude, phase, unit }, k) {
      return magnitude[k] === null ? "a pole" : `${articulus.text(magnitude[k])} ${unit}, ${articulus.fixed(phase[k], 1)}°`;
    }

    #cursor(pen, { omega, magnitude, phase }, k) {
      const x = this.across.at(omega[k]);
      pen.strokeStyle = this.color("accent");
      pen.fillStyle = this.color("series-0");
      pen.lineWidth = 1.2;
      this.line(pen, [[x, this.above.y], [x, this.below.y + this.below.h]]);
      for (const [value, axis] of [[magnitude[k], this.size], [phase[k], this.angle]]) {
        if (value === null || (axis === this.size && value <= 0)) continue;
        pen.beginPath();
        pen.arc(x, axis.at(value), 3, 0, 7);
        pen.fill();
      }
    }

    idle() {
      const { omega, magnitude, unit } = this.data.response;
      if (!magnitude.some((m) => m > 0)) return "The input does not reach the output.";
      const k = magnitude.reduce((best, m, i) => (m > (magnitude[best] ?? -1) ? i : best), 0);
      return k === 0 ? `${articulus.text(magnitude[0])} ${unit} at ω ${articulus.hertz(omega[0])}` : `peak ${articulus.text(magnitude[k])} ${unit} at ω ${articulus.hertz(omega[k])}`;
    }
  };
})();
