const laneCount = 25;
const rateBytes = 136;

const rotations = rotationTable();
const roundConstants = roundConstantTable();

/**
 * Keccak-256 of bytes: 32 bytes. This is the original Keccak submission (padding 0x01), as OpenTimestamps and Ethereum
 * use it, not SHA3-256 of FIPS 202 (padding 0x06).
 */
export function keccak256(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array((Math.floor(bytes.length / rateBytes) + 1) * rateBytes);
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const view = new DataView(padded.buffer);

  // Lane i is the pair of 32-bit words 2i (low) and 2i + 1 (high).
  const state = new Uint32Array(2 * laneCount);
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let i = 0; i < rateBytes / 4; i++) state[i] = at(state, i) ^ view.getUint32(block + 4 * i, true);
    permute(state);
  }

  const digest = new Uint8Array(32);
  const out = new DataView(digest.buffer);
  for (let i = 0; i < 8; i++) out.setUint32(4 * i, at(state, i), true);
  return digest;
}

/** Keccak-f[1600]: 24 rounds of theta, rho, pi, chi and iota (FIPS 202, section 3.2). */
function permute(a: Uint32Array): void {
  const column = new Uint32Array(10);
  const b = new Uint32Array(2 * laneCount);
  for (let round = 0; round < 24; round++) {
    for (let i = 0; i < 10; i++) {
      column[i] = at(a, i) ^ at(a, i + 10) ^ at(a, i + 20) ^ at(a, i + 30) ^ at(a, i + 40);
    }
    for (let x = 0; x < 5; x++) {
      const left = 2 * ((x + 4) % 5);
      const right = 2 * ((x + 1) % 5);
      const low = at(column, left) ^ ((at(column, right) << 1) | (at(column, right + 1) >>> 31));
      const high = at(column, left + 1) ^ ((at(column, right + 1) << 1) | (at(column, right) >>> 31));
      for (let y = 0; y < 5; y++) {
        const lane = x + 5 * y;
        rotateInto(
          b,
          y + 5 * ((2 * x + 3 * y) % 5),
          at(a, 2 * lane) ^ low,
          at(a, 2 * lane + 1) ^ high,
          at(rotations, lane),
        );
      }
    }
    for (let row = 0; row < 50; row += 10) {
      for (let i = 0; i < 10; i++) {
        a[row + i] = at(b, row + i) ^ (~at(b, row + ((i + 2) % 10)) & at(b, row + ((i + 4) % 10)));
      }
    }
    a[0] = at(a, 0) ^ at(roundConstants, 2 * round);
    a[1] = at(a, 1) ^ at(roundConstants, 2 * round + 1);
  }
}

function rotateInto(lanes: Uint32Array, lane: number, low: number, high: number, by: number): void {
  const [first, second] = by < 32 ? [low, high] : [high, low];
  const rest = by % 32;
  lanes[2 * lane] = rest === 0 ? first : (first << rest) | (second >>> (32 - rest));
  lanes[2 * lane + 1] = rest === 0 ? second : (second << rest) | (first >>> (32 - rest));
}

/** Offsets of rho (FIPS 202, section 3.2.2, algorithm 2). */
function rotationTable(): Uint8Array {
  const table = new Uint8Array(laneCount);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    table[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return table;
}

/** The constants of step iota: the low and the high word of each round (FIPS 202, section 3.2.5, algorithms 5 and 6). */
function roundConstantTable(): Uint32Array {
  const table = new Uint32Array(48);
  let register = 1;
  for (let round = 0; round < 24; round++) {
    for (let j = 0; j <= 6; j++) {
      const bit = 2 ** j - 1;
      const word = 2 * round + (bit >> 5);
      if (register & 1) table[word] = at(table, word) | (1 << (bit & 31));
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1;
    }
  }
  return table;
}

function at(list: Uint32Array | Uint8Array, index: number): number {
  return list[index] ?? 0;
}
