"use strict";
// Tools of the view: sides to look from, parallel rays, a body to follow, distances between points, axes and scale, strobe pictures.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const T = THREE;
  const SVG = "http://www.w3.org/2000/svg";
  const AXES = [["x", "#d64545"], ["y", "#2f9e5b"], ["z", "#3b7de0"]];
  const ARM = 26; // length of an axis of the triad [pixels]
  const TURN = Math.PI / 24; // of a key [rad]
  const COLORS = ["#c2185b", "#0b62b5", "#2f8f5b"];
  const STROBES = 8; // positions in a strobe picture

  const svg = (tag, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };

  // Ends of the axes of ground, which turn with the camera; an end looks from there when it is pressed.
  class Triad {
    constructor(stage) {
      this.stage = stage;
      this.element = svg("svg", { class: "triad", viewBox: "-40 -40 80 80", "aria-hidden": "true" });
      this.parts = AXES.map(([name, color]) => {
        const line = svg("line", { x1: 0, y1: 0, stroke: color, "stroke-width": 2.5 });
        const text = svg("text", { fill: color, "text-anchor": "middle", dy: "0.35em" });
        text.textContent = name;
        this.element.append(line, text);
        return { line, text };
      });
    }

    draw() {
      const turn = this.stage.camera.quaternion.clone().invert();
      this.parts.forEach(({ line, text }, k) => {
        const axis = new T.Vector3().setComponent(k, 1).applyQuaternion(turn);
        line.setAttribute("x2", (ARM * axis.x).toFixed(2));
        line.setAttribute("y2", (-ARM * axis.y).toFixed(2));
        text.setAttribute("x", ((ARM + 9) * axis.x).toFixed(2));
        text.setAttribute("y", (-(ARM + 9) * axis.y).toFixed(2));
        text.style.opacity = axis.z < -0.5 ? 0.5 : 1;
      });
    }
  }

  // A round length at the distance at which the camera looks.
  class ScaleBar {
    constructor(stage) {
      this.stage = stage;
      this.bar = make("i", {});
      this.text = make("span", {});
      this.element = make("div", { className: "scale-bar", title: "Length at the distance of the point that is looked at" }, this.bar, this.text);
    }

    draw() {
      const { pixel } = this.stage;
      const length = articulus.niceStep(50 * pixel);
      this.bar.style.width = `${(length / pixel).toFixed(1)}px`;
      this.text.textContent = lengthText(length);
    }
  }

  // Return a length as people say it.
  function lengthText(x) {
    const [unit, size] = [["µm", 1e-6], ["mm", 1e-3], ["m", 1], ["km", 1e3]].findLast(([, s]) => x >= s * 0.999) ?? ["nm", 1e-9];
    return `${articulus.text(x / size)} ${unit}`;
  }

  // Points on bodies, with lines between them: a distance for two, an angle at the second for three. They move with their bodies.
  class Ruler {
    constructor(player) {
      this.player = player;
      this.points = [];
      this.group = new T.Group();
      player.stage.scene.add(this.group);
      this.label = make("output", { className: "measured", hidden: true });
    }

    // Take a point of a body; a fourth begins anew.
    take(view, body, point) {
      if (this.points.length === 3) this.clear();
      this.points.push({ view, body, local: point.clone().applyMatrix4(view.matrix(body).invert()) });
      this.draw();
    }

    clear() {
      this.points = [];
      this.draw();
    }

    get places() {
      return this.points.map(({ view, body, local }) => local.clone().applyMatrix4(view.matrix(body)));
    }

    // Return distances between successive points [m] and the angle at the second [rad], as far as there are points.
    get values() {
      const [a, b, c] = this.places;
      return { distances: [a && b && a.distanceTo(b), b && c && b.distanceTo(c)].filter(Boolean), angle: c && a.clone().sub(b).angleTo(c.clone().sub(b)) };
    }

    draw() {
      const { places, values } = this;
      for (const object of [...this.group.children]) {
        object.geometry.dispose();
        object.material.dispose();
        this.group.remove(object);
      }
      const radius = 0.008 * this.player.tracks[0].data.scene.size;
      const seen = { depthTest: false, fog: false, transparent: true };
      places.forEach((place, k) => {
        const ball = new T.Mesh(new T.SphereGeometry(radius, 12, 8), new T.MeshBasicMaterial({ color: COLORS[k], ...seen }));
        ball.position.copy(place);
        this.group.add(ball);
      });
      if (places.length > 1) this.group.add(new T.Line(new T.BufferGeometry().setFromPoints(places), new T.LineBasicMaterial({ color: COLORS[0], ...seen })));
      this.group.traverse((o) => (o.renderOrder = 2));
      this.label.hidden = !places.length;
      const told = values.distances.map(lengthText).join(", ");
      const angle = values.angle === undefined ? "" : `, ${articulus.text((180 / Math.PI) * values.angle)}° between them`;
      this.label.textContent = places.length === 1 ? `${this.points[0].body}: press a second point` : `${this.points.map((p) => p.body).join(" – ")}: ${told}${angle}`;
    }
  }

  articulus.ViewTools = class {
    constructor(player, stage, element) {
      Object.assign(this, { player, stage, element });
      this.followed = "";
      this.triad = new Triad(stage);
      this.scale = new ScaleBar(stage);
      this.ruler = new Ruler(player);
      this.#bar();
      element.append(this.triad.element, this.scale.element, this.ruler.label);
      stage.drawn = () => this.#drawn();
      this.#pick();
      player.watchers.push(() => this.#moved());
    }

    #bar() {
      const press = (text, title, act) => {
        const button = make("button", { type: "button", title, "aria-label": title }, text);
        button.addEventListener("click", () => act(button));
        return button;
      };
      const sides = [["iso", "Iso", "4"], ["front", "Front", "1"], ["side", "Side", "2"], ["top", "Top", "3"]];
      this.parallelButton = press("Parallel", "Parallel rays (O)", () => this.parallel(!this.stage.parallel));
      this.measureButton = press("Measure", "Measure between points of bodies (M)", () => this.measure(!this.measuring));
      this.follow = make("select", { "aria-label": "Body that the camera follows", title: "Body that the camera follows" });
      this.follow.addEventListener("change", () => this.track(this.follow.value));
      for (const button of [this.parallelButton, this.measureButton]) button.setAttribute("aria-pressed", "false");
      this.bar = make("div", { className: "views", role: "toolbar", "aria-label": "View" },
        ...sides.map(([name, text, key]) => press(text, `Look from: ${name} (${key})`, () => this.look(name))), this.parallelButton, this.measureButton,
        press("Strobe", "Save a strobe picture: successive positions in one (K)", () => this.strobe()), this.follow);
      this.element.append(this.bar);
    }

    // The bodies of the runs that are shown now.
    list(names) {
      const before = this.follow.value;
      this.follow.replaceChildren(new Option("follow …", ""), ...names.map((n) => new Option(n, n)));
      this.follow.value = names.includes(before) ? before : "";
      this.followed = this.follow.value;
      this.ruler.clear();
    }

    #drawn() {
      this.triad.draw();
      this.scale.draw();
    }

    look(name) {
      this.stage.lookFrom(name);
      this.player.draw();
      this.player.keep();
    }

    parallel(on) {
      this.stage.parallel = on;
      this.parallelButton.setAttribute("aria-pressed", String(on));
      this.player.draw();
      this.player.keep();
    }

    measure(on) {
      this.measuring = on;
      this.measureButton.setAttribute("aria-pressed", String(on));
      if (!on) this.ruler.clear();
      this.player.draw();
    }

    // Let the camera go with a body or frame; "" lets it stay.
    track(name) {
      this.followed = this.follow.value = name;
      if (name) this.stage.focus(this.player.tracks[0].view.position(name));
      this.player.draw();
      this.player.keep();
    }

    #moved() {
      if (this.followed) this.stage.focus(this.player.tracks[0].view.position(this.followed));
      if (this.ruler.points.length) this.ruler.draw();
    }

    // Return what is under a pointer: {view, body, point}, or null.
    under(event) {
      const canvas = this.stage.renderer.domElement;
      const box = canvas.getBoundingClientRect();
      const ray = new T.Raycaster();
      ray.setFromCamera(new T.Vector2((2 * (event.clientX - box.left)) / box.width - 1, 1 - (2 * (event.clientY - box.top)) / box.height), this.stage.camera);
      for (const { view, visible } of this.player.tracks) {
        const hit = visible && ray.intersectObject(view.root, true).find((h) => h.object.userData.body && h.object.visible);
        if (hit) return { view, body: hit.object.userData.body, point: hit.point };
      }
      return null;
    }

    #pick() {
      const canvas = this.stage.renderer.domElement;
      let down = null;
      canvas.addEventListener("pointerdown", (event) => (down = [event.clientX, event.clientY]));
      canvas.addEventListener("click", (event) => {
        if (!this.measuring || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
        const hit = this.under(event);
        if (hit) this.ruler.take(hit.view, hit.body, hit.point);
        this.player.draw();
      });
      canvas.addEventListener("dblclick", (event) => {
        const hit = !this.measuring && this.under(event);
        if (!hit) return;
        this.stage.focus(hit.point, 0.7);
        this.player.draw();
        this.player.keep();
      });
      canvas.addEventListener("keydown", (event) => {
        const turns = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, TURN], ArrowDown: [0, -TURN] };
        if (!event.shiftKey || !(event.key in turns)) return;
        event.preventDefault();
        event.stopPropagation();
        this.stage.orbit(...turns[event.key]);
        this.player.draw();
      });
    }

    // Save successive positions over each other, at equal times from start to end of the window of the plots.
    async strobe(count = STROBES) {
      const { player, stage } = this;
      const { time } = player;
      const [from, to] = player.desk.window;
      const { sharpness } = stage;
      stage.sharpen(1);
      stage.strobe(Array.from({ length: count }, (_, k) => from + (k / (count - 1)) * (to - from)), (t) => player.place(t));
      const blob = await new Promise((done) => stage.renderer.domElement.toBlob(done, "image/png"));
      articulus.save(blob, `${player.title} strobe.png`);
      stage.sharpen(sharpness);
      player.show("grid", document.getElementById("show-grid").checked);
      player.seek(time);
    }

    get state() {
      const { position, zoom } = this.stage.camera;
      const step = 10 ** (Math.floor(Math.log10(this.stage.radius)) - 5);
      const round = (v) => v.toArray().map((x) => Number((Math.round(x / step) * step).toPrecision(8)) || 0);
      return { p: round(position), t: round(this.stage.controls.target), o: this.stage.parallel ? Number(zoom.toPrecision(4)) : 0, f: this.followed };
    }

    restore({ p, t, o, f }) {
      this.parallel(Boolean(o));
      this.stage.controls.target.fromArray(t);
      this.stage.camera.position.fromArray(p);
      this.stage.focus(this.stage.controls.target.clone());
      if (o) this.stage.camera.zoom = o;
      this.stage.camera.updateProjectionMatrix();
      if (f && [...this.follow.options].some((option) => option.value === f)) this.follow.value = this.followed = f;
      this.player.draw();
    }
  };
})();
