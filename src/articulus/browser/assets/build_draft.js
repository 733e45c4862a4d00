"use strict";
// The text that is not yet in a file is kept in the browser, so that it outlives the page and the program.
(() => {
  const articulus = (globalThis.articulus ??= {});

  articulus.Draft = class {
    constructor(name) {
      this.place = `articulus.draft.${name}`;
      this.offered = null;
    }

    // Keep a text, or nothing once it is in the file. What is on offer is not overwritten.
    keep(text, saved) {
      if (this.offered) return;
      try {
        if (saved) localStorage.removeItem(this.place);
        else localStorage.setItem(this.place, JSON.stringify({ text, at: Date.now() }));
      } catch {
        return; // no room: the program still has the text
      }
    }

    // Return the draft of an earlier page, {text, at}, where it differs from a text; else null.
    find(text) {
      try {
        const draft = JSON.parse(localStorage.getItem(this.place));
        this.offered = draft && draft.text !== text ? draft : null;
      } catch {
        this.offered = null;
      }
      return this.offered;
    }

    // The offer has been taken or declined.
    settle() {
      this.offered = null;
    }
  };
})();
