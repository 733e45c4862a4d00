"use strict";
// The page of a campaign: shows the states that come over the socket.
(() => {
  const { text, histogram, band, interval } = globalThis.articulus;
  const $ = (id) => document.getElementById(id);
  const whole = (n) => n.toLocaleString("en-US");
  const PHASES = { starting: "Starting", running: "Running", complete: "Complete", stopped: "Not running", unreadable: "Cannot be read" };
  let state = {};

  const make = (tag, className, ...inner) => {
    const made = document.createElement(tag);
    made.className = className;
    made.append(...inner);
    return made;
  };

  // A share with digits that still tell it from 0 and 100 %, as in the report.
  const percent = (share) => {
    if (share === null) return "–";
    const rest = Math.min(share, 1 - share);
    if (rest <= 0) return `${(100 * share).toFixed(0)} %`;
    return `${(100 * share).toFixed(rest >= 0.01 ? 1 : Math.min(8, Math.ceil(-Math.log10(100 * rest)) + 1))} %`;
  };

  const duration = (seconds) => {
    const rest = Math.round(seconds);
    const two = (n) => String(n).padStart(2, "0");
    const [h, m, s] = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60];
    return h ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
  };

  const withUnit = (x, unit) => (x === null ? "–" : unit && unit !== "-" ? `${text(x)} ${unit}` : text(x));
  const per = (rate) => (rate === null ? "–" : rate < 1000 ? rate.toPrecision(3) : `${(rate / 1000).toPrecision(3)}k`);

  const tile = (name, value, small = "", kind = "") =>
    make("div", `tile ${kind}`, make("dt", "", name), make("dd", "", value, ...(small ? [make("small", "", small)] : [])));

  const row = (...cells) => make("tr", "", ...cells.map(([inner, kind = ""], k) => make(k ? "td" : "th", kind, inner)));

  // Show a part of the page only with content.
  const fill = (id, place, inner) => {
    $(id).hidden = !inner.length;
    $(id).querySelector(place).replaceChildren(...inner);
  };

  const told = () => {
    if (state.phase === "starting") return "The study is read and its equations are compiled.";
    if (state.phase === "unreadable") return state.why;
    if (state.phase === "stopped") {
      const last = state.last ? ` The last rows are of ${new Date(1000 * state.last).toLocaleString("en-GB")}.` : "";
      return `${whole(state.total - state.done)} runs are left; the same command goes on from here.${last}`;
    }
    return `${whole(state.done)} of ${whole(state.total)} runs`;
  };

  const head = () => {
    const missed = state.all ? state.all.runs - state.all.passed : 0;
    $("folder").textContent = state.folder;
    $("phase").textContent = PHASES[state.phase];
    $("told").textContent = told();
    $("banner").className = `banner ${{ running: "run", complete: "good", unreadable: "bad" }[state.phase] ?? "warn"}`;
    if (state.done === undefined) return;
    $("title").textContent = state.title;
    $("progress").max = state.total;
    $("progress").value = state.done;
    const share = Math.floor((1000 * state.done) / state.total) / 10;
    document.title = `${Math.floor(share)} % · ${state.title}`;
    const tiles = [tile("runs done", whole(state.done), `${share} % of ${whole(state.total)}`)];
    if (state.phase === "running") {
      tiles.push(tile("rate", per(state.rate), "runs per second"));
      const left = state.remaining;
      tiles.push(left === null ? tile("time left", "–", "known after the first rows") : tile("time left", duration(left), left < 3600 ? "minutes, seconds" : "hours, minutes, seconds"));
    }
    if (state.failed !== undefined) {
      const doubtful = state.doubtful ? `${whole(state.doubtful)} runs are doubtful` : "";
      tiles.push(tile("without figures", whole(state.failed), doubtful, state.failed ? "bad" : ""));
    }
    if (state.all && state.done) tiles.push(tile("keep all requirements", percent(state.all.rate), `${whole(missed)} runs miss one`, missed ? "bad" : ""));
    $("tiles").replaceChildren(...tiles);
  };

  // The worst value; a settling time that never comes is infinite.
  const worst = (r) => (r.worst === undefined ? "" : r.worst === null && r.run !== null ? "∞" : withUnit(r.worst, r.unit));

  const rateRow = (name, r) =>
    row([name], [percent(r.rate), "number"], [r.low === null ? "–" : `${percent(r.low)} to ${percent(r.high)}`, "number"], [interval(r), "track"],
      [whole(r.runs - r.passed), "number"], [worst(r), "number"], [String(r.run ?? ""), "number"]);

  const figure = (f) => {
    const unit = f.unit && f.unit !== "-" ? ` [${f.unit}]` : "";
    const numbers = `least ${text(f.least ?? NaN)} · mean ${text(f.mean ?? NaN)} · greatest ${text(f.greatest ?? NaN)}`;
    const beyond = f.bins ? f.bins.below + f.bins.above : 0;
    const rest = [[f.infinite, "infinite"], [beyond, "outside of the picture"]].filter(([n]) => n).map(([n, what]) => `${whole(n)} ${what}`);
    const drawn = !f.bins ? "no number yet" : f.least === f.greatest ? `always ${withUnit(f.least, f.unit)}` : histogram(f);
    return make("figure", "", make("figcaption", "", make("b", "", f.name), unit, make("small", "", numbers), make("small", "", rest.join(" · "))), drawn);
  };

  const bandFigure = (b) =>
    make("figure", "", make("figcaption", "", make("b", "", b.name), b.unit && b.unit !== "-" ? ` [${b.unit}]` : "",
      make("small", "", `over t [s]: ${b.percentiles[0]} to ${b.percentiles[b.percentiles.length - 1]} % of the runs, median, least and greatest (dotted)`)), band(b));

  const body = () => {
    $("main").hidden = !state.done;
    const rates = state.requirements.map((r) => rateRow(r.text, r));
    if (rates.length > 1) rates.push(rateRow("all of them", { ...state.all, run: "" }));
    fill("requirements", "tbody", rates);
    const note = $("requirements").querySelector("p");
    note.textContent = state.note;
    note.hidden = !state.note;
    fill("failures", "tbody", state.causes.map((c) => row([c.cause || "not known"], [whole(c.runs), "number"], [String(c.first), "number"], [c.text, "text"])));
    fill("figures", ".grid", state.figures.map(figure));
    fill("bands", "div", state.bands.map(bandFigure));
    fill("notes", "ul", state.notes.map((n) => make("li", "", n)));
  };

  const socket = new WebSocket(`${location.href.split(/[?#]/)[0].replace(/^http/, "ws")}socket`);
  socket.addEventListener("message", (event) => {
    const found = JSON.parse(event.data);
    const fresh = found.figures !== undefined;
    state = { ...state, ...found };
    head();
    if (fresh) body();
    document.body.dataset.phase = state.phase;
    document.body.dataset.done = state.done ?? "";
  });
  socket.addEventListener("close", () => {
    document.body.dataset.gone = "yes";
    if (state.phase !== "complete") {
      $("phase").textContent = "The program has ended";
      $("banner").className = "banner warn";
      $("told").textContent = "These are its last numbers.";
    } else $("told").textContent += "; the program has ended";
  });
})();
