"use strict";
// Joints on sliders, and a frame that can be dragged: forward and inverse kinematics by hand.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const DEGREES = 180 / Math.PI;

  articulus.PosePanel = class {
    constructor(live) {
      this.live = live;
      this.player = live.player;
      this.element = make("div", { id: "tab-pose" });
      this.list = make("div", { className: "sliders" });
      this.put(live.told.freedoms);
      const reset = make("button", { type: "button", id: "pose-reset" }, "As at the start");
      reset.addEventListener("click", () => this.reset());
      this.element.append(
        make("section", {}, make("h2", {}, "Drag a frame"), this.#grip()),
        make("section", { className: "grow" }, make("h2", {}, "Joints"), this.list, make("p", { className: "hint" }, reset)),
      );
      live.tab("Pose", this.element, { shown: () => this.#attach(), left: () => this.#detach() });
      this.player.watchers.push(() => this.follow());
      this.move = live.latest("move", (answer) => this.#take(answer));
      this.reach = live.latest("reach", (answer) => this.#take(answer));
      this.follow();
    }

    // Show sliders for the degrees of freedom of another mechanism.
    put(freedoms) {
      this.sliders = freedoms.map((freedom, k) => this.#slider(freedom, k));
      this.list.replaceChildren(...this.#grouped());
    }

    // The mechanism has changed: its joints and its frames.
    renew(freedoms) {
      this.put(freedoms);
      const before = this.frame.value;
      const names = this.#names();
      this.frame.replaceChildren(new Option("none", ""), ...names.map((n) => new Option(n, n)));
      this.frame.value = names.includes(before) ? before : "";
      if (!this.element.hidden) this.#attach();
    }

    #names() {
      const { scene } = this.player.tracks[0].data;
      return [...scene.frames.map((f) => f.name), ...scene.bodies.map((b) => b.name).reverse()];
    }

    #take(answer) {
      this.live.pose(answer);
      this.follow();
    }

    reset() {
      this.live.posed = null;
      this.player.seek(this.player.span[0]);
      this.live.say("");
      this.follow();
    }

    // sliders

    #slider(freedom, k) {
      const turns = freedom.unit === "rad";
      const input = make("input", { type: "range", min: freedom.low, max: freedom.high, step: "any", value: 0, "aria-label": freedom.name });
      const output = make("output", {});
      const spin = freedom.place < 0;
      let before = 0;
      input.addEventListener("input", () => {
        this.player.toggle(false);
        this.move(() => {
          const q = this.live.q;
          const now = Number(input.value);
          const by = spin ? now - before : now - q[freedom.place];
          before = now;
          return { q, freedom: k, by };
        });
        output.textContent = this.#text(Number(input.value), turns, freedom.unit);
      });
      if (spin) {
        input.addEventListener("change", () => {
          before = 0;
          input.value = "0";
        });
      }
      input.addEventListener("pointerenter", () => this.player.highlight(this.#body(freedom)));
      input.addEventListener("pointerleave", () => this.player.highlight(""));
      const line = make("label", { className: "slider", title: spin ? `${freedom.name}: turns on from where it is` : freedom.name },
        make("span", { className: "name" }, freedom.name), output, input);
      return { freedom, input, output, line, turns, spin };
    }

    #grouped() {
      const rigid = this.sliders.filter((s) => s.freedom.joint).map((s) => s.line);
      const modes = this.sliders.filter((s) => !s.freedom.joint).map((s) => s.line);
      return modes.length ? [...rigid, make("h2", {}, "Deformations"), ...modes] : rigid;
    }

    #body({ joint, name }) {
      const body = this.player.tracks[0].data.scene.bodies.find((b) => b.joint === joint || (!joint && name.startsWith(`${b.name}.`)));
      return body?.name ?? "";
    }

    #text(x, turns, unit) {
      return turns ? `${articulus.fixed(x * DEGREES, 1)}°` : `${articulus.text(x)}${unit ? ` ${unit}` : ""}`;
    }

    // Put every slider where the mechanism is.
    follow() {
      if (this.element.hidden) return;
      const q = this.live.q;
      for (const { freedom, input, output, turns, spin } of this.sliders) {
        if (spin) {
          output.textContent = this.#text(Number(input.value), turns, freedom.unit);
          continue;
        }
        const x = q[freedom.place];
        if (input !== document.activeElement || !input.matches(":active")) input.value = String(x);
        output.textContent = this.#text(x, turns, freedom.unit);
      }
      this.#hold();
    }

    // a frame to drag

    #grip() {
      this.frame = make("select", { id: "grip", "aria-label": "Frame to drag" }, new Option("none", ""), ...this.#names().map((n) => new Option(n, n)));
      this.turn = make("select", { id: "grip-mode", "aria-label": "What to drag" },
        new Option("its place", "place"), new Option("place, attitude kept", "translate"), new Option("its attitude", "rotate"));
      this.frame.addEventListener("change", () => this.#attach());
      this.turn.addEventListener("change", () => this.#attach());
      return make("div", {}, make("label", { className: "row" }, "Frame", this.frame), make("label", { className: "row" }, "Move", this.turn),
        make("p", { className: "hint" }, "Pull the arrows in the picture; the joints follow within their limits."));
    }

    #detach() {
      this.control?.detach();
      this.player.draw();
    }

    #attach() {
      this.follow();
      if (!this.frame.value) return this.#detach();
      const { stage } = this.player;
      this.target ??= new THREE.Object3D();
      if (!this.control) {
        stage.scene.add(this.target);
        this.control = new THREE.TransformControls(stage.camera, stage.renderer.domElement);
        stage.cameraChanged = (camera) => (this.control.camera = camera);
        this.control.setSize(0.8);
        this.control.addEventListener("change", () => this.player.draw());
        this.control.addEventListener("dragging-changed", ({ value }) => {
          stage.controls.enabled = !value;
          this.dragging = value;
          if (!value) this.#hold();
        });
        this.control.addEventListener("objectChange", () => this.dragging && this.#pull());
        stage.scene.add(this.control.getHelper());
      }
      this.control.setMode(this.turn.value === "rotate" ? "rotate" : "translate");
      this.control.setSpace(this.turn.value === "rotate" ? "local" : "world");
      this.#hold();
      this.control.attach(this.target);
      this.player.draw();
    }

    #pull() {
      const { x, y, z } = this.target.position;
      const r = this.target.quaternion;
      const quaternion = this.turn.value === "place" ? null : [r.w, r.x, r.y, r.z];
      this.reach(() => ({ q: this.live.q, frame: this.frame.value, position: [x, y, z], quaternion }));
    }

    // Put the arrows where the frame is, unless somebody holds them.
    #hold() {
      if (!this.control || !this.frame.value || this.dragging) return;
      const matrix = this.player.tracks[0].view.matrix(this.frame.value);
      matrix.decompose(this.target.position, this.target.quaternion, new THREE.Vector3());
      this.target.updateMatrixWorld();
    }
  };
})();
