"use strict";
// Arrows in the picture by which a joint, a frame or a center of mass is moved, and rings by which an axis is turned.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const T = THREE;
  const UP = new T.Vector3(0, 0, 1);
  const NEAR = Math.cos((4 * Math.PI) / 180); // an axis nearer than this to one of the frame is that one
  const ONE = new T.Vector3(1, 1, 1);

  articulus.Handles = class {
    // done(key, numbers) is told when something has been let go; moved(text) while it is held.
    constructor(player, { done, moved }) {
      Object.assign(this, { player, done, moved });
      const { stage } = player;
      this.target = new T.Object3D();
      this.needle = new T.ArrowHelper(UP, new T.Vector3(), 1, "#c2185b");
      this.needle.visible = false;
      for (const part of [this.needle.line, this.needle.cone]) Object.assign(part, { renderOrder: 2 }).material.depthTest = false; // seen through the body
      this.target.add(this.needle);
      stage.scene.add(this.target);
    }

    // The arrows are made when somebody first wants them: a page that only looks has no use for them.
    #make() {
      const { stage } = this.player;
      this.control = new T.TransformControls(stage.camera, stage.renderer.domElement);
      const before = stage.cameraChanged;
      stage.cameraChanged = (camera) => {
        before?.(camera);
        this.control.camera = camera;
      };
      this.control.setSize(0.9);
      this.control.addEventListener("change", () => this.player.draw());
      this.control.addEventListener("dragging-changed", ({ value }) => {
        stage.controls.enabled = !value;
        this.dragging = value;
        if (!value) this.#release();
      });
      this.control.addEventListener("objectChange", () => this.dragging && this.moved(this.#numbers()));
      stage.scene.add(this.control.getHelper());
    }

    // Put the arrows at a handle of the program, or nowhere.
    hold(handle, mode) {
      this.handle = handle && mode && !handle.node ? handle : null;
      this.mode = mode;
      this.needle.visible = Boolean(this.handle) && mode === "axis";
      if (!this.handle) {
        this.control?.detach();
        return this.player.draw();
      }
      if (!this.control) this.#make();
      const { view, data } = this.player.tracks[0];
      const [w, x, y, z] = handle.quaternion;
      this.base = view.matrix(handle.carrier);
      this.local = new T.Matrix4().compose(new T.Vector3(...handle.position), new T.Quaternion(x, y, z, w), ONE);
      this.base.clone().multiply(this.local).decompose(this.target.position, this.target.quaternion, new T.Vector3());
      if (mode === "axis") {
        this.frame = this.target.quaternion.clone();
        this.target.quaternion.multiply(new T.Quaternion().setFromUnitVectors(UP, new T.Vector3(...handle.axis).normalize()));
        this.needle.setLength(0.25 * data.scene.size, 0.05 * data.scene.size, 0.025 * data.scene.size);
      }
      this.control.setMode(mode === "axis" ? "rotate" : "translate");
      this.control.setSpace("local");
      this.target.updateMatrixWorld();
      this.control.attach(this.target);
      this.player.draw();
    }

    // Return what the part would have where the arrows are: round numbers.
    #numbers() {
      if (this.mode === "axis") {
        const axis = UP.clone().applyQuaternion(this.target.quaternion).applyQuaternion(this.frame.clone().invert()).toArray();
        const largest = axis.findIndex((x) => Math.abs(x) > NEAR);
        return axis.map((x, i) => (largest < 0 ? Number(x.toFixed(9)) : i === largest ? Math.sign(x) : 0));
      }
      const step = articulus.niceStep(this.player.tracks[0].data.scene.size / 500);
      const digits = Math.max(0, Math.ceil(-Math.log10(step)));
      return this.target.position.clone().applyMatrix4(this.base.clone().invert()).toArray().map((x) => Number((Math.round(x / step) * step).toFixed(digits)) + 0);
    }

    #release() {
      if (!this.handle) return;
      this.done(this.mode === "axis" ? "axis" : this.handle.key, this.#numbers());
    }
  };
})();
