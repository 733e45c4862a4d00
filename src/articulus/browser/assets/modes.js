"use strict";
// Natural modes about the position that is shown, each played in a loop.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;

  articulus.ModesPanel = class {
    constructor(live) {
      this.live = live;
      this.flexible = live.runs[0].scene.bodies.some((b) => b.flexible);
      this.list = make("ul", { id: "modes", "aria-label": "Natural modes" });
      this.locked = make("input", { type: "checkbox", id: "locked", checked: this.flexible });
      this.amplitude = make("input", { type: "range", id: "amplitude", min: 0.01, max: 0.25, step: 0.005, value: 0.08, "aria-label": "Amplitude" });
      this.hint = make("p", { className: "hint" }, "");
      this.find = make("button", { type: "button", id: "find-modes" }, "Find modes");
      this.back = make("button", { type: "button", id: "back", hidden: true }, "Back");
      const options = make("div", {});
      if (this.flexible) options.append(make("label", {}, this.locked, "Joints locked"));
      options.append(make("label", { className: "row" }, "Amplitude", this.amplitude));
      const element = make("div", { id: "tab-modes" },
        make("section", {}, make("h2", {}, "Natural modes"),
          make("p", { className: "hint" }, "Small vibrations about the position shown, held at rest by constant joint forces, without damping."),
          options, make("p", { className: "buttons" }, this.find, this.back)),
        make("section", { className: "grow" }, this.hint, this.list));
      this.find.addEventListener("click", () => this.ask());
      this.back.addEventListener("click", () => this.leave());
      this.amplitude.addEventListener("input", () => this.chosen !== undefined && this.play(this.chosen));
      this.locked.addEventListener("change", () => this.q && this.ask());
      this.request = live.latest("mode", (answer) => this.#take(answer));
      live.tab("Modes", element, { left: () => this.playing && this.leave() });
    }

    async ask() {
      this.q = this.playing ? this.q : this.live.q;
      this.hint.textContent = "…";
      try {
        const { modes } = await this.live.ask("modes", { q: this.q, locked: this.flexible && this.locked.checked });
        this.#fill(modes);
      } catch {
        this.hint.textContent = "";
      }
    }

    #fill(modes) {
      this.modes = modes;
      this.chosen = undefined;
      this.hint.textContent = modes.length ? "" : "Nothing can move.";
      this.list.replaceChildren(...modes.map((mode, k) => {
        const value = { vibration: `${articulus.text(mode.value)} Hz`, free: "free", unstable: `unstable, ${articulus.text(mode.value)} /s` }[mode.kind];
        const button = make("button", { type: "button", className: "entry", "aria-pressed": "false" }, `${k + 1}`, make("b", {}, value));
        button.addEventListener("click", () => this.play(k));
        return make("li", {}, button);
      }));
    }

    play(k) {
      this.chosen = k;
      [...this.list.querySelectorAll("button")].forEach((b, i) => b.setAttribute("aria-pressed", String(i === k)));
      const locked = this.flexible && this.locked.checked;
      this.request({ q: this.q, locked, number: k, amplitude: Number(this.amplitude.value) });
    }

    async #take({ run }) {
      if (this.chosen === undefined) return; // left while it was awaited
      this.playing = true;
      this.back.hidden = false;
      const { player } = this.live;
      this.time ??= player.time;
      await this.live.load([run]);
      this.live.still = this.q;
      const mode = this.modes[this.chosen];
      this.live.say(mode.kind === "vibration" ? `Mode ${this.chosen + 1}: ${articulus.text(mode.value)} Hz, shown slowly` : "");
      document.getElementById("loop").checked = true;
      player.toggle(true);
    }

    // Show again what was shown before.
    async leave() {
      this.playing = false;
      this.back.hidden = true;
      this.chosen = undefined;
      this.live.say("");
      this.live.still = null;
      this.live.player.toggle(false);
      await this.live.load(this.live.runs);
      this.live.player.seek(this.time);
      this.time = undefined;
      this.list.querySelectorAll("button").forEach((b) => b.setAttribute("aria-pressed", "false"));
    }
  };
})();
