"use strict";
// What plots ask of a canvas, written as SVG.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const ANCHORS = { left: "start", right: "end", center: "middle" };
  const SHIFTS = { top: "0.8em", middle: "0.35em", alphabetic: "0", bottom: "0" };
  const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
  const number = (x) => String(Math.round(100 * x) / 100);

  articulus.SvgPen = class {
    constructor(width, height) {
      [this.width, this.height] = [width, height];
      this.parts = [];
      this.path = "";
      this.clips = 0;
      this.open = [0];
      this.shift = [0, 0];
      Object.assign(this, { strokeStyle: "#000", fillStyle: "#000", lineWidth: 1, globalAlpha: 1, textAlign: "left", textBaseline: "alphabetic", font: "", dash: [] });
    }

    #at(x, y) {
      return `${number(x + this.shift[0])} ${number(y + this.shift[1])}`;
    }

    beginPath() {
      this.path = "";
    }

    moveTo(x, y) {
      this.path += `M${this.#at(x, y)}`;
    }

    lineTo(x, y) {
      this.path += `L${this.#at(x, y)}`;
    }

    arc(x, y, r, from, to) {
      const turn = Math.min(to - from, 2 * Math.PI - 1e-4);
      const [a, b] = [from, from + turn].map((angle) => this.#at(x + r * Math.cos(angle), y + r * Math.sin(angle)));
      this.path += `M${a}A${number(r)} ${number(r)} 0 ${turn > Math.PI ? 1 : 0} 1 ${b}`;
    }

    rect(x, y, w, h) {
      this.path += `M${this.#at(x, y)}h${number(w)}v${number(h)}h${number(-w)}z`;
    }

    setLineDash(dash) {
      this.dash = dash;
    }

    stroke() {
      const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
      this.parts.push(`<path d="${this.path}" fill="none" stroke="${escape(this.strokeStyle)}" stroke-width="${this.lineWidth}" stroke-opacity="${this.globalAlpha}" stroke-linejoin="round"${dash}/>`);
    }

    fill() {
      this.parts.push(`<path d="${this.path}" fill="${escape(this.fillStyle)}" fill-opacity="${this.globalAlpha}"/>`);
    }

    fillRect(x, y, w, h) {
      const [px, py] = this.#at(x, y).split(" ");
      this.parts.push(`<rect x="${px}" y="${py}" width="${number(w)}" height="${number(h)}" fill="${escape(this.fillStyle)}" fill-opacity="${this.globalAlpha}"/>`);
    }

    fillText(text, x, y) {
      const [px, py] = this.#at(x, y).split(" ");
      const weight = this.font.startsWith("bold") ? ' font-weight="bold"' : "";
      this.parts.push(`<text x="${px}" y="${py}" dy="${SHIFTS[this.textBaseline]}" text-anchor="${ANCHORS[this.textAlign]}" fill="${escape(this.fillStyle)}"${weight}>${escape(text)}</text>`);
    }

    measureText(text) {
      return { width: 6.1 * text.length };
    }

    // A picture by its address (data:).
    drawPicture(address, x, y, w, h) {
      const [px, py] = this.#at(x, y).split(" ");
      this.parts.push(`<image href="${escape(address)}" x="${px}" y="${py}" width="${number(w)}" height="${number(h)}"/>`);
    }

    save() {
      this.open.push(0);
    }

    clip() {
      this.clips += 1;
      this.parts.push(`<clipPath id="c${this.clips}"><path d="${this.path}"/></clipPath><g clip-path="url(#c${this.clips})">`);
      this.open[this.open.length - 1] += 1;
    }

    restore() {
      this.parts.push("</g>".repeat(this.open.pop()));
    }

    text() {
      const head = `<svg xmlns="http://www.w3.org/2000/svg" width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
      return `${head} font-family="Helvetica, Arial, sans-serif" font-size="11">\n${this.parts.join("\n")}\n</svg>\n`;
    }
  };
})();
