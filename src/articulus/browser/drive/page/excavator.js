// Drawing of the Caterpillar 215B: every group stands in the frame of its body (x along the link, y up, z to the right;
// the house: x forward, y to the left, z up). Shapes are ours; hinges are where the model has them.
"use strict";

const Excavator = (() => {
  const PAINT = { yellow: 0xf0b01e, dark: 0x4a5056, steel: 0x8f979e, glass: 0x9fc4d8, rubber: 0x3b4046, black: 0x2a2d31 };
  const materials = {};
  const paint = (name) => (materials[name] ??= new THREE.MeshStandardMaterial({
    color: PAINT[name],
    roughness: name === "glass" ? 0.12 : name === "steel" ? 0.35 : 0.62,
    metalness: name === "steel" ? 0.8 : 0.12,
    transparent: name === "glass", opacity: name === "glass" ? 0.42 : 1,
  }));

  function solid(geometry, colour, x = 0, y = 0, z = 0) {
    const mesh = new THREE.Mesh(geometry, paint(colour));
    mesh.position.set(x, y, z);
    mesh.castShadow = colour !== "glass";
    mesh.receiveShadow = true;
    return mesh;
  }
  const box = (lx, ly, lz, colour, x, y, z) => solid(new THREE.BoxGeometry(lx, ly, lz), colour, x, y, z);

  // A plate with the given outline in the x-y plane, centred in z.
  function plate(points, width, colour, z = 0, bevel = 0.03) {
    const shape = new THREE.Shape(points.map(([x, y]) => new THREE.Vector2(x, y)));
    const depth = Math.max(width - 2 * bevel, 0.01);
    const geometry = new THREE.ExtrudeGeometry(shape, {
      depth, bevelEnabled: bevel > 0, bevelSize: bevel, bevelThickness: bevel, bevelSegments: 2,
    });
    geometry.translate(0, 0, z - depth / 2);
    return solid(geometry, colour);
  }
  function pin(x, y, radius, width, colour = "steel") {
    const mesh = solid(new THREE.CylinderGeometry(radius, radius, width, 24), colour, x, y, 0);
    mesh.rotation.x = Math.PI / 2;
    return mesh;
  }

  function track(y, ground) {
    const group = new THREE.Group();
    const high = 0.72, long = 3.7, r = high / 2;
    const outline = new THREE.Shape();
    outline.absarc(long / 2 - r, 0, r, -Math.PI / 2, Math.PI / 2);
    outline.absarc(-long / 2 + r, 0, r, Math.PI / 2, 1.5 * Math.PI);
    const geometry = new THREE.ExtrudeGeometry(outline, { depth: 0.6, bevelEnabled: false, curveSegments: 16 });
    geometry.translate(0, 0, -0.3);
    const belt = solid(geometry, "rubber");
    belt.rotation.x = Math.PI / 2;
    group.add(belt);
    const shoe = new THREE.BoxGeometry(0.1, 0.62, 0.05);
    for (let i = 0; i < 17; i++) {
      const x = -long / 2 + r + (i / 16) * (long - 2 * r);
      group.add(solid(shoe, "black", x, 0, r), solid(shoe, "black", x, 0, -r));
    }
    for (let i = 0; i < 6; i++) {
      const wheel = solid(new THREE.CylinderGeometry(0.2, 0.2, 0.64, 20), "dark", -1.35 + i * 0.54, 0, -0.05);
      group.add(wheel);
    }
    group.position.set(0, y, ground + high / 2 + 0.03);
    return group;
  }

  function undercarriage(ground) {
    const group = new THREE.Group();
    group.add(track(1.05, ground), track(-1.05, ground));
    group.add(box(1.9, 1.6, 0.42, "dark", 0, 0, ground + 0.56));
    const ring = solid(new THREE.CylinderGeometry(0.72, 0.72, 0.26, 40), "steel", 0, 0, -0.08);
    ring.rotation.x = Math.PI / 2;
    group.add(ring);
    return group;
  }

  function house() {
    const group = new THREE.Group();
    group.add(box(3.5, 2.5, 0.3, "dark", -0.45, 0, 0.22));
    group.add(box(1.55, 2.46, 1.0, "yellow", -1.05, 0, 0.85));
    group.add(box(0.55, 2.44, 0.98, "dark", -2.05, 0, 0.74));
    group.add(box(1.5, 0.85, 0.75, "yellow", 0.55, -0.82, 0.72));
    for (let i = 0; i < 5; i++) group.add(box(0.9, 0.02, 0.05, "black", -1.05, -1.24, 0.6 + i * 0.13));
    const stack = solid(new THREE.CylinderGeometry(0.07, 0.07, 0.55, 16), "black", -1.1, -0.7, 1.6);
    stack.rotation.x = Math.PI / 2;
    group.add(stack);
    // cab: floor, pillars, roof, glass
    const cab = new THREE.Group();
    cab.add(box(1.5, 0.92, 0.5, "yellow", 0, 0, 0.25));
    cab.add(box(1.42, 0.92, 0.09, "yellow", -0.03, 0, 1.68));
    for (const [x, y] of [[0.68, 0.42], [0.68, -0.42], [-0.7, 0.42], [-0.7, -0.42], [-0.05, 0.42], [-0.05, -0.42]]) {
      cab.add(box(0.07, 0.07, 1.2, "yellow", x, y, 1.06));
    }
    cab.add(box(1.36, 0.84, 1.1, "glass", 0, 0, 1.06));
    cab.add(box(0.45, 0.45, 0.12, "black", -0.25, 0, 0.62), box(0.12, 0.45, 0.6, "black", -0.47, 0, 0.92));
    cab.position.set(0.72, 0.74, 0.36);
    group.add(cab);
    // foot of the boom
    for (const y of [-0.42, 0.1]) group.add(box(0.75, 0.1, 0.62, "dark", 1.28, y, 0.68));
    return { group, cab };
  }

  function boom() {
    const group = new THREE.Group();
    group.add(plate([
      [-0.16, -0.16], [0.1, -0.22], [1.5, 0.28], [2.55, 0.62], [4.1, 0.34], [5.08, -0.13], [5.34, -0.12], [5.38, 0.1],
      [5.2, 0.24], [4.2, 0.74], [2.75, 1.12], [2.2, 1.1], [1.2, 0.64], [-0.1, 0.2], [-0.2, 0.05],
    ], 0.46, "yellow"));
    group.add(pin(0, 0, 0.14, 0.66), pin(5.2, 0, 0.12, 0.62));
    group.add(plate([[2.1, 1.02], [2.7, 1.04], [2.55, 1.34], [2.35, 1.34]], 0.36, "yellow", 0, 0.02), pin(2.45, 1.24, 0.07, 0.42));
    group.add(pin(2.3, 0.7, 0.09, 0.62));
    return group;
  }

  function arm() {
    const group = new THREE.Group();
    group.add(plate([
      [-0.62, 0.1], [-0.66, 0.3], [-0.45, 0.4], [0.1, 0.28], [1.72, 0.12], [1.93, 0.06], [1.93, -0.08], [1.75, -0.12],
      [0.25, -0.22], [-0.15, -0.16],
    ], 0.34, "yellow"));
    group.add(pin(0, 0, 0.13, 0.5), pin(1.8, 0, 0.09, 0.5), pin(-0.55, 0.26, 0.07, 0.44), pin(0.1, 0.34, 0.06, 0.3));
    group.add(plate([[-0.1, 0.24], [0.3, 0.2], [0.16, 0.42], [0.04, 0.42]], 0.24, "yellow", 0, 0.02));
    return group;
  }

  // Tip of the teeth at (1, 1), opening towards (1, -1): curling is a negative rotation.
  function bucket() {
    const group = new THREE.Group();
    const side = [[-0.1, -0.06], [0.1, -0.12], [0.32, 0.1], [0.9, 0.84], [0.72, 0.98], [0.36, 1.0], [0.02, 0.82], [-0.16, 0.5], [-0.18, 0.16]];
    for (const z of [-0.5, 0.5]) group.add(plate(side, 0.06, "dark", z, 0.01));
    const back = [[0.08, -0.1], [-0.1, -0.06], [-0.18, 0.16], [-0.16, 0.5], [0.02, 0.82], [0.36, 1.0], [0.72, 0.98], [0.9, 0.84]];
    for (let i = 1; i < back.length; i++) {
      const [[x0, y0], [x1, y1]] = [back[i - 1], back[i]];
      const wall = box(Math.hypot(x1 - x0, y1 - y0) + 0.03, 0.05, 1.04, "dark", (x0 + x1) / 2, (y0 + y1) / 2, 0);
      wall.rotation.z = Math.atan2(y1 - y0, x1 - x0);
      group.add(wall);
    }
    for (let i = 0; i < 5; i++) {
      const tooth = solid(new THREE.ConeGeometry(0.055, 0.28, 4), "steel", 0.92, 0.9, -0.44 + i * 0.22);
      tooth.rotation.z = -Math.PI / 4;
      group.add(tooth);
    }
    group.add(pin(0, 0, 0.11, 0.62), pin(-0.2, 0.34, 0.07, 0.4));
    return group;
  }

  // A cylinder between a point of one body and a point of another.
  function cylinder(scene, from, a, to, b, radius) {
    const barrel = solid(new THREE.CylinderGeometry(radius, radius, 1, 20), "dark");
    const rod = solid(new THREE.CylinderGeometry(radius * 0.52, radius * 0.52, 1, 16), "steel");
    scene.add(barrel, rod);
    const p = new THREE.Vector3(), q = new THREE.Vector3(), d = new THREE.Vector3(), up = new THREE.Vector3(0, 1, 0);
    let full = 0;
    return () => {
      from.localToWorld(p.set(...a));
      to.localToWorld(q.set(...b));
      const length = d.subVectors(q, p).length();
      full = full || 0.62 * length;
      d.normalize();
      for (const [mesh, start, long] of [[barrel, 0, full], [rod, full * 0.9, Math.max(length - full * 0.9, 0.05)]]) {
        mesh.position.copy(p).addScaledVector(d, start + long / 2);
        mesh.quaternion.setFromUnitVectors(up, d);
        mesh.scale.set(1, long, 1);
      }
    };
  }

  // Fill the groups of the bodies cab, boom, stick and bucket; return what moves with them and where the operator sits.
  function build(scene, bodies, ground) {
    scene.add(undercarriage(ground));
    const { group, cab } = house();
    bodies[0].add(group);
    bodies[1].add(boom());
    bodies[2].add(arm());
    bodies[3].add(bucket());
    const moving = [
      cylinder(scene, bodies[0], [1.75, -0.5, 0.5], bodies[1], [2.3, 0.7, 0.33], 0.1),
      cylinder(scene, bodies[0], [1.75, 0.18, 0.5], bodies[1], [2.3, 0.7, -0.33], 0.1),
      cylinder(scene, bodies[1], [2.45, 1.24, 0], bodies[2], [-0.55, 0.26, 0], 0.1),
      cylinder(scene, bodies[2], [0.1, 0.34, 0], bodies[3], [-0.2, 0.34, 0], 0.075),
    ];
    return {
      update: () => moving.forEach((move) => move()),
      seat: { body: 0, at: [0.85, 0.74, 1.62], look: [6, 0.1, 0.2], hide: cab },
      centre: [3, 0, 1.1], distance: 13.5,
    };
  }
  return { build };
})();
