// The constants of the 80 steps in RIPEMD-160's two parallel lines: the index of the message word and the left
// rotation. One hex digit for each step.
const leftWord = digits(
  "0123456789abcdef" + "74d1a6f3c0952eb8" + "3ae49f812706db5c" + "19ba08c4d37fe562" + "40597c2ae138b6fd",
);
const rightWord = digits(
  "5e7092b4d6f81a3c" + "6b370d5aef8c4912" + "f5137e69b8c2a04d" + "86413bf05c2d97ae" + "cfa4158762de039b",
);
const leftTurn = digits(
  "befc5879bdef6798" + "768db97f7cf9b7dc" + "bd67e9dfe8d65c75" + "bcefef989e56865c" + "9f5b68dc5cdeb856",
);
const rightTurn = digits(
  "899bdff5778beec6" + "9df7c89b77c76fdb" + "97fb866ecd5edd75" + "f58bee6e69c9c5f8" + "85c9c5e68d65fdbb",
);
const leftConstant = [0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e];
const rightConstant = [0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0];

/** RIPEMD-160 (ISO/IEC 10118-3) of bytes: 20 bytes. OpenTimestamps allows it and Web Crypto lacks it. */
export function ripemd160(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n, true);

  const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0]);
  const words = new Uint32Array(16);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(at + 4 * i, true);
    compress(state, words);
  }

  const digest = new Uint8Array(20);
  const out = new DataView(digest.buffer);
  state.forEach((word, i) => {
    out.setUint32(4 * i, word, true);
  });
  return digest;
}

function compress(state: Uint32Array, words: Uint32Array): void {
  const left = line(state, words, leftWord, leftTurn, leftConstant, (round) => round);
  const right = line(state, words, rightWord, rightTurn, rightConstant, (round) => 4 - round);
  const before = state.slice();
  for (let i = 0; i < 5; i++) {
    state[i] = at(before, (i + 1) % 5) + at(left, (i + 2) % 5) + at(right, (i + 3) % 5);
  }
}

/**
 * Runs the eighty steps of one of the two parallel lines over a block. The right line uses the round functions in the
 * opposite order.
 */
function line(
  state: Uint32Array,
  words: Uint32Array,
  word: Uint8Array,
  turn: Uint8Array,
  constant: readonly number[],
  functionOf: (round: number) => number,
): Uint32Array {
  let a = at(state, 0);
  let b = at(state, 1);
  let c = at(state, 2);
  let d = at(state, 3);
  let e = at(state, 4);
  for (let step = 0; step < 80; step++) {
    const round = step >> 4;
    const sum = (a + mix(functionOf(round), b, c, d) + at(words, at(word, step)) + (constant[round] ?? 0)) | 0;
    const next = (rotateLeft(sum, at(turn, step)) + e) | 0;
    a = e;
    e = d;
    d = rotateLeft(c, 10);
    c = b;
    b = next;
  }
  return new Uint32Array([a, b, c, d, e]);
}

function mix(round: number, x: number, y: number, z: number): number {
  if (round === 0) return x ^ y ^ z;
  if (round === 1) return (x & y) | (~x & z);
  if (round === 2) return (x | ~y) ^ z;
  if (round === 3) return (x & z) | (y & ~z);
  return x ^ (y | ~z);
}

function rotateLeft(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function at(list: Uint32Array | Uint8Array, index: number): number {
  return list[index] ?? 0;
}

function digits(hex: string): Uint8Array {
  return Uint8Array.from(hex, (digit) => Number.parseInt(digit, 16));
}
