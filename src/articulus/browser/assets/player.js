"use strict";
// The page: reads its data, builds the scene and the plots, and plays.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const $ = (id) => document.getElementById(id);
  const GHOSTS = ["#d55e00", "#009e73", "#cc79a7", "#e69f00", "#6a51a3", "#56b4e9", "#8a7a00"];
  const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
  const SLOW = 1 / 30; // mean time between frames beyond which fewer points are drawn [s]
  const VIDEOS = ["video/mp4;codecs=avc1.42E01F", "video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];
  const PLAY = "M7 4.5v15l12.5-7.5z";
  const PAUSE = "M6.5 5h4v14h-4zM13.5 5h4v14h-4z";
  const FIRST_PLOTS = ["q", "u", "tau", "v"];
  const TOGGLES = [
    ["shape", "Shapes", "B", true], ["mass", "Centers of mass", "C", true], ["frame", "Frames", "F", false], ["axis", "Joint axes", "A", false],
    ["grid", "Ground grid", "G", true], ["arrow", "Forces", "W", true],
  ];
  const KEYS = [
    ["Space", "play or pause"], ["← →", "one step back or on"], ["Home End", "to the start, to the end"], ["+ −", "faster, slower"],
    ["L", "loop"], ["R", "whole mechanism in view"], ["B C F A G W", "shapes, centers of mass, frames, axes, grid, forces"],
    ["1 2 3 4", "look from the front, the side, the top, iso"], ["O", "parallel rays"], ["M", "measure between points"], ["K", "save a strobe picture"],
    ["Shift + ← → ↑ ↓", "turn the view, when it has the focus"], ["double click", "look at a point; in a plot, the whole time"],
    ["wheel, Shift + drag", "in a plot: zoom; Alt + drag shifts"], ["S", "save a picture"], ["V", "record a video"], ["I", "save an animated GIF"], ["D", "light or dark"], ["?", "this manual; F1 opens it at the control that has the focus"],
  ];

  const { make, save } = articulus;

  const swatch = (color) => {
    const mark = make("span", { className: "swatch" });
    mark.style.background = color;
    return mark;
  };

  // Return the low and the high corner of the box in which all runs stay.
  const enclosing = (runs) => [Math.min, Math.max].map((most, k) => [0, 1, 2].map((i) => most(...runs.map((run) => run.bounds[k][i]))));

  // One run, unpacked.
  class Track {
    // The first run solid, the others as ghosts.
    static all(runs) {
      return Promise.all(runs.map((run, k) => Track.open(run, k === 0 ? "" : GHOSTS[(k - 1) % GHOSTS.length])));
    }

    static async open(data, ghost) {
      const track = new Track();
      track.color = ghost || "var(--ink)";
      track.visible = true;
      track.shown = () => track.visible;
      track.view = new articulus.SceneView(data.scene, { ghost });
      await track.fill(data);
      return track;
    }

    // Take over a run of the same mechanism with the same signals.
    async fill(data) {
      const { name } = data;
      const [times, table, t] = await Promise.all([data.t, data.poses, data.signal_t].map(articulus.unpack));
      const modes = await Promise.all(data.modes.map((m) => m && articulus.unpack(m)));
      const signals = new Map(data.signals.map((s) => [s.name, { ...s, load: () => (s.table ??= articulus.unpack(s.values)) }]));
      const load = (name) => name && signals.get(name).load();
      const arrows = await Promise.all(data.arrows.map(async (a) => ({ wrench: await load(a.signal), point: await load(a.point), first: a.first })));
      const moves = new Set();
      for (const first of FIRST_PLOTS) {
        if (signals.has(first) && (await signals.get(first).load()).values.some((x) => x)) moves.add(first);
      }
      Object.assign(this, { data, name, table, modes, signals, arrows, moves, times: times.values, t: t.values });
      this.poses = new Float32Array(table.columns);
      this.eta = modes.map((m) => (m ? new Float32Array(m.columns) : []));
      const touch = Math.max(0, ...arrows.filter((a) => a.point).map((a) => this.#largest(a.wrench, a.first)[1])); // contacts have one scale
      data.arrows.forEach(({ frame, point }, k) => {
        const largest = point ? [0, touch] : this.#largest(arrows[k].wrench);
        if (this.view.arrows[k]) this.view.arrows[k].largest = largest;
        else this.view.addArrow(frame, largest);
      });
      for (let k = arrows.length; k < this.view.arrows.length; k++) this.view.setArrow(k, [0, 0, 0, 0, 0, 0], [0, 0, 0]);
    }

    // Return the largest moment and force of a table.
    #largest(table, first) {
      const largest = [0, 0];
      for (let i = 0; i < table.rows; i++) {
        const wrench = this.#wrench(table, i, first);
        [0, 1].forEach((w) => (largest[w] = Math.max(largest[w], Math.hypot(...wrench.slice(3 * w, 3 * w + 3)))));
      }
      return largest;
    }

    // Return moment and force in a row of a table of six columns, or of three of a force alone, or of three from the column `first` on.
    #wrench(table, i, first) {
      const length = first === undefined ? table.columns : 3;
      const found = Array.from({ length }, (_, k) => table.values[(k + (first ?? 0)) * table.rows + i] || 0);
      return length === 3 ? [0, 0, 0, ...found] : found;
    }

    // Fill a row of a table at a time between two samples.
    #row(table, i, s, out) {
      const { rows, columns, values } = table;
      const next = Math.min(i + 1, rows - 1);
      for (let k = 0; k < columns; k++) {
        const a = values[k * rows + i];
        out[k] = a + s * (values[k * rows + next] - a);
      }
    }

    at(time) {
      const i = articulus.lastAtMost(this.times, time);
      const gap = (this.times[i + 1] ?? Infinity) - this.times[i];
      const s = Math.min(1, Math.max(0, (time - this.times[i]) / gap)) || 0;
      this.#row(this.table, i, s, this.poses);
      this.modes.forEach((m, k) => m && this.#row(m, i, s, this.eta[k]));
      this.view.set(this.poses, this.eta);
      this.arrows.forEach(({ wrench, point, first }, k) => {
        const j = articulus.lastAtMost(this.t, time);
        this.view.setArrow(k, this.#wrench(wrench, j, first), point && this.#wrench(point, j, first).slice(3));
      });
    }

    trail(name) {
      return Array.from(this.times, (time) => {
        this.at(time);
        return this.view.position(name);
      });
    }
  }

  class Player {
    constructor(data, tracks) {
      this.title = data.title;
      this.firstTrail = data.trail ?? "";
      this.playing = false;
      this.speed = 1;
      this.tracks = [];
      this.trails = [];
      this.desk = new articulus.PlotDesk($("panels"), { seen: $("seen"), seek: (t) => this.seek(t), watch: () => this.keep() });
      this.watchers = []; // called with the time after every change of it
      this.address = new articulus.Address(() => this.state, (state) => this.restore(state));
      const { scene } = data.runs[0];
      const drawn = scene.standing.length > 0 || scene.bodies.some((b) => b.solids.length);
      const feet = drawn ? scene.depth : undefined; // drawn machines stand on the grid themselves
      const stands = scene.standing.length > 0;
      this.stage = new articulus.Stage($("view"), scene.up, ...enclosing(data.runs), scene.size, { feet, stands, many: articulus.isLarge(scene) });
      this.views = new articulus.ViewTools(this, this.stage, $("stage"));
      this.#theme(matchMedia("(prefers-color-scheme: dark)").matches);
      this.#side();
      this.#transport();
      this.manual = new articulus.Manual(data.manual, () => this.tracks[0].data.signals);
      this.#pointer();
      this.#keyboard();
      // Drawn machines are shown as they look; and a hundred translucent balls take longer to draw than all the rest.
      if (drawn || articulus.isLarge(scene)) $("show-mass").checked = false;
      this.put(data.runs, tracks);
      this.resize();
      this.stage.controls.addEventListener("change", () => this.draw());
      this.stage.controls.addEventListener("end", () => this.keep());
      new ResizeObserver(() => this.resize()).observe($("stage"));
      new ResizeObserver(() => this.desk.redraw()).observe($("panels"));
    }

    // Show other runs in place of those that are shown.
    async load(runs) {
      this.put(runs, await Track.all(runs));
    }

    // Camera, switches and the signals of plots stay as they are; so does the time where it can.
    put(runs, tracks) {
      const plots = this.panels.map((panel) => panel.choice?.key ?? panel.select.value);
      this.trail("");
      for (const { view } of this.tracks) this.stage.remove(view.root);
      this.tracks = tracks;
      this.#extend();
      this.stage.enclose(...enclosing(runs));
      for (const track of tracks) {
        track.view.scale = 10 ** Number($("scale").value);
        this.stage.scene.add(track.view.root);
      }
      const { scene } = runs[0];
      document.body.classList.toggle("still", this.span[0] === this.span[1]);
      document.body.classList.toggle("silent", !runs[0].signals.length);
      this.#switches();
      this.#tree(scene);
      this.#runs();
      this.#trails(scene);
      this.views.list([...scene.bodies, ...scene.frames].map(({ name }) => name));
      $("scale-box").hidden = !scene.bodies.some((b) => b.flexible);
      this.#timeline();
      this.#plots(plots);
      this.#note(runs);
      this.seek(this.time ?? this.span[0]);
    }

    // Show another motion in place of the first: of the same mechanism, with the same signals.
    async renew(run) {
      await this.tracks[0].fill(run);
      this.#extend();
      this.stage.enclose(...enclosing(this.tracks.map((track) => track.data)));
      this.#timeline();
      this.#note(this.tracks.map((track) => track.data));
      this.desk.extend(this.span);
      for (const panel of this.panels) panel.renew();
      this.trail($("trail").value);
    }

    #extend() {
      this.span = [
        Math.min(...this.tracks.map((t) => t.times[0])),
        Math.max(...this.tracks.map((t) => Math.max(t.times.at(-1), t.t.at(-1)))),
      ];
    }

    #note(runs) {
      const [run] = runs;
      const [kept, all] = run.samples;
      const joints = run.scene.bodies.length;
      const parts = [`${joints} ${joints === 1 ? "body" : "bodies"}`];
      if (this.span[1] > this.span[0]) parts.push(`${articulus.text(this.span[1] - this.span[0])} s`);
      if (this.tracks.length > 1) parts.push(`${this.tracks.length} runs`);
      if (run.status !== "complete") parts.push(run.status);
      if (kept < all) parts.push(`plots show ${kept} of ${all} samples`);
      $("note").textContent = parts.join(" · ");
    }

    #theme(dark) {
      document.documentElement.classList.toggle("dark", dark);
      const style = getComputedStyle(document.documentElement);
      const get = (name) => style.getPropertyValue(name).trim();
      const grid = this.stage.ground ? this.stage.ground.visible : true;
      this.stage.theme({ background: get("--stage"), line: get("--grid") });
      this.stage.ground.visible = grid;
      for (const panel of this.panels) panel.redraw();
      this.draw();
    }

    #side() {
      for (const [part, text, key, on] of TOGGLES) {
        const box = make("input", { type: "checkbox", checked: on, id: `show-${part}` });
        box.addEventListener("change", () => this.show(part, box.checked));
        $("toggles").append(make("label", { title: `${text} (${key})` }, box, text));
      }
      $("menu").addEventListener("click", () => {
        const open = $("side").classList.toggle("open");
        $("menu").setAttribute("aria-expanded", String(open));
      });
      $("trail").addEventListener("change", () => this.trail($("trail").value));
      $("scale").addEventListener("input", () => {
        const scale = 10 ** Number($("scale").value);
        $("scale-text").textContent = `× ${scale < 10 ? articulus.text(Math.round(10 * scale) / 10) : Math.round(scale)}`;
        $("scale").setAttribute("aria-valuetext", $("scale-text").textContent);
        for (const track of this.tracks) track.view.scale = scale;
        this.trail($("trail").value);
        this.seek(this.time);
      });
    }

    #switches() {
      const there = { arrow: this.tracks.some((t) => t.arrows.length), shape: this.tracks.some((t) => t.view.parts.shape.length) };
      for (const [part] of TOGGLES) {
        $(`show-${part}`).parentElement.hidden = there[part] === false;
        if (there[part] !== false) this.show(part, $(`show-${part}`).checked);
      }
    }

    #trails(scene) {
      const names = [...scene.frames.map((f) => f.name), ...scene.bodies.map((b) => b.name)];
      const before = $("trail").value || this.firstTrail;
      this.firstTrail = "";
      $("trail").replaceChildren(new Option("nothing", ""), ...names.map((n) => new Option(n, n)));
      $("trail").value = names.includes(before) ? before : "";
      this.trail($("trail").value);
    }

    #tree(scene) {
      $("tree").replaceChildren();
      const depth = new Map([["ground", -1]]);
      const children = new Map();
      for (const b of scene.bodies) children.set(b.parent, [...(children.get(b.parent) ?? []), b]);
      const add = (body) => {
        const level = depth.get(body.parent) + 1;
        depth.set(body.name, level);
        const box = make("input", { type: "checkbox", checked: true, "aria-label": `Show ${body.name}` });
        box.addEventListener("change", () => {
          for (const t of this.tracks) if (t.view.byName.has(body.name)) t.view.showBody(body.name, box.checked);
          this.draw();
        });
        const kind = make("span", { className: "kind" }, body.flexible ? "flexible" : body.joint_type);
        const label = make("label", {}, box, swatch(body.color), make("span", { className: "name" }, body.name), kind);
        label.style.paddingLeft = `${Math.min(level, 6) * 8}px`;
        const item = make("li", { role: "treeitem", title: this.#about(body), "aria-level": String(level + 1) }, label);
        item.addEventListener("pointerenter", () => this.highlight(body.name));
        item.addEventListener("pointerleave", () => this.highlight(""));
        $("tree").append(item);
        (children.get(body.name) ?? []).forEach(add);
      };
      (children.get("ground") ?? []).forEach(add);
    }

    #about(body) {
      const mass = body.mass > 0 ? `, ${articulus.text(body.mass)} kg` : "";
      return `${body.name}${mass}; ${body.joint_type} joint '${body.joint}' on ${body.parent}`;
    }

    #runs() {
      $("runs").replaceChildren();
      $("runs-box").hidden = this.tracks.length < 2;
      if (this.tracks.length < 2) return;
      this.tracks.forEach((track) => {
        const box = make("input", { type: "checkbox", checked: true });
        box.addEventListener("change", () => {
          track.visible = track.view.root.visible = box.checked;
          this.desk.redraw();
          this.draw();
        });
        $("runs").append(make("li", {}, make("label", {}, box, swatch(track.color), make("span", { className: "name" }, track.name))));
      });
    }

    show(part, on) {
      $(`show-${part}`).checked = on;
      if (part === "grid") {
        this.stage.ground.visible = on;
        $("grid-size").textContent = on ? `grid ${articulus.text(this.stage.step)} m` : "";
      }
      for (const { view } of this.tracks) {
        if (part === "arrow") for (const a of view.arrows) for (const p of [...a.parts, ...(a.mark ? [a.mark] : [])]) p.group.traverse((o) => o.layers.set(on ? 0 : 1));
        else if (part !== "grid") view.show(part, on);
      }
      this.draw();
    }

    highlight(name) {
      this.tracks[0].view.highlight(name);
      this.draw();
    }

    trail(name) {
      for (const { trail, track } of this.trails) {
        track.view.root.remove(trail.group);
        this.stage.remove(trail.group);
      }
      this.trails = [];
      if (name && this.span[1] > this.span[0]) {
        for (const [k, track] of this.tracks.entries()) {
          if (!track.view.byName.has(name) && !track.view.frames.has(name)) continue;
          const trail = new articulus.Trail(track.trail(name), k === 0 ? "#c2185b" : track.color, 0.005 * track.data.scene.size);
          track.view.root.add(trail.group);
          this.trails.push({ trail, track });
        }
      }
      if (this.tracks.length) this.seek(this.time ?? this.span[0]);
    }

    #transport() {
      $("time").addEventListener("input", () => this.seek(Number($("time").value)));
      $("play").addEventListener("click", () => this.toggle());
      $("start").addEventListener("click", () => this.seek(this.span[0]));
      $("home").addEventListener("click", () => this.views.look("iso"));
      $("speed").append(...SPEEDS.map((s) => new Option(`× ${s}`, s, s === 1, s === 1)));
      $("speed").addEventListener("change", () => (this.speed = Number($("speed").value)));
      $("shot").addEventListener("click", () => this.picture());
      $("film").addEventListener("click", () => this.film());
      $("gif").addEventListener("click", () => this.gif());
      $("theme").addEventListener("click", () => this.#theme(!document.documentElement.classList.contains("dark")));
      $("help").addEventListener("click", () => this.manual.open());
      $("key-list").append(...KEYS.flatMap(([key, what]) => [make("dt", {}, key), make("dd", {}, what)]));
      $("add").addEventListener("click", () => this.addPlot());
    }

    #timeline() {
      [$("time").min, $("time").max] = this.span;
      const marks = this.tracks[0].data.events.slice(0, 200).map(({ t, name }) => {
        const mark = make("i", { title: name });
        mark.style.left = `${(100 * (t - this.span[0])) / (this.span[1] - this.span[0] || 1)}%`;
        return mark;
      });
      $("marks").replaceChildren(...marks);
    }

    get panels() {
      return this.desk.panels;
    }

    // Show plots of chosen signals again, or of the first that move.
    #plots(chosen) {
      this.desk.put(this.tracks, this.tracks[0].data.signals, this.span);
      const groups = this.desk.lists.map((c) => c.group);
      const moving = groups.filter((g) => FIRST_PLOTS.includes(g[0].signal) && this.tracks[0].moves.has(g[0].signal));
      moving.sort((a, b) => FIRST_PLOTS.indexOf(a[0].signal) - FIRST_PLOTS.indexOf(b[0].signal));
      const kept = chosen.filter((key) => this.desk.options.has(key));
      for (const key of kept.length ? kept : (moving.length ? moving : groups).slice(0, 2).map((g) => g[0].key)) this.desk.add(key);
      this.addPlot = () => groups.length && this.desk.add(groups[Math.min(this.panels.length, groups.length - 1)][0].key);
      this.#signals();
    }

    // List all signals; each is drawn in a plot of its own, or in that onto which it is dragged.
    #signals() {
      $("signals-box").hidden = !this.desk.lists.length;
      const entry = ({ key, text, unit, meaning }) => {
        const button = make("button", { type: "button", className: "entry", draggable: true, title: meaning ? `${meaning}: drag onto a plot, or press for a new one` : "Drag onto a plot, or press for a new one" }, text, make("span", { className: "kind" }, unit === "-" ? "" : unit));
        button.addEventListener("click", () => this.desk.add(key));
        button.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/articulus", key));
        return make("li", {}, button);
      };
      $("signals").replaceChildren(...this.desk.lists.map(({ name, group }) => make("details", {}, make("summary", {}, name), make("ul", {}, ...group.map(entry)))));
    }

    #pointer() {
      const tip = $("tip");
      $("view").addEventListener("pointermove", (event) => {
        if (event.buttons) return (tip.hidden = true);
        const box = $("view").getBoundingClientRect();
        const at = [event.clientX - box.left, event.clientY - box.top];
        const hit = this.views.under(event);
        const body = hit && hit.view.scene.bodies.find((b) => b.name === hit.body);
        tip.hidden = !body;
        if (!body) return;
        tip.textContent = this.#about(body);
        tip.style.left = `${Math.min(at[0] + 14, Math.max(0, box.width - tip.offsetWidth - 6))}px`;
        tip.style.top = `${at[1] + 14}px`;
      });
      $("view").addEventListener("pointerleave", () => (tip.hidden = true));
    }

    #keyboard() {
      const step = () => (this.span[1] - this.span[0]) / 200;
      const faster = (d) => {
        const k = Math.min(SPEEDS.length - 1, Math.max(0, SPEEDS.indexOf(this.speed) + d));
        this.speed = SPEEDS[k];
        $("speed").value = String(this.speed);
      };
      const flip = (part) => !$(`show-${part}`).parentElement.hidden && this.show(part, !$(`show-${part}`).checked);
      const actions = {
        " ": () => this.toggle(), ArrowLeft: () => this.seek(this.time - step()), ArrowRight: () => this.seek(this.time + step()),
        Home: () => this.seek(this.span[0]), End: () => this.seek(this.span[1]), "+": () => faster(1), "-": () => faster(-1),
        1: () => this.views.look("front"), 2: () => this.views.look("side"), 3: () => this.views.look("top"), 4: () => this.views.look("iso"),
        o: () => this.views.parallel(!this.stage.parallel), m: () => this.views.measure(!this.views.measuring), k: () => this.views.strobe(),
        l: () => ($("loop").checked = !$("loop").checked), r: () => this.views.look("iso"), s: () => this.picture(), v: () => this.film(),
        i: () => this.gif(), d: () => $("theme").click(), "?": () => this.manual.open(),
      };
      for (const [part, , key] of TOGGLES) actions[key.toLowerCase()] = () => flip(part);
      addEventListener("keydown", (event) => {
        const busy = event.target.matches("select, textarea, input:is([type=number], [type=text], [type=search])") || (event.target.tagName === "INPUT" && event.key.startsWith("Arrow"));
        const pressing = event.target.tagName === "BUTTON" && event.key === " ";
        const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action || busy || pressing || event.ctrlKey || event.metaKey || event.altKey || $("keys").open) return;
        event.preventDefault();
        action();
      });
    }

    toggle(on = !this.playing) {
      this.keep();
      if (on && this.time >= this.span[1]) this.seek(this.span[0]);
      this.playing = on;
      $("play").setAttribute("aria-label", on ? "Pause" : "Play");
      $("play-icon").setAttribute("d", on ? PAUSE : PLAY);
      this.last = null;
      this.pace = 0;
      this.stage.sharpen(1);
      if (on) requestAnimationFrame((now) => this.#tick(now));
    }

    #tick(now) {
      if (!this.playing) return;
      const passed = this.last === null ? 0 : Math.min(0.25, (now - this.last) / 1000);
      if (this.last !== null && !this.recorder) this.#keepPace((now - this.last) / 1000);
      this.last = now;
      let next = this.time + passed * this.speed;
      if (next > this.span[1]) {
        if (this.recorder) {
          this.recorder.stop();
          next = this.span[1];
        } else if ($("loop").checked) next = this.span[0];
        else {
          next = this.span[1];
          this.toggle(false);
        }
      }
      this.seek(next);
      requestAnimationFrame((then) => this.#tick(then));
    }

    // Where a computer is too slow for 30 frames a second, draw fewer points while it plays.
    #keepPace(frame) {
      this.pace += 0.1 * (Math.min(frame, 0.2) - this.pace);
      if (this.pace < SLOW || this.stage.sharpness < 0.5) return;
      this.stage.sharpen(0.8 * this.stage.sharpness);
      this.pace = 0;
    }

    // Put everything where it is at a time, without telling anybody.
    place(time) {
      for (const track of this.tracks) track.at(time);
    }

    // What an address keeps.
    get state() {
      const shown = TOGGLES.filter(([part]) => $(`show-${part}`).checked).map(([part]) => part);
      return { v: 1, s: Number(this.time.toPrecision(6)), d: this.desk.state, c: this.views.state, on: shown, trail: $("trail").value, x: this.speed, loop: $("loop").checked };
    }

    async restore({ s, d, c, on, trail, x, loop }) {
      for (const [part] of TOGGLES) this.show(part, on.includes(part));
      if ([...$("trail").options].some((option) => option.value === trail)) $("trail").value = trail;
      this.trail($("trail").value);
      if (SPEEDS.includes(x)) $("speed").value = String((this.speed = x));
      $("loop").checked = loop;
      this.views.restore(c);
      await this.desk.restore(d);
      this.seek(s);
    }

    keep() {
      if (this.tracks.length && this.opened) this.address.keep();
    }

    seek(time) {
      this.time = Math.min(this.span[1], Math.max(this.span[0], time));
      this.place(this.time);
      for (const { trail, track } of this.trails) trail.reach(articulus.lastAtMost(track.times, this.time));
      this.desk.cursor(this.time);
      const digits = this.span[1] - this.span[0] < 1 ? 4 : 2;
      $("time").value = String(this.time);
      const [now, end] = [this.time, this.span[1]].map((t) => articulus.fixed(t, digits));
      $("time").setAttribute("aria-valuetext", `${now} seconds`);
      $("now").textContent = `${now} / ${end} s`;
      for (const watch of this.watchers) watch(this.time);
      this.draw();
    }

    draw() {
      if (this.queued) return;
      this.queued = true;
      requestAnimationFrame(() => {
        this.queued = false;
        this.stage.render();
      });
    }

    resize() {
      const { clientWidth, clientHeight } = $("stage");
      if (!clientWidth || !clientHeight) return;
      this.stage.resize(clientWidth, clientHeight);
      this.draw();
    }

    // Save a picture, sharp also while it plays.
    picture() {
      const { sharpness } = this.stage;
      this.stage.sharpen(1);
      this.stage.render();
      $("view").toBlob((blob) => save(blob, `${this.title}.png`), "image/png");
      this.stage.sharpen(sharpness);
    }

    film() {
      if (this.recorder) return this.recorder.stop();
      if (!globalThis.MediaRecorder) return;
      this.toggle(false);
      const chunks = [];
      const type = VIDEOS.find((t) => MediaRecorder.isTypeSupported(t));
      const kind = type.split(";")[0];
      this.recorder = new MediaRecorder($("view").captureStream(30), { mimeType: type, videoBitsPerSecond: 6e6 });
      this.recorder.addEventListener("dataavailable", (event) => chunks.push(event.data));
      this.recorder.addEventListener("stop", () => {
        this.recorder = null;
        $("film").classList.remove("on");
        this.toggle(false);
        save(new Blob(chunks, { type: kind }), `${this.title}.${kind.split("/")[1]}`);
      });
      $("film").classList.add("on");
      this.seek(this.span[0]);
      this.recorder.start();
      this.toggle(true);
    }

    async gif() {
      if (this.recorder) return this.recorder.stop();
      this.toggle(false);
      this.recorder = new articulus.GifRecorder(this, $("view"));
      $("gif").classList.add("on");
      try {
        save(await this.recorder.record((share) => ($("gif-text").textContent = `${Math.round(100 * share)} %`)), `${this.title}.gif`);
      } finally {
        this.recorder = null;
        $("gif").classList.remove("on");
        $("gif-text").textContent = "GIF";
      }
    }
  }

  async function open() {
    try {
      const data = JSON.parse($("data").textContent);
      articulus.player = new Player(data, await Track.all(data.runs));
      if (data.live) articulus.connect(articulus.player, data);
      await articulus.player.address.open();
      articulus.player.opened = true;
      if (data.play && !matchMedia("(prefers-reduced-motion: reduce)").matches) articulus.player.toggle(true);
      document.body.dataset.ready = "yes";
    } catch (error) {
      $("failure").hidden = false;
      $("failure").textContent = `This page cannot be shown: ${error.message}. It needs a browser with WebGL 2 and DecompressionStream.`;
      console.error(error);
    }
  }
  open();
})();
