"use strict";
// A mechanism in three.js, from the data of scene.py. Poses are set from outside.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const T = THREE;
  const X = new T.Vector3(1, 0, 0);
  const Y = new T.Vector3(0, 1, 0);
  const FIELD = 32; // angle of view from bottom to top [deg]
  const MANY = 40; // bodies beyond which each is drawn more coarsely
  const JOINT = "#7c8896";
  const ROD = "#b4bac0";
  const AXES = ["#d64545", "#2f9e5b", "#3b7de0"];
  const CREASE = Math.cos(Math.PI / 6); // triangles that meet at less than 30 degrees are shaded as one surface

  const vector = (p) => new T.Vector3(...p);

  function between(object, start, end) {
    const along = end.clone().sub(start);
    const length = along.length();
    object.position.copy(start).addScaledVector(along, 0.5);
    if (length > 0) object.quaternion.setFromUnitVectors(Y, along.divideScalar(length));
    return length;
  }

  // Whether pictures are made by the processor: some finery is then left out.
  let software = null;
  articulus.drawnBySoftware = () => {
    if (software !== null) return software;
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    software = Boolean(info) && /swiftshader|llvmpipe|software/i.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL));
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return software;
  };

  // Whether a scene has so many bodies that each is drawn more coarsely.
  articulus.isLarge = (scene) => scene.bodies.length > MANY;

  // Return a solid; one of many bodies is made of fewer triangles, as drawing them is what takes time.
  function shapeMesh(shape, material, many) {
    const start = vector(shape.start);
    const end = vector(shape.end);
    const r = shape.radius;
    const length = start.distanceTo(end);
    const geometry = {
      tube: () => new T.CapsuleGeometry(r, length, many ? 2 : 4, many ? 8 : 16),
      disc: () => new T.CylinderGeometry(r, r, length, many ? 12 : 24),
      box: () => new T.BoxGeometry(2 * r, length, 2 * r),
      ball: () => (many ? new T.SphereGeometry(r, 10, 7) : new T.SphereGeometry(r, 20, 14)),
    }[shape.kind]();
    const mesh = new T.Mesh(geometry, material);
    between(mesh, start, end);
    return mesh;
  }

  // Return shapes and their meshes with all but the balls of masses in one mesh, colored by its points: one call to draw it.
  function joined(meshes, materials) {
    const solid = meshes.filter(([shape]) => shape.role !== "mass");
    if (solid.length < 2) return meshes;
    const parts = { position: [], normal: [], color: [], index: [] };
    for (const [shape, mesh] of solid) {
      mesh.updateMatrix();
      const { attributes, index } = mesh.geometry.applyMatrix4(mesh.matrix);
      const first = parts.position.length / 3;
      for (const i of index.array) parts.index.push(first + i);
      parts.position.push(...attributes.position.array);
      parts.normal.push(...attributes.normal.array);
      const { r, g, b } = materials[shape.role].color;
      for (let i = 0; i < attributes.position.count; i++) parts.color.push(r, g, b);
      mesh.geometry.dispose();
    }
    const geometry = new T.BufferGeometry();
    geometry.setIndex(parts.index);
    for (const name of ["position", "normal", "color"]) geometry.setAttribute(name, new T.Float32BufferAttribute(parts[name], 3));
    materials.joined = materials.link.clone();
    materials.joined.color.set("#ffffff");
    materials.joined.vertexColors = true;
    const rest = meshes.filter(([shape]) => shape.role === "mass");
    return [[{ role: "link" }, new T.Mesh(geometry, materials.joined)], ...rest];
  }

  function numbersOf(text, Kind) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    return new Kind(bytes.buffer);
  }

  // Return the unit normal of each triangle, 3 numbers each; lengths of sides do not matter.
  function faceNormals(points, corners) {
    const out = new Float32Array(corners.length);
    const [a, b, c] = [new T.Vector3(), new T.Vector3(), new T.Vector3()];
    for (let i = 0; i < corners.length; i += 3) {
      a.fromArray(points, 3 * corners[i]);
      b.fromArray(points, 3 * corners[i + 1]).sub(a);
      c.fromArray(points, 3 * corners[i + 2]).sub(a);
      b.cross(c).normalize().toArray(out, i);
    }
    return out;
  }

  // Return the normal of each corner: the mean over the triangles around it that are nearly in one plane with its own.
  function cornerNormals(points, corners) {
    const faces = faceNormals(points, corners);
    const around = Array.from({ length: points.length / 3 }, () => []);
    corners.forEach((vertex, i) => around[vertex].push(3 * Math.floor(i / 3)));
    const out = new Float32Array(3 * corners.length);
    const [own, other, sum] = [new T.Vector3(), new T.Vector3(), new T.Vector3()];
    corners.forEach((vertex, i) => {
      own.fromArray(faces, 3 * Math.floor(i / 3));
      sum.copy(own);
      for (const face of around[vertex]) if (other.fromArray(faces, face).dot(own) > CREASE) sum.add(other);
      sum.normalize().toArray(out, 3 * i);
    });
    return out;
  }

  // Return the triangles of a packed mesh (solids.py).
  function unpackMesh({ origin, step, vertices, triangles, wide, palette, colors }) {
    const points = Float32Array.from(numbersOf(vertices, Uint16Array), (x, i) => origin[i % 3] + step[i % 3] * x);
    const corners = numbersOf(triangles, wide ? Uint32Array : Uint16Array);
    const spread = new Float32Array(3 * corners.length);
    corners.forEach((vertex, i) => spread.set(points.subarray(3 * vertex, 3 * vertex + 3), 3 * i));
    const geometry = new T.BufferGeometry();
    geometry.setAttribute("position", new T.BufferAttribute(spread, 3));
    geometry.setAttribute("normal", new T.BufferAttribute(cornerNormals(points, corners), 3));
    if (palette.length) {
      const rgb = palette.map((text) => new T.Color(text).toArray());
      const painted = new Float32Array(spread.length);
      numbersOf(colors, Uint8Array).forEach((k, i) => [0, 3, 6].forEach((corner) => painted.set(rgb[k], 9 * i + corner)));
      geometry.setAttribute("color", new T.BufferAttribute(painted, 3));
    }
    return geometry;
  }

  function solidMesh(solid, meshes, material) {
    const [a, b, c] = solid.size;
    const upright = (geometry) => geometry.rotateX(Math.PI / 2); // three.js has axes along y
    const geometry = {
      box: () => new T.BoxGeometry(a, b, c),
      cylinder: () => upright(new T.CylinderGeometry(a, a, b, 40)),
      capsule: () => upright(new T.CapsuleGeometry(a, b, 8, 32)),
      sphere: () => new T.SphereGeometry(a, 36, 24),
      ellipsoid: () => new T.SphereGeometry(1, 36, 24).scale(a, b, c),
      mesh: () => meshes[solid.mesh],
    }[solid.kind]();
    const mesh = new T.Mesh(geometry, material);
    const [w, x, y, z] = solid.quaternion;
    mesh.position.fromArray(solid.position);
    mesh.quaternion.set(x, y, z, w);
    return mesh;
  }

  // Let a mark be seen through what is around it.
  function onTop(object) {
    object.traverse((part) => {
      part.renderOrder = 1;
      if (part.material) Object.assign(part.material, { depthTest: false, transparent: true });
    });
  }

  function triad(size) {
    const group = new T.Group();
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((axis, k) => {
      const mesh = new T.Mesh(
        new T.CylinderGeometry(0.03 * size, 0.03 * size, size, 6),
        new T.MeshBasicMaterial({ color: AXES[k] }),
      );
      between(mesh, new T.Vector3(), vector(axis).multiplyScalar(size));
      group.add(mesh);
    });
    return group;
  }

  // A flexible body: tubes between its stations, which modal coordinates displace.
  class Chain {
    constructor(flexible, material) {
      this.flexible = flexible;
      this.group = new T.Group();
      const unit = new T.CylinderGeometry(flexible.radius, flexible.radius, 1, 12, 1, true);
      const knob = new T.SphereGeometry(flexible.radius, 12, 8);
      this.tubes = flexible.edges.map(() => new T.Mesh(unit, material));
      const used = new Set(flexible.edges.flat());
      this.used = flexible.stations.map((_, k) => used.has(k));
      this.knobs = flexible.stations.map(() => new T.Mesh(knob, material));
      this.group.add(...this.tubes, ...this.knobs.filter((_, k) => this.used[k]));
      this.index = new Map(flexible.stations.map((s, k) => [s.name, k]));
    }

    // Return first eta + 1/2 eta' second eta.
    static series(first, second, eta) {
      const out = new T.Vector3();
      for (let i = 0; i < 3; i++) {
        let sum = 0;
        for (let k = 0; k < eta.length; k++) {
          sum += first[i][k] * eta[k];
          if (second.length) for (let l = 0; l < eta.length; l++) sum += 0.5 * eta[k] * second[i][k][l] * eta[l];
        }
        out.setComponent(i, sum);
      }
      return out;
    }

    // Return the pose of a station in the body frame.
    place(name, eta) {
      const s = this.flexible.stations[this.index.get(name)];
      const shift = Chain.series(s.translation, s.shortening, eta).add(vector(s.position));
      const c = Chain.series(s.rotation, s.turning, eta).multiplyScalar(0.5);
      const turn = new T.Quaternion(c.x, c.y, c.z, 1).normalize();
      return new T.Matrix4().compose(shift, turn, new T.Vector3(1, 1, 1));
    }

    deform(eta) {
      const at = this.flexible.stations.map((s, k) =>
        this.used[k] ? Chain.series(s.translation, s.shortening, eta).add(vector(s.position)) : null,
      );
      this.knobs.forEach((knob, k) => at[k] && knob.position.copy(at[k]));
      this.flexible.edges.forEach(([i, j], k) => {
        this.tubes[k].scale.y = between(this.tubes[k], at[i], at[j]) || 1e-9;
      });
    }
  }

  // Options: ghost (a color; the mechanism is then drawn translucent in it).
  articulus.SceneView = class {
    constructor(scene, { ghost = "" } = {}) {
      this.scene = scene;
      this.ghost = ghost;
      this.root = new T.Group();
      this.parts = { link: [], joint: [], mass: [], frame: [], axis: [], shape: [], bones: [] };
      this.solid = scene.standing.length > 0 || scene.bodies.some((b) => b.solids.length);
      this.meshes = scene.meshes.map(unpackMesh);
      this.struts = [];
      this.bodies = scene.bodies.map((body) => this.#body(body));
      this.byName = new Map(scene.bodies.map((b, k) => [b.name, k]));
      this.eta = scene.bodies.map((b) => (b.flexible ? new Float32Array(b.flexible.stations[0].translation[0].length) : []));
      this.scale = 1;
      this.poses = null;
      this.#ground();
      this.frames = new Map();
      scene.frames.forEach((f) => this.#frame(f));
      this.rods = scene.rods.map(() => new T.Mesh(new T.CylinderGeometry(0.006 * scene.size, 0.006 * scene.size, 1, 10), this.#material(JOINT)));
      for (const rod of this.rods) this.root.add(rod);
      this.arrows = [];
      if (this.solid) for (const mark of ["mass", "frame", "axis"]) this.parts[mark].forEach(onTop);
      this.show("shape", true);
      this.show("frame", false);
      this.show("axis", false);
    }

    #material(color, opacity = 1) {
      const see = this.ghost ? 0.28 : opacity;
      const common = { color: this.ghost || color, fog: false, transparent: see < 1, opacity: see, depthWrite: see === 1 };
      if (articulus.drawnBySoftware() && articulus.isLarge(this.scene)) return new T.MeshLambertMaterial(common);
      return new T.MeshStandardMaterial({ ...common, roughness: 0.5, metalness: 0.05 });
    }

    #body(body) {
      const group = new T.Group();
      group.name = body.name;
      const large = articulus.isLarge(this.scene);
      const materials = { link: this.#material(body.color), joint: this.#material(JOINT), mass: this.#material(body.color, 0.45) };
      let meshes = body.shapes.filter((shape) => !this.ghost || shape.role !== "mass").map((shape) => [shape, shapeMesh(shape, materials[shape.role], large)]);
      if (large) meshes = joined(meshes, materials);
      for (const [shape, mesh] of meshes) {
        mesh.castShadow = !this.ghost && shape.role !== "mass";
        mesh.userData.body = body.name;
        if (body.solids.length && shape.role === "mass") mesh.scale.setScalar(0.4);
        this.parts[body.bare || shape.role === "mass" ? shape.role : "bones"].push(mesh);
        group.add(mesh);
      }
      this.#solids(body.solids, group, materials, body);
      let chain = null;
      if (body.flexible) {
        chain = new Chain(body.flexible, materials.link);
        chain.group.traverse((m) => { m.castShadow = !this.ghost; m.userData.body = body.name; });
        chain.deform(new Float32Array(body.flexible.stations[0].translation[0].length));
        group.add(chain.group);
      }
      if (!this.ghost) {
        const own = triad(0.07 * this.scene.size);
        this.parts.frame.push(own);
        group.add(own, ...body.axes.map((axis) => this.#axis(body, vector(axis))));
      }
      this.root.add(group);
      return { group, chain, materials };
    }

    // Add a telescope between two bodies: a barrel and a rod, which `set` puts in their place.
    #strut(solid, materials, body) {
      const color = solid.color || body.color;
      const [r] = solid.size;
      const parts = [[r, (materials[`${color} 1 false`] ??= this.#material(color))], [0.52 * r, (materials.rod ??= this.#material(ROD))]];
      const meshes = parts.map(([radius, material]) => new T.Mesh(new T.CylinderGeometry(radius, radius, 1, 20), material));
      for (const mesh of meshes) {
        mesh.castShadow = !this.ghost;
        mesh.userData.body = body.name ?? "ground";
        this.parts.shape.push(mesh);
        this.root.add(mesh);
      }
      this.struts.push({ meshes, from: body.name ?? "ground", start: vector(solid.position), to: solid.body, end: vector(solid.end), barrel: 0 });
    }

    #placeStruts() {
      for (const strut of this.struts) {
        const a = strut.start.clone().applyMatrix4(this.#matrix(strut.from));
        const b = strut.end.clone().applyMatrix4(this.#matrix(strut.to));
        const length = a.distanceTo(b);
        strut.barrel ||= 0.62 * length;
        const at = (s) => a.clone().lerp(b, Math.min(s / (length || 1), 1));
        const [barrel, rod] = strut.meshes;
        barrel.scale.y = between(barrel, a, at(strut.barrel)) || 1e-9;
        rod.scale.y = between(rod, at(0.9 * strut.barrel), b) || 1e-9;
      }
    }

    // Add visuals to a group; each color is a material of its own.
    #solids(solids, group, materials, body) {
      for (const solid of solids) {
        if (solid.kind === "strut") {
          this.#strut(solid, materials, body);
          continue;
        }
        const painted = !this.ghost && solid.kind === "mesh" && this.meshes[solid.mesh].hasAttribute("color");
        const color = painted ? "#ffffff" : solid.color || body.color;
        const material = (materials[`${color} ${solid.opacity} ${painted}`] ??= this.#material(color, solid.opacity));
        material.vertexColors = painted;
        if (solid.kind === "mesh") material.side = T.DoubleSide; // files do not always say which side is out
        const mesh = solidMesh(solid, this.meshes, material);
        mesh.castShadow = mesh.receiveShadow = !this.ghost;
        mesh.userData.body = body.name ?? "ground";
        this.parts.shape.push(mesh);
        group.add(mesh);
      }
    }

    #axis(body, axis) {
      const reach = 0.14 * this.scene.size;
      const at = vector(body.origin);
      const points = [at.clone().addScaledVector(axis, -reach), at.clone().addScaledVector(axis, reach)];
      const line = new T.Line(
        new T.BufferGeometry().setFromPoints(points),
        new T.LineDashedMaterial({ color: "#c2185b", dashSize: reach / 9, gapSize: reach / 18 }),
      );
      line.computeLineDistances();
      this.parts.axis.push(line);
      return line;
    }

    #ground() {
      if (this.ghost) return;
      const material = this.#material(JOINT);
      for (const shape of this.scene.ground) {
        const mesh = shapeMesh(shape, material, false);
        mesh.castShadow = true;
        if (this.solid) this.parts.bones.push(mesh);
        this.root.add(mesh);
      }
      this.#solids(this.scene.standing, this.root, {}, { color: JOINT });
      this.#solids(this.scene.obstacles, this.root, {}, { color: JOINT });
      const world = triad(0.07 * this.scene.size);
      this.parts.frame.push(world);
      this.root.add(world);
    }

    #frame(f) {
      const group = new T.Group();
      group.matrixAutoUpdate = false;
      if (!this.ghost) {
        const axes = triad(0.05 * this.scene.size);
        this.parts.frame.push(axes);
        group.add(axes);
      }
      const [w, x, y, z] = f.quaternion;
      const local = new T.Matrix4().compose(vector(f.position), new T.Quaternion(x, y, z, w), new T.Vector3(1, 1, 1));
      this.root.add(group);
      this.frames.set(f.name, { group, body: f.body, node: f.node, local });
    }

    // Draw the force (and the moment) of six numbers at a frame; lengths are parts of `largest` = [moment, force].
    // Without a frame, the point at which it acts is given with each wrench and is drawn as a ball while there is a force.
    addArrow(frame, largest) {
      const build = (color) => {
        const r = 0.008 * this.scene.size;
        const material = new T.MeshStandardMaterial({ color: this.ghost || color, roughness: 0.6 });
        const shaft = new T.Mesh(new T.CylinderGeometry(r, r, 1, 10), material);
        const head = new T.Mesh(new T.ConeGeometry(2.6 * r, 6 * r, 14), material);
        const group = new T.Group();
        group.add(shaft, head);
        group.visible = false;
        this.root.add(group);
        return { group, shaft, head };
      };
      const arrow = { frame, largest, parts: [build("#7b3fa0"), build("#c62828")] };
      if (!frame) {
        const material = new T.MeshStandardMaterial({ color: this.ghost || "#c62828", roughness: 0.6 });
        const group = new T.Mesh(new T.SphereGeometry(0.014 * this.scene.size, 14, 10), material);
        group.visible = false;
        this.root.add(group);
        arrow.mark = { group };
      }
      this.arrows.push(arrow);
    }

    setArrow(k, wrench, point) {
      const { frame, largest, parts, mark } = this.arrows[k];
      const at = point ? new T.Vector3(...point) : this.position(frame);
      if (mark) {
        mark.group.visible = wrench.some((x) => x);
        mark.group.position.copy(at);
      }
      parts.forEach((part, which) => {
        const v = new T.Vector3(...wrench.slice(3 * which, 3 * which + 3));
        const length = largest[which] > 0 ? (0.3 * this.scene.size * v.length()) / largest[which] : 0;
        part.group.visible = length > 0.01 * this.scene.size;
        if (!part.group.visible) return;
        const end = at.clone().addScaledVector(v.normalize(), length);
        part.shaft.scale.y = between(part.shaft, at, end);
        part.head.position.copy(end);
        part.head.quaternion.copy(part.shaft.quaternion);
      });
    }

    // Put every body at its pose, (bodies x 7), and bend flexible ones by their modal coordinates, a list each.
    set(poses, eta) {
      this.poses = poses;
      if (eta) this.eta = eta;
      const shown = new Map();
      const pose = (k) => {
        const o = 7 * k;
        const q = new T.Quaternion(poses[o + 4], poses[o + 5], poses[o + 6], poses[o + 3]).normalize();
        return new T.Matrix4().compose(new T.Vector3(poses[o], poses[o + 1], poses[o + 2]), q, new T.Vector3(1, 1, 1));
      };
      const place = (k) => {
        if (shown.has(k)) return shown.get(k);
        let matrix = pose(k);
        const body = this.scene.bodies[k];
        const p = this.byName.get(body.parent);
        if (this.scale !== 1 && p !== undefined) {
          const { chain } = this.bodies[p];
          const carried = place(p).clone();
          if (chain && body.node) {
            carried.multiply(chain.place(body.node, this.#scaled(p))).multiply(chain.place(body.node, this.eta[p]).invert());
          }
          matrix = carried.multiply(pose(p).invert()).multiply(matrix);
        }
        shown.set(k, matrix);
        return matrix;
      };
      this.bodies.forEach(({ group, chain }, k) => {
        place(k).decompose(group.position, group.quaternion, group.scale);
        if (chain) chain.deform(this.#scaled(k));
      });
      this.#carried();
    }

    #scaled(k) {
      return Array.from(this.eta[k], (x) => x * this.scale);
    }

    #carried() {
      for (const held of this.frames.values()) {
        held.group.matrix.copy(this.#matrix(held.body));
        const k = this.byName.get(held.body);
        if (held.node && this.bodies[k].chain) held.group.matrix.multiply(this.bodies[k].chain.place(held.node, this.#scaled(k)));
        held.group.matrix.multiply(held.local);
      }
      this.scene.rods.forEach(([a, b], k) => {
        this.rods[k].scale.y = between(this.rods[k], this.position(a), this.position(b)) || 1e-9;
      });
      this.#placeStruts();
    }

    #matrix(body) {
      const k = this.byName.get(body);
      if (k === undefined) return new T.Matrix4();
      const { group } = this.bodies[k];
      return new T.Matrix4().compose(group.position, group.quaternion, new T.Vector3(1, 1, 1));
    }

    // Return the pose in which a body or frame is shown.
    matrix(name) {
      return this.frames.has(name) ? this.frames.get(name).group.matrix.clone() : this.#matrix(name);
    }

    // Return where the origin of a body or frame is shown.
    position(name) {
      return new T.Vector3().setFromMatrixPosition(this.matrix(name));
    }

    // Show or hide a kind of part; "shape" off draws the skeleton of everything that has visuals instead of them.
    show(part, on) {
      for (const object of this.parts[part]) object.visible = on;
      if (part === "shape") for (const object of this.parts.bones) object.visible = !on;
    }

    showBody(name, on) {
      this.bodies[this.byName.get(name)].group.visible = on;
    }

    highlight(name) {
      this.scene.bodies.forEach((body, k) => {
        for (const m of Object.values(this.bodies[k].materials)) m.emissive.set(body.name === name ? "#3a3a3a" : "#000000");
      });
    }
  };

  // Ground, light and camera for mechanisms inside a box, "up" against gravity; skeletons stand on feet, visuals on the ground.
  articulus.Stage = class {
    constructor(canvas, up, low, high, size, { feet = 0.05 * size, stands = false, many = false } = {}) {
      this.software = articulus.drawnBySoftware();
      this.renderer = new T.WebGLRenderer({ canvas, antialias: !(this.software && many), preserveDrawingBuffer: true });
      this.sharpness = 1;
      this.aspect = 1;
      this.renderer.shadowMap.enabled = !this.software;
      this.renderer.shadowMap.type = T.PCFShadowMap;
      this.scene = new T.Scene();
      this.scene.fog = new T.Fog("#ffffff");
      this.up = vector(up);
      this.cameras = [new T.PerspectiveCamera(FIELD, 1, 0.01, 100), new T.OrthographicCamera()];
      for (const camera of this.cameras) camera.up.copy(this.up);
      [this.camera] = this.cameras;
      this.size = size;
      this.feet = feet;
      this.stands = stands;
      this.enclose(low, high);
      this.#floorLevel();
      this.#lights();
      this.controls = new T.OrbitControls(this.camera, canvas);
      this.controls.enableDamping = false;
      this.home();
    }

    // Take a box as that of the motion: `home` looks at all of it.
    enclose(low, high) {
      this.center = vector(low).add(vector(high)).multiplyScalar(0.5);
      this.radius = Math.max(0.5 * vector(low).distanceTo(vector(high)), 0.3 * this.size);
      this.corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) =>
        new T.Vector3((k & 1 ? high : low)[0], (k & 2 ? high : low)[1], (k & 4 ? high : low)[2]));
    }

    // The floor is at the foot of what is drawn of ground, else at its frame, unless the motion is below it or far above.
    #floorLevel() {
      const heights = this.corners.map((corner) => corner.dot(this.up));
      const bottom = Math.min(...heights);
      const top = Math.max(...heights);
      const near = this.stands || (bottom > -0.35 * (top - bottom) && bottom < 0.6 * this.radius);
      this.floor = (near ? 0 : bottom) - this.feet;
    }

    #lights() {
      const { up, radius, center } = this;
      const side = this.#side();
      const across = new T.Vector3().crossVectors(up, side);
      this.scene.add(new T.HemisphereLight("#ffffff", "#aab2bd", 2.2));
      const sun = new T.DirectionalLight("#ffffff", 2.0);
      sun.position.copy(center).addScaledVector(up, 3 * radius).addScaledVector(side, 1.2 * radius).addScaledVector(across, -1.6 * radius);
      sun.target.position.copy(center);
      sun.castShadow = true;
      sun.shadow.mapSize.set(2048, 2048);
      Object.assign(sun.shadow.camera, { left: -2 * radius, right: 2 * radius, top: 2 * radius, bottom: -2 * radius, near: 0.1 * radius, far: 8 * radius });
      sun.shadow.radius = 3;
      sun.shadow.normalBias = 0.01 * radius;
      this.scene.add(sun, sun.target);
    }

    // Return a horizontal direction: x where x is not upright.
    #side() {
      const x = Math.abs(this.up.x) < 0.9 ? X : new T.Vector3(0, 0, 1);
      return x.clone().addScaledVector(this.up, -x.dot(this.up)).normalize();
    }

    theme({ background, line }) {
      this.scene.background = new T.Color(background);
      if (this.ground) this.remove(this.ground);
      const reach = 4 * this.radius;
      const step = articulus.niceStep(reach / 16);
      const cells = 2 * Math.ceil(reach / step);
      this.step = step;
      const grid = new T.GridHelper(cells * step, cells, line, line);
      this.ground = new T.Group();
      this.ground.add(grid);
      if (!this.software) {
        const plane = new T.Mesh(new T.PlaneGeometry(cells * step, cells * step), new T.ShadowMaterial({ opacity: 0.2 }));
        plane.rotation.x = -Math.PI / 2;
        plane.position.y = -0.002 * this.radius;
        plane.receiveShadow = true;
        this.ground.add(plane);
      }
      const flat = this.center.clone().addScaledVector(this.up, -this.center.dot(this.up));
      const snapped = flat.divideScalar(step).round().multiplyScalar(step);
      this.ground.quaternion.setFromUnitVectors(Y, this.up);
      this.ground.position.copy(snapped).addScaledVector(this.up, this.floor);
      this.scene.fog.color.set(background);
      this.scene.add(this.ground);
    }

    // Draw a share of the points of the screen in each direction; all of them at 1. Another size of the canvas makes it blank, so it is drawn at once.
    sharpen(share) {
      if (share === this.sharpness) return;
      this.sharpness = share;
      this.#fill();
    }

    // Fill a space of the page. The camera goes nearer or farther, so that as much of the motion is in view as before.
    resize(width, height) {
      [this.width, this.height] = [width, height];
      const away = this.camera.position.clone().sub(this.controls.target);
      const direction = away.clone().normalize();
      const before = this.#fitting(direction);
      this.aspect = width / Math.max(1, height);
      this.camera.position.copy(this.controls.target).addScaledVector(away, this.#fitting(direction) / before);
      this.#depth();
      this.#fill();
    }

    #fill() {
      this.renderer.setPixelRatio(this.sharpness * Math.min(2, globalThis.devicePixelRatio || 1));
      this.renderer.setSize(this.width, this.height, false);
      this.render();
    }

    // Let everything between the camera and far behind the motion be drawn, the ground behind it in fog.
    #depth() {
      const distance = this.camera.position.distanceTo(this.controls.target);
      const [eye, parallel] = this.cameras;
      eye.aspect = this.aspect;
      eye.near = distance / 200;
      eye.far = distance + 30 * this.radius;
      const half = Math.tan((FIELD * Math.PI) / 360) * distance;
      Object.assign(parallel, { left: -half * this.aspect, right: half * this.aspect, top: half, bottom: -half, near: -30 * this.radius, far: eye.far });
      for (const camera of this.cameras) camera.updateProjectionMatrix();
      this.controls.minDistance = 0.05 * this.radius;
      this.controls.maxDistance = Math.max(12 * this.radius, 2 * distance);
      Object.assign(this.scene.fog, { near: distance, far: distance + 5 * this.radius });
    }

    get parallel() {
      return this.camera === this.cameras[1];
    }

    // Look with parallel rays, or as an eye does; what is at the distance of the target keeps its size.
    set parallel(on) {
      if (on === this.parallel) return;
      const { target } = this.controls;
      const [eye, parallel] = this.cameras;
      const away = this.camera.position.clone().sub(target);
      if (!on) away.divideScalar(parallel.zoom);
      parallel.zoom = 1;
      this.camera = this.controls.object = on ? parallel : eye;
      this.camera.position.copy(target).add(away);
      this.cameraChanged?.(this.camera);
      this.#depth();
      this.controls.update();
    }

    // Look at everything from the side of -y, a little from the right and from above.
    home() {
      this.lookFrom("iso");
    }

    // Look at everything from a side: "front" (-y, where z is up), "side" (x), "top" or "iso".
    lookFrom(name) {
      const side = this.#side();
      const across = new T.Vector3().crossVectors(this.up, side);
      const direction = {
        iso: () => side.multiplyScalar(0.5).addScaledVector(across, -0.85).addScaledVector(this.up, 0.38),
        front: () => across.negate(),
        side: () => side,
        top: () => this.up.clone().addScaledVector(across, -1e-4),
      }[name]().normalize();
      this.camera.position.copy(this.center).addScaledVector(direction, this.#fitting(direction));
      this.camera.zoom = 1;
      this.controls.target.copy(this.center);
      this.#depth();
      this.controls.update();
    }

    // Look at a point from the same side, a share of the distance away.
    focus(point, share = 1) {
      const away = this.camera.position.clone().sub(this.controls.target).multiplyScalar(share);
      this.controls.target.copy(point);
      this.camera.position.copy(point).add(away);
      this.#depth();
      this.controls.update();
    }

    // Go round the target, by angles about the upright and above the ground [rad].
    orbit(about, above) {
      const { target } = this.controls;
      const away = this.camera.position.clone().sub(target);
      const right = new T.Vector3().crossVectors(this.up, away).normalize();
      const tilt = away.angleTo(this.up);
      away.applyAxisAngle(right, -Math.min(Math.max(above, tilt - Math.PI + 0.02), tilt - 0.02)).applyAxisAngle(this.up, about);
      this.camera.position.copy(target).add(away);
      this.controls.update();
    }

    // Return the length of a pixel at the distance of the target [m].
    get pixel() {
      const { zoom } = this.camera;
      return (2 * Math.tan((FIELD * Math.PI) / 360) * this.camera.position.distanceTo(this.controls.target)) / zoom / Math.max(1, this.height);
    }

    // Return the least distance at which the box of the motion is in view, seen from a direction.
    #fitting(direction) {
      const right = new T.Vector3().crossVectors(this.up, direction).normalize();
      const above = new T.Vector3().crossVectors(direction, right);
      const tall = Math.tan((FIELD * Math.PI) / 360);
      const margin = 0.07 * this.size;
      const needed = this.corners.map((corner) => {
        const p = corner.clone().sub(this.center);
        const wide = (Math.abs(p.dot(right)) + margin) / (tall * this.aspect);
        return p.dot(direction) + Math.max(wide, (Math.abs(p.dot(above)) + margin) / tall);
      });
      return 1.06 * Math.max(...needed);
    }

    // Take something out, with what it holds on the graphics card.
    remove(root) {
      this.scene.remove(root);
      root.traverse((object) => {
        object.geometry?.dispose();
        for (const material of [object.material ?? []].flat()) material.dispose();
      });
    }

    render() {
      this.renderer.render(this.scene, this.camera);
      this.drawn?.();
    }

    // Draw several positions into one picture: each of `times` is set before it is drawn over the others, at its true depth.
    strobe(times, set) {
      const { background } = this.scene;
      times.forEach((time, k) => {
        set(time);
        this.scene.background = k ? null : background;
        this.renderer.autoClear = k === 0;
        if (this.ground && k) this.ground.visible = false;
        this.renderer.render(this.scene, this.camera);
      });
      this.renderer.autoClear = true;
      this.scene.background = background;
    }
  };
})();
