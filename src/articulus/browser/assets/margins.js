"use strict";
// Stability margins of the commands of a controller as a table, and the least damped poles of the loop.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const ENOUGH = { gain: 2, phase: 30, disk: 0.5, sensitivity: 2 }; // what most engineers ask for; less is marked

  // Return a cell; marked where a number is worse than is usually asked for.
  const cell = (text, poor, title) => make("td", { className: poor ? "poor" : "", title }, text);

  // Return three digits of a number with its unit, or that it has no limit; large and small ones without a power of ten.
  const short = (x) => (Math.abs(x) >= 999.5 ? x.toFixed(0) : Math.abs(x) < 1e-3 ? "0" : String(Number(x.toPrecision(3))));
  const limit = (x, unit = "") => (x === null || x > 1e6 ? "∞" : `${short(x)}${unit}`);

  const gains = ({ gain_down: down, gain_up: up }) => `${short(down)} … ${limit(up)}`;

  const isPoor = {
    gain: ({ gain_down: down, gain_up: up }) => (up !== null && up < ENOUGH.gain) || down > 1 / ENOUGH.gain,
    phase: ({ phase }) => phase !== null && phase < ENOUGH.phase,
    disk: ({ disk }) => disk !== null && disk < ENOUGH.disk,
    sensitivity: ({ sensitivity }) => sensitivity === null || sensitivity > ENOUGH.sensitivity,
  };

  articulus.MarginsPanel = class {
    constructor() {
      this.about = make("span", { className: "unit" });
      this.note = make("p", { className: "readout" });
      this.table = make("table", { className: "margins" });
      this.poles = make("p", { className: "readout" });
      this.element = make("details", { className: "chart", id: "chart-margins", open: true },
        make("summary", {}, make("b", {}, "Stability margins"), this.about), this.table, this.note, this.poles);
    }

    // found: an answer to "margins" (desk.py), before: that of the run as it was, or null.
    show(found, before) {
      const { channels, failure, note, t } = found;
      this.about.textContent = channels.length ? `at the commands, about t = ${articulus.text(t)} s` : "";
      this.table.hidden = !channels.length;
      this.note.textContent = failure ? `Not defined: ${failure}.` : note ? `${note[0].toUpperCase()}${note.slice(1)}.` : "";
      this.note.hidden = !this.note.textContent;
      this.note.classList.toggle("poor", Boolean(failure));
      const old = new Map((before?.channels ?? []).map((c) => [c.name, c]));
      this.table.replaceChildren(this.#head(), make("tbody", {}, ...channels.map((c) => this.#row(c, old.get(c.name))), ...this.#together(found)));
      this.poles.textContent = this.#slow(found.poles);
    }

    #head() {
      const titles = [
        ["command", "One command at a time, the others closed"],
        ["gain", "Factors between which the gain may change"],
        ["phase", "Change of phase that the loop bears, to either side"],
        ["delay", "Additional delay that the loop bears"],
        ["disk", "Disk margin: gain and phase changing together"],
        ["peak S", "Peak of the sensitivity 1 / (1 + L)"],
      ];
      return make("thead", {}, make("tr", {}, ...titles.map(([text, title]) => make("th", { title }, text))));
    }

    #row(c, old) {
      const was = (text) => (old ? `as run: ${text}` : "");
      const late = (x) => limit(x === null ? null : 1e3 * x, " ms");
      const turn = (x) => limit(x, "°");
      return make("tr", {}, make("th", { title: c.name }, c.name),
        cell(gains(c), isPoor.gain(c), was(old && gains(old))),
        cell(turn(c.phase), isPoor.phase(c), was(old && turn(old.phase))),
        cell(late(c.delay), false, was(old && late(old.delay))),
        cell(limit(c.disk), isPoor.disk(c), was(old && limit(old.disk))),
        cell(limit(c.sensitivity), isPoor.sensitivity(c), was(old && limit(old.sensitivity))));
    }

    #together({ all }) {
      if (!all) return [];
      const blank = () => make("td", {}, "");
      return [make("tr", { className: "together" }, make("th", { title: "All commands at once" }, "all at once"), blank(), blank(), blank(),
        cell(limit(all.disk), isPoor.disk(all), ""), cell(limit(all.sensitivity), isPoor.sensitivity(all), ""))];
    }

    #slow(poles) {
      const text = ({ re, im, omega, zeta }) =>
        `${articulus.text(re)}${im ? ` ± ${articulus.text(im)} j` : ""}${zeta === null ? "" : ` (ζ ${articulus.text(zeta)}${im ? `, ω ${articulus.text(omega)}` : ""})`}`;
      return poles.length ? `Least damped poles [rad/s]: ${poles.map(text).join(" · ")}` : "";
    }
  };
})();
