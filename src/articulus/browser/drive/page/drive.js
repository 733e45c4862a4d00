// The operator's place: connection, sticks, keys, gamepad, buttons and figures.
"use strict";

const $ = (id) => document.getElementById(id);
const KEYS = {
  left: { up: "KeyW", down: "KeyS", left: "KeyA", right: "KeyD" },
  right: { up: "ArrowUp", down: "ArrowDown", left: "ArrowLeft", right: "ArrowRight" },
};
const NAMES = { KeyW: "W", KeyA: "A", KeyS: "S", KeyD: "D", ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
const SEND = 20; // ms between stick messages
const RAMP = 4; // full stick by a key in 1/RAMP s
const DEAD = 0.12; // of a gamepad's sticks
const SILENCE = 3000; // ms without a state after which the machine counts as gone

const drive = {
  socket: null, machine: null, view: null, you: 0, status: null, frame: null,
  down: new Set(), dragged: { left: null, right: null }, keyed: { left: [0, 0], right: [0, 0] },
  bank: 0, number: 0, sent: new Map(), latency: [], frames: 0, drawn: 0, heard: Infinity, retry: 0, pad: false, recorded: "",
};
window.drive = drive;

// connection

function connect() {
  const socket = new WebSocket(new URL("socket", location.href.replace(/^http/, "ws")));
  socket.binaryType = "arraybuffer";
  drive.socket = socket;
  socket.onopen = () => { drive.retry = 0; drive.heard = performance.now(); };
  socket.onmessage = ({ data }) => {
    drive.heard = performance.now();
    if (typeof data === "string") return hear(JSON.parse(data));
    drive.frame = new Float32Array(data);
    drive.frames++;
  };
  socket.onclose = () => {
    lost("no connection", "No connection: nobody drives from this page. Trying again …");
    drive.retry = Math.min(drive.retry + 1, 8);
    setTimeout(connect, 250 * drive.retry);
  };
}

// Nothing is known of the machine any more: say so, and show nothing that may be true no longer.
function lost(link, text) {
  drive.status = null;
  drive.heard = Infinity;
  drive.sent.clear();
  drive.latency = [];
  pill("link", "bad", link);
  for (const id of ["phase", "role"]) pill(id, "wait", "unknown");
  $("watchers").hidden = true;
  $("clock").removeAttribute("data-recording");
  for (const each of document.querySelectorAll("#panel dd, .joint span")) { each.textContent = "–"; each.dataset.state = ""; }
  for (const button of [...["pause", "reset", "record", "replay", "soil", "delay"].map($), ...$("modes").children]) button.disabled = true;
  banner("bad", text);
}

function send(message) {
  if (drive.socket?.readyState === WebSocket.OPEN) drive.socket.send(JSON.stringify(message));
}

function hear(message) {
  if (message.kind === "hello") {
    drive.you = message.you;
    if (!drive.machine) begin(message.machine);
  } else if (message.kind === "ground" && drive.machine) {
    drive.view?.dig(message);
  } else if (message.kind === "status" && drive.machine) {
    drive.status = message;
    pill("link", "good", "connected");
    show();
  }
}

// machine

function begin(machine) {
  drive.machine = machine;
  document.title = `${machine.title} – drive`;
  $("title").textContent = $("welcome").textContent = machine.title;
  $("source").textContent = machine.source;
  $("source").title = machine.source;
  $("about").textContent = machine.seat
    ? "A real-time simulation: rigid-body dynamics and hydraulics at 1 kHz. You sit at its two sticks."
    : "A real-time simulation of this mechanism at 1 kHz.";
  const notes = machine.modes.filter((mode) => machine.notes[mode]);
  $("about-modes").replaceChildren(...(notes.length ? notes : machine.modes).flatMap((mode, i) => [
    ...(i ? [document.createElement("br")] : []), bold(`${mode}.`), ` ${machine.notes[mode] ?? "Joint speeds by the sticks."}`,
  ]));
  $("modes").replaceChildren(...(machine.modes.length > 1 ? machine.modes : []).map((mode) => {
    const button = document.createElement("button");
    button.textContent = mode;
    button.dataset.mode = mode;
    button.title = machine.notes[mode] ?? "";
    button.onclick = () => send({ do: "mode", mode });
    return button;
  }));
  $("joints").replaceChildren(...machine.axes.map((axis) => {
    const row = document.createElement("div");
    row.className = "joint";
    row.append(span(axis.name, true), span(""), span(""));
    return row;
  }));
  gauges(machine.gauges);
  $("soil").hidden = !machine.soil;
  $("soil").title = machine.notes.Soil ?? "";
  const banks = Math.ceil(machine.axes.length / 4);
  $("banks").replaceChildren(...(banks > 1 ? [...Array(banks).keys()] : []).map((i) => {
    const button = document.createElement("button");
    button.textContent = machine.axes.slice(4 * i, 4 * i + 4).map((axis) => axis.name).join(" · ");
    button.onclick = () => choose(i);
    return button;
  }));
  document.querySelectorAll(".stick").forEach(makeStick);
  choose(0);
  try {
    drive.view = new View($("view"), machine);
  } catch (error) {
    console.warn(error);
  }
  requestAnimationFrame(paint);
}

function bold(text) {
  const b = document.createElement("b");
  b.textContent = text;
  return b;
}
function span(text, left = false) {
  const made = document.createElement(left ? "div" : "span");
  made.textContent = text;
  return made;
}

function choose(bank) {
  drive.bank = bank;
  [...$("banks").children].forEach((button, i) => button.classList.toggle("on", i === bank));
  label();
}

// Axis of the chosen bank on a stick, along x or y.
function axisOf(stick, along) {
  const { axes } = drive.machine;
  const found = axes.findIndex((a, i) => Math.floor(i / 4) === drive.bank && a.stick === stick && a.along === along);
  return found < 0 ? null : { index: found, ...axes[found] };
}

function meaning(stick, direction) {
  const axis = axisOf(stick, direction === "up" || direction === "down" ? "y" : "x");
  if (!axis) return null;
  const positive = (direction === "up" || direction === "right") === axis.sign > 0;
  const resolved = drive.status && drive.status.mode !== drive.machine.modes[0] && axis.resolved.length;
  const [more, less] = resolved ? axis.resolved : [axis.more, axis.less];
  return { axis: resolved && axis.name !== "bucket" ? "" : axis.name, text: positive ? more : less };
}

function label() {
  const { axes, modes } = drive.machine, tool = drive.status && drive.status.mode !== modes[0];
  [...$("banks").children].forEach((button, i) => {
    button.textContent = axes.slice(4 * i, 4 * i + 4).map((axis) => (tool && axis.resolved.length ? axis.resolved[0] : axis.name)).join(" · ");
  });
  for (const stick of ["left", "right"]) {
    const element = document.querySelector(`.stick[data-stick=${stick}]`);
    for (const direction of ["up", "down", "left", "right"]) {
      const found = meaning(stick, direction);
      element.querySelector(`.${direction}`)?.replaceChildren(...(found ? [`${found.axis} `, bold(found.text)] : []));
    }
  }
  $("keys").replaceChildren(...["left", "right"].map((stick) => {
    const cross = document.createElement("div");
    const areas = { up: "1 / 2", left: "2 / 1", right: "2 / 3", down: "3 / 2" };
    for (const [direction, area] of Object.entries(areas)) {
      const found = meaning(stick, direction);
      if (!found) continue;
      const cell = document.createElement("span"), key = document.createElement("kbd"), text = document.createElement("small");
      key.textContent = NAMES[KEYS[stick][direction]];
      text.textContent = `${found.axis} ${found.text}`;
      cell.style.gridArea = area;
      cell.append(key, text);
      cross.append(cell);
    }
    const em = document.createElement("em");
    em.textContent = `${stick} stick`;
    cross.append(em);
    return cross;
  }));
}

// sticks

function makeStick(element) {
  const stick = element.dataset.stick;
  const pad = document.createElement("div"), knob = document.createElement("div"), button = document.createElement("button");
  pad.className = "pad";
  knob.className = "knob";
  button.hidden = true;
  pad.append(knob);
  element.replaceChildren(pad, ...["up", "down", "left", "right"].map((name) => Object.assign(document.createElement("span"), { className: name })), button);
  const move = (event) => {
    const box = pad.getBoundingClientRect(), r = box.width / 2 - 14;
    let x = (event.clientX - box.left - box.width / 2) / r, y = -(event.clientY - box.top - box.height / 2) / r;
    const length = Math.hypot(x, y);
    if (length > 1) { x /= length; y /= length; }
    drive.dragged[stick] = [x, y].map((u) => (Math.abs(u) < 0.06 ? 0 : u));
  };
  pad.addEventListener("pointerdown", (event) => { pad.setPointerCapture(event.pointerId); move(event); });
  pad.addEventListener("pointermove", (event) => pad.hasPointerCapture(event.pointerId) && move(event));
  for (const end of ["pointerup", "pointercancel", "lostpointercapture"]) pad.addEventListener(end, () => (drive.dragged[stick] = null));
  button.onclick = () => {
    const group = stick, mine = drive.status?.yours.includes(group);
    send({ do: mine ? "give" : "take", group });
  };
}

function gamepad() {
  const pad = [...(navigator.getGamepads?.() ?? [])].find((each) => each?.connected && each.axes.length >= 2);
  drive.pad = Boolean(pad);
  const bend = (u) => (Math.abs(u) < DEAD ? 0 : (Math.sign(u) * (Math.abs(u) - DEAD)) / (1 - DEAD));
  const [a = 0, b = 0, c = 0, d = 0] = pad ? pad.axes.map(bend) : [];
  return { left: [a, -b], right: [c, -d] };
}

// Deflection of both sticks, x to the right and y away, from whichever source moves them.
function deflections(dt) {
  const pad = gamepad(), out = {};
  for (const stick of ["left", "right"]) {
    const key = KEYS[stick];
    const wanted = [Number(drive.down.has(key.right)) - Number(drive.down.has(key.left)), Number(drive.down.has(key.up)) - Number(drive.down.has(key.down))];
    drive.keyed[stick] = drive.keyed[stick].map((u, i) => (wanted[i] === 0 ? 0 : Math.min(Math.max(u + wanted[i] * RAMP * dt, -1), 1)));
    out[stick] = drive.dragged[stick] ?? drive.keyed[stick].map((u, i) => u || pad[stick][i]);
  }
  return out;
}

let before = performance.now();
setInterval(() => {
  const now = performance.now(), dt = Math.min((now - before) / 1000, 0.1);
  before = now;
  const { machine, status } = drive;
  if (!machine || !status?.yours.length) return;
  const sticks = deflections(dt), axes = machine.axes.map(() => 0);
  for (const stick of ["left", "right"]) {
    for (const [i, along] of ["x", "y"].entries()) {
      const axis = axisOf(stick, along);
      if (axis) axes[axis.index] = axis.sign * sticks[stick][i];
    }
    if (status.yours.includes(stick)) deflect(stick, ...sticks[stick]);
  }
  drive.number = (drive.number + 1) % 1048576;
  drive.sent.set(drive.number, now);
  if (drive.sent.size > 1000) drive.sent.delete(drive.sent.keys().next().value);
  send({ do: "move", axes, number: drive.number });
}, SEND);

// A picture is on the screen: take the time since every stick message that it is the first to answer.
function timed(number) {
  drive.drawn++;
  if (!drive.sent.has(number)) return;
  const now = performance.now();
  for (const [each, at] of drive.sent) {
    drive.sent.delete(each);
    drive.latency.push(now - at);
    if (each === number) break;
  }
}

// keys

const COMMANDS = { KeyP: "pause", KeyX: "reset", KeyR: "record", KeyT: "replay", KeyG: "soil", KeyC: "camera", KeyH: "help" };
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const driving = Object.values(KEYS).some((keys) => Object.values(keys).includes(event.code));
  if (driving) event.preventDefault();
  if (!$("cover").hidden) {
    if (["Enter", "Escape", "KeyH"].includes(event.code)) { event.preventDefault(); closeHelp(); return; }
    if (driving) closeHelp();
  }
  if (event.repeat) return;
  drive.down.add(event.code);
  if (COMMANDS[event.code]) $(COMMANDS[event.code]).click();
  if (event.code === "KeyM" && drive.status) {
    const { modes } = drive.machine;
    send({ do: "mode", mode: modes[(modes.indexOf(drive.status.mode) + 1) % modes.length] });
  }
  if (event.code === "KeyB") choose((drive.bank + 1) % Math.ceil(drive.machine.axes.length / 4));
});
addEventListener("keyup", (event) => drive.down.delete(event.code));
addEventListener("blur", () => { drive.down.clear(); drive.dragged = { left: null, right: null }; });
addEventListener("contextmenu", (event) => event.preventDefault());

