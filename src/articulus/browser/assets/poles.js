"use strict";
// Poles of a loop in the complex plane, over those of the run as it was and those of a family.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const MARGIN = { left: 46, right: 8, top: 8, bottom: 22 };
  const DAMPING = [0.1, 0.3, 0.5, 0.7];
  const FAR = 8; // times the middle pole: what lies beyond is not in view at first
  const NEAR = 12; // pixels from the pointer to a pole that it reads
  const UNSTABLE = "#d32f2f";
  const isUnstable = ({ re, omega }) => re > 1e-9 * omega;

  // Return the least box about the poles that matter: {left, right, top}, with the origin inside.
  function extent(poles) {
    const sizes = poles.map((p) => p.omega).filter((x) => x > 0).sort((a, b) => a - b);
    const middle = sizes[Math.floor((sizes.length - 1) / 2)] ?? 1;
    const shown = poles.filter((p) => p.omega <= FAR * middle);
    const reach = Math.max(middle, ...shown.map((p) => p.omega));
    return {
      left: Math.min(-0.3 * reach, ...shown.map((p) => p.re)),
      right: Math.max(0.2 * reach, ...shown.map((p) => p.re)),
      top: Math.max(0.3 * reach, ...shown.map((p) => p.im)),
    };
  }

  articulus.PoleMap = class extends articulus.PlaneChart {
    constructor(name = "poles", title = "Poles") {
      super(name, title, "Poles in the complex plane; wheel zooms, dragging shifts, a double click shows all that matters");
    }

    // poles, reference: lists of {re, im, omega, zeta}; family: null or {name, lines: [{value, poles}]}; locus: null or {gain, re, im, zeros}.
    show(data) {
      this.data = data;
      this.about.textContent = this.about.title = data.about;
      this.redraw();
    }

    #all() {
      const { poles, reference, family } = this.data;
      return [...poles, ...reference, ...(family?.lines.flatMap((l) => l.poles) ?? [])];
    }

    // Look at what matters. The view stays while that fills a fair part of it, so that it does not jump while poles move.
    #look() {
      if (this.held && this.view) return;
      const { left, right, top } = extent(this.#all());
      const { w, h } = this.box;
      const scale = 1.2 * Math.max((right - left) / w, (2 * top) / h);
      const now = this.view;
      const fits = now && left > now.x - 0.48 * w * now.scale && right < now.x + 0.48 * w * now.scale && top < 0.48 * h * now.scale;
      if (fits && scale > 0.45 * now.scale) return;
      const spare = w * scale - 1.2 * (right - left);
      this.view = { x: right + 0.1 * (right - left) + 0.25 * spare - 0.5 * w * scale, y: 0, scale };
    }

    paint(pen) {
      this.box = {
        x: MARGIN.left, y: MARGIN.top, w: this.width - MARGIN.left - MARGIN.right, h: this.height - MARGIN.top - MARGIN.bottom,
      };
      this.#look();
      this.marks = [];
      this.#plane(pen);
      const { poles, reference, family, locus } = this.data;
      if (locus) this.inside(pen, this.box, () => this.#locus(pen, locus));
      const last = Math.max(1, (family?.lines.length ?? 0) - 1);
      family?.lines.forEach(({ value, poles: found }, k) => {
        for (const pole of found) this.#mark(pen, pole, articulus.ramp(k / last), this.#dot, `${family.name} = ${articulus.text(value)}`);
      });
      for (const pole of reference) this.#mark(pen, pole, this.color("soft"), this.#hollow, "as run");
      for (const pole of poles) this.#mark(pen, pole, isUnstable(pole) ? UNSTABLE : this.color("series-0"), this.#cross, "");
    }

    // Axes, the unstable half, rays of equal damping and circles of equal frequency.
    #plane(pen) {
      const { x, y, w, h } = this.box;
      const across = articulus.linearAxis([this.re(x), this.re(x + w)], x, x + w);
      const up = articulus.linearAxis([this.im(y + h), this.im(y)], y + h, y);
      const [ox, oy] = [this.x(0), this.y(0)];
      const far = Math.hypot(ox - x, Math.max(oy - y, y + h - oy)) + w + h;
      this.inside(pen, this.box, () => {
        pen.fillStyle = "rgb(211 47 47 / 8%)";
        if (ox < x + w) pen.fillRect(Math.max(x, ox), y, w, h);
        pen.strokeStyle = this.color("line");
        for (const [v] of up.ticks(Math.max(2, h / 34))) {
          if (v <= 0) continue;
          pen.beginPath();
          pen.arc(ox, oy, v / this.view.scale, 0.5 * Math.PI, 1.5 * Math.PI);
          pen.stroke();
        }
        for (const zeta of DAMPING) {
          const [c, s] = [far * zeta, far * Math.sqrt(1 - zeta * zeta)];
          this.line(pen, [[ox - c, oy - s], [ox, oy], [ox - c, oy + s]]);
        }
        pen.strokeStyle = this.color("grid");
        this.line(pen, [[x, Math.round(oy) + 0.5], [x + w, Math.round(oy) + 0.5]]);
        this.line(pen, [[Math.round(ox) + 0.5, y], [Math.round(ox) + 0.5, y + h]]);
        this.#dampingTexts(pen, ox, oy);
      });
      this.#rulers(pen, across, up);
    }

    // Write the damping ratio where its ray leaves the upper half of the box.
    #dampingTexts(pen, ox, oy) {
      const { x, y } = this.box;
      pen.fillStyle = this.color("soft");
      pen.textBaseline = "top";
      let last = Infinity;
      for (const zeta of DAMPING) {
        const slope = zeta / Math.sqrt(1 - zeta * zeta);
        const atTop = ox - (oy - y) * slope;
        const text = zeta === DAMPING.at(-1) ? `ζ ${zeta}` : String(zeta);
        pen.textAlign = atTop > x + 30 ? "right" : "left";
        if (atTop > x + 30) {
          if (last - atTop > 22) pen.fillText(text, (last = atTop) - 2, y + 2);
        } else if (ox > x) pen.fillText(text, x + 3, Math.max(y + 2, oy - (ox - x) / slope + 3));
      }
    }

    #rulers(pen, across, up) {
      const { x, y, w, h } = this.box;
      pen.fillStyle = this.color("soft");
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      for (const [v, text] of up.ticks(Math.max(2, h / 34))) pen.fillText(text, x - 6, up.at(v));
      pen.textBaseline = "top";
      pen.textAlign = "center";
      for (const [v, text] of across.ticks(Math.max(2, w / 62))) pen.fillText(text, Math.min(across.at(v), x + w - 10), y + h + 6);
    }

    // The way of each pole while the gain rises, and the zeros to which some of them go.
    #locus(pen, { gain, re, im, zeros }) {
      pen.lineWidth = 1.5;
      re.forEach((_, k) => {
        pen.strokeStyle = this.color(`series-${k % 8}`);
        this.line(pen, gain.map((_, i) => (re[k][i] === null || im[k][i] === null ? null : [this.x(re[k][i]), this.y(im[k][i])])));
      });
      pen.strokeStyle = this.color("ink");
      for (const zero of zeros) {
        pen.beginPath();
        pen.arc(this.x(zero.re), this.y(zero.im), 4.5, 0, 7);
        pen.stroke();
      }
    }

    // The gain at which a locus passes nearest to a place, if it is near.
    #gainAt(px, py) {
      const { locus } = this.data;
      let best = null;
      locus?.re.forEach((_, k) => locus.gain.forEach((gain, i) => {
        const away = Math.hypot(this.x(locus.re[k][i]) - px, this.y(locus.im[k][i]) - py);
        if (away < (best?.away ?? NEAR)) best = { away, gain, re: locus.re[k][i], im: locus.im[k][i] };
      }));
      return best;
    }

    // A pole out of view is an arrow head at the edge.
    #mark(pen, pole, color, draw, text) {
      const { x, y, w, h } = this.box;
      const [px, py] = [this.x(pole.re), this.y(pole.im)];
      const at = [Math.min(x + w - 5, Math.max(x + 5, px)), Math.min(y + h - 5, Math.max(y + 5, py))];
      const out = px < x || px > x + w || py < y || py > y + h;
      pen.strokeStyle = pen.fillStyle = color;
      (out ? this.#head : draw).call(this, pen, ...at, Math.atan2(py - at[1], px - at[0]));
      this.marks.push({ at, pole, text, out });
    }

    #cross(pen, x, y) {
      pen.lineWidth = 2;
      this.line(pen, [[x - 5, y - 5], [x + 5, y + 5], null, [x - 5, y + 5], [x + 5, y - 5]]);
    }

    #hollow(pen, x, y) {
      for (const [width, color] of [[5, this.color("soft")], [2.6, this.color("card")]]) {
        pen.lineWidth = width;
        pen.strokeStyle = color;
        const d = width > 3 ? 6 : 5;
        this.line(pen, [[x - d, y - d], [x + d, y + d], null, [x - d, y + d], [x + d, y - d]]);
      }
    }

    #dot(pen, x, y) {
      pen.beginPath();
      pen.arc(x, y, 2.4, 0, 7);
      pen.fill();
    }

    #head(pen, x, y, angle) {
      const corner = (turn, size) => [x + size * Math.cos(angle + turn), y + size * Math.sin(angle + turn)];
      pen.beginPath();
      pen.moveTo(...corner(0, 5));
      pen.lineTo(...corner(2.5, 5));
      pen.lineTo(...corner(-2.5, 5));
      pen.fill();
    }

    point(pen, x, y) {
      const distance = ({ at }) => Math.hypot(at[0] - x, at[1] - y);
      const found = this.marks.reduce((best, mark) => (distance(mark) <= Math.min(NEAR, best ? distance(best) : NEAR) ? mark : best), null);
      if (!found) {
        const passed = this.#gainAt(x, y);
        return passed && `gain × ${articulus.text(passed.gain)}: ${articulus.text(passed.re)} ${passed.im < 0 ? "−" : "+"} ${articulus.text(Math.abs(passed.im))} j`;
      }
      pen.strokeStyle = this.color("ink");
      pen.lineWidth = 1.2;
      pen.beginPath();
      pen.arc(...found.at, 9, 0, 7);
      pen.stroke();
      return `${this.#text(found.pole)}${found.text ? ` · ${found.text}` : ""}`;
    }

    #text({ re, im, omega, zeta }) {
      const place = im === 0 ? articulus.text(re) : `${articulus.text(re)} ± ${articulus.text(Math.abs(im))} j`;
      const damping = zeta === null ? "" : ` · ζ ${articulus.text(zeta)}`;
      return `${place} · ω ${articulus.text(omega)} rad/s${damping}`;
    }

    idle() {
      const { poles } = this.data;
      const unstable = poles.filter(isUnstable).length;
      const out = this.marks.filter((m) => m.out && !m.text).length;
      const least = poles.filter((p) => p.zeta !== null && p.im !== 0).sort((a, b) => a.zeta - b.zeta)[0];
      const parts = [];
      if (unstable) parts.push(`${unstable} unstable`);
      else if (least) parts.push(`least damped: ω ${articulus.text(least.omega)} rad/s, ζ ${articulus.text(least.zeta)}`);
      else if (poles.length) parts.push("all real");
      if (out) parts.push(`${out} out of view`);
      return parts.join(" · ");
    }
  };
})();
