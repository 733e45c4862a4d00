"use strict";
// The form of a part: an input for every key of its table, made of the JSON Schema of the file.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const { make } = articulus;
  const { quote, number, shown, inline } = articulus.toml;
  const NAMED = {
    parent: ["body"], child: ["body"], body: ["body"], joint: ["joint"], joints: ["joint"], frame: ["frame", "body"],
    first: ["frame", "body"], second: ["frame", "body"], tip: ["frame", "body"], a: ["frame", "body"], b: ["frame", "body"],
  };
  const TABLES = ["body", "joint", "frame", "loop", "constraint", "coupling", "component", "state", "collision", "parameters", "schema"]; // each with a form of its own
  const LEADING = ["type", "parent", "child", "body", "joint", "frame", "at", "axis"];

  articulus.PartForm = class {
    // tell(edits, what) sends edits; choose(part) shows another part; drag(mode) puts arrows into the picture.
    constructor({ schema, tell, choose, drag }) {
      Object.assign(this, { schema, tell, choose, drag });
      this.title = make("div", { className: "form-head" });
      this.body = make("div", { id: "form" });
      this.element = make("div", { id: "form-box" }, this.title, this.body);
      this.opened = false;
    }

    // Show a part of a state; what is being typed stays, and so does the focus.
    show(state, part, handle, mode) {
      this.state = state;
      this.part = part;
      const active = document.activeElement;
      const held = this.element.contains(active) && active.id ? { id: active.id, value: active.value, dirty: active.value !== active.defaultValue && active.type === "text" } : null;
      const kind = part.split(".")[0];
      const name = part.slice(kind.length + 1);
      this.kind = kind;
      const keys = state.parts[part].keys;
      this.keys = keys;
      const remarks = state.remarks.filter((r) => r.part === part);
      this.title.replaceChildren(...this.#head(kind, name));
      this.body.replaceChildren(...this.#remarks(remarks), ...this.#handle(handle, mode), ...this.#fields(kind, keys, remarks));
      const again = held && document.getElementById(held.id);
      if (!again) return;
      if (held.dirty) again.value = held.value;
      again.focus();
    }

    #head(kind, name) {
      if (!name) return [make("h2", {}, kind === "" ? "Model" : "Parameters")];
      const input = make("input", { type: "text", id: "part-name", value: name, defaultValue: name, "aria-label": `Name of the ${kind}` });
      input.addEventListener("change", async () => {
        const to = input.value.trim();
        if (to && to !== name && (await this.tell([{ op: "rename", kind, old: name, new: to }], `renaming ${name}`))) this.choose(`${kind}.${to}`);
        else input.value = name;
      });
      const remove = make("button", { type: "button", id: "remove" }, "Delete");
      remove.addEventListener("click", () => this.tell([{ op: "remove", table: `${kind}.${name}` }], `deleting ${kind} ${name}`));
      return [make("h2", {}, kind), input, remove];
    }

    #remarks(remarks) {
      return remarks.filter((r) => !this.#has(r)).map((r) => make("p", { className: r.serious ? "wrong" : "doubt", role: "alert" }, articulus.remarkText(r)));
    }

    // Whether a remark stands at a key that the form shows.
    #has({ key }) {
      const { properties } = this.schema.keys(this.kind, this.#type());
      const first = key.split(/[.[]/)[0];
      return first in properties && !(this.kind === "" && TABLES.includes(first));
    }

    #type() {
      return this.keys.type?.value;
    }

    #handle(handle, mode) {
      if (!handle || handle.node) return []; // a place on a body that bends
      const button = (value, text) => {
        const b = make("button", { type: "button", "aria-pressed": String(mode === value) }, text);
        b.addEventListener("click", () => this.drag(mode === value ? "" : value));
        return b;
      };
      const what = handle.key === "com" ? "Center of mass" : "Place";
      return [make("div", { className: "buttons drag" }, make("span", {}, "Drag in the picture:"), button("place", what), ...(handle.axis ? [button("axis", "Axis")] : []))];
    }

    #fields(kind, keys, remarks) {
      const types = this.schema.types(kind);
      const out = types.size ? [this.#types(kind, types)] : [];
      const { properties, required } = this.schema.keys(kind, this.#type());
      const names = Object.keys(properties).filter((k) => k !== "type" && !(kind === "" && TABLES.includes(k)));
      const rank = (k) => (LEADING.indexOf(k) + 1 || LEADING.length + 1);
      names.sort((a, b) => rank(a) - rank(b));
      const needed = (k) => k in keys || required.includes(k) || remarks.some((r) => r.key.split(/[.[]/)[0] === k) || ["at", "com", "mass", "inertia"].includes(k);
      const row = (k) => this.#field(k, properties[k], keys[k], remarks.filter((r) => r.key.split(/[.[]/)[0] === k));
      out.push(...names.filter(needed).map(row));
      for (const k of Object.keys(keys)) if (k !== "type" && !(k in properties)) out.push(this.#field(k, {}, keys[k], remarks.filter((r) => r.key === k)));
      const others = names.filter((k) => !needed(k));
      if (others.length) {
        const more = make("details", { open: this.opened }, make("summary", {}, `${others.length} more keys`), ...others.map(row));
        more.addEventListener("toggle", () => (this.opened = more.open));
        out.push(more);
      }
      if (kind === "parameters") out.push(this.#newParameter());
      return out;
    }

    #types(kind, types) {
      const now = this.#type();
      const select = make("select", { id: "f-type" }, ...(types.has(now) ? [] : [new Option(now ?? "", now ?? "")]), ...[...types.keys()].map((t) => new Option(t, t)));
      select.value = now ?? "";
      select.addEventListener("change", () => this.tell(this.#retyped(kind, types, select.value), `another type of ${this.part}`));
      const about = types.get(now)?.description ?? "";
      const wrong = this.state.remarks.filter((r) => r.part === this.part && r.key === "type");
      return this.#row("type", "", about, select, wrong);
    }

    // Keys that the new type does not know go with the old one.
    #retyped(kind, types, type) {
      const table = this.part;
      const known = types.get(type).properties;
      const gone = Object.keys(this.keys).filter((k) => !(k in known));
      return [{ op: "set", table, key: "type", value: quote(type) }, ...gone.map((key) => ({ op: "clear", table, key }))];
    }

    #row(key, unit, about, control, wrong) {
      const id = `f-${key}`;
      const hints = [];
      if (about) hints.push(make("p", { className: "hint", id: `${id}-hint` }, about));
      for (const r of wrong) hints.push(make("p", { className: r.serious ? "wrong" : "doubt", role: "alert" }, articulus.remarkText({ ...r, part: "", key: "" })));
      const first = control.matches("input, select, textarea") ? control : control.querySelector("input, select, textarea");
      if (about && first) first.setAttribute("aria-describedby", `${id}-hint`);
      if (wrong.length && first) first.setAttribute("aria-invalid", "true");
      const label = make("label", { htmlFor: first?.id ?? id }, key, make("span", { className: "kind" }, unit && unit !== "-" ? `[${unit}]` : ""));
      return make("div", { className: "field", "data-key": key }, label, control, ...hints);
    }

    #field(key, schema, held, wrong) {
      const s = this.schema.at(schema) ?? {};
      const [, about, unit] = /^(.*?)(?:\s*\[([^\]]*)\])?$/s.exec(schema.description ?? s.description ?? "");
      const plain = about.replaceAll("`", "");
      const sentence = about ? `${plain[0].toUpperCase()}${plain.slice(1)}${/[.!?]$/.test(plain) ? "" : "."}` : "";
      const way = this.schema.way(schema);
      const control = this.#control(way, key, s, held);
      return this.#row(key, unit ?? "", sentence, control, wrong);
    }

    // Send one value; an empty one takes the key out.
    #set(key, value) {
      const table = this.part;
      const edit = value === "" ? { op: "clear", table, key } : { op: "set", table, key, value };
      return this.tell([edit], `${key} of ${this.part || "the model"}`);
    }

    #control(way, key, s, held) {
      const id = `f-${key}`;
      const fallback = s.default === undefined ? "" : shown(s.default);
      switch (way) {
        case "choice":
          return this.#select(id, ["", ...s.enum], held?.value ?? "", (v) => this.#set(key, v && inline(v)));
        case "flag":
          return this.#select(id, ["", "true", "false"], held ? String(held.value) : "", (v) => this.#set(key, v));
        case "vector":
          if (!held || Array.isArray(held.value)) return this.#vector(id, key, Math.max(s.maxItems, held?.value.length ?? 0), held?.value, fallback ? s.default : undefined);
          break;
        case "pose":
          return this.#pose(key, held);
        case "table":
          if (!held || (typeof held.value === "object" && !Array.isArray(held.value))) return this.#table(key, s, held);
          break;
        case "number":
          if (!held || typeof held.value !== "object") return this.#input(id, held ? (typeof held.value === "number" && held.text) || shown(held.value) : "", (v) => this.#set(key, v && number(v)), fallback);
          break;
        case "text":
        case "names":
          if (key in NAMED && (!held || typeof held.value === "string")) return this.#name(id, key, held);
          if (!held || typeof held.value === "string") return this.#input(id, held?.value ?? "", (v) => this.#set(key, v && (way === "names" && v.startsWith("[") ? v : quote(v))), fallback);
      }
      return this.#raw(id, key, held);
    }

    #input(id, value, done, placeholder = "") {
      const input = make("input", { type: "text", id, value, defaultValue: value, placeholder, autocomplete: "off", spellcheck: false });
      input.addEventListener("change", () => done(input.value.trim()));
      return input;
    }

    #select(id, options, value, done) {
      const select = make("select", { id }, ...[...new Set([...options, value])].map((o) => new Option(o === "" ? "as without it" : o, o)));
      select.value = value;
      select.addEventListener("change", () => done(select.value));
      return select;
    }

    // A name of another part; one that is not there is shown as it is.
    #name(id, key, held) {
      const own = this.part.slice(this.kind.length + 1);
      const kinds = this.kind === "loop" ? ["frame", "body"] : NAMED[key];
      const names = Object.keys(this.state.parts).filter((p) => kinds.some((k) => p.startsWith(`${k}.`))).map((p) => p.slice(p.indexOf(".") + 1)).filter((n) => kinds[0] !== "body" || this.kind !== "body" || n !== own);
      if (kinds.includes("body") && key !== "child") names.unshift("ground");
      return this.#select(id, held ? names : ["", ...names], held?.value ?? "", (v) => this.#set(key, v && quote(v)));
    }

    #vector(id, key, count, value, fallback, edit) {
      const inputs = Array.from({ length: count }, (_, i) => {
        const now = value?.[i] === undefined ? "" : shown(value[i]);
        return make("input", { type: "text", id: i ? `${id}-${i}` : id, value: now, defaultValue: now, placeholder: fallback ? shown(fallback[i] ?? 0) : "0", "aria-label": `${key} ${count === 3 ? "xyz"[i] : i + 1}`, autocomplete: "off" });
      });
      const send = () => {
        const typed = inputs.map((x) => x.value.trim());
        while (typed.length > (value?.length ?? 3) && !typed.at(-1)) typed.pop(); // the products of inertia are zero without them
        const text = typed.every((x) => !x) ? "" : `[${typed.map((x) => (x ? number(x) : "0")).join(", ")}]`;
        if (edit) edit(text);
        else this.#set(key, text);
      };
      inputs.forEach((input, i) => input.addEventListener("change", () => {
        if (!edit && i < (value?.length ?? 0) && input.value.trim()) this.#set(`${key}[${i}]`, number(input.value));
        else send();
      }));
      return make("div", { className: "vector", role: "group", "aria-label": key }, ...inputs);
    }

    // Position, and the angles about x, y and z; what is given in another way is shown as it is written.
    #pose(key, held) {
      const value = held?.value;
      const list = Array.isArray(value);
      if (value && !list && (typeof value !== "object" || Object.keys(value).some((k) => !["xyz", "rpy"].includes(k)))) return this.#raw(`f-${key}`, key, held);
      const xyz = list ? value : value?.xyz;
      const rpy = list ? undefined : value?.rpy;
      const put = (part, text) => {
        if (part === "xyz" && (list || !value)) return this.#set(key, text);
        if (part === "rpy" && (list || !value)) return text && this.#set(key, `{xyz = ${list ? held.text : "[0, 0, 0]"}, rpy = ${text}}`);
        return this.#set(`${key}.${part}`, text);
      };
      return make("div", { className: "pose" },
        make("span", { className: "kind" }, "xyz m"), this.#vector(`f-${key}`, `${key} position`, 3, xyz, undefined, (text) => put("xyz", text)),
        make("span", { className: "kind" }, "rpy rad"), this.#vector(`f-${key}-rpy`, `${key} angle`, 3, rpy, undefined, (text) => put("rpy", text)));
    }

    #table(key, s, held) {
      const rows = Object.entries(s.properties).map(([inner, schema]) => {
        const sub = this.schema.at(schema) ?? {};
        const value = held?.value[inner];
        const way = this.schema.way(schema);
        const text = value === undefined ? "" : way === "number" || way === "text" ? shown(value) : inline(value);
        const written = (v) => (way === "number" ? number(v) : way === "text" ? quote(v) : v);
        const [, about, unit] = /^(.*?)(?:\s*\[([^\]]*)\])?$/s.exec(sub.description ?? "");
        const input = this.#input(`f-${key}-${inner}`, text, (v) => this.#set(`${key}.${inner}`, v && written(v)), sub.default === undefined ? "" : shown(sub.default));
        input.title = about;
        return make("label", { htmlFor: input.id }, inner, make("span", { className: "kind" }, unit ? ` [${unit}]` : ""), input);
      });
      return make("div", { className: "table" }, ...rows);
    }

    #raw(id, key, held) {
      const value = held ? held.text || inline(held.value) : "";
      const area = make("textarea", { id, value, defaultValue: value, rows: Math.min(6, value.split("\n").length + 1), spellcheck: false, placeholder: "as in the file" });
      area.addEventListener("change", () => this.#set(key, area.value.trim()));
      return area;
    }

    #newParameter() {
      const name = make("input", { type: "text", id: "new-parameter", "aria-label": "Name of a new parameter", placeholder: "name" });
      const value = make("input", { type: "text", id: "new-value", "aria-label": "Its value", placeholder: "value" });
      const add = make("button", { type: "button" }, "Add");
      add.addEventListener("click", () => name.value.trim() && this.tell([{ op: "set", table: "parameters", key: name.value.trim(), value: number(value.value || "1") }], `adding parameter ${name.value}`));
      return make("div", { className: "buttons" }, name, value, add);
    }
  };

  // Return a finding as a sentence.
  articulus.remarkText = ({ part, key, found, expected, hint }) => {
    const where = [part, key].filter(Boolean).join(".");
    const text = expected ? `${where ? "found" : "Found"} ${found}; expected ${expected}.` : found;
    return `${where ? `${where}: ` : ""}${text}${hint ? ` ${hint[0].toUpperCase()}${hint.slice(1)}` : ""}`;
  };
})();
