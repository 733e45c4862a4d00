"use strict";
// Axes of plots: from values to pixels, and round numbers along them.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

  const powerText = (n) => {
    if (n >= -3 && n <= 3) return String(10 ** n);
    return `10${n < 0 ? "⁻" : ""}${[...String(Math.abs(n))].map((d) => DIGITS[d]).join("")}`;
  };

  // An axis from pixel to pixel; ticks(count) returns pairs of value and text.
  articulus.linearAxis = ([low, high], from, to) => ({
    low, high,
    at: (v) => from + ((v - low) / (high - low || 1)) * (to - from),
    value: (pixel) => low + ((pixel - from) / (to - from)) * (high - low),
    ticks: (count) => {
      const [values, step] = articulus.ticks([low, high], count);
      return values.map((v) => [v, articulus.tickText(v, step)]);
    },
  });

  // The same for logarithms: powers of ten, with 2 and 5 between them where there is room.
  articulus.logAxis = ([low, high], from, to) => {
    const axis = articulus.linearAxis([Math.log10(low), Math.log10(high)], from, to);
    return {
      low, high,
      at: (v) => axis.at(Math.log10(v)),
      value: (pixel) => 10 ** axis.value(pixel),
      ticks: (count) => {
        const step = Math.max(1, Math.ceil((axis.high - axis.low) / count));
        const between = axis.high - axis.low < 1.6 ? [1, 2, 5] : [1];
        const out = [];
        for (let n = Math.floor(axis.low); n <= axis.high + 1e-9; n++) {
          if (n % step) continue;
          for (const m of between) out.push([m * 10 ** n, m === 1 ? powerText(n) : articulus.text(m * 10 ** n)]);
        }
        return out.filter(([v]) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
      },
    };
  };
})();
