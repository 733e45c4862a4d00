"use strict";
// Tables of numbers from texts; the other half of packing.py.
(() => {
  const articulus = (globalThis.articulus ??= {});

  function bytesOf(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
    return bytes;
  }

  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Return {rows, columns, values}: column after column in a Float32Array.
  articulus.unpack = async ({ rows, columns, data }) => {
    const n = rows * columns;
    const planes = await inflate(bytesOf(data));
    const bits = new Int32Array(n);
    for (let column = 0; column < n; column += rows) {
      let sum = 0;
      for (let i = column; i < column + rows; i++) {
        const folded = planes[i] | (planes[i + n] << 8) | (planes[i + 2 * n] << 16) | (planes[i + 3 * n] << 24);
        sum = (sum + ((folded >>> 1) ^ -(folded & 1))) | 0;
        bits[i] = sum;
      }
    }
    return { rows, columns, values: new Float32Array(bits.buffer) };
  };

  // Return the last index whose value is at most x, in ascending values.
  articulus.lastAtMost = (values, x) => {
    let low = 0;
    let high = values.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (values[middle] <= x) low = middle;
      else high = middle - 1;
    }
    return low;
  };
})();
