"use strict";
// Small charts of the page of a campaign: distributions, percentiles over time, intervals of rates.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const SVG = "http://www.w3.org/2000/svg";

  const shape = (name, fields, ...inner) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(fields)) made.setAttribute(key, value);
    made.append(...inner);
    return made;
  };

  const canvas = (width, height, label, ...inner) => shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...inner);
  const scaled = (low, high, from, to) => (v) => from + ((v - low) / (high - low || 1)) * (to - from);
  const word = (x, y, place, text) => shape("text", { x, y, class: place }, text);

  // Ticks of x below a box.
  const below = (box, range, at, count) => {
    const [values, step] = articulus.ticks(range, count);
    return values.flatMap((v) => [
      shape("line", { class: "axis", x1: at(v), x2: at(v), y1: box.bottom, y2: box.bottom + 4 }),
      word(at(v), box.bottom + 16, "middle", articulus.tickText(v, step)),
    ]);
  };

  // Ticks of y beside a box, with lines across it.
  const beside = (box, range, at, count) => {
    const [values, step] = articulus.ticks(range, count);
    return values.flatMap((v) => [
      shape("line", { class: "axis", x1: box.left, x2: box.right, y1: at(v), y2: at(v) }),
      word(box.left - 6, at(v) + 4, "end", articulus.tickText(v, step)),
    ]);
  };

  // The distribution of a figure; bounds of requirements are lines where they are not far away.
  articulus.histogram = ({ name, bins, bounds }) => {
    const box = { left: 44, right: 316, top: 6, bottom: 128 };
    const end = bins.start + bins.width * bins.counts.length;
    const room = 0.6 * (end - bins.start);
    const near = bounds.filter((b) => b >= bins.start - room && b <= end + room);
    const range = [Math.min(bins.start, ...near), Math.max(end, ...near)];
    const most = Math.max(1, ...bins.counts);
    const x = scaled(...range, box.left, box.right);
    const y = scaled(0, most, box.bottom, box.top);
    const bars = bins.counts.map((count, k) => {
      const [from, to] = [x(bins.start + k * bins.width), x(bins.start + (k + 1) * bins.width)];
      return shape("rect", { class: "bar", x: from, width: Math.max(0.5, to - from - 0.6), y: y(count), height: box.bottom - y(count) });
    });
    const lines = near.map((b) => shape("line", { class: "bound", x1: x(b), x2: x(b), y1: box.top, y2: box.bottom }));
    return canvas(320, 150, `Distribution of ${name}`, ...beside(box, [0, most], y, most < 3 ? most : 3), ...below(box, range, x, 4), ...bars, ...lines);
  };

  // Percentiles over time: the outermost pair as an area, the median as a line, extremes dotted.
  articulus.band = ({ name, times, values, least, greatest }) => {
    const width = Math.max(360, Math.min(1000, document.documentElement.clientWidth - 60)); // so that its words stay readable
    const box = { left: 60, right: width - 10, top: 8, bottom: 190 };
    const finite = [...least, ...greatest].filter((v) => v !== null);
    if (!finite.length) return canvas(width, 20, name);
    let range = [Math.min(...finite), Math.max(...finite)];
    if (range[0] === range[1]) range = [range[0] - 1, range[1] + 1];
    const x = scaled(times[0], times[times.length - 1], box.left, box.right);
    const y = scaled(...range, box.bottom, box.top);
    const points = (row) => row.flatMap((v, k) => (v === null ? [] : [`${x(times[k]).toFixed(1)},${y(v).toFixed(1)}`]));
    const line = (row, kind) => shape("polyline", { class: kind, points: points(row).join(" ") });
    const [low, high] = [values[0], values[values.length - 1]];
    return canvas(
      width, 214, `${name} over time`,
      ...beside(box, range, y, 6), ...below(box, [times[0], times[times.length - 1]], x, width < 700 ? 4 : 8),
      shape("polygon", { class: "spread", points: [...points(low), ...points(high).reverse()].join(" ") }),
      line(least, "extreme"), line(greatest, "extreme"), line(values[(values.length - 1) / 2], "median"),
    );
  };

  // A rate and its bounds, from 0 to 100 %.
  articulus.interval = ({ rate, low, high }) => {
    const inner = [shape("rect", { class: "track", x: 0, y: 6, width: 150, height: 4, rx: 2 })];
    const width = Math.max(6, 150 * (high - low));
    if (low !== null) inner.push(shape("rect", { class: "interval", x: Math.min(150 - width, Math.max(0, 75 * (low + high) - width / 2)), y: 4, width, height: 8, rx: 2 }));
    if (rate !== null) inner.push(shape("rect", { class: "rate", x: Math.min(148, 150 * rate), y: 1, width: 2, height: 14 }));
    return canvas(150, 16, "rate and bounds", ...inner);
  };
})();
