"use strict";
// Controllers designed from a form: their curves, the run with them, and what is taken along.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const PLOTS = document.getElementById("plots");
  const FIRST = "lqr";

  const button = (text, id, act, title = "") => {
    const element = make("button", { type: "button", id, title }, text);
    element.addEventListener("click", act);
    return element;
  };

  // Commands that have the same factor, as one.
  const together = (worst) => worst.reduce((list, w) => {
    const same = "gain" in w && list.find((x) => articulus.text(x.gain) === articulus.text(w.gain) && Math.abs(x.phase - w.phase) < 0.05);
    if (same) same.names.push(w.name);
    else list.push({ ...w, names: [w.name] });
    return list;
  }, []);

  // A field of a form: its key, its text, and what is wrong with it.
  class Entry {
    constructor({ key, kind, meaning, value }) {
      this.key = key;
      this.kind = kind;
      const flag = kind === "flag";
      this.input = make("input", flag ? { type: "checkbox", checked: value === "true" } : { type: "text", value, spellcheck: false, autocomplete: "off" });
      this.input.id = `control-${key}`;
      this.wrong = make("p", { className: "wrong", id: `control-${key}-wrong`, hidden: true });
      this.input.setAttribute("aria-describedby", this.wrong.id);
      this.element = make("div", { className: "entry-row" }, make("label", { htmlFor: this.input.id, title: meaning }, key, make("small", {}, meaning)), this.input, this.wrong);
    }

    get text() {
      return this.kind === "flag" ? String(this.input.checked) : this.input.value;
    }

    set text(value) {
      if (this.kind === "flag") this.input.checked = value === "true";
      else this.input.value = value;
    }

    blame(text) {
      this.wrong.textContent = text;
      this.wrong.hidden = !text;
      this.input.setAttribute("aria-invalid", String(Boolean(text)));
    }
  }

  // Boxes to check, folded, with how many are checked.
  class Choices {
    constructor(title, id, names, checked) {
      this.boxes = names.map(({ name, unit }) => {
        const box = make("input", { type: "checkbox", value: name, checked: checked.includes(name) });
        box.addEventListener("change", () => this.#tell());
        return make("label", {}, box, `${name} [${unit}]`);
      });
      this.title = title;
      this.head = make("summary", {});
      this.element = make("details", { className: "choices", id }, this.head, ...this.boxes);
      this.#tell();
    }

    #tell() {
      this.head.textContent = `${this.title}: ${this.names.length} of ${this.boxes.length}`;
    }

    get names() {
      return this.boxes.map((label) => label.firstChild).filter((box) => box.checked).map((box) => box.value);
    }

    set names(names) {
      for (const { firstChild: box } of this.boxes) box.checked = names.includes(box.value);
      this.#tell();
    }
  }

  articulus.ControlPanel = class {
    // described: see study/linear/desk.py.
    constructor(live, described) {
      live.control = this;
      this.live = live;
      this.player = live.player;
      this.described = described;
      this.texts = Object.fromEntries(described.methods.map(({ name, fields }) => [name, Object.fromEntries(fields.map((f) => [f.key, f.value]))]));
      this.asRun = { ...live.runs[0], name: "as run" };
      this.steps = []; // what was designed, for undo: {form, answer}
      this.at = -1;
      this.other = null; // B
      this.#build();
      this.#charts();
      live.tab("Control", this.element, { shown: () => this.#open(), left: () => this.#leave() });
    }

    #build() {
      const { methods, refused } = this.described;
      this.element = make("div", { id: "tab-control" });
      if (refused) {
        this.element.append(make("p", { className: "why" }, refused));
        return;
      }
      this.method = make("select", { id: "control-method" }, ...methods.map(({ name }) => new Option(name, name)));
      this.method.value = FIRST;
      this.method.addEventListener("change", () => this.#choose());
      this.meaning = make("p", { className: "hint" });
      this.fields = make("div", {});
      this.ports = make("div", {});
      this.period = new Entry({ key: "period", kind: "number", meaning: "sampling period [s]; continuous if empty", value: "" });
      this.status = make("p", { className: "why", role: "status" });
      this.undoButton = button("Undo", "control-undo", () => this.#go(this.at - 1), "The design before this one");
      this.redoButton = button("Redo", "control-redo", () => this.#go(this.at + 1), "The design after this one");
      this.keepButton = button("Keep as B", "control-keep", () => this.#keep(), "Compare what comes next with this design");
      this.swapButton = button("Swap A and B", "control-swap", () => this.#swap());
      const form = make("form", {},
        make("div", { className: "entry-row" }, make("label", { htmlFor: "control-method" }, "Method"), this.method), this.meaning, this.fields, this.period.element, this.ports,
        make("p", { className: "buttons" }, make("button", { type: "submit", id: "control-design", className: "main" }, "Design"), this.undoButton, this.redoButton),
        make("p", { className: "buttons" }, this.keepButton, this.swapButton));
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        this.design();
      });
      this.result = make("div", { id: "control-result" });
      this.element.append(make("section", {}, make("h2", {}, "Controller"), form, this.status), make("section", {}, make("h2", {}, "Result"), this.result), this.#uncertainty(), this.#takeAlong());
      this.#choose();
      this.#buttons();
    }

    #uncertainty() {
      const parts = [new Option("dynamics at the commands", ""), ...this.described.parameters.map((name) => new Option(`parameter ${name}`, name))];
      if (this.described.parameters.length > 1) parts.push(new Option("all parameters", "*"));
      this.unsure = make("select", { id: "control-unsure", "aria-label": "What is uncertain" }, ...parts);
      this.percent = make("input", { type: "number", id: "control-percent", min: 1, max: 999, step: "any", value: "20" });
      this.worst = make("p", { className: "readout", id: "control-worst" });
      this.muButton = button("Find the worst", "control-mu", () => this.#askMu());
      return make("section", {}, make("h2", {}, "Uncertainty"), make("div", { className: "entry-row" }, make("label", { htmlFor: "control-unsure" }, "In"), this.unsure),
        make("div", { className: "entry-row" }, make("label", { htmlFor: "control-percent" }, "Up to [%]"), this.percent), make("p", { className: "buttons" }, this.muButton), this.worst);
    }

    #takeAlong() {
      const text = (kind) => this.now.answer[kind];
      const copy = (kind) => async (event) => {
        const done = await articulus.copy(text(kind));
        event.target.textContent = done ? "Copied" : "Not copied";
        setTimeout(() => (event.target.textContent = `Copy ${kind === "toml" ? "TOML" : "Python"}`), 1500);
      };
      const save = (kind, ending) => () => articulus.save(new Blob([text(kind)], { type: "text/plain" }), `${this.now.form.method}.controller.${ending}`);
      this.out = [button("Save TOML", "control-toml", save("toml", "toml"), "A component that a study takes by file = ..."), button("Copy TOML", "control-copy-toml", copy("toml")),
        button("Save Python", "control-python", save("python", "py"), "The call that gives this controller"), button("Copy Python", "control-copy-python", copy("python"))];
      return make("section", { className: "grow" }, make("h2", {}, "Take it along"), make("p", { className: "buttons wrap" }, ...this.out));
    }

    #charts() {
      this.loop = new articulus.LoopChart();
      this.values = new articulus.LinesChart("values", "Singular values", "Singular values of plant, loop, sensitivity and complementary sensitivity over frequency", true);
      this.loci = new articulus.LociChart();
      this.locus = new articulus.PoleMap("locus", "Root locus");
      this.step = new articulus.LinesChart("step", "Step response", "A measured output after a unit step, over time", false);
      this.mu = new articulus.LinesChart("mu", "mu over frequency", "Bounds of the structured singular value over frequency", true);
      this.pair = new articulus.ResponseChart("pair", "Plant");
      const choose = (label, redraw) => {
        const select = make("select", { "aria-label": label });
        select.addEventListener("change", redraw);
        return select;
      };
      this.stepFrom = choose("Step of", () => this.#drawStep());
      this.stepTo = choose("Output after the step", () => this.#drawStep());
      this.pairFrom = choose("Input of the plant", () => this.#drawPair());
      this.pairTo = choose("Output of the plant", () => this.#drawPair());
      for (const [chart, ...selects] of [[this.step, this.stepFrom, this.stepTo], [this.pair, this.pairFrom, this.pairTo]]) {
        chart.element.insertBefore(make("div", { className: "ramp" }, ...selects), chart.canvas);
      }
      this.all = [this.loop, this.loci, this.values, this.step, this.locus, this.mu, this.pair];
      this.board = make("div", { id: "control-charts", hidden: true }, ...this.all.map((chart) => chart.element));
      for (const chart of this.all) {
        chart.element.hidden = true;
        const title = chart.head.firstChild.textContent;
        const save = button("SVG", "", () => articulus.save(new Blob([chart.svg()], { type: "image/svg+xml" }), `${title}.svg`), `Save the figure: ${title}`);
        save.className = "quiet";
        if (chart.tools) chart.tools.append(save);
        else chart.head.after(make("div", { className: "tools" }, save));
      }
      PLOTS.append(this.board);
      new MutationObserver(() => this.all.forEach((chart) => chart.redraw())).observe(document.documentElement, { attributeFilter: ["class"] });
    }

    get now() {
      return this.steps[this.at] ?? null;
    }

    // the form

    #choose() {
      const { fields, meaning } = this.described.methods.find(({ name }) => name === this.method.value);
      this.#keepTexts();
      this.meaning.textContent = meaning;
      this.entries = fields.map((field) => new Entry({ ...field, value: this.texts[this.method.value][field.key] || (field.key === "Q" && this.plant?.weights) || field.value }));
      this.entriesOf = this.method.value;
      this.fields.replaceChildren(...this.entries.map((e) => e.element));
    }

    #keepTexts() {
      for (const entry of this.entries ?? []) this.texts[this.entriesOf][entry.key] = entry.text;
    }

    get form() {
      const texts = Object.fromEntries(this.entries.map((e) => [e.key, e.text]));
      return { at: null, method: this.method.value, commands: this.commands.names, measured: this.measured.names, arguments: texts, period: this.period.text };
    }

    set form(form) {
      this.#keepTexts();
      this.texts[form.method] = { ...form.arguments };
      this.entries = [];
      this.method.value = form.method;
      this.#choose();
      this.commands.names = form.commands;
      this.measured.names = form.measured;
      this.period.text = form.period;
    }

    // what is asked

    async #open() {
      document.body.classList.add("designing");
      this.board.hidden = false;
      this.all.forEach((chart) => chart.redraw());
      if (this.plant || this.described.refused) return;
      this.#say("The plant is linearized ...");
      const plant = await this.live.ask("plant", { at: null }).catch((error) => this.#say(error.message));
      if (!plant) return;
      this.plant = plant;
      this.commands = new Choices("Commands", "control-commands", plant.commands, plant.commands.map(({ name }) => name));
      this.measured = new Choices("Measured", "control-measured", plant.outputs, plant.measured);
      this.ports.replaceChildren(this.commands.element, this.measured.element);
      this.#keepTexts();
      for (const texts of Object.values(this.texts)) if (texts.Q === "") texts.Q = plant.weights;
      this.entries = [];
      this.#choose();
      const fill = (select, names) => select.replaceChildren(...names.map((name, k) => new Option(name, String(k))));
      fill(this.pairFrom, plant.pairs.inputs);
      fill(this.pairTo, plant.pairs.outputs);
      this.#drawPair();
      this.#say([`Plant about t = ${articulus.text(plant.t)} s: ${plant.states.length} states.`, ...plant.notes].join(" "));
    }

    #leave() {
      document.body.classList.remove("designing");
      this.board.hidden = true;
    }

    #say(text) {
      this.status.textContent = text;
      this.status.hidden = !text;
    }

    async design() {
      if (!this.plant || this.busy) return;
      const { form } = this;
      this.busy = true;
      this.#say("A controller is designed ...");
      const answer = await this.live.ask("control", { form }).catch((error) => this.#say(error.message));
      this.busy = false;
      if (!answer) return;
      for (const entry of [...this.entries, this.period]) entry.blame(answer.findings.filter((f) => f.key === entry.key).map((f) => f.text).join(" "));
      const blamed = answer.findings.filter((f) => ![...this.entries, this.period].some((e) => e.key === f.key)).map((f) => f.text);
      if (!answer.curves) return this.#say(blamed.join(" ") || answer.failure);
      this.steps = [...this.steps.slice(0, this.at + 1), { form, answer }];
      await this.#go(this.steps.length - 1);
    }

    async #go(k) {
      if (!this.steps[k]) return;
      this.at = k;
      this.form = this.now.form;
      for (const entry of this.entries) entry.blame("");
      this.mu.element.hidden = !this.now.mu;
      this.worst.textContent = "";
      this.#show();
      await this.#move();
    }

    async #keep() {
      this.other = this.now;
      this.#show();
      await this.#move();
    }

    async #swap() {
      const before = this.other;
      this.other = this.now;
      this.steps = [...this.steps.slice(0, this.at + 1), before];
      await this.#go(this.steps.length - 1);
    }

    async #askMu() {
      if (!this.now) return;
      const { now } = this;
      const chosen = this.unsure.value;
      const parameters = chosen === "*" ? this.described.parameters : chosen ? [chosen] : [];
      this.worst.textContent = "mu is computed ...";
      const answer = await this.live.ask("mu", { number: now.answer.number, percent: this.percent.valueAsNumber || 0, parameters }).catch((error) => ({ error: error.message }));
      if (answer.error) return (this.worst.textContent = answer.error);
      now.mu = { ...answer, percent: this.percent.valueAsNumber };
      if (now === this.now) this.#drawMu();
    }

    // what is shown

    #buttons() {
      this.undoButton.disabled = this.at < 1;
      this.redoButton.disabled = this.at + 1 >= this.steps.length;
      this.keepButton.disabled = !this.now || this.other === this.now;
      this.swapButton.disabled = !this.other || !this.now || this.other === this.now;
      for (const b of [this.muButton, ...this.out]) b.disabled = !this.now;
    }

    get before() {
      return this.other && this.other !== this.now ? this.other.answer.curves : null;
    }

    #show() {
      const { answer, form } = this.now;
      const { curves } = answer;
      this.#buttons();
      const compared = this.before ? ` B: ${this.other.form.method}, dashed.` : "";
      this.#say([answer.failure ?? `A: ${form.method}, ${curves.stable ? "stable" : "UNSTABLE"}.${compared}`, ...answer.notes, answer.run_failure ?? ""].filter(Boolean).join(" "));
      const checks = answer.checks.map((c) => make("tr", {}, make("th", { scope: "row" }, c.what), make("td", {}, articulus.text(c.found ?? Infinity)), make("td", { className: c.passed ? "" : "poor" }, c.passed ? "ok" : "fails")));
      this.result.replaceChildren(...answer.summary.map((line) => make("p", { className: "hint" }, line)), make("table", { className: "margins" }, make("tbody", {}, ...checks)));
      for (const chart of this.all) if (chart !== this.mu && chart !== this.pair) chart.element.hidden = false;
      this.loop.show({ channels: curves.channels, before: this.before?.channels ?? null });
      this.loci.show({ loci: curves.loci, before: this.before?.loci ?? null, disk: curves.stable ? curves.all.disk : null, stable: curves.stable });
      this.#drawValues();
      const factor = `gain × ${articulus.text(curves.locus.gain[0])} … ${articulus.text(curves.locus.gain.at(-1))}`;
      this.locus.show({ poles: curves.poles, reference: this.before?.poles ?? [], family: null, locus: curves.locus, about: factor });
      const names = (select, list) => {
        const chosen = Math.max(0, select.selectedIndex);
        select.replaceChildren(...list.map((name, k) => new Option(name, String(k))));
        select.selectedIndex = chosen < list.length ? chosen : 0;
      };
      names(this.stepFrom, curves.steps.inputs);
      names(this.stepTo, curves.steps.outputs);
      this.#drawStep();
      if (this.now.mu) this.#drawMu();
    }

    #drawValues() {
      const kinds = [["plant", "plant", "series-7", 1.2], ["loop", "loop", "series-0", 1.8], ["sensitivity", "S", "series-3", 1.8], ["complementary", "T", "series-2", 1.8]];
      const of = ({ values }, dash) => kinds.flatMap(([key, name, color, width]) => values[key].map((column, k) => (
        { name: values[key].length > 1 ? `${name} σ${k + 1}` : name, x: values.omega, values: column, color, dash, width: dash ? 1.1 : width })));
      const curves = [...(this.before ? of(this.before, [5, 3]) : []), ...of(this.now.answer.curves)];
      this.values.show({ curves, levels: [{ at: 1, text: "1" }], about: "plant, loop, S, T", unit: "-", note: "violet: plant · blue: loop · red: sensitivity · green: complementary sensitivity" });
    }

    #drawStep() {
      const [j, i] = [this.stepFrom.selectedIndex, this.stepTo.selectedIndex];
      const of = ({ steps }, name, color, dash) => (steps.values[i]?.[j] ? [{ name, x: steps.t, values: steps.values[i][j], color, dash }] : []);
      const { steps } = this.now.answer.curves;
      const curves = [...(this.before ? of(this.before, "B", "soft", [5, 3]) : []), ...of(this.now.answer.curves, "A", "series-0")];
      if (!curves.length) return;
      const last = steps.values[i][j].at(-1);
      const isReference = steps.inputs[j] === `reference of ${steps.outputs[i]}`;
      this.step.show({ curves, levels: isReference ? [{ at: 1, text: "asked" }] : [], about: "of the linear loop", unit: steps.units[i], note: last === null ? "" : `at ${articulus.text(steps.t.at(-1))} s: ${articulus.text(last)}` });
    }

    #drawPair() {
      const { pairs } = this.plant;
      const [j, i] = [this.pairFrom.selectedIndex, this.pairTo.selectedIndex];
      const unit = `${pairs.output_units[i]} per ${pairs.input_units[j]}`;
      this.pair.element.hidden = false;
      this.pair.show({ response: { input: pairs.inputs[j], output: pairs.outputs[i], unit, omega: pairs.omega, magnitude: pairs.magnitude[i][j], phase: pairs.phase[i][j] }, reference: null });
    }

    #drawMu() {
      const { mu } = this.now;
      this.mu.element.hidden = false;
      const reach = mu.everywhere ? "at all frequencies" : "on the grid only";
      const curves = [{ name: "upper bound", x: mu.omega, values: mu.upper, color: "series-0" }, { name: "lower bound", x: mu.omega, values: mu.lower, color: "series-3", dash: [5, 3] }];
      this.mu.show({ curves, levels: [{ at: 1, text: "1: stability is lost" }], about: `${articulus.text(mu.percent)} %`, unit: "-", reach: [1e-3, 1e3], note: `at most ${articulus.text(mu.peak)} ${reach}` });
      const factor = (w) => ("gain" in w ? `gain × ${articulus.text(w.gain)}, phase ${articulus.fixed(w.phase, 1)}° at ${w.names.join(", ")}` : `${w.name} = ${articulus.text(w.value)}${w.unit ? ` ${w.unit}` : ""} (range ${articulus.text(w.low)} to ${articulus.text(w.high)})`);
      const verdict = mu.peak < 1 ? `Stable for all of it; it may be ${articulus.text(1 / mu.peak)} times as large.` : "Not shown to be stable for all of it.";
      const found = mu.size === null ? "None that destabilizes was found." : `The worst, ${articulus.text(mu.size)} times as large${mu.at === null ? "" : `, at ω ${articulus.text(mu.at)} rad/s`}: ${together(mu.worst).map(factor).join("; ")}.`;
      this.worst.textContent = `${verdict} ${found}`;
    }

    // Play the run with this controller, over that of B and the run as it was.
    async #move() {
      const { answer } = this.now;
      const runs = [answer.run && { ...answer.run, name: "A" }, this.before && this.other.answer.run && { ...this.other.answer.run, name: "B" }, this.asRun].filter(Boolean);
      await this.live.load(runs);
      this.live.runs = runs;
      this.shown = this.now;
    }
  };
})();
