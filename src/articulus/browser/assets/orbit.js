"use strict";
// Orbits about a planet: in space, over ground, and as numbers over time.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const $ = (id) => document.getElementById(id);
  const DEGREE = Math.PI / 180;
  const MARGIN = { left: 34, right: 18, top: 6, bottom: 18 };
  const ELEMENTS = [["axis", "Semi-major axis", "km"], ["eccentricity", "Eccentricity", "-"], ["inclination", "Inclination", "°"], ["node", "Ascending node", "°"]];
  const data = JSON.parse($("data").textContent);

  const column = ({ rows, values }, k) => values.subarray(k * rows, (k + 1) * rows);

  async function unpacked(track, k) {
    const [t, position, place, elements, sun, light] = await Promise.all(["t", "position", "place", "elements", "sun", "light"].map((key) => track[key] && articulus.unpack(track[key])));
    return { name: track.name, color: `series-${k % 8}`, t: t.values, position, place, elements, sun, light };
  }

  // A column of a table at a time, linear between the samples.
  function at(track, table, k, time) {
    const i = articulus.lastAtMost(track.t, time), values = column(table, k);
    if (i + 1 >= values.length) return values[i];
    const share = Math.min(1, Math.max(0, (time - track.t[i]) / (track.t[i + 1] - track.t[i])));
    return values[i] + share * (values[i + 1] - values[i]);
  }
  const vector = (track, table, time) => [0, 1, 2].map((k) => at(track, table, k, time));

  // Latitude and longitude [deg] of the planet below a place at a time.
  function below([x, y, z], time) {
    const turn = data.angle + data.planet.rotation * time;
    const longitude = (Math.atan2(y, x) - turn) / DEGREE;
    return [Math.asin(z / Math.hypot(x, y, z)) / DEGREE, ((((longitude + 180) % 360) + 360) % 360) - 180];
  }

  class GroundChart extends articulus.Chart {
    constructor() {
      super("ground", "Over ground", "Tracks over ground: longitude across, latitude up; the night side is shaded");
    }

    show(tracks) {
      this.data = tracks;
      this.about.textContent = data.epoch ? "degrees; night shaded" : "degrees; longitudes from the x axis at t = 0";
      this.redraw();
    }

    paint(pen) {
      const { left, right, top, bottom } = MARGIN;
      this.box = { x: left, y: top, w: this.width - left - right, h: this.height - top - bottom };
      const { x, y, w, h } = this.box;
      this.across = articulus.linearAxis([-180, 180], x, x + w);
      this.up = articulus.linearAxis([-90, 90], y + h, y);
      const degrees = (axis, step) => ({ ...axis, ticks: () => Array.from({ length: Math.round((axis.high - axis.low) / step) + 1 }, (_, k) => [axis.low + k * step, `${axis.low + k * step}°`]) });
      this.frame(pen, this.box, degrees(this.across, w > 420 ? 60 : 90), degrees(this.up, 30));
      pen.strokeStyle = this.color("line");
      for (let v = -120; v < 180; v += 60) this.line(pen, [[this.across.at(v), y], [this.across.at(v), y + h]]);
      this.inside(pen, this.box, () => this.data.forEach((track) => this.#track(pen, track)));
    }

    #track(pen, track) {
      const [latitude, longitude] = [column(track.place, 0), column(track.place, 1)];
      pen.strokeStyle = this.color(track.color);
      pen.lineWidth = 1.4;
      pen.globalAlpha = 0.75;
      const points = [];
      longitude.forEach((v, k) => {
        if (k && Math.abs(v - longitude[k - 1]) > 180) points.push(null);
        points.push([this.across.at(v), this.up.at(latitude[k])]);
      });
      this.line(pen, points);
      pen.globalAlpha = 1;
    }

    at(time) {
      this.time = time;
      this.mark();
    }

    mark() {
      super.mark();
      if (!this.width || this.time === undefined) return;
      const pen = this.canvas.getContext("2d");
      if (this.data[0].sun) this.inside(pen, this.box, () => this.#night(pen));
      for (const track of this.data) {
        const [latitude, longitude] = below(vector(track, track.position, this.time), this.time);
        pen.fillStyle = this.color(track.color);
        pen.strokeStyle = this.color("card");
        pen.lineWidth = 2;
        pen.beginPath();
        pen.arc(this.across.at(longitude), this.up.at(latitude), 5.5, 0, 7);
        pen.fill();
        pen.stroke();
      }
    }

    // The side away from the Sun.
    #night(pen) {
      const [latitude, longitude] = below(vector(this.data[0], this.data[0].sun, this.time), this.time);
      const edge = [];
      for (let v = -180; v <= 180; v += 2) {
        edge.push([v, Math.atan(-Math.cos((v - longitude) * DEGREE) / Math.tan((Math.abs(latitude) < 0.01 ? 0.01 : latitude) * DEGREE)) / DEGREE]);
      }
      const pole = latitude > 0 ? -90 : 90;
      pen.fillStyle = this.color("soft");
      pen.globalAlpha = 0.24;
      pen.beginPath();
      pen.moveTo(this.across.at(-180), this.up.at(pole));
      for (const [v, u] of edge) pen.lineTo(this.across.at(v), this.up.at(u));
      pen.lineTo(this.across.at(180), this.up.at(pole));
      pen.fill();
      pen.globalAlpha = 1;
    }

    point(pen, px, py) {
      const { x, y, w, h } = this.box;
      if (px < x || px > x + w || py < y || py > y + h) return null;
      return `${articulus.fixed(this.up.value(py), 1)}° north, ${articulus.fixed(this.across.value(px), 1)}° east`;
    }

    idle() {
      return "";
    }
  }

  // The planet, its axes and the tracks; lengths in radii of the planet.
  class Space {
    constructor(canvas, tracks) {
      this.canvas = canvas;
      this.tracks = tracks;
      this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
      this.scene = new THREE.Scene();
      this.scene.background = new THREE.Color(0x0b1017);
      this.scene.add(new THREE.AmbientLight(0xffffff, tracks[0].sun ? 0.35 : 1.6));
      this.sun = new THREE.DirectionalLight(0xfff6e6, tracks[0].sun ? 3 : 1.2);
      this.sun.position.set(1, 1, 1);
      this.scene.add(this.sun);
      this.planet = new THREE.Group();
      const ball = new THREE.Mesh(new THREE.SphereGeometry(1, 64, 40), new THREE.MeshStandardMaterial({ color: 0x3a6ea5, roughness: 0.9 }));
      this.planet.add(ball, this.#grid());
      this.scene.add(this.planet);
      this.craft = tracks.map((track) => this.#track(track));
      const farthest = Math.max(1.2, ...tracks.map((track) => {
        const [x, y, z] = [0, 1, 2].map((k) => column(track.position, k));
        return x.reduce((most, _, i) => Math.max(most, Math.hypot(x[i], y[i], z[i])), 0) / data.planet.radius;
      }));
      this.camera = new THREE.PerspectiveCamera(40, 1, 0.01, 200 * farthest);
      this.camera.up.set(0, 0, 1);
      this.camera.position.set(2.1, -1.9, 1.3).multiplyScalar(0.3 + 0.5 * farthest);
      for (const { dot } of this.craft) dot.scale.setScalar(0.022 * farthest);
      this.controls = new THREE.OrbitControls(this.camera, canvas);
      this.controls.minDistance = 1.1;
      this.controls.addEventListener("change", () => this.draw());
      new ResizeObserver(() => this.draw()).observe(canvas);
    }

    // Meridians and parallels, the equator and the zero meridian brighter.
    #grid() {
      const group = new THREE.Group();
      const ring = (points, bright) => group.add(new THREE.Line(new THREE.BufferGeometry().setFromPoints(points), new THREE.LineBasicMaterial({ color: bright ? 0xcfe3f7 : 0x7fa6cc, transparent: true, opacity: bright ? 0.9 : 0.35 })));
      const place = (latitude, longitude) => new THREE.Vector3(Math.cos(latitude) * Math.cos(longitude), Math.cos(latitude) * Math.sin(longitude), Math.sin(latitude)).multiplyScalar(1.003);
      for (let longitude = 0; longitude < 360; longitude += 30) ring(Array.from({ length: 61 }, (_, k) => place((k * 3 - 90) * DEGREE, longitude * DEGREE)), longitude === 0);
      for (let latitude = -60; latitude <= 60; latitude += 30) ring(Array.from({ length: 121 }, (_, k) => place(latitude * DEGREE, k * 3 * DEGREE)), latitude === 0);
      return group;
    }

    #track(track) {
      const [x, y, z] = [0, 1, 2].map((k) => column(track.position, k)), { radius } = data.planet;
      const points = new Float32Array(3 * x.length);
      x.forEach((_, i) => points.set([x[i] / radius, y[i] / radius, z[i] / radius], 3 * i));
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(points, 3));
      const color = new THREE.Color(getComputedStyle(document.documentElement).getPropertyValue(`--${track.color}`).trim()).lerp(new THREE.Color(0xffffff), 0.25);
      this.scene.add(new THREE.Line(geometry, new THREE.LineBasicMaterial({ color, transparent: true, opacity: 0.75 })));
      const dot = new THREE.Mesh(new THREE.SphereGeometry(1, 16, 12), new THREE.MeshBasicMaterial({ color }));
      this.scene.add(dot);
      return { track, dot };
    }

    at(time) {
      this.planet.rotation.z = data.angle + data.planet.rotation * time;
      for (const { track, dot } of this.craft) dot.position.set(...vector(track, track.position, time).map((x) => x / data.planet.radius));
      if (this.tracks[0].sun) this.sun.position.set(...vector(this.tracks[0], this.tracks[0].sun, time)).multiplyScalar(50);
      this.draw();
    }

    draw() {
      const { clientWidth: w, clientHeight: h } = this.canvas;
      if (!w || !h) return;
      if (this.size !== `${w}x${h}`) {
        this.size = `${w}x${h}`;
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
        this.renderer.setSize(w, h, false);
        this.camera.aspect = w / h;
        this.camera.fov = w < h ? 58 : 40;
        this.camera.updateProjectionMatrix();
      }
      this.renderer.render(this.scene, this.camera);
    }
  }

  class OrbitPage {
    constructor(tracks) {
      this.tracks = tracks;
      this.span = [Math.min(...tracks.map((t) => t.t[0])), Math.max(...tracks.map((t) => t.t.at(-1)))];
      const long = this.span[1] - this.span[0];
      [this.unit, this.scale] = long > 2e5 ? ["days", 86400] : long > 7200 ? ["h", 3600] : ["s", 1];
      this.#theme();
      this.#charts();
      $("names").replaceChildren(...tracks.map((t) => make("li", {}, make("i", { className: "swatch" }), t.name)));
      [...$("names").children].forEach((li, k) => (li.firstChild.style.background = `var(--${tracks[k].color})`));
      try {
        this.space = new Space($("view"), tracks);
      } catch {
        $("failure").hidden = false;
        $("failure").textContent = "This browser has no WebGL: the orbits are shown over ground only.";
      }
      $("time").addEventListener("input", () => this.seek(this.span[0] + Number($("time").value) * (this.span[1] - this.span[0])));
      $("play").addEventListener("click", () => this.toggle());
      addEventListener("keydown", (event) => {
        if (event.target.matches("input, select, button, summary")) return;
        if (event.code === "Space") event.preventDefault(), this.toggle();
        if (event.code === "KeyD") $("theme").click();
      });
      this.seek(this.span[0]);
    }

    #theme() {
      const root = document.documentElement;
      root.classList.toggle("dark", matchMedia("(prefers-color-scheme: dark)").matches);
      $("theme").addEventListener("click", () => root.classList.toggle("dark"));
      new MutationObserver(() => this.all.forEach((chart) => chart.redraw())).observe(root, { attributeFilter: ["class"] });
    }

    #charts() {
      this.ground = new GroundChart();
      const over = (name, title, unit, table, k) => {
        const chart = new articulus.LinesChart(name, title, `${title} over time`, false);
        const curves = this.tracks.map((track) => ({ name: track.name, color: track.color, x: [...track.t].map((t) => t / this.scale), values: [...column(track[table], k)].map((v) => (Number.isFinite(v) ? v : null)) }));
        chart.show({ curves, unit, across: this.unit, free: true, about: "", note: "" });
        return chart;
      };
      this.lines = [over("altitude", "Altitude", "km", "place", 2), ...ELEMENTS.map(([name, title, unit], k) => over(name, title, unit, "elements", k))];
      this.all = [this.ground, ...this.lines];
      this.state = make("div", { id: "state" });
      $("plots").append(this.ground.element, this.state, ...this.lines.map((chart) => chart.element));
      this.ground.show(this.tracks);
    }

    toggle() {
      this.playing = !this.playing;
      $("play").setAttribute("aria-label", this.playing ? "Pause" : "Play");
      $("play-icon").setAttribute("d", this.playing ? "M6 5h4v14H6zM14 5h4v14h-4z" : "M7 4.5v15l12.5-7.5z");
      this.last = performance.now();
      if (this.playing) requestAnimationFrame((now) => this.#step(now));
    }

    #step(now) {
      if (!this.playing) return;
      const rate = (this.span[1] - this.span[0]) / Number($("pace").value);
      const next = this.time + (rate * (now - this.last)) / 1000;
      this.last = now;
      this.seek(next > this.span[1] ? this.span[0] : next);
      requestAnimationFrame((then) => this.#step(then));
    }

    seek(time) {
      this.time = time;
      $("time").value = String((time - this.span[0]) / (this.span[1] - this.span[0] || 1));
      const date = data.epoch ? `${new Date(Date.parse(data.epoch) + 1000 * time).toISOString().slice(0, 19).replace("T", " ")} UTC · ` : "";
      $("now").textContent = `${date}${articulus.fixed(time / this.scale, this.scale === 1 ? 1 : 2)} ${this.unit}`;
      $("time").setAttribute("aria-valuetext", $("now").textContent);
      this.space?.at(time);
      this.ground.at(time);
      for (const chart of this.lines) chart.at(time / this.scale);
      this.#tell(time);
    }

    #tell(time) {
      const cell = (text) => make("td", {}, text);
      const rows = this.tracks.map((track) => {
        const [latitude, longitude] = below(vector(track, track.position, time), time);
        const numbers = [`${articulus.fixed(latitude, 2)}°`, `${articulus.fixed(longitude, 2)}°`, `${articulus.fixed(at(track, track.place, 2, time), 1)} km`, `${articulus.fixed(at(track, track.place, 3, time), 3)} km/s`];
        const lit = track.light ? [at(track, track.light, 0, time) > 0.5 ? "Sun" : "shadow"] : [];
        return make("tr", {}, make("th", { scope: "row" }, track.name), ...[...numbers, ...lit].map(cell));
      });
      const heads = ["flight", "latitude", "longitude", "altitude", "speed", ...(this.tracks[0].light ? ["in"] : [])].map((text) => make("th", { scope: "col" }, text));
      this.state.replaceChildren(make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows)));
    }
  }

  (async () => {
    articulus.orbits = new OrbitPage(await Promise.all(data.tracks.map(unpacked)));
    $("note").textContent = `${data.planet.name}${data.epoch ? `, from ${data.epoch.slice(0, 19).replace("T", " ")} UTC` : ""}`;
    document.body.dataset.ready = "yes";
  })();
})();
