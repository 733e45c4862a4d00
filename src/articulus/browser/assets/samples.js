"use strict";
// Samples over time: least and greatest values of any stretch, values between samples, statistics and spectra.
(() => {
  const articulus = (globalThis.articulus ??= {});
  const LONGEST = 2 ** 16; // points of a spectrum

  // Least and greatest values of stretches of 2, 4, 8, ... samples: a curve of a million samples is drawn from one of a thousand pairs.
  articulus.Extremes = class {
    constructor(values) {
      this.low = [values];
      this.high = [values];
      for (let n = values.length; n > 2; n = Math.ceil(n / 2)) {
        const [below, above] = [this.low.at(-1), this.high.at(-1)];
        const low = new Float32Array(Math.ceil(n / 2));
        const high = new Float32Array(Math.ceil(n / 2));
        for (let i = 0; i < low.length; i++) {
          const j = Math.min(2 * i + 1, n - 1);
          low[i] = lesser(below[2 * i], below[j]);
          high[i] = greater(above[2 * i], above[j]);
        }
        this.low.push(low);
        this.high.push(high);
      }
    }

    // Return least and greatest value of the samples from i to below j; values that are no numbers do not count.
    range(i, j) {
      let [low, high] = [Infinity, -Infinity];
      const take = (level, k) => {
        if (this.low[level][k] < low) low = this.low[level][k];
        if (this.high[level][k] > high) high = this.high[level][k];
      };
      for (let level = 0; i < j; level++, i >>= 1, j >>= 1) {
        if (level === this.low.length - 1) {
          for (let k = i; k < j; k++) take(level, k);
          break;
        }
        if (i & 1) take(level, i++);
        if (j & 1) take(level, --j);
      }
      return [low, high];
    }
  };

  const lesser = (a, b) => (a <= b || !(b === b) ? a : b);
  const greater = (a, b) => (a >= b || !(b === b) ? a : b);

  // Return the first and one past the last sample that a window of time needs, its neighbors outside included.
  articulus.within = (t, [from, to]) => {
    const first = articulus.lastAtMost(t, from);
    const last = articulus.lastAtMost(t, to);
    return [first, Math.min(t.length, last + 2)];
  };

  // Return a value between samples, by a straight line.
  articulus.between = (t, values, time) => {
    const i = articulus.lastAtMost(t, time);
    if (i + 1 >= t.length || time <= t[i]) return values[i];
    const s = (time - t[i]) / (t[i + 1] - t[i] || 1);
    return values[i] + s * (values[i + 1] - values[i]);
  };

  // Return the integral of straight lines between the samples from a time to another.
  articulus.integral = (t, values, from, to) => {
    if (to < from) return -articulus.integral(t, values, to, from);
    let [sum, time, value] = [0, from, articulus.between(t, values, from)];
    for (let i = articulus.lastAtMost(t, from) + 1; i < t.length && t[i] < to; i++) {
      if (t[i] <= from) continue;
      sum += 0.5 * (value + values[i]) * (t[i] - time);
      [time, value] = [t[i], values[i]];
    }
    return sum + 0.5 * (value + articulus.between(t, values, to)) * (to - time);
  };

  // Turn real and imaginary parts, a power of two of them, into their discrete Fourier transform.
  function transform(re, im) {
    const n = re.length;
    for (let i = 1, j = 0; i < n; i++) {
      let bit = n >> 1;
      for (; j & bit; bit >>= 1) j ^= bit;
      j |= bit;
      if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
    }
    for (let half = 1; half < n; half *= 2) {
      for (let k = 0; k < half; k++) {
        const [c, s] = [Math.cos((Math.PI * k) / half), -Math.sin((Math.PI * k) / half)];
        for (let i = k; i < n; i += 2 * half) {
          const j = i + half;
          const [a, b] = [re[j] * c - im[j] * s, re[j] * s + im[j] * c];
          [re[j], im[j]] = [re[i] - a, im[i] - b];
          [re[i], im[i]] = [re[i] + a, im[i] + b];
        }
      }
    }
  }

  // Return {frequency [Hz], amplitude} of a window of time: one-sided, mean taken out, Hann window; a sine shows its amplitude.
  articulus.spectrum = (t, values, [from, to]) => {
    const [first, last] = articulus.within(t, [from, to]);
    const [start, end] = [Math.max(from, t[first]), Math.min(to, t[last - 1])];
    const n = Math.min(LONGEST, 2 ** Math.floor(Math.log2(Math.max(2, last - first))));
    if (n < 8 || !(end > start)) return { frequency: new Float32Array(0), amplitude: new Float32Array(0) };
    const step = (end - start) / n;
    const re = Float64Array.from({ length: n }, (_, k) => articulus.between(t, values, start + k * step));
    const mean = re.reduce((a, b) => a + b, 0) / n;
    for (let k = 0; k < n; k++) re[k] = (re[k] - mean) * (1 - Math.cos((2 * Math.PI * k) / n)); // Hann, of mean one
    const im = new Float64Array(n);
    transform(re, im);
    const half = n / 2 - 1;
    return {
      frequency: Float32Array.from({ length: half }, (_, k) => (k + 1) / (n * step)),
      amplitude: Float32Array.from({ length: half }, (_, k) => (2 / n) * Math.hypot(re[k + 1], im[k + 1])),
    };
  };
})();