// buttons

const phase = () => drive.status?.phase;
$("pause").onclick = () => send({ do: phase() === "running" ? "pause" : "resume" });
$("reset").onclick = () => send({ do: "reset" });
$("record").onclick = () => send({ do: drive.status?.recording ? "stop" : "record" });
$("replay").onclick = () => send({ do: phase() === "replay" ? "resume" : "replay" });
$("soil").onclick = () => send({ do: "soil", on: !drive.status?.soil });
$("camera").onclick = () => drive.view && label_of($("camera"), drive.view.nextCamera());
$("delay").onchange = () => { send({ do: "delay", seconds: Number($("delay").value) }); $("delay").blur(); };
$("help").onclick = () => ($("cover").hidden ? openHelp() : closeHelp());
$("start").onclick = closeHelp;
document.querySelectorAll("footer .buttons button, header button").forEach((button) => button.addEventListener("pointerup", () => button.blur()));

function openHelp() { $("cover").hidden = false; $("start").focus(); }
function closeHelp() { $("cover").hidden = true; $("view").focus(); }
function label_of(button, text) { button.lastChild.textContent = text; }

// what is shown

function pill(id, state, text) {
  const element = $(id);
  if (element.textContent !== text) element.textContent = text;
  element.dataset.state = state;
}

function banner(state, text) {
  const element = $("banner");
  element.hidden = !text;
  element.dataset.state = state;
  if (element.textContent !== text) element.textContent = text;
}

