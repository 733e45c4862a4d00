"use strict";
// Runs as animated pictures.
// Sources: CompuServe, Graphics Interchange Format 89a, 1990 (blocks; appendix F, LZW); Wan, Prusinkiewicz and Wong, Color Research &
// Application 15, 1990 (palette by variance).
(() => {
  const articulus = (globalThis.articulus ??= {});
  const RATE = 20; // frames per second
  const FRAMES = 200; // at most; longer runs get fewer per second
  const WIDTH = 720; // at most [px]
  const SAMPLES = 6; // pictures from which the palette is taken
  const CLEAR = 256;
  const END = 257;
  const UNCHANGED = 255; // the transparent entry of the palette

  // Colors that agree in the upper six bits of each channel are treated alike.
  const CELLS = 1 << 18;
  const cellOf = (r, g, b) => ((r >> 2) << 12) | ((g >> 2) << 6) | (b >> 2);

  // A set of cells of the color cube: how many pixels, the mean, and along which channel they spread most.
  class Box {
    constructor(cells) {
      this.cells = cells;
      const total = cells.reduce((sum, c) => sum + c.count, 0);
      const over = (f) => cells.reduce((sum, c) => sum + c.count * f(c), 0);
      this.mean = [0, 1, 2].map((k) => over((c) => c.color[k]) / total);
      const spread = this.mean.map((m, k) => over((c) => (c.color[k] - m) ** 2));
      this.error = Math.max(...spread);
      this.channel = spread.indexOf(this.error);
    }

    split() {
      const low = (c) => c.color[this.channel] <= this.mean[this.channel];
      return [new Box(this.cells.filter(low)), new Box(this.cells.filter((c) => !low(c)))];
    }
  }

  // At most 255 colors for pictures (RGBA bytes): the box of largest error is split at its mean until there are as many.
  class Palette {
    constructor(pictures) {
      let boxes = [new Box(this.#cells(pictures))];
      while (boxes.length < UNCHANGED) {
        const worst = boxes.reduce((a, b) => (b.error > a.error ? b : a));
        if (worst.error < 1) break;
        boxes = boxes.filter((b) => b !== worst).concat(worst.split());
      }
      this.colors = boxes.map((b) => b.mean.map(Math.round));
      this.nearest = new Int16Array(CELLS).fill(-1);
      boxes.forEach((box, k) => box.cells.forEach((c) => (this.nearest[c.cell] = k)));
    }

    #cells(pictures) {
      const sums = new Float64Array(4 * CELLS);
      for (const p of pictures) {
        for (let i = 0; i < p.length; i += 4) {
          const at = 4 * cellOf(p[i], p[i + 1], p[i + 2]);
          sums[at] += p[i];
          sums[at + 1] += p[i + 1];
          sums[at + 2] += p[i + 2];
          sums[at + 3]++;
        }
      }
      const cells = [];
      for (let cell = 0; cell < CELLS; cell++) {
        const count = sums[4 * cell + 3];
        if (count) cells.push({ cell, count, color: [0, 1, 2].map((k) => sums[4 * cell + k] / count) });
      }
      return cells;
    }

    #search(r, g, b) {
      const distance = ([x, y, z]) => (x - r) ** 2 + (y - g) ** 2 + (z - b) ** 2;
      return this.colors.reduce((best, c, k) => (distance(c) < distance(this.colors[best]) ? k : best), 0);
    }

    // Return the entry of every pixel.
    indices(picture) {
      const out = new Uint8Array(picture.length / 4);
      for (let i = 0; i < out.length; i++) {
        const r = picture[4 * i];
        const g = picture[4 * i + 1];
        const b = picture[4 * i + 2];
        const cell = cellOf(r, g, b);
        if (this.nearest[cell] < 0) this.nearest[cell] = this.#search(r, g, b);
        out[i] = this.nearest[cell];
      }
      return out;
    }

    bytes() {
      const out = new Uint8Array(3 * 256);
      this.colors.forEach((c, k) => out.set(c, 3 * k));
      return out;
    }
  }

  // Codes of 9 to 12 bits, the lowest bit first, in blocks of at most 255 bytes.
  class Codes {
    constructor(most) {
      this.bytes = new Uint8Array(most);
      this.length = 0;
      this.held = 0;
      this.bits = 0;
    }

    add(code, size) {
      this.held |= code << this.bits;
      for (this.bits += size; this.bits >= 8; this.bits -= 8) {
        this.bytes[this.length++] = this.held & 255;
        this.held >>>= 8;
      }
    }

    blocks() {
      if (this.bits) this.bytes[this.length++] = this.held;
      const out = new Uint8Array(this.length + Math.ceil(this.length / 255) + 1);
      for (let from = 0, to = 0; from < this.length; from += 255, to += 256) {
        const part = this.bytes.subarray(from, Math.min(from + 255, this.length));
        out[to] = part.length;
        out.set(part, to + 1);
      }
      return out;
    }
  }

  // Return entries of a palette as blocks of LZW codes. `known` (4096 strings times 256 entries) is working space.
  function compress(entries, known) {
    const codes = new Codes(2 * entries.length + 16);
    let size;
    let next;
    const restart = () => {
      codes.add(CLEAR, size ?? 9);
      known.fill(0);
      size = 9;
      next = END + 1;
    };
    restart();
    let string = entries[0];
    for (let i = 1; i < entries.length; i++) {
      const longer = (string << 8) | entries[i];
      if (known[longer]) {
        string = known[longer];
        continue;
      }
      codes.add(string, size);
      string = entries[i];
      if (next === 4096) {
        restart();
        continue;
      }
      if (next === 1 << size) size++;
      known[longer] = next++;
    }
    codes.add(string, size);
    if (next === 1 << size && size < 12) size++;
    codes.add(END, size);
    return codes.blocks();
  }

  const short = (x) => [x & 255, x >> 8];
  const ascii = (text) => Array.from(text, (c) => c.charCodeAt(0));

  // A GIF of pictures (RGBA bytes) of one size with a palette made from some of them; it repeats without end.
  articulus.Gif = class {
    constructor(width, height, samples) {
      this.width = width;
      this.height = height;
      this.palette = new Palette(samples);
      this.known = new Uint16Array(4096 * 256);
      this.parts = [
        Uint8Array.of(...ascii("GIF89a"), ...short(width), ...short(height), 0xf7, 0, 0),
        this.palette.bytes(),
        Uint8Array.of(0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0),
      ];
    }

    // Add a picture that is shown for some hundredths of a second; only what differs from the last one is stored.
    add(picture, hundredths) {
      const entries = this.palette.indices(picture);
      const { left, top, width, height } = this.last ? this.#changed(entries) : { left: 0, top: 0, width: this.width, height: this.height };
      const inside = new Uint8Array(width * height);
      for (let y = 0; y < height; y++) {
        const row = (top + y) * this.width + left;
        for (let x = 0; x < width; x++) {
          inside[y * width + x] = this.last?.[row + x] === entries[row + x] ? UNCHANGED : entries[row + x];
        }
      }
      this.last = entries;
      this.parts.push(
        Uint8Array.of(0x21, 0xf9, 4, 0x05, ...short(hundredths), UNCHANGED, 0),
        Uint8Array.of(0x2c, ...short(left), ...short(top), ...short(width), ...short(height), 0, 8),
        compress(inside, this.known),
      );
    }

    // Return the rectangle that holds all changes, one pixel where there is none.
    #changed(entries) {
      let [left, right, top, bottom] = [this.width, 0, this.height, 0];
      for (let i = 0; i < entries.length; i++) {
        if (entries[i] === this.last[i]) continue;
        const x = i % this.width;
        left = Math.min(left, x);
        right = Math.max(right, x);
        top = Math.min(top, Math.floor(i / this.width));
        bottom = Math.floor(i / this.width);
      }
      if (left > right) return { left: 0, top: 0, width: 1, height: 1 };
      return { left, top, width: right - left + 1, height: bottom - top + 1 };
    }

    blob() {
      return new Blob([...this.parts, Uint8Array.of(0x3b)], { type: "image/gif" });
    }
  };

  // Plays a run from start to end, at the player's speed, and keeps what its canvas shows.
  articulus.GifRecorder = class {
    constructor(player, canvas) {
      this.player = player;
      this.canvas = canvas;
      const scale = Math.min(1, WIDTH / canvas.width);
      this.copy = document.createElement("canvas");
      this.copy.width = Math.max(1, Math.round(scale * canvas.width));
      this.copy.height = Math.max(1, Math.round(scale * canvas.height));
      this.context = this.copy.getContext("2d", { willReadFrequently: true });
      this.context.imageSmoothingQuality = "high";
    }

    // End with the frame in work.
    stop() {
      this.stopped = true;
    }

    // Return the GIF; `progress` hears of the share that is done.
    async record(progress) {
      const seconds = (this.player.span[1] - this.player.span[0]) / this.player.speed;
      const steps = Math.min(FRAMES - 1, Math.max(1, Math.round(RATE * seconds)));
      const samples = [];
      for (let k = 0; k < SAMPLES; k++) samples.push(await this.#picture(k / (SAMPLES - 1)));
      const gif = new articulus.Gif(this.copy.width, this.copy.height, samples);
      const due = (k) => Math.round((100 * seconds * k) / steps);
      for (let k = 0; k <= steps; k++) {
        gif.add(await this.#picture(k / steps), Math.max(2, due(k + 1) - due(k)));
        progress((k + 1) / (steps + 1));
        if (this.stopped) break;
      }
      return gif.blob();
    }

    // Return what is shown at a share of the run; `seek` asks for its drawing before we ask for our turn, so it is done by then.
    async #picture(share) {
      const [start, end] = this.player.span;
      this.player.toggle(false);
      this.player.seek(start + share * (end - start));
      await new Promise(requestAnimationFrame);
      this.context.drawImage(this.canvas, 0, 0, this.copy.width, this.copy.height);
      return this.context.getImageData(0, 0, this.copy.width, this.copy.height).data;
    }
  };
})();
