"use strict";
// What charts of a plane share: a view with equal scales that is zoomed and shifted.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;

  // Members have this.box and set this.view {x, y: middle, scale: units of a pixel} in paint(pen), unless this.held.
  articulus.PlaneChart = class extends articulus.Chart {
    constructor(name, title, label) {
      super(name, title, label);
      const button = (text, name, act) => {
        const element = make("button", { type: "button", className: "quiet", title: name, "aria-label": text.length > 1 ? `${text}: ${name}` : name }, text);
        element.addEventListener("click", (event) => {
          event.preventDefault();
          act();
        });
        return element;
      };
      const middle = () => [this.box.x + this.box.w / 2, this.box.y + this.box.h / 2];
      this.tools = make("div", { className: "tools" }, button("−", "Zoom out", () => this.zoom(1.5, middle())), button("+", "Zoom in", () => this.zoom(1 / 1.5, middle())),
        button("fit", "Show all that matters", () => this.fit()));
      this.head.after(this.tools); // beside the summary, not in it: a control inside a control cannot be reached by a screen reader
      this.canvas.addEventListener("dblclick", () => this.fit());
      this.canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        this.zoom(Math.exp(0.0015 * event.deltaY), [event.offsetX, event.offsetY]);
      }, { passive: false });
      this.canvas.addEventListener("pointerdown", (event) => this.canvas.setPointerCapture(event.pointerId));
      this.canvas.addEventListener("pointermove", (event) => event.buttons & 1 && this.shift(event.movementX, event.movementY));
    }

    fit() {
      this.held = false;
      this.view = null;
      this.redraw();
    }

    zoom(factor, [px, py]) {
      const { x, y } = this.view;
      const [re, im] = [this.re(px), this.im(py)];
      this.view = { x: re + factor * (x - re), y: im + factor * (y - im), scale: factor * this.view.scale };
      this.held = true;
      this.redraw();
    }

    shift(dx, dy) {
      const { x, y, scale } = this.view;
      this.view = { x: x - dx * scale, y: y + dy * scale, scale };
      this.held = true;
      this.redraw();
    }

    // Look at a box {left, right, bottom, top} of the plane unless somebody has chosen a view.
    look({ left, right, bottom, top }) {
      if (this.held && this.view) return;
      const { w, h } = this.box;
      this.view = { x: 0.5 * (left + right), y: 0.5 * (bottom + top), scale: 1.12 * Math.max((right - left) / w, (top - bottom) / h) };
    }

    x(re) {
      return this.box.x + this.box.w / 2 + (re - this.view.x) / this.view.scale;
    }

    y(im) {
      return this.box.y + this.box.h / 2 - (im - this.view.y) / this.view.scale;
    }

    re(px) {
      return this.view.x + (px - this.box.x - this.box.w / 2) * this.view.scale;
    }

    im(py) {
      return this.view.y - (py - this.box.y - this.box.h / 2) * this.view.scale;
    }
  };
})();
