"use strict";
// What a form shows of a value in a TOML file, what is written for what somebody types, and what a schema says of it.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const NUMBER = /^[-+]?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/; // as TOML writes it
  const LOOSE = /^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/; // as people do
  const RAW = /^([{["']|[-+]?(inf|nan)$)/;

  // Return a text as TOML.
  const quote = (text) => JSON.stringify(text);

  // Return what somebody typed for a number as TOML: "20 mm" is a text there.
  const number = (typed) => {
    const text = typed.trim();
    if (NUMBER.test(text) || RAW.test(text)) return text;
    return LOOSE.test(text) ? String(Number(text)) : quote(text);
  };

  // Return a value as somebody would type it.
  const shown = (value) => (value !== null && typeof value === "object" ? inline(value) : String(value));

  const inline = (value) => {
    if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
    if (value !== null && typeof value === "object") return `{${Object.entries(value).map(([k, x]) => `${/^[\w-]+$/.test(k) ? k : quote(k)} = ${inline(x)}`).join(", ")}}`;
    return typeof value === "string" ? quote(value) : String(value);
  };

  class Schema {
    constructor(schema) {
      this.root = schema;
    }

    // Follow references; what stands beside one counts more.
    at(schema) {
      if (!schema?.$ref) return schema;
      const { $ref, ...beside } = schema;
      return { ...this.at(this.root.$defs[$ref.split("/").at(-1)]), ...beside };
    }

    // Return the schema of the parts of a kind.
    part(kind) {
      if (kind === "") return this.root;
      return this.at(this.root.properties[kind]?.additionalProperties);
    }

    // Return the types that parts of a kind may have, by name; empty where they have none.
    types(kind) {
      const options = this.part(kind)?.oneOf ?? [];
      return new Map(options.map((each) => [this.at(each).properties.type.const, this.at(each)]));
    }

    // Return the schemas of the keys of a part, in their order.
    keys(kind, type) {
      const types = this.types(kind);
      const { properties = {}, required = [] } = (types.size ? types.get(type) : this.part(kind)) ?? {};
      return { properties, required };
    }

    // Return how a key is edited: "choice", "flag", "number", "vector", "pose", "table", "name", "text", "names" or "raw".
    way(schema) {
      if (schema?.$ref === "#/$defs/number") return "number";
      if (schema?.$ref === "#/$defs/pose") return "pose";
      const s = this.at(schema) ?? {};
      const any = s.anyOf ?? [];
      const numeric = (x) => x.$ref === "#/$defs/number" || x.type === "number" || x.type === "integer";
      if (s.enum) return "choice";
      if (s.type === "boolean") return "flag";
      if (numeric(s) || (any.length && any.every((x) => numeric(x) || /quantity|varying/.test(x.$ref ?? "")))) return "number";
      if (s.type === "array" && s.items?.$ref === "#/$defs/number" && s.minItems >= 3 && s.maxItems <= 6) return "vector";
      if (any.some(numeric)) return "number"; // or a list of them
      if (s.type === "string") return "text";
      if (any.some((x) => x.type === "string")) return "names";
      if (s.type === "object" && s.properties) return "table";
      return "raw";
    }
  }

  Object.assign(articulus, { toml: { quote, number, shown, inline }, Schema });
})();