function show() {
  const { status, machine } = drive, mine = status.yours.length > 0;
  const whole = status.yours.length === machine.groups.length;
  const state = { running: "good", paused: "wait", replay: "info", fault: "bad" }[status.phase];
  pill("phase", state, status.phase);
  pill("role", mine ? "good" : "info", mine ? (whole ? "you drive" : `you drive: ${status.yours.join(", ")} stick`) : "you watch");
  $("watchers").hidden = status.spectators < 1;
  pill("watchers", "info", `${status.spectators} spectator${status.spectators > 1 ? "s" : ""}`);
  [...$("modes").children].forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.mode === status.mode)));
  if (drive.mode !== status.mode) { drive.mode = status.mode; label(); $("note").textContent = machine.notes[status.mode] ?? ""; }
  for (const id of ["pause", "reset", "record", "soil", "delay"]) $(id).disabled = !mine;
  [...$("modes").children].forEach((button) => (button.disabled = !mine));
  label_of($("pause"), status.phase === "running" ? "Pause" : "Go on");
  label_of($("record"), status.recording ? "Stop" : "Record");
  $("record").classList.toggle("live", status.recording);
  $("replay").disabled = !mine || !status.replay;
  label_of($("replay"), status.phase === "replay" ? "Drive on" : status.replay ? `Replay ${status.replay.toFixed(0)} s` : "Replay");
  label_of($("soil"), `Soil: ${status.soil ? "on" : "off"}`);
  $("soil").classList.toggle("on", status.soil);
  drive.view?.soil(status.soil);
  if (document.activeElement !== $("delay")) $("delay").value = String(status.delay);
  document.querySelectorAll(".stick").forEach((element) => {
    const group = element.dataset.stick, button = element.querySelector("button");
    const held = status.holders[group], own = status.yours.includes(group);
    element.hidden = held === undefined;
    element.dataset.mine = own;
    button.hidden = own ? !(status.spectators > 0 && whole) : held !== null;
    button.textContent = own ? "hand over" : "take this stick";
  });
  figures(status);
  tell(status, mine);
}

