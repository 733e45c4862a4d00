// The picture: ground, light, bodies, cameras.
"use strict";

const SLOW = 50; // ms that a picture takes from which on none is begun before the last one is finished
const WIDE = 1.2; // ratio of width and height below which the camera goes farther away

class View {
  constructor(canvas, machine) {
    this.canvas = canvas;
    this.plainly = articulus.drawnBySoftware();
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.plainly, powerPreference: "high-performance" });
    this.renderer.shadowMap.enabled = !this.plainly;
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.12;
    this.scene = new THREE.Scene();
    this.size = Math.max(machine.scene.size, 0.1);
    this.machine = machine;
    this.drawn = this.mechanism(machine);
    this.surroundings(machine.ground);
    if (machine.digging) this.bucket(machine);
    this.cameras(machine);
    this.slow = 0;
    this.begun = []; // pictures that the graphics card has not finished
    this.took = 0; // time of the last one from its begin to its end [ms]
  }

  surroundings(ground) {
    const far = this.size * 14;
    this.scene.background = new THREE.Color(0xb9cbd8);
    this.scene.fog = new THREE.Fog(0xb9cbd8, far * 0.25, far * 0.95);
    this.scene.add(new THREE.HemisphereLight(0xdfeaf4, 0x8a7c66, 2.1));
    const sun = new THREE.DirectionalLight(0xfff1d8, 2.6);
    sun.position.set(-0.5, -0.8, 1.3).multiplyScalar(this.size * 2);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const r = this.size * 1.1;
    Object.assign(sun.shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.1, far: this.size * 6 });
    sun.shadow.bias = -0.0005;
    this.scene.add(sun);
    const plain = new THREE.Mesh(new THREE.CircleGeometry(far, 64), new THREE.MeshStandardMaterial({ color: 0x9a8c74, roughness: 1 }));
    plain.position.z = ground - 0.002 * this.size;
    plain.receiveShadow = true;
    this.plain = plain;
    this.level = ground;
    this.scene.add(plain);
    const step = 10 ** Math.floor(Math.log10(this.size / 4));
    const grid = new THREE.GridHelper(step * 60, 60, 0x5d5240, 0x7d7059);
    grid.rotation.x = Math.PI / 2;
    grid.position.z = ground;
    grid.material.transparent = true;
    grid.material.opacity = 0.4;
    this.grid = grid;
    this.scene.add(grid);
  }

  // The mechanism as the player shows it; flexible bodies bend. A seat is a place on a body from which the operator looks.
  mechanism({ scene, flexible, seat }) {
    const view = new articulus.SceneView(scene);
    view.show("mass", false);
    view.root.traverse((each) => (each.receiveShadow = each.castShadow));
    this.bodies = view.bodies.map(({ group }) => group);
    this.scene.add(view.root);
    const place = (poses, q) => view.set(poses, flexible.map(([start, stop]) => q.subarray(start, stop)));
    const index = seat && scene.bodies.findIndex((b) => b.name === seat.body);
    return { place, view, seat: seat && { ...seat, body: index, hide: this.bodies[index] }, center: null, distance: 1.9 * this.size };
  }

  cameras(machine) {
    this.camera = new THREE.PerspectiveCamera(42, 1, this.size / 400, this.size * 40);
    this.camera.up.set(0, 0, 1);
    this.controls = new THREE.OrbitControls(this.camera, this.canvas);
    Object.assign(this.controls, { enableDamping: true, maxPolarAngle: 1.53, minDistance: this.size / 8, maxDistance: this.size * 5 });
    this.names = this.drawn.seat ? ["Outside", "Side", "Cab"] : ["Outside", "Side"];
    this.chosen = 0;
    this.center = new THREE.Vector3(...(this.drawn.center ?? [0, 0, machine.ground + this.size * 0.3]));
    this.place();
  }

  place() {
    const name = this.names[this.chosen];
    this.controls.enabled = name !== "Cab";
    if (this.drawn.seat) this.drawn.seat.hide.visible = name !== "Cab";
    this.camera.fov = name === "Cab" ? 68 : 42;
    this.controls.target.copy(this.center);
    const direction = name === "Side" ? [0, -1, 0.08] : [0.62, -0.95, 0.42];
    this.away = this.farther();
    this.camera.position.copy(this.center).addScaledVector(new THREE.Vector3(...direction).normalize(), this.away * this.drawn.distance);
    this.resized = "";
  }

  // How much farther away the camera is in a narrow window, so that the machine is in view.
  farther() {
    return Math.max(1, (WIDE * innerHeight) / innerWidth);
  }

  nextCamera() {
    this.chosen = (this.chosen + 1) % this.names.length;
    this.place();
    return this.names[this.chosen];
  }

  // Poses of all bodies, position and quaternion wxyz, seven numbers each; and q, which holds modal coordinates.
  pose(poses, q) {
    this.drawn.place(poses, q);
    if (!this.drawn.center) this.frame();
  }

  // Look at the middle of what there is, from as far as its size asks.
  frame() {
    this.scene.updateMatrixWorld();
    const all = new THREE.Box3();
    this.bodies.forEach((body) => all.expandByObject(body));
    if (all.isEmpty()) return;
    this.drawn.center = all.getCenter(this.center);
    this.drawn.distance = 1.6 * Math.max(all.getSize(new THREE.Vector3()).length(), 0.6 * this.size);
    this.place();
  }

  // While there is soil, a field of heights lies in a hole of the plain.
  soil(on) {
    this.plain.material.color.set(on ? 0x7d5f3d : 0x9a8c74);
    if (!this.machine.field) return;
    if (on && !this.field) this.#makeField();
    if (this.field) this.field.visible = on;
    this.grid.visible = !on;
    if (this.holed !== on) {
      this.holed = on;
      const far = this.size * 14, shape = new THREE.Shape().absarc(0, 0, far, 0, 2 * Math.PI);
      if (on) {
        const r = 0.5 * (this.machine.field.cells - 2) * this.machine.field.cell; // the field covers the edge of the hole
        shape.holes.push(new THREE.Path([[-r, -r], [-r, r], [r, r], [r, -r]].map(([x, y]) => new THREE.Vector2(x, y))));
      }
      this.plain.geometry.dispose();
      this.plain.geometry = new THREE.ShapeGeometry(shape, 64);
    }
  }

  #makeField() {
    const { cell, cells } = this.machine.field, side = cell * (cells - 1);
    const geometry = new THREE.PlaneGeometry(side, side, cells - 1, cells - 1);
    const color = new Float32Array(3 * cells * cells);
    geometry.setAttribute("color", new THREE.BufferAttribute(color, 3));
    this.field = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 1, side: THREE.DoubleSide }));
    this.field.position.z = this.level;
    this.field.receiveShadow = true;
    for (let k = 0; k < cells * cells; k++) this.#stain(k, 0);
    this.scene.add(this.field);
    for (const told of this.told ?? []) this.dig(told);
    this.told = null;
  }

  // Undisturbed ground is brown, what was cut darker, what was laid on it lighter.
  #stain(k, height) {
    const cut = Math.min(1, Math.max(0, -height / 0.6)), laid = Math.min(1, Math.max(0, height / 0.3));
    const { array } = this.field.geometry.attributes.color;
    const tones = [0.205, 0.115, 0.047]; // of the plain, linear
    const { cell, cells } = this.machine.field, squares = Math.floor((k % cells) * cell) + Math.floor(Math.floor(k / cells) * cell);
    const square = squares % 2 ? 1.07 : 0.97; // of a meter: the eye sees by them how ground is bent
    tones.forEach((tone, c) => (array[3 * k + c] = tone * square * (1 - 0.55 * cut + 0.75 * laid)));
  }

  // cells: numbers of the cells, row after row of x; heights: over the level [mm].
  dig(told) {
    if (!this.field) return (this.told ??= []).push(told);
    const { cells: n } = this.machine.field, { position, color } = this.field.geometry.attributes;
    told.cells.forEach((cell, k) => {
      const i = Math.floor(cell / n), j = cell % n, vertex = (n - 1 - j) * n + i; // rows of the plane run along x, from the largest y
      position.array[3 * vertex + 2] = told.heights[k] / 1000;
      this.#stain(vertex, told.heights[k] / 1000);
    });
    position.needsUpdate = color.needsUpdate = true;
    this.field.geometry.computeVertexNormals();
  }

  // What the bucket holds, and an arrow of the force on its edge.
  bucket({ digging, scene }) {
    const body = this.bodies[scene.bodies.findIndex((b) => b.name === digging.bucket)];
    this.held = new THREE.Mesh(new THREE.SphereGeometry(1, 20, 14), new THREE.MeshStandardMaterial({ color: 0x6b4f2f, roughness: 1 }));
    this.held.position.set(...digging.hold);
    this.held.visible = false;
    body.add(this.held);
    this.arrow = new THREE.ArrowHelper(new THREE.Vector3(0, 0, 1), new THREE.Vector3(), 1, 0xff5a3c, 0.25, 0.16);
    this.arrow.visible = false;
    this.scene.add(this.arrow);
    this.arrowText = document.getElementById("arrow-text");
  }

  // force [kN] and place of the edge, six numbers; volume in the bucket [m^3].
  work([fx, fy, fz, x, y, z], volume) {
    const half = this.machine.digging.width / 2 - 0.05, radius = Math.sqrt((3 * volume) / (4 * Math.PI * half));
    this.held.visible = volume > 0.005;
    if (this.held.visible) this.held.scale.set(radius, radius, half);
    const size = Math.hypot(fx, fy, fz), shown = size > 0.5;
    this.arrow.visible = shown;
    this.arrowText.hidden = !shown;
    if (!shown) return;
    const direction = new THREE.Vector3(fx, fy, fz).divideScalar(size), length = Math.min(3, 0.3 + 0.04 * size);
    this.arrow.position.set(x, y, z);
    this.arrow.setDirection(direction);
    this.arrow.setLength(length, 0.28, 0.18);
    const end = this.arrow.position.clone().addScaledVector(direction, length).project(this.camera);
    this.arrowText.textContent = `${size.toFixed(0)} kN`;
    this.arrowText.style.transform = `translate(${(0.5 + 0.5 * end.x) * innerWidth}px, ${(0.5 - 0.5 * end.y) * innerHeight}px)`;
  }

  // The machine as it is by now, over that of the past that is seen; null for none.
  predict(poses, q) {
    if (!poses && !this.ghost) return;
    if (!this.ghost) {
      this.ghost = new articulus.SceneView(this.machine.scene, { ghost: "#2f7fe0" });
      this.ghost.show("mass", false);
      this.scene.add(this.ghost.root);
    }
    this.ghost.root.visible = Boolean(poses);
    if (poses) this.ghost.set(poses, this.machine.flexible.map(([start, stop]) => q.subarray(start, stop)));
  }

  // Fill the window. What was in view stays so; in an upright one it is between what is above and what is below.
  resize() {
    const [width, height] = [innerWidth, innerHeight];
    this.renderer.setPixelRatio(this.plainly ? 0.75 : Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    const { target } = this.controls, before = this.away;
    this.away = this.farther();
    this.camera.position.sub(target).multiplyScalar(this.away / before).add(target);
    this.camera.aspect = width / height;
    const [head, foot] = ["header", "footer"].map((name) => document.querySelector(name).getBoundingClientRect());
    const shift = width < height ? (height - head.bottom - foot.top) / 2 : 0;
    this.camera.setViewOffset(width, height, 0, shift, width, height);
  }

  // Whether a picture may begin. Where pictures take long the last one must be finished, so that none waits in a queue.
  free(now) {
    const gl = this.renderer.getContext();
    while (this.begun.length && gl.getSyncParameter(this.begun[0].sync, gl.SYNC_STATUS) !== gl.UNSIGNALED) {
      const { sync, at, done } = this.begun.shift();
      gl.deleteSync(sync);
      this.took = now - at;
      done();
    }
    return this.begun.length < (this.took > SLOW ? 1 : 2);
  }

  // Begin a picture; done: called when the graphics card has finished it.
  draw(now, spent, done) {
    const key = `${innerWidth}x${innerHeight}x${devicePixelRatio}`;
    if (key !== this.resized) {
      this.resized = key;
      this.resize();
    }
    this.scene.updateMatrixWorld();
    const seat = this.drawn.seat;
    if (seat && this.names[this.chosen] === "Cab") {
      const body = this.bodies[seat.body];
      body.localToWorld(this.camera.position.set(...seat.at));
      this.camera.lookAt(body.localToWorld(new THREE.Vector3(...seat.look)));
    } else {
      this.controls.update();
    }
    this.spare(spent);
    this.renderer.render(this.scene, this.camera);
    const gl = this.renderer.getContext();
    this.begun.push({ sync: gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0), at: now, done });
    gl.flush();
  }

  // A computer that cannot keep up gets no shadows and fewer pixels.
  spare(spent) {
    this.slow = Math.max(0, this.slow + (spent > 45 ? 1 : -0.5));
    if (this.slow > 40 && !this.plainly) {
      this.plainly = true;
      this.renderer.shadowMap.enabled = false;
      this.scene.traverse((each) => each.material && (each.material.needsUpdate = true));
      this.resized = "";
    }
  }
}
