"use strict";
// Designs of a front as points; choosing one loads it.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const SPACE = "http://www.w3.org/2000/svg";
  const SIZE = { width: 260, height: 190, left: 12, right: 12, top: 12, bottom: 12 };
  const POINT = { plain: 4.5, chosen: 7 };

  // Return an element of a drawing with attributes and children.
  const draw = (tag, attributes = {}, ...children) => {
    const element = document.createElementNS(SPACE, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // Return the function from numbers to places between two ends; in ratios where all are positive and far apart.
  const scale = (numbers, from, to) => {
    const low = Math.min(...numbers), high = Math.max(...numbers);
    const place = low > 0 && high / low > 100 ? Math.log : (x) => x;
    const [a, b] = [place(low), place(high)];
    return (x) => (b > a ? from + ((place(x) - a) / (b - a)) * (to - from) : (from + to) / 2);
  };

  articulus.FrontPanel = class {
    // front: see desk_front.py; load: called with the values of a design.
    constructor({ axes, designs }, load) {
      this.designs = designs;
      this.load = load;
      this.order = designs.map((_, k) => k).sort((a, b) => designs[a].x - designs[b].x);
      const { width, height, left, right, top, bottom } = SIZE;
      const across = scale(designs.map((d) => d.x), left, width - right);
      const up = scale(designs.map((d) => d.y), height - bottom, top);
      const way = this.order.map((k) => `${across(designs[k].x)},${up(designs[k].y)}`).join(" ");
      const words = ({ x, y, rest }) => [[axes[0], x], [axes[1], y], ...Object.entries(rest)].map(([name, value]) => `${name} ${articulus.text(value)}`).join(", ");
      this.points = designs.map((design, k) => draw("circle", {
        cx: across(design.x), cy: up(design.y), r: POINT.plain, role: "radio", "aria-checked": "false", tabindex: k === this.order[0] ? 0 : -1,
        "aria-label": `Design ${this.order.indexOf(k) + 1}: ${words(design)}`, class: "fill",
      }, draw("title", {}, words(design))));
      this.points.forEach((point, k) => {
        point.addEventListener("click", () => this.choose(k));
        point.addEventListener("keydown", (event) => this.#key(event, k));
      });
      this.picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "radiogroup", "aria-label": `Designs: ${axes[1]} over ${axes[0]}` },
        draw("polyline", { points: way, fill: "none", stroke: "currentColor", "stroke-opacity": 0.4 }), ...this.points);
      Object.assign(this.picture.style, { width: "100%", height: "auto", color: "var(--accent)", cursor: "pointer" }); // the page allows no other style
      this.told = make("p", { role: "status" }, "Choose a point: its design is loaded.");
      const ends = ["x", "y"].map((key, i) => {
        const numbers = designs.map((d) => d[key]);
        return `${axes[i]} ${articulus.text(Math.min(...numbers))} to ${articulus.text(Math.max(...numbers))}`;
      });
      this.words = words;
      this.element = make("section", { id: "design-front" }, make("h2", {}, "Front"), this.picture,
        make("p", {}, `Across: ${ends[0]}. Up: ${ends[1]}.`), this.told);
    }

    // Load a design, and show which one it is.
    choose(k) {
      this.mark(k);
      this.load(this.designs[k].values);
    }

    // Show a design as the chosen one; null for none.
    mark(k) {
      this.chosen = k;
      this.points.forEach((point, i) => {
        point.setAttribute("aria-checked", String(i === k));
        point.setAttribute("r", i === k ? POINT.chosen : POINT.plain);
        point.setAttribute("tabindex", i === (k ?? this.order[0]) ? 0 : -1);
        point.style.stroke = i === k ? "var(--ink)" : "none";
      });
      this.told.textContent = k === null ? "The parameters are those of no design of the front." : `Design ${this.order.indexOf(k) + 1} of ${this.designs.length}: ${this.words(this.designs[k])}`;
    }

    // Mark the design that has these values, if one has.
    follow(values) {
      const k = this.designs.findIndex((design) => Object.entries(design.values).every(([name, x]) => values[name] === x));
      if (k !== (this.chosen ?? -1)) this.mark(k < 0 ? null : k);
    }

    #key(event, k) {
      const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (event.key === "Enter" || event.key === " ") this.choose(k);
      else if (step) {
        const next = this.order[Math.min(this.order.length - 1, Math.max(0, this.order.indexOf(k) + step))];
        this.choose(next);
        this.points[next].focus();
      } else return;
      event.preventDefault();
    }
  };
})();