function tell(status, mine) {
  const drop = drive.frame?.[3] > 0;
  if (status.phase === "fault") banner("bad", "The simulation left what it can compute. Reset (X) puts the machine back.");
  else if (status.phase === "replay") banner("wait", "Replay of the last recording");
  else if (status.phase === "paused") banner("wait", mine ? "Paused. Press P to go on." : "Paused");
  else if (drop && mine) banner("wait", "No fresh stick signal: the machine was stopped");
  else if (!drive.view) banner("bad", "This browser has no WebGL: the machine can be driven, but not seen.");
  else banner("", "");
  if (status.saved && status.saved !== drive.recorded) {
    drive.recorded = status.saved;
    $("note").textContent = `Recording written: ${status.saved}, and a page that plays it: ${status.saved.replace(/\.\w+$/, ".html")}`;
  }
}

function figures({ recent, total, drift }) {
  const ms = (x) => (x < 1e-3 ? `${(x * 1e6).toFixed(0)} µs` : `${(x * 1e3).toFixed(1)} ms`);
  const put = (id, text, state = "") => { $(id).textContent = text; $(id).dataset.state = state; };
  put("f-on-time", `${(100 * recent.on_time).toFixed(1)} / ${(100 * total.on_time).toFixed(2)} %`, total.on_time >= 0.999 ? "good" : total.on_time < 0.99 ? "bad" : "");
  put("f-step", ms(recent.step_time));
  put("f-worst", `${ms(recent.worst_latency)} / ${ms(total.worst_latency)}`);
  put("f-missed", `${recent.missed} / ${total.missed}`);
  put("f-share", `${(100 * recent.share).toFixed(1)} %`);
  put("f-drift", ms(Math.max(drift, 0)), drift > 0.1 ? "bad" : "");
}

