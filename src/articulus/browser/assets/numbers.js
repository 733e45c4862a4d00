"use strict";
// Numbers as people read them, and round steps of axes.
(() => {
  const articulus = (globalThis.articulus ??= {});

  // Return four digits of a number.
  articulus.text = (x) => {
    if (!Number.isFinite(x)) return "–";
    const size = Math.abs(x);
    if (size !== 0 && (size < 1e-3 || size >= 1e5)) return x.toExponential(2);
    return x.toPrecision(4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
  };

  // Return a number with some digits behind the point; what is rounded to zero has no sign.
  articulus.fixed = (x, digits) => {
    const text = x.toFixed(digits);
    return Number(text) === 0 ? (0).toFixed(digits) : text;
  };

  articulus.tickText = (x, step) => {
    const size = Math.max(Math.abs(x), step);
    if (size >= 1e5 || size < 1e-3) return x === 0 ? "0" : x.toExponential(1);
    return articulus.fixed(x, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9)));
  };

  // Return 1, 2 or 5 times a power of ten, at least x.
  articulus.niceStep = (x) => {
    const power = 10 ** Math.floor(Math.log10(x));
    return power * ([1, 2, 5, 10].find((m) => m * power >= x * 0.999999) ?? 10);
  };

  // Return round numbers from low to high, about count of them, and the step between them.
  articulus.ticks = ([low, high], count) => {
    const step = articulus.niceStep((high - low) / count);
    const out = [];
    for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
    return [out, step];
  };
})();
