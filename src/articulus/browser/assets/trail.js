"use strict";
// The way of a point: a thin line for all of it, a tube for what has been passed.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const T = THREE;
  const MOST = 3000; // pieces of a tube
  const SIDES = 5;

  // Return the numbers of points that are at least a distance apart, the first among them.
  function apart(points, least) {
    const kept = [0];
    points.forEach((point, k) => point.distanceTo(points[kept.at(-1)]) >= least && kept.push(k));
    return kept;
  }

  // Straight lines from point to point. Parameters from 0 to 1 count points, not lengths.
  class Path extends T.Curve {
    constructor(points) {
      super();
      this.points = points;
    }

    #number(share) {
      return Math.round(share * (this.points.length - 1));
    }

    getPointAt(share) {
      return this.points[this.#number(share)].clone();
    }

    // The mean direction of the lines that meet at a point; the way on where it turns right back.
    getTangentAt(share) {
      const k = this.#number(share);
      const [before, here, after] = [k - 1, k, k + 1].map((i) => this.points[i] ?? this.points[k]);
      const along = after.clone().sub(before);
      if (along.length() < 0.1 * (after.distanceTo(here) + here.distanceTo(before))) along.copy(after).sub(here);
      return along.normalize();
    }
  }

  articulus.Trail = class {
    constructor(points, color, radius) {
      let length = 0;
      for (let k = 1; k < points.length; k++) length += points[k].distanceTo(points[k - 1]);
      this.kept = apart(points, Math.max(0.5 * radius, length / MOST));
      this.group = new T.Group();
      const whole = new T.LineBasicMaterial({ color: color, fog: false, transparent: true, opacity: 0.5 });
      this.group.add(new T.Line(new T.BufferGeometry().setFromPoints(points), whole));
      if (this.kept.length < 2) return; // it stays where it is
      const path = new Path(this.kept.map((k) => points[k]));
      const geometry = new T.TubeGeometry(path, this.kept.length - 1, radius, SIDES);
      this.past = new T.Mesh(geometry, new T.MeshBasicMaterial({ color: color, fog: false }));
      this.group.add(this.past);
    }

    // Draw the tube as far as a point.
    reach(number) {
      this.past?.geometry.setDrawRange(0, 6 * SIDES * articulus.lastAtMost(this.kept, number));
    }
  };
})();
