"use strict";
// Parameters on sliders: the run made again at every change, with poles and frequency response of its loop.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const CHARTS = document.getElementById("charts");
  const WIDE = 8; // ratio of the ends of a range from which on its slider is logarithmic
  const PACE = 250; // least time between questions about the cursor while it moves by itself [ms]

  // Return four digits of a number: what is shown is what is run.
  const rounded = (x) => Number(x.toPrecision(4));

  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

  // A slider with a field for exact numbers; change: called with its value.
  class Knob {
    constructor({ name, value, low, high }, change) {
      this.name = name;
      this.logarithmic = low > 0 && high / low > WIDE;
      const place = this.logarithmic ? Math.log : (x) => x;
      const back = this.logarithmic ? Math.exp : (x) => x;
      this.slider = make("input", { type: "range", min: place(low), max: place(high), step: "any", "aria-label": name });
      this.field = make("input", { type: "number", step: "any", "aria-label": `Value of ${name}` });
      this.element = make("div", { className: "knob", title: `${name}: as run ${articulus.text(value)}` },
        make("span", { className: "name" }, name), this.field, this.slider);
      this.set = (x) => {
        this.slider.value = String(place(Math.min(high, Math.max(low, x))));
        this.slider.setAttribute("aria-valuetext", articulus.text(x));
        this.field.value = String(x);
        this.element.classList.toggle("changed", x !== value);
      };
      this.slider.addEventListener("input", () => {
        const x = rounded(back(Number(this.slider.value)));
        this.set(x);
        change(x);
      });
      this.field.addEventListener("change", () => {
        const x = this.field.valueAsNumber;
        if (!Number.isFinite(x)) return this.set(value);
        this.set(x);
        change(x);
      });
      this.set(value);
    }
  }

  articulus.DeskPanel = class {
    // described, and the answers to "design": see desk.py.
    constructor(live, described) {
      live.desk = this;
      this.live = live;
      this.player = live.player;
      this.described = described;
      this.first = live.runs;
      this.asRun = { ...live.runs[0], name: "as run" };
      this.start = Object.fromEntries(described.parameters.map((p) => [p.name, p.value]));
      this.values = { ...this.start };
      this.touched = described.parameters[0].name;
      this.request = live.latest("design", (answer) => this.#take(answer));
      this.measure = live.latest("margins", (answer) => this.#measured(answer));
      this.#build();
      this.#charts();
      live.tab("Design", this.element, { shown: () => this.#open() });
      this.player.watchers.push((time) => this.#follow(time));
    }

    #build() {
      const { parameters, inputs, outputs, input, output } = this.described;
      this.knobs = parameters.map((p) => new Knob(p, (x) => this.#turn(p.name, x)));
      this.reset = make("button", { type: "button", id: "design-reset" }, "As run");
      this.reset.addEventListener("click", () => this.restore());
      this.vary = make("input", { type: "checkbox", id: "design-family" });
      this.varied = make("span", {}, `Family over ${this.touched}`);
      this.input = this.#choice("design-input", "Input of the frequency response", inputs, input);
      this.output = this.#choice("design-output", "Output of the frequency response", outputs, output);
      this.at = make("select", { id: "design-at", "aria-label": "Time of the linear model" }, new Option("the end", "end"), new Option("the cursor", "cursor"));
      for (const element of [this.vary, this.input, this.output, this.at]) element.addEventListener("change", () => this.ask());
      this.element = make("div", { id: "tab-design" },
        make("section", { className: "grow" }, make("h2", {}, "Parameters"), ...this.knobs.map((k) => k.element),
          make("label", { title: "Runs and poles over the range of the parameter that was moved last" }, this.vary, this.varied),
          make("p", { className: "buttons" }, this.reset)));
      if (this.described.front) {
        this.front = new articulus.FrontPanel(this.described.front, (values) => this.load(values));
        this.element.prepend(this.front.element);
      }
      if (this.described.linear) return;
      this.element.append(make("section", {}, make("h2", {}, "Linear model"),
        make("label", { className: "row" }, "About", this.at), make("label", { className: "row" }, "From", this.input),
        make("label", { className: "row" }, "To", this.output)));
    }

    #choice(id, label, entries, chosen) {
      const options = entries.map(({ name, unit }) => new Option(`${name} [${unit}]`, name));
      const select = make("select", { id, "aria-label": label }, ...options);
      select.value = chosen;
      return select;
    }

    #charts() {
      this.why = make("p", { className: "why", role: "status" });
      this.poles = new articulus.PoleMap();
      this.response = new articulus.ResponseChart();
      this.family = new articulus.FamilyChart();
      this.margins = new articulus.MarginsPanel();
      this.margins.element.hidden = true;
      this.all = [this.poles, this.response, this.family];
      for (const chart of this.all) chart.element.hidden = true;
      CHARTS.hidden = true;
      CHARTS.append(this.why, this.margins.element, ...this.all.map((chart) => chart.element));
      const themes = new MutationObserver(() => this.all.forEach((chart) => chart.redraw()));
      themes.observe(document.documentElement, { attributeFilter: ["class"] });
    }

    // what is asked

    #open() {
      CHARTS.hidden = false;
      this.ask();
    }

    #turn(name, x) {
      this.values[name] = x;
      this.touched = name;
      this.varied.textContent = `Family over ${name}`;
      this.ask();
    }

    restore() {
      this.load(this.start);
    }

    // Take values of some parameters, such as those of a design of the front.
    load(values) {
      this.values = { ...this.values, ...values };
      for (const knob of this.knobs) knob.set(this.values[knob.name]);
      this.ask();
    }

    ask() {
      this.front?.follow(this.values);
      return this.request(() => this.#fields());
    }

    // A family is asked for only when something else than its own parameter has changed.
    #fields() {
      const at = this.at.value === "cursor" ? this.player.time : null;
      const vary = this.vary.checked ? this.touched : null;
      const others = { ...this.values, [vary]: null };
      const pair = { input: this.input.value || null, output: this.output.value || null };
      this.asked = { at, vary, pair, family: JSON.stringify([vary, others, at]) };
      return { values: { ...this.values }, vary: this.asked.family === this.kept?.key ? null : vary, at, ...pair };
    }

    // Ask again about the cursor when it has moved.
    #follow(time) {
      if (this.at.value !== "cursor" || !this.asked || time === this.asked.at) return;
      this.timer ??= setTimeout(() => {
        this.timer = null;
        this.ask();
      }, this.player.playing ? PACE : 0);
    }

    // what is answered

    async #take(answer) {
      const { asked } = this;
      this.answer = answer;
      this.changed = !same(answer.values, this.start);
      if (answer.failure) {
        this.failed = true;
        this.live.say(answer.failure);
      } else {
        if (this.failed) this.live.say("");
        this.failed = false;
        await this.#move(answer);
      }
      await this.#compare(asked);
      await this.#gather(asked, answer.family);
      await this.#draw();
      if (this.controlled !== false) this.measure(() => ({ values: { ...this.answer.values }, at: this.asked.at }));
    }

    // Show the margins, which come later than the rest: the run does not wait for them.
    #measured(answer) {
      this.controlled = answer.controlled;
      this.margins.element.hidden = !answer.controlled;
      if (same(answer.values, this.start)) this.asRunMargins = answer;
      if (answer.controlled) this.margins.show(answer, this.asRunMargins && !same(answer.values, this.start) ? this.asRunMargins : null);
    }

    // Show the motion: over that of the run as it was, or that one alone when nothing is changed.
    async #move({ run, values }) {
      const { live, player } = this;
      const [first, second] = player.tracks;
      const ours = first.data === this.shown;
      if (ours && same(values, this.moved)) return;
      if (ours && this.changed && second?.data === this.asRun) await player.renew({ ...run, name: "design" });
      else {
        await player.load(this.changed ? [{ ...run, name: "design" }, this.asRun] : this.first);
        live.still = null;
      }
      this.shown = player.tracks[0].data;
      this.moved = values;
      live.runs = player.tracks.map((track) => track.data);
      await live.refresh();
    }

    // Have the linear model of the run as it was, about the same time and for the same pair.
    async #compare({ at, pair }) {
      const key = JSON.stringify([at, pair]);
      if (this.described.linear || this.reference?.key === key) return;
      if (!this.changed) this.reference = { key, loop: this.answer.loop };
      else {
        const answer = await this.live.ask("design", { values: this.start, vary: null, at, ...pair }).catch(() => null);
        this.reference = { key, loop: answer?.loop };
      }
    }

    // Have the family that was asked for, unpacked.
    async #gather({ vary, family: key }, found) {
      if (!vary) this.kept = null;
      if (!vary || this.kept?.key === key) return;
      this.kept = found && { key, family: { ...found, lines: await Promise.all(found.lines.map(unpacked)) } };
    }

    async #draw() {
      const { loop, failure } = this.answer;
      const family = this.kept?.family.lines.length ? this.kept.family : null;
      const reasons = [this.described.linear ?? loop?.failure ?? (loop ? null : failure), this.kept?.family.failure];
      this.why.textContent = reasons.filter(Boolean).join(" ");
      this.why.hidden = !this.why.textContent;
      const linear = Boolean(loop && !loop.failure);
      this.poles.element.hidden = !linear;
      this.response.element.hidden = !loop?.response;
      this.family.element.hidden = !family;
      const before = this.changed && !this.reference?.loop?.failure ? this.reference?.loop : null;
      if (linear) {
        const about = `about t = ${articulus.text(loop.t)} s${loop.period ? `, sampled every ${articulus.text(loop.period)} s` : ""}`;
        this.poles.show({ poles: loop.poles, reference: before?.poles ?? [], family, about });
        if (loop.response) this.response.show({ response: loop.response, reference: before?.response ?? null });
      }
      if (family) {
        const [now, asRun] = await Promise.all(this.player.tracks.map(async ({ t, signals }) => ({ t, q: await signals.get("q").load() })));
        this.family.show({ family, now, before: this.changed ? asRun : null });
      }
      this.drawn = this.answer;
    }
  };

  async function unpacked({ value, failure, t, q, poles }) {
    const [times, table] = await Promise.all([articulus.unpack(t), articulus.unpack(q)]);
    return { value, failure, t: times.values, q: table, poles };
  }
})();
