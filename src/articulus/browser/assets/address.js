"use strict";
// What a page shows, kept in the part of its address behind "#": a copied address opens the same view.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const WAIT = 300; // [ms]

  const packed = (state) => btoa(JSON.stringify(state)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const unpacked = (text) => JSON.parse(atob(text.replaceAll("-", "+").replaceAll("_", "/")));

  articulus.Address = class {
    // read() gives the state, write(state) takes one.
    constructor(read, write) {
      this.read = read;
      this.write = write;
    }

    // Keep the state, a moment after the last change. A page inside another has no address of its own.
    keep() {
      if (globalThis.location.protocol === "about:") return;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.commit(), WAIT);
    }

    commit() {
      clearTimeout(this.timer);
      globalThis.history.replaceState(null, "", `#view=${packed(this.read())}`);
    }

    // Load the page again; fresh: without what the address keeps.
    renew(fresh) {
      clearTimeout(this.timer);
      if (fresh) globalThis.history.replaceState(null, "", globalThis.location.pathname);
      else this.commit();
      globalThis.location.reload();
    }

    // Show what the address says; return whether it says anything that can be shown.
    async open() {
      const text = globalThis.location.hash.match(/^#view=(.+)$/)?.[1];
      if (!text) return false;
      try {
        await this.write(unpacked(text));
        return true;
      } catch {
        return false; // an address of another version, or cut off
      }
    }
  };
})();
