// SHA-256 (FIPS 180-4) of a file in slices, so that a large artifact never lies in memory as a whole.
"use strict";

const K = new Uint32Array(64);
const H = new Uint32Array(8);
{
  // The constants are the first 32 bits of the fractional parts of roots of the first primes.
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((p) => n % p)) primes.push(n);
  const fraction = (x) => Math.floor((x - Math.floor(x)) * 0x100000000);
  primes.forEach((p, i) => {
    K[i] = fraction(Math.cbrt(p));
    if (i < 8) H[i] = fraction(Math.sqrt(p));
  });
}

class Sha256 {
  constructor() {
    this.state = H.slice();
    this.words = new Uint32Array(64);
    this.rest = new Uint8Array(64);
    this.kept = 0;
    this.length = 0;
  }

  block(data, at) {
    const w = this.words;
    for (let i = 0; i < 16; i += 1, at += 4) w[i] = (data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3];
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15];
      const y = w[i - 2];
      const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + t1) | 0; d = c; c = b; b = a; a = (t1 + t2) | 0;
    }
    const s = this.state;
    s[0] += a; s[1] += b; s[2] += c; s[3] += d; s[4] += e; s[5] += f; s[6] += g; s[7] += h;
  }

  update(data) {
    let at = 0;
    this.length += data.length;
    if (this.kept) {
      const take = Math.min(64 - this.kept, data.length);
      this.rest.set(data.subarray(0, take), this.kept);
      this.kept += take;
      at = take;
      if (this.kept < 64) return;
      this.block(this.rest, 0);
      this.kept = 0;
    }
    for (; at + 64 <= data.length; at += 64) this.block(data, at);
    this.rest.set(data.subarray(at));
    this.kept = data.length - at;
  }

  hex() {
    const bits = this.length * 8;
    const padding = new Uint8Array(((this.kept < 56 ? 56 : 120) - this.kept) + 8);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, Math.floor(bits / 0x100000000));
    view.setUint32(padding.length - 4, bits >>> 0);
    this.update(padding);
    return Array.from(this.state, (word) => word.toString(16).padStart(8, "0")).join("");
  }
}

self.onmessage = async ({ data: file }) => {
  try {
    const hash = new Sha256();
    const slice = 4 * 1024 * 1024;
    for (let at = 0; at < file.size; at += slice) {
      hash.update(new Uint8Array(await file.slice(at, at + slice).arrayBuffer()));
      self.postMessage({ done: Math.min(at + slice, file.size) });
    }
    self.postMessage({ sha256: hash.hex() });
  } catch {
    self.postMessage({ error: true });
  }
};
