const BLOCK = 16;
const SBOX = substitution();
const INVERSE = new Uint8Array(256);
for (let i = 0; i < 256; i++) INVERSE[SBOX[i] ?? 0] = i;
const BY_14 = multiples(14);
const BY_11 = multiples(11);
const BY_13 = multiples(13);
const BY_9 = multiples(9);

/**
 * Decrypts AES (FIPS 197) in CBC mode. Web Crypto can't be used: it refuses data without PKCS#7 padding and is
 * asynchronous, whereas a document is read synchronously.
 *
 * @param key 16 or 32 bytes
 * @returns as many bytes as the whole blocks of `data`, padding included
 */
export function decryptAesCbc(key: Uint8Array, iv: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const schedule = expandKey(key);
  const out = new Uint8Array(data.length - (data.length % BLOCK));
  const state = new Uint8Array(BLOCK);
  for (let at = 0; at < out.length; at += BLOCK) {
    for (let i = 0; i < BLOCK; i++) state[i] = data[at + i] ?? 0;
    decryptBlock(schedule, state);
    const previous = at === 0 ? iv : data.subarray(at - BLOCK, at);
    for (let i = 0; i < BLOCK; i++) out[at + i] = (state[i] ?? 0) ^ (previous[i] ?? 0);
  }
  return out;
}

/** Whole blocks without their PKCS#7 padding; null when there is no such padding. */
export function withoutPadding(data: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | null {
  const count = data.at(-1) ?? 0;
  if (count < 1 || count > BLOCK) return null;
  return data.subarray(-count).every((byte) => byte === count) ? data.subarray(0, -count) : null;
}

function decryptBlock(schedule: Uint8Array, state: Uint8Array): void {
  const rounds = schedule.length / BLOCK - 1;
  addRoundKey(state, schedule, rounds);
  for (let round = rounds - 1; round > 0; round--) {
    unshiftAndSubstitute(state);
    addRoundKey(state, schedule, round);
    for (let column = 0; column < BLOCK; column += 4) unmixColumn(state, column);
  }
  unshiftAndSubstitute(state);
  addRoundKey(state, schedule, 0);
}

function addRoundKey(state: Uint8Array, schedule: Uint8Array, round: number): void {
  for (let i = 0; i < BLOCK; i++) state[i] = (state[i] ?? 0) ^ (schedule[round * BLOCK + i] ?? 0);
}

/** InvShiftRows and InvSubBytes: row r of the state rotates by r places to the right. */
function unshiftAndSubstitute(state: Uint8Array): void {
  const before = state.slice();
  for (let i = 0; i < BLOCK; i++) state[i] = INVERSE[before[(i + BLOCK - 4 * (i % 4)) % BLOCK] ?? 0] ?? 0;
}

function unmixColumn(state: Uint8Array, at: number): void {
  const [a = 0, b = 0, c = 0, d = 0] = state.subarray(at, at + 4);
  state[at] = (BY_14[a] ?? 0) ^ (BY_11[b] ?? 0) ^ (BY_13[c] ?? 0) ^ (BY_9[d] ?? 0);
  state[at + 1] = (BY_9[a] ?? 0) ^ (BY_14[b] ?? 0) ^ (BY_11[c] ?? 0) ^ (BY_13[d] ?? 0);
  state[at + 2] = (BY_13[a] ?? 0) ^ (BY_9[b] ?? 0) ^ (BY_14[c] ?? 0) ^ (BY_11[d] ?? 0);
  state[at + 3] = (BY_11[a] ?? 0) ^ (BY_13[b] ?? 0) ^ (BY_9[c] ?? 0) ^ (BY_14[d] ?? 0);
}

/** Expands a key into round keys (FIPS 197 section 5.2): 11 for a 16-byte key, 15 for a 32-byte key. */
function expandKey(key: Uint8Array): Uint8Array {
  const schedule = new Uint8Array(4 * (key.length + 28));
  schedule.set(key);
  for (let at = key.length, constant = 1; at < schedule.length; at += 4) {
    let word = schedule.subarray(at - 4, at);
    if (at % key.length === 0) {
      const [a = 0, b = 0, c = 0, d = 0] = word;
      word = Uint8Array.from([b, c, d, a], (byte) => SBOX[byte] ?? 0);
      word[0] = (word[0] ?? 0) ^ constant;
      constant = double(constant);
    } else if (key.length === 32 && at % 32 === BLOCK) {
      word = word.map((byte) => SBOX[byte] ?? 0);
    }
    for (let i = 0; i < 4; i++) schedule[at + i] = (schedule[at + i - key.length] ?? 0) ^ (word[i] ?? 0);
  }
  return schedule;
}

/** Multiplies by x in GF(2^8). */
function double(value: number): number {
  return ((value << 1) ^ (value & 0x80 ? 0x11b : 0)) & 0xff;
}

function multiples(factor: number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, value) => {
    let product = 0;
    for (let bit = factor, power = value; bit > 0; bit >>= 1, power = double(power)) if (bit & 1) product ^= power;
    return product;
  });
}

/** Builds the substitution table (FIPS 197 section 5.1.1): the inverse in GF(2^8), then an affine map. */
function substitution(): Uint8Array {
  const powers = new Uint8Array(255);
  for (let i = 0, value = 1; i < 255; i++, value ^= double(value)) powers[i] = value;
  const box = new Uint8Array(256).fill(0x63);
  powers.forEach((value, i) => {
    const inverse = powers[(255 - i) % 255] ?? 0;
    const turned = inverse | (inverse << 8);
    box[value] = 0x63 ^ inverse ^ ((turned >> 7) ^ (turned >> 6) ^ (turned >> 5) ^ (turned >> 4));
  });
  return box;
}
