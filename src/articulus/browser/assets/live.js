"use strict";
// The connection of a page to the program that serves it, and the tabs of panels that need it.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const $ = (id) => document.getElementById(id);
  const { make } = articulus;
  const LARGEST = 4e6; // size of a dropped file [bytes]
  const RETRY = 3000; // time after which a lost connection is tried again [ms]

  class Live {
    // player: the Player; data: what the page was given, data.live from the program.
    constructor(player, data) {
      this.player = player;
      this.runs = data.runs;
      this.told = data.live;
      this.posed = null; // position that a user has given, until time goes on
      this.still = null; // position of a motion that has no signals
      this.waiting = new Map();
      this.heard = new Map(); // what is done with messages of other kinds, by kind
      this.returned = []; // called when a connection has come back
      this.number = 0;
      this.ready = new Promise((done) => (this.opened = done)); // at the first connection that comes about
      this.#tab("Model", $("tab-model"));
      $("tabs").hidden = false;
      player.watchers.push(() => (this.posed = null));
      this.#connect();
      this.#drop();
    }

    // A file of a model or a study that is dropped onto the page is shown.
    #drop() {
      const over = (event) => event.dataTransfer?.types.includes("Files");
      addEventListener("dragover", (event) => {
        if (!over(event)) return;
        event.preventDefault();
        document.body.classList.add("over");
      });
      addEventListener("dragleave", (event) => event.relatedTarget || document.body.classList.remove("over"));
      addEventListener("drop", async (event) => {
        document.body.classList.remove("over");
        if (!over(event)) return;
        event.preventDefault();
        const [file] = event.dataTransfer.files;
        if (file.size > LARGEST) return this.say(`${file.name}: ${Math.round(file.size / 1e6)} MB; at most ${LARGEST / 1e6} MB are taken`);
        this.say(`${file.name} is opened ...`);
        const answer = await this.ask("open", { name: file.name, text: await file.text() }).catch(() => null); // it has been said
        if (answer?.parts) this.heard.get("changed")(answer);
      });
    }

    #connect() {
      this.socket = new WebSocket(new URL("socket", location.href.replace(/^http/, "ws")));
      this.socket.addEventListener("open", () => {
        const back = document.body.classList.contains("parted");
        document.body.classList.remove("parted");
        this.opened();
        if (!back) return;
        this.say("");
        for (const again of this.returned) again();
      });
      this.socket.addEventListener("message", ({ data }) => {
        const answer = JSON.parse(data);
        if (answer.kind === "renewed") return this.player.address.renew(answer.fresh);
        if (answer.kind === "notice") return this.say(answer.text);
        if (this.heard.has(answer.kind)) return this.heard.get(answer.kind)(answer);
        const asked = this.waiting.get(answer.id);
        this.waiting.delete(answer.id);
        if (answer.error) asked?.reject(new Error(answer.error));
        else asked?.resolve(answer);
      });
      this.socket.addEventListener("close", () => {
        document.body.classList.add("parted");
        this.say("The program behind this page has ended or is busy. What is shown can still be played.");
        for (const { reject } of this.waiting.values()) reject(new Error("the program has ended"));
        this.waiting.clear();
        setTimeout(() => this.#connect(), RETRY);
      });
    }

    // Return the answer of the program; where there is none, its reason is shown.
    async ask(what, fields) {
      if (document.body.classList.contains("parted")) throw new Error("the program has ended");
      await this.ready;
      const id = ++this.number;
      const answer = new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
      this.socket.send(JSON.stringify({ id, do: what, ...fields }));
      try {
        return await answer;
      } catch (error) {
        if (!document.body.classList.contains("parted")) this.say(error.message);
        throw error;
      }
    }

    // Ask whatever is wanted last, and take the answer; what was wanted in the meantime is left out.
    latest(what, take) {
      let wanted = null;
      let busy = false;
      return async (fields) => {
        wanted = fields;
        if (busy) return;
        busy = true;
        try {
          while (wanted) {
            const next = wanted;
            wanted = null;
            const answer = await this.ask(what, typeof next === "function" ? next() : next).catch(() => null); // it has been said
            if (answer) await take(answer);
          }
        } finally {
          busy = false;
        }
      };
    }

    // Position that is shown: the one that a user has given, or that of the first run at its time.
    get q() {
      if (this.posed) return this.posed;
      if (!this.values) return this.still ?? this.told.q;
      const track = this.player.tracks[0];
      const { rows, columns } = this.values;
      return Array.from({ length: columns }, (_, k) =>
        articulus.between(track.t, this.values.values.subarray(k * rows, (k + 1) * rows), this.player.time));
    }

    // Have the table of positions of the first run at hand.
    async refresh() {
      this.values = (await this.player.tracks[0].signals.get("q")?.load()) ?? null;
    }

    // Show a position instead of the run.
    pose({ q, poses, eta, note }) {
      this.player.toggle(false);
      this.player.tracks[0].view.set(poses, eta);
      this.posed = q;
      this.say(note);
      this.player.draw();
    }

    // Show runs in place of those that are shown.
    async load(runs) {
      await this.player.load(runs);
      await this.refresh();
    }

    say(text) {
      $("banner").hidden = !text;
      $("banner").textContent = text || "";
    }

    // Add a tab; shown and left are called when it comes to the front and goes.
    tab(name, element, { shown = () => {}, left = () => {} } = {}) {
      element.className = "tab";
      element.hidden = true;
      $("side").append(element);
      this.#tab(name, element, shown, left);
    }

    #tab(name, element, shown = () => {}, left = () => {}) {
      element.setAttribute("role", "tabpanel");
      element.setAttribute("aria-label", name);
      const button = make("button", { type: "button", role: "tab", "aria-selected": String(name === "Model") }, name);
      button.addEventListener("click", () => {
        for (const other of $("tabs").children) other.setAttribute("aria-selected", String(other === button));
        for (const panel of $("side").querySelectorAll(".tab")) panel.hidden = panel !== element;
        const before = this.left;
        this.left = left;
        before?.();
        shown();
      });
      $("tabs").append(button);
    }
  }

  articulus.connect = async (player, data) => {
    const live = (articulus.live = new Live(player, data));
    await live.refresh();
    const pose = new articulus.PosePanel(live);
    if (data.live.build) await (articulus.build = new articulus.BuildPanel(live, data.live.build, pose)).open();
    else new articulus.ModesPanel(live);
    if (data.live.control) new articulus.ControlPanel(live, data.live.control);
    if (data.live.desk) new articulus.DeskPanel(live, data.live.desk);
    await live.ready;
    document.body.dataset.live = "yes";
  };
})();
