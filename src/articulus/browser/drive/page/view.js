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
    this.drawn = this.mechanism(machine);
    this.surroundings(machine.ground);
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
    this.scene.add(plain);
    const step = 10 ** Math.floor(Math.log10(this.size / 4));
    const grid = new THREE.GridHelper(step * 60, 60, 0x5d5240, 0x7d7059);
    grid.rotation.x = Math.PI / 2;
    grid.position.z = ground;
    grid.material.transparent = true;
    grid.material.opacity = 0.4;
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

  soil(on) {
    this.plain.material.color.set(on ? 0x7d5f3d : 0x9a8c74);
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
