"use strict";
// What charts on canvases share: a frame, a line below that reads values, and colors of families.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const RAMP = [[59, 82, 196], [161, 63, 168], [224, 85, 58], [232, 160, 32]];

  // Return a color from low (0) to high (1).
  articulus.ramp = (share) => {
    const x = Math.min(1, Math.max(0, share)) * (RAMP.length - 1);
    const k = Math.min(RAMP.length - 2, Math.floor(x));
    return `rgb(${RAMP[k].map((a, i) => Math.round(a + (x - k) * (RAMP[k + 1][i] - a))).join(" ")})`;
  };

  // Members draw in paint(pen) and return what stands under the pointer from point(pen, x, y), or null; idle() is read otherwise.
  articulus.Chart = class {
    constructor(name, title, label) {
      this.canvas = make("canvas", { role: "img" });
      this.canvas.setAttribute("aria-label", label);
      this.layer = document.createElement("canvas");
      this.about = make("span", { className: "unit" });
      this.head = make("summary", {}, make("b", {}, title), this.about);
      this.readout = make("p", { className: "readout" });
      this.element = make("details", { className: "chart", id: `chart-${name}`, open: true }, this.head, this.canvas, this.readout);
      this.canvas.addEventListener("pointermove", (event) => {
        const box = this.canvas.getBoundingClientRect();
        this.pointer = [event.clientX - box.left, event.clientY - box.top];
        this.mark();
      });
      this.canvas.addEventListener("pointerleave", () => {
        this.pointer = null;
        this.mark();
      });
      new ResizeObserver(() => this.redraw()).observe(this.canvas);
    }

    // The figure as SVG on white.
    svg() {
      return articulus.onPaper(() => {
        this.style = getComputedStyle(this.element);
        const pen = new articulus.SvgPen(this.width, this.height);
        this.paint(pen);
        return pen.text();
      });
    }

    color(name) {
      return this.style.getPropertyValue(`--${name}`).trim();
    }

    redraw() {
      const ratio = (this.ratio = globalThis.devicePixelRatio || 1);
      const { clientWidth: width, clientHeight: height } = this.canvas;
      if (!width || !height || !this.data) return;
      for (const canvas of [this.canvas, this.layer]) {
        canvas.width = Math.round(width * ratio);
        canvas.height = Math.round(height * ratio);
      }
      [this.width, this.height] = [width, height];
      this.style = getComputedStyle(this.element);
      const pen = this.layer.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.font = "11px system-ui, sans-serif";
      this.paint(pen);
      this.mark();
    }

    // Put what belongs to the pointer over what is drawn, and read it out.
    mark() {
      if (!this.width) return;
      const pen = this.canvas.getContext("2d");
      pen.setTransform(1, 0, 0, 1, 0, 0);
      pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
      pen.drawImage(this.layer, 0, 0);
      pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      this.readout.textContent = (this.pointer && this.point(pen, ...this.pointer)) ?? this.idle();
    }

    // Lines across a box at the ticks of y, small ones below it at the ticks of x.
    frame(pen, { x, y, w, h }, across, up, { below = true } = {}) {
      pen.fillStyle = this.color("soft");
      pen.strokeStyle = this.color("line");
      pen.lineWidth = 1;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const [v, text] of up.ticks(Math.max(2, h / 34))) {
        const at = Math.round(up.at(v)) + 0.5;
        this.line(pen, [[x, at], [x + w, at]]);
        pen.fillText(text, x - 6, at);
      }
      pen.textBaseline = "top";
      pen.textAlign = "center";
      for (const [v, text] of across.ticks(Math.max(2, w / 62))) {
        const at = Math.round(across.at(v)) + 0.5;
        this.line(pen, [[at, y + h], [at, y + h + (below ? 4 : 0)]]);
        if (below) pen.fillText(text, Math.min(at, x + w - 4), y + h + 6);
      }
    }

    // A line through points; it is broken where one is null.
    line(pen, points) {
      pen.beginPath();
      let down = false;
      for (const point of points) {
        if (point) down ? pen.lineTo(...point) : pen.moveTo(...point);
        down = Boolean(point);
      }
      pen.stroke();
    }

    // Draw inside of a box only.
    inside(pen, { x, y, w, h }, draw) {
      pen.save();
      pen.beginPath();
      pen.rect(x, y, w, h);
      pen.clip();
      draw();
      pen.restore();
    }
  };
})();
