"use strict";
// What a plot shows of its curves: values over time, against another signal, or their spectrum. Each mode has the same functions.
(() => {
  const articulus = (globalThis.articulus ??= {});

  const stretch = ([low, high], share) => {
    if (!(low <= high)) return [0, 1];
    const least = Math.max(1e-6 * Math.max(Math.abs(low), Math.abs(high)), 1e-12);
    const pad = Math.max(share * (high - low), least);
    return [low - pad, high + pad];
  };

  const union = (ranges) => [Math.min(...ranges.map((r) => r[0])), Math.max(...ranges.map((r) => r[1]))];

  // Return least and greatest value of a curve in the window of time.
  articulus.rangeIn = (curve, window) => curve.extremes.range(...articulus.within(curve.t, window));

  // Return a range for a logarithmic axis, of positive numbers only.
  const positive = ([low, high]) => {
    if (!(high > 0)) return [0.1, 1];
    const from = low > 0 ? low : high / 1e6;
    return from < high ? [from / 1.2, high * 1.2] : [from / 10, from * 10];
  };

  const time = {
    text: "over time",
    across: () => "time [s]",
    xRange: (panel) => panel.desk.window,
    yRange: (panel, curves) => stretch(union(curves.map((c) => articulus.rangeIn(c, panel.desk.window))), 0.06),
    xLog: false,
    trace(panel, { t, values }, to) {
      const [first, last] = articulus.within(t, panel.desk.window);
      for (let i = first; i < last; i++) to(t[i], values[i]);
    },
    // Where there are more samples than pixels: least and greatest values of stretches, which stay the same while the window moves. Else null.
    band(panel, { t, extremes }) {
      const [first, last] = articulus.within(t, panel.desk.window);
      const level = Math.min(extremes.low.length - 1, Math.floor(Math.log2((last - first) / (1.2 * panel.box.w))));
      if (level < 1) return null;
      const [from, to] = [first >> level, ((last - 1) >> level) + 1];
      const times = Float64Array.from({ length: to - from }, (_, k) => t[Math.min(t.length - 1, ((from + k) << level) + (1 << (level - 1)))]);
      return { times, low: extremes.low[level].subarray(from, to), high: extremes.high[level].subarray(from, to) };
    },
  };

  const cross = {
    text: "against",
    across: (panel) => `${panel.against.text}${articulus.inUnit(panel.against.unit)}`,
    xRange: (panel, curves) => stretch(union(curves.map((c) => articulus.rangeIn(panel.partner(c) ?? c, panel.desk.window))), 0.04),
    yRange: (panel, curves) => time.yRange(panel, curves),
    xLog: false,
    trace(panel, curve, to) {
      const partner = panel.partner(curve);
      if (!partner) return;
      const [first, last] = articulus.within(curve.t, panel.desk.window);
      const every = Math.max(1, Math.floor((last - first) / 20000));
      for (let i = first; i < last; i += every) to(partner.values[i], curve.values[i]);
    },
  };

  const spectrum = {
    text: "spectrum",
    across: () => "frequency [Hz]",
    xRange: (panel, curves) => {
      const all = curves.map((c) => panel.spectrumOf(c).frequency).filter((f) => f.length);
      return all.length ? union(all.map((f) => [f[0], f.at(-1)])) : [0.1, 1];
    },
    yRange: (panel, curves) => {
      const ranges = curves.map((c) => panel.spectrumOf(c).amplitude.reduce(([a, b], x) => [x > 0 && x < a ? x : a, x > b ? x : b], [Infinity, 0]));
      const [low, high] = union(ranges);
      return positive([Math.max(low, high / 1e8), high]);
    },
    xLog: true,
    yLog: true,
    trace(panel, curve, to) {
      const { frequency, amplitude } = panel.spectrumOf(curve);
      frequency.forEach((f, k) => to(f, amplitude[k]));
    },
  };

  articulus.PLOT_MODES = { time, cross, spectrum };
  articulus.positiveRange = positive;
  // Return a unit as it stands behind a name; pure numbers have none.
  articulus.inUnit = (unit) => (unit && unit !== "-" ? ` [${unit}]` : "");
})();