setInterval(() => {
  if (performance.now() - drive.heard > SILENCE) lost("no answer", "The program does not answer: nobody drives from this page.");
  if (drive.status) {
    $("f-frames").textContent = `${drive.frames} Hz`;
    $("f-fps").textContent = `${drive.drawn} Hz`;
    const sorted = drive.latency.sort((a, b) => a - b);
    if (sorted.length) $("f-latency").textContent = `${sorted[sorted.length >> 1].toFixed(0)} ms`;
    else if (!drive.sent.size) $("f-latency").textContent = "–";
  }
  drive.frames = drive.drawn = 0;
  drive.latency = [];
}, 1000);

// Frame: header, axes, q, v, poses.
let last = performance.now();
function paint(now) {
  requestAnimationFrame(paint);
  const { machine, frame, status, view } = drive;
  if (view && !view.free(now)) return;
  if (frame) {
    const n = machine.header.length + machine.axes.length;
    const q = frame.subarray(n, n + machine.nq), v = frame.subarray(n + machine.nq, n + machine.nq + machine.nv);
    const bodies = n + machine.nq + machine.nv, rest = bodies + 7 * machine.scene.bodies.length, end = rest + machine.gauges.length;
    view?.pose(frame.subarray(bodies, rest), q);
    view?.predict($("ghost").checked && frame.length > end ? frame.subarray(end) : null, q);
    const read = frame.subarray(rest, end);
    if (status) { joints(q, v); fill(read); }
    if (machine.digging) view?.work(read.subarray(read.length - 6), read[places.get("in the bucket")] ?? 0);
    $("time").textContent = `${frame[0].toFixed(1)} s`;
    $("clock").toggleAttribute("data-recording", Boolean(status) && frame[2] > 0);
    follow(frame);
  }
  const number = frame?.[4];
  if (view) view.draw(now, now - last, () => timed(number));
  else timed(number);
  last = now;
}

// What the machine's gauges read: rows of the panel, with a bar where they have an end.
const places = new Map(); // from the name of a gauge to its place
const rows = [];
function gauges(all) {
  all.forEach(({ name, group }, k) => places.set(group === "flow" ? `${name} flow` : name, k));
  const row = (gauge, k, more = null) => {
    const element = document.createElement("div"), bar = document.createElement("i"), value = span(""), second = span("");
    element.className = "gauge";
    bar.append(document.createElement("b"));
    bar.hidden = !gauge.full;
    element.append(span(gauge.name, true), value, second, bar);
    rows.push({ k, more, gauge, value, second, bar: bar.firstChild });
    return element;
  };
  all.forEach((gauge, k) => {
    if (gauge.group === "pressure") $("hydraulic-gauges").append(row(gauge, k, k + 1));
    else if (gauge.group === "power") $("hydraulic-gauges").append(row(gauge, k));
    else if (gauge.group !== "flow" && gauge.group !== "arrow") $("soil-gauges").append(row(gauge, k));
  });
  $("hydraulics").hidden = !$("hydraulic-gauges").children.length;
  $("digging").hidden = !$("soil-gauges").children.length;
}

function fill(read) {
  for (const { k, more, gauge, value, second, bar } of rows) {
    const digits = gauge.unit === "m" || gauge.unit === "m³" ? 2 : 1;
    value.textContent = `${articulus.fixed(read[k], digits)} ${gauge.unit}`;
    second.textContent = more === null ? "" : `${articulus.fixed(read[more], 0)} L/min`;
    if (gauge.full) bar.style.width = `${Math.min(100, Math.max(0, (100 * read[k]) / gauge.full))}%`;
  }
}

function joints(q, v) {
  [...$("joints").children].forEach((row, i) => {
    const axis = drive.machine.axes[i], turns = axis.unit === "rad";
    const text = (x) => (turns ? `${articulus.fixed((x * 180) / Math.PI, 1)}°` : `${articulus.fixed(x, 3)} m`);
    row.children[1].textContent = text(q[axis.q]);
    row.children[2].textContent = `${text(v[axis.v])}/s`;
  });
}

// Sticks in the hands of others move as well.
function follow(frame) {
  const { machine, status } = drive;
  for (const stick of ["left", "right"]) {
    if (status?.yours.includes(stick)) continue;
    deflect(stick, ...["x", "y"].map((along) => { const a = axisOf(stick, along); return a ? a.sign * frame[machine.header.length + a.index] : 0; }));
  }
}

function deflect(stick, x, y) {
  const knob = document.querySelector(`.stick[data-stick=${stick}] .knob`), r = knob.parentElement.clientWidth / 2 - 14;
  knob.style.transform = `translate(${x * r}px, ${-y * r}px)`;
}

connect();
$("start").focus();
