"use strict";
// The page on which a model is built: its parts as a list, the form of one of them, the text of the file, what is wrong.
// The program holds the text; whatever is done here is sent as a change of it and comes back as a state.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const $ = (id) => document.getElementById(id);
  const { make, save, remarkText } = articulus;
  const { quote, number } = articulus.toml;
  const KINDS = [
    ["body", "Bodies"], ["joint", "Joints"], ["frame", "Frames"], ["loop", "Loops"], ["constraint", "Constraints"], ["coupling", "Couplings"], ["component", "Components"],
  ];
  const MANY = 5000; // lines beyond which their numbers are one text
  const REST = 500; // time without a key after which a typed text is sent [ms]

  articulus.BuildPanel = class {
    constructor(live, told, pose) {
      Object.assign(this, { live, told, pose });
      this.player = live.player;
      this.number = -1;
      this.part = "";
      this.mode = "";
      this.draft = new articulus.Draft(told.name);
      this.handles = new articulus.Handles(this.player, {
        moved: (x) => live.say(`${this.part}: ${x.map(articulus.text).join(", ")}`),
        done: (key, value) => this.tell([{ op: "numbers", table: this.part, key, value }], `moving ${this.part}`),
      });
    }

    async open() {
      const { schema } = await this.live.ask("schema", {});
      this.schema = new articulus.Schema(schema);
      this.form = new articulus.PartForm({
        schema: this.schema,
        tell: (edits, what) => this.tell(edits, what),
        choose: (part) => this.choose(part),
        drag: (mode) => this.drag(mode),
      });
      this.#page();
      this.live.heard.set("changed", (state) => (state.parts ? this.take(state) : state.number !== this.number && this.ask("state")));
      this.live.returned.push(() => (this.text.value === this.state.text ? this.ask("state") : this.#typed()));
      const state = await this.live.ask("state", {});
      const draft = this.draft.find(state.text);
      await this.take(state);
      if (draft) this.#offer(draft);
    }

    // the page

    #page() {
      document.body.classList.add("building");
      this.list = make("div", { id: "parts" });
      const element = make("div", { id: "tab-build" }, this.list);
      this.live.tab("Build", element);
      const tabs = $("tabs");
      tabs.prepend(tabs.lastElementChild);
      tabs.firstElementChild.click();
      const button = (id, text, title, done) => {
        const b = make("button", { type: "button", id, title }, text);
        b.addEventListener("click", done);
        return b;
      };
      this.undo = button("undo", "Undo", "Take the last change back (Ctrl+Z)", () => this.ask("undo"));
      this.redo = button("redo", "Redo", "Do it again (Ctrl+Y)", () => this.ask("redo"));
      this.saving = button("save", "Save", "Write the file (Ctrl+S)", () => this.save());
      const down = button("download", "Download", "Keep the text as a file of this browser", () => save(new Blob([this.text.value], { type: "application/toml" }), this.told.name));
      this.saving.hidden = !this.told.file;
      this.seconds = make("input", { type: "number", id: "seconds", min: 0.1, max: 60, step: "any", value: 5, "aria-label": "Length of the run in seconds" });
      this.going = button("run", "Let go", "Simulate it from the position that is shown", () => this.run());
      const back = button("back-to-building", "Back to building", "Show the forms again", () => this.stop());
      $("plots").prepend(back);
      this.note = make("p", { id: "saved", role: "status" });
      this.offer = make("div", { id: "offer", role: "alert", hidden: true });
      this.fault = make("p", { id: "fault", className: "wrong", role: "alert", hidden: true });
      this.remarks = make("ul", { id: "remarks", "aria-label": "What is wrong" });
      this.gutter = make("div", { id: "gutter", "aria-hidden": "true" });
      this.text = make("textarea", { id: "toml", spellcheck: false, wrap: "off", "aria-label": "Text of the file" });
      this.text.addEventListener("input", () => this.#typing());
      this.text.addEventListener("scroll", () => (this.gutter.scrollTop = this.text.scrollTop));
      const sheet = make("details", { id: "sheet", open: true }, make("summary", {}, this.told.name), make("div", { id: "lines" }, this.gutter, this.text));
      $("stage").after(make("section", { id: "build", "aria-label": "Build" },
        make("div", { className: "build-head" }, this.undo, this.redo, this.note, down, this.saving), make("div", { className: "build-head" }, this.going, make("label", { className: "row" }, "for", this.seconds, "s")), this.offer, this.fault, this.form.element, this.remarks, sheet));
      this.dialog = make("dialog", { id: "adding", "aria-label": "Add a part" });
      document.body.append(this.dialog);
      this.#keys();
      this.#pick();
    }

    #keys() {
      addEventListener("keydown", (event) => {
        if (!(event.ctrlKey || event.metaKey)) return;
        const key = event.key.toLowerCase();
        const writing = event.target.matches("input, textarea");
        const action = { s: () => this.save(), ...(writing ? {} : { z: () => this.ask(event.shiftKey ? "redo" : "undo"), y: () => this.ask("redo") }) }[key];
        if (!action) return;
        event.preventDefault();
        action();
      });
    }

    // A press on a body in the picture shows its form.
    #pick() {
      const canvas = $("view");
      let down = null;
      canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
      canvas.addEventListener("pointerup", (event) => {
        if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4 || this.handles.dragging || this.player.views.measuring) return;
        const hit = this.player.views.under(event);
        if (hit && `body.${hit.body}` in (this.state?.parts ?? {})) this.choose(`body.${hit.body}`);
      });
    }

    // talking to the program

    // Ask for a change; return whether it was made. Why it was not stands above the form.
    async ask(what, fields = {}) {
      try {
        await this.take(await this.live.ask(what, fields));
        return true;
      } catch (error) {
        this.live.say("");
        this.fault.hidden = false;
        this.fault.textContent = error.message;
        if (this.state) this.#show();
        return false;
      }
    }

    // Simulate what has been built, and show the run with its plots in place of the forms.
    async run() {
      this.live.say("It is simulated ...");
      try {
        const { run } = await this.live.ask("run", { q: this.live.q, seconds: Number(this.seconds.value) });
        this.handles.hold(null);
        document.body.classList.add("ran");
        this.live.posed = null;
        await this.live.load([run]);
        this.player.highlight("");
        this.player.views.look("iso");
        this.live.say(run.status === "complete" ? "" : `The run ended early: ${run.status}`);
        this.player.seek(0);
        this.player.toggle(true);
      } catch (error) {
        this.live.say("");
        this.fault.hidden = false;
        this.fault.textContent = error.message;
      }
    }

    async stop() {
      this.player.toggle(false);
      document.body.classList.remove("ran");
      this.looked = false;
      $("tabs").firstElementChild.click();
      await this.ask("state");
    }

    tell(edits, what) {
      return this.ask("edit", { edits, what });
    }

    async save(force = false) {
      if (!this.told.file) return;
      clearTimeout(this.timer);
      if (this.text.value !== this.state.text && !(await this.ask("text", { text: this.text.value }))) return;
      if ((await this.ask("save", { force })) || force || !this.fault.textContent.includes("another program")) return;
      const answer = (text, done) => {
        const button = make("button", { type: "button" }, text);
        button.addEventListener("click", done);
        return button;
      };
      this.fault.append(" ", answer("Save over it", () => this.save(true)), " ", answer("Load the file", () => this.ask("reload")));
    }

    // Take a state over; an older one than that shown comes too late.
    async take(state) {
      if (state.number < this.number) return;
      this.number = state.number;
      this.state = state.parts ? state : { ...state, parts: this.state?.parts ?? { "": { keys: {} } } };
      this.broken = !state.parts;
      this.fault.hidden = true;
      if (!(this.part in this.state.parts)) this.part = "";
      this.draft.keep(state.text, state.saved);
      if (state.run && !document.body.classList.contains("ran")) await this.#scene(state);
      this.#show();
    }

    async #scene(state) {
      const { player, live } = this;
      live.posed = live.values = null;
      live.still = state.q;
      const size = player.tracks[0].data.scene.size;
      await player.load([state.run]);
      const { stage } = player;
      if (!this.looked || Math.abs(Math.log(state.run.scene.size / size)) > 0.3) {
        this.looked = true;
        player.views.look("iso");
      }
      stage.size = state.run.scene.size;
      this.handed = state.handles;
      this.pose.renew(state.freedoms);
    }

    // showing it

    #show() {
      const { state } = this;
      const wrong = state.remarks.filter((r) => r.serious).length;
      if (!document.body.classList.contains("ran")) this.live.say(!state.run && wrong ? `${wrong} ${wrong === 1 ? "mistake" : "mistakes"}: the picture is older than the text` : "");
      this.undo.disabled = !state.undo;
      this.redo.disabled = !state.redo;
      this.undo.title = state.undo ? `Take back ${state.undo} (Ctrl+Z)` : "There is nothing to take back";
      this.redo.title = state.redo ? `Do again ${state.redo} (Ctrl+Y)` : "There is nothing to do again";
      this.note.textContent = state.saved ? "saved" : this.told.file ? "not saved" : "";
      this.#list();
      this.form.element.inert = this.broken;
      this.form.show(state, this.part, state.run ? this.handed?.[this.part] : null, this.mode);
      this.#found();
      this.#lines();
      this.going.disabled = !state.run;
      if (document.body.classList.contains("ran")) return;
      this.handles.hold(state.run ? this.handed?.[this.part] : null, this.mode);
      this.player.highlight(this.part.startsWith("body.") ? this.part.slice(5) : "");
    }

    #list() {
      const names = Object.keys(this.state.parts);
      const entry = (part, text) => {
        const count = this.state.remarks.filter((r) => r.part === part).length;
        const button = make("button", { type: "button", className: "entry", "aria-pressed": String(part === this.part) }, make("span", { className: "name" }, text));
        if (count) button.append(make("span", { className: "count", title: `${count} findings` }, String(count)));
        button.addEventListener("click", () => this.choose(part));
        return make("li", {}, button);
      };
      const parts = [make("ul", {}, entry("", "Model"), ...("parameters" in this.state.parts ? [entry("parameters", "Parameters")] : []))];
      for (const [kind, title] of KINDS) {
        const mine = names.filter((n) => n.startsWith(`${kind}.`));
        const add = make("button", { type: "button", className: "quiet", "aria-label": `Add ${kind === "body" ? "a body with its joint" : `a ${kind}`}`, disabled: this.broken }, "+");
        add.addEventListener("click", () => this.#adding(kind));
        parts.push(make("div", { className: "list-head" }, make("h2", {}, title), add), make("ul", {}, ...mine.map((n) => entry(n, n.slice(kind.length + 1)))));
      }
      const held = this.list.contains(document.activeElement) ? document.activeElement.textContent : null;
      this.list.replaceChildren(...parts);
      if (held) [...this.list.querySelectorAll("button")].find((b) => b.textContent === held)?.focus();
    }

    #found() {
      const entry = (r) => {
        const button = make("button", { type: "button", className: r.serious ? "wrong" : "doubt" }, `${r.line ? `line ${r.line} · ` : ""}${remarkText(r)}`);
        button.addEventListener("click", () => {
          if (r.part in this.state.parts) this.choose(r.part);
          if (r.line) this.#reveal(r.line);
        });
        return make("li", {}, button);
      };
      this.remarks.replaceChildren(...this.state.remarks.filter((r) => r.part !== this.part || this.broken).map(entry));
    }

    #lines() {
      const { text, remarks } = this.state;
      if (this.text.value !== text && !(document.activeElement === this.text && this.timer)) {
        const { scrollTop, selectionStart } = this.text;
        this.text.value = text;
        this.text.scrollTop = scrollTop;
        this.text.setSelectionRange(selectionStart, selectionStart);
      }
      const bad = new Set(remarks.filter((r) => r.serious).map((r) => r.line));
      const count = this.text.value.split("\n").length;
      const numbers = Array.from({ length: count }, (_, k) => k + 1);
      if (count > MANY) this.gutter.textContent = numbers.join("\n");
      else this.gutter.replaceChildren(...numbers.map((k) => make("span", bad.has(k) ? { className: "bad" } : {}, String(k))));
      this.gutter.scrollTop = this.text.scrollTop;
    }

    // Scroll the text to a line.
    #reveal(line) {
      this.text.scrollTop = Math.max(0, (line - 3) * parseFloat(getComputedStyle(this.text).lineHeight));
    }

    choose(part) {
      if (!(part in this.state.parts)) return;
      if (document.body.classList.contains("ran")) this.stop();
      if (part !== this.part) this.mode = "";
      this.part = part;
      this.#show();
      this.#reveal(this.state.parts[part].line ?? 1);
      $("side").classList.remove("open");
    }

    drag(mode) {
      this.mode = mode;
      this.#show();
    }

    // the text

    #typing() {
      this.draft.keep(this.text.value, false);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.#typed(), REST);
    }

    async #typed() {
      const text = this.text.value;
      if (!document.body.classList.contains("parted")) await this.ask("text", { text });
      if (this.text.value === text) this.timer = null;
    }

    // Offer the draft of an earlier page.
    #offer(draft) {
      const answer = (text, done) => {
        const button = make("button", { type: "button" }, text);
        button.addEventListener("click", () => {
          this.offer.hidden = true;
          this.draft.settle();
          done();
        });
        return button;
      };
      this.offer.hidden = false;
      this.offer.replaceChildren(`This browser holds a draft of ${new Date(draft.at).toLocaleString()} that the program does not have.`,
        answer("Restore", () => this.ask("text", { text: draft.text })), answer("Discard", () => this.draft.keep(this.state.text, this.state.saved)));
    }

    // adding

    #free(kind, name = kind) {
      for (let k = 1; ; k++) if (!(`${kind}.${name}${k}` in this.state.parts)) return `${name}${k}`;
    }

    #adding(kind) {
      const rows = this.#questions(kind);
      const form = make("form", { method: "dialog" }, make("h2", {}, `Add a ${kind}`));
      for (const [label, control] of rows) form.append(make("label", { className: "row" }, make("span", {}, label), control));
      const add = make("button", { type: "submit", value: "add" }, "Add");
      form.append(make("div", { className: "buttons" }, add, make("button", { type: "submit", value: "", formNoValidate: true }, "Cancel")));
      this.dialog.replaceChildren(form);
      this.dialog.returnValue = "";
      this.dialog.onclose = () => this.dialog.returnValue === "add" && this.#add(kind, Object.fromEntries(rows.map(([label, control]) => [label, control.value.trim()])));
      this.dialog.showModal();
    }

    // Return what is asked for a new part: label and input.
    #questions(kind) {
      const of = (...kinds) => Object.keys(this.state.parts).filter((p) => kinds.some((k) => p.startsWith(`${k}.`))).map((p) => p.slice(p.indexOf(".") + 1));
      const select = (names, value) => {
        const s = make("select", {}, ...names.map((n) => new Option(n, n)));
        if (names.includes(value)) s.value = value;
        return s;
      };
      const text = (value) => make("input", { type: "text", value, required: true, autocomplete: "off" });
      const chosen = this.part.startsWith("body.") ? this.part.slice(5) : "";
      const bodies = ["ground", ...of("body")];
      const types = [...this.schema.types(kind).keys()];
      const name = ["name", text(kind === "coupling" ? of("joint")[0] ?? "" : this.#free(kind))];
      if (kind === "body") {
        const joints = [...this.schema.types("joint").keys()];
        return [name, ["hangs on", select(bodies, chosen || bodies.at(-1))], ["by a joint of type", select(joints, "revolute")], ["joint at x, y, z [m]", text("0, 0, 0")], ["mass [kg]", text("1")], ["length along z [m]", text("0.5")]];
      }
      if (kind === "frame") return [name, ["body", select(bodies, chosen)], ["at x, y, z [m]", text("0, 0, 0")]];
      if (kind === "joint" || kind === "loop") return [name, ["type", select(types, "revolute")], ["parent", select(bodies, chosen)], ["child", select(of("body"), "")]];
      if (kind === "coupling") return [["name", select(of("joint"), "")], ["joint", select(of("joint"), of("joint")[1] ?? "")]];
      return [name, ...(types.length ? [["type", select(types, "")]] : [])];
    }

    #add(kind, given) {
      const { name } = given;
      const vector = (typed) => `[${typed.split(/[\s,;]+/).filter(Boolean).map(number).join(", ")}]`;
      const edits = [];
      if (kind === "body") edits.push(...this.#rod(given, vector));
      else {
        const entries = {};
        for (const [key, value] of Object.entries(given)) {
          if (key.startsWith("at ")) entries.at = vector(value);
          else if (key !== "name") entries[key] = quote(value);
        }
        edits.push({ op: "add", table: `${kind}.${name}`, entries });
      }
      const before = this.part;
      this.tell(edits, `adding ${kind} ${name}`).then((good) => this.choose(good ? `${kind}.${name}` : before));
    }

    // A slender rod along z, and the joint by which it hangs.
    #rod({ name, "hangs on": parent, "by a joint of type": type, "joint at x, y, z [m]": at, "mass [kg]": mass, "length along z [m]": length }, vector) {
      const [m, l] = [mass, length].map(Number);
      const round = (x) => String(Number(x.toPrecision(4)));
      const across = round((m * l * l) / 12 + (m * (l / 20) ** 2) / 4);
      const along = round((m * (l / 20) ** 2) / 2);
      let joint = `${name}_joint`;
      if (`joint.${joint}` in this.state.parts) joint = this.#free("joint", `${joint}_`);
      const where = vector(at);
      const turns = "axis" in this.schema.keys("joint", type).properties;
      return [
        { op: "add", table: `body.${name}`, entries: { mass: number(mass), com: `[0, 0, ${round(l / 2)}]`, inertia: `[${across}, ${across}, ${along}]` } },
        { op: "add", table: `joint.${joint}`, entries: { type: quote(type), parent: quote(parent), child: quote(name), ...(where === "[0, 0, 0]" ? {} : { at: where }), ...(turns ? { axis: "[0, 1, 0]" } : {}) } },
      ];
    }
  };
})();
