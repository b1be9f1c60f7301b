// The ciphers of old PKCS#12 files (RFC 7292, appendix B). Browsers support neither 3DES nor RC2, but some certificate
// authorities still issue such files. This code only decrypts the notary's own file.

type Bytes = Uint8Array<ArrayBuffer>;

/** Decrypts chained blocks of 8 bytes (CBC) and removes the padding. Null when the length or the padding is wrong. */
function decryptCbc(block: (input: Uint8Array) => Uint8Array, iv: Uint8Array, data: Uint8Array): Bytes | null {
  if (data.length === 0 || data.length % 8 !== 0) return null;
  const plain = new Uint8Array(data.length);
  let before = iv;
  for (let at = 0; at < data.length; at += 8) {
    const input = data.subarray(at, at + 8);
    for (const [index, byte] of block(input).entries()) plain[at + index] = byte ^ (before[index] ?? 0);
    before = input;
  }
  const padding = plain.at(-1) ?? 0;
  const isPadded = padding >= 1 && padding <= 8 && plain.subarray(-padding).every((byte) => byte === padding);
  return isPadded ? plain.slice(0, plain.length - padding) : null;
}

const numbers = (text: string): number[] => text.split(" ").map(Number);
const nibbles = (text: string): number[] => [...text.replaceAll(" ", "")].map((digit) => Number.parseInt(digit, 16));

// The tables of DES (FIPS 46-3). They count bits from 1.
const initial = [58, 60, 62, 64, 57, 59, 61, 63].flatMap((first) => Array.from({ length: 8 }, (_, n) => first - 8 * n));
const finalOrder = Array.from({ length: 64 }, (_, index) => initial.indexOf(index + 1) + 1);
const expansion = Array.from({ length: 48 }, (_, at) => ((4 * Math.floor(at / 6) + (at % 6) + 31) % 32) + 1);
const permutation = numbers("16 7 20 21 29 12 28 17 1 15 23 26 5 18 31 10 2 8 24 14 32 27 3 9 19 13 30 6 22 11 4 25");
const choice1 = numbers(
  "57 49 41 33 25 17 9 1 58 50 42 34 26 18 10 2 59 51 43 35 27 19 11 3 60 52 44 36 63 55 47 39 31 23 15 7 62 54 46 38 30 22 14 6 61 53 45 37 29 21 13 5 28 20 12 4",
);
const choice2 = numbers(
  "14 17 11 24 1 5 3 28 15 6 21 10 23 19 12 4 26 8 16 7 27 20 13 2 41 52 31 37 47 55 30 40 51 45 33 48 44 49 39 56 34 53 46 42 50 36 29 32",
);
const rotations = numbers("1 1 2 2 2 2 2 2 1 2 2 2 2 2 2 1");
const boxes = [
  "e4d12fb83a6c5907 0f74e2d1a6cb9538 41e8d62bfc973a50 fc8249175b3ea06d",
  "f18e6b34972dc05a 3d47f28ec01a69b5 0e7ba4d158c6932f d8a13f42b67c05e9",
  "a09e63f51dc7b428 d709346a285ecbf1 d6498f30b12c5ae7 1ad069874fe3b52c",
  "7de3069a1285bc4f d8b56f03472c1ae9 a690cb7df13e5284 3f06a1d8945bc72e",
  "2c417ab6853fd0e9 eb2c47d150fa3986 421bad78f9c5630e b8c71e2d6f09a453",
  "c1af92680d34e75b af427c9561de0b38 9ef528c3704a1db6 432c95fabe17608d",
  "4b2ef08d3c975a61 d0b7491ae35c2f86 14bdc37eaf680592 6bd814a7950fe23c",
  "d2846fb1a93e50c7 1fd8a374c56b0e92 7b419ce206adf358 21e74a8dfc90356b",
].map(nibbles);

type Bits = readonly number[];
const pick = (bits: Bits, table: readonly number[]): number[] => table.map((at) => bits[at - 1] ?? 0);
const xor = (one: Bits, other: Bits): number[] => one.map((bit, at) => bit ^ (other[at] ?? 0));
const bitsOf = (bytes: Uint8Array): number[] =>
  [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, at) => (byte >> (7 - at)) & 1));
const numberOf = (bits: Bits): number => bits.reduce((sum, bit) => 2 * sum + bit, 0);
const bytesOf = (bits: Bits): Uint8Array =>
  Uint8Array.from({ length: bits.length / 8 }, (_, at) => numberOf(bits.slice(8 * at, 8 * at + 8)));

function roundKeys(key: Uint8Array): Bits[] {
  const chosen = pick(bitsOf(key), choice1);
  let [left, right] = [chosen.slice(0, 28), chosen.slice(28)];
  return rotations.map((by) => {
    left = [...left.slice(by), ...left.slice(0, by)];
    right = [...right.slice(by), ...right.slice(0, by)];
    return pick([...left, ...right], choice2);
  });
}

function des(input: Bits, keys: readonly Bits[]): number[] {
  const start = pick(input, initial);
  let [left, right] = [start.slice(0, 32), start.slice(32)];
  for (const key of keys) {
    const mixed = xor(pick(right, expansion), key);
    const out = boxes.flatMap((box, at) => {
      const six = mixed.slice(6 * at, 6 * at + 6);
      const row = 2 * (six[0] ?? 0) + (six[5] ?? 0);
      const value = box[16 * row + numberOf(six.slice(1, 5))] ?? 0;
      return [value >> 3, (value >> 2) & 1, (value >> 1) & 1, value & 1];
    });
    [left, right] = [right, xor(left, pick(out, permutation))];
  }
  return pick([...right, ...left], finalOrder);
}

/** The function that decrypts one block by 3DES (EDE). @param key 24 bytes */
function tripleDes(key: Uint8Array): (input: Uint8Array) => Uint8Array {
  const [first = [], second = [], third = []] = [0, 8, 16].map((at) => roundKeys(key.subarray(at, at + 8)));
  const steps = [third.toReversed(), second, first.toReversed()];
  return (input) => bytesOf(steps.reduce((bits, keys) => des(bits, keys), bitsOf(input)));
}

// The permutation table of RFC 2268, section 2.
const pi = nibbles(
  `d978f9c419ddb5ed28e9fd794aa0d89d c67e37832b76538e624c6488448bfba2 179a59f587b34f1361456d8d09817d32 bd8f40eb86b77b0bf09521225c6b4e82
54d66593ce60b21c7356c014a78cf1dc 1275ca1f3bbee4d1423dd430a33cb626 6fbf0eda4669075727f21d9bbc944303 f811c7f690ef3ee706c3d52fc8661ed7
08e8eade8052eef784aa72ac354d6a2a 961ad2715a1549744b9fd05e0418a4ec c2e0416e0f51cbcc2491af50a1f47039 997c3a8523b8b47afc02365b25559731
2d5dfa98e38a92ae05df2910676cbac9 d300e6cfe19ea82c6316013f58e289a9 0d38341bab33ffb0bb480c5fb9b1cd2e c5f3db47e5a59c770aa62068fe7fc1ad`.replaceAll(
    "\n",
    " ",
  ),
);
const piAt = (at: number): number => 16 * (pi[2 * (at & 255)] ?? 0) + (pi[2 * (at & 255) + 1] ?? 0);

function expanded(key: Uint8Array): number[] {
  const bytes = [...key];
  const { length } = bytes;
  for (let at = length; at < 128; at++) bytes.push(piAt((bytes[at - 1] ?? 0) + (bytes[at - length] ?? 0)));
  // RFC 2268 allows a shorter effective key; here all bits of the key are effective, 40 or 128.
  bytes[128 - length] = piAt(bytes[128 - length] ?? 0);
  for (let at = 127 - length; at >= 0; at--) bytes[at] = piAt((bytes[at + 1] ?? 0) ^ (bytes[at + length] ?? 0));
  return Array.from({ length: 64 }, (_, at) => (bytes[2 * at] ?? 0) + 256 * (bytes[2 * at + 1] ?? 0));
}

/** The function that decrypts one block by RC2. @param key 5 or 16 bytes */
function rc2(key: Uint8Array): (input: Uint8Array) => Uint8Array {
  const words = expanded(key);
  const word = (at: number): number => words[at & 63] ?? 0;
  return (input) => {
    const r = [0, 1, 2, 3].map((at) => (input[2 * at] ?? 0) + 256 * (input[2 * at + 1] ?? 0));
    const get = (at: number): number => r[(at + 4) % 4] ?? 0;
    let next = 63;
    const unmix = () => {
      for (const [at, by] of [
        [3, 5],
        [2, 3],
        [1, 2],
        [0, 1],
      ] as const) {
        const turned = ((get(at) >> by) | (get(at) << (16 - by))) & 0xffff;
        const mixed = word(next--) + (get(at - 1) & get(at - 2)) + (~get(at - 1) & get(at - 3));
        r[at] = (turned - mixed) & 0xffff;
      }
    };
    const unmash = () => {
      for (const at of [3, 2, 1, 0]) r[at] = (get(at) - word(get(at - 1))) & 0xffff;
    };
    for (const [rounds, mash] of [
      [5, true],
      [6, true],
      [5, false],
    ] as const) {
      for (let round = 0; round < rounds; round++) unmix();
      if (mash) unmash();
    }
    return Uint8Array.from(r.flatMap((value) => [value & 255, value >> 8]));
  };
}

type Cipher = { readonly key: number; readonly block: (key: Uint8Array) => (input: Uint8Array) => Uint8Array };

/**
 * The ciphers by the last number of their object identifiers (pkcs-12PbeIds). RC4 is not supported, because no recent
 * program uses it.
 */
const ciphers: Readonly<Record<string, Cipher>> = {
  "3": { key: 24, block: tripleDes },
  "4": { key: 16, block: (key) => tripleDes(Uint8Array.from([...key, ...key.subarray(0, 8)])) },
  "5": { key: 16, block: rc2 },
  "6": { key: 5, block: rc2 },
};
/**
 * Programs usually write 2,048 iterations. The limit prevents a file from blocking the page, because each iteration is
 * a call to the browser's cryptography.
 */
const maxIterations = 200_000;

type Encrypted = { scheme: string; salt: Uint8Array; iterations: number; data: Uint8Array };

/**
 * Decrypts data of an old PKCS#12 file with a password.
 *
 * @returns "cipher" for an unknown scheme or too many iterations; null if the padding is wrong, as with a wrong
 * password
 */
export async function decryptLegacy(
  { scheme, salt, iterations, data }: Encrypted,
  password: string,
): Promise<Bytes | "cipher" | null> {
  const cipher = ciphers[scheme];
  if (!cipher || iterations < 1 || iterations > maxIterations) return "cipher";
  const derived = (id: number, length: number) => derive(password, salt, { id, iterations, length });
  const [key, iv] = [await derived(1, cipher.key), await derived(2, 8)];
  const plain = decryptCbc(cipher.block(key), iv, data);
  key.fill(0);
  return plain;
}

/** Derives a key with SHA-1 in blocks of 64 bytes (RFC 7292, appendix B.2). */
async function derive(
  password: string,
  salt: Uint8Array,
  { id, iterations, length }: { id: number; iterations: number; length: number },
): Promise<Bytes> {
  // UTF-16, big-endian, with the terminating zero.
  const units = Array.from({ length: password.length }, (_, at) => password.charCodeAt(at));
  const typed = [...units, 0].flatMap((code) => [code >> 8, code & 255]);
  const repeated = (bytes: readonly number[]): number[] =>
    bytes.length === 0
      ? []
      : Array.from({ length: 64 * Math.ceil(bytes.length / 64) }, (_, at) => bytes[at % bytes.length] ?? 0);
  const input = [...repeated([...salt]), ...repeated(typed)];
  const out: number[] = [];
  for (;;) {
    let hash = Uint8Array.from([...new Uint8Array(64).fill(id), ...input]);
    for (let round = 0; round < iterations; round++) hash = new Uint8Array(await crypto.subtle.digest("SHA-1", hash));
    out.push(...hash);
    if (out.length >= length) return Uint8Array.from(out.slice(0, length));
    const added = repeated([...hash]).slice(0, 64);
    for (let block = 0; block < input.length; block += 64) {
      let carry = 1;
      for (let at = 63; at >= 0; at--) {
        carry += (input[block + at] ?? 0) + (added[at] ?? 0);
        input[block + at] = carry & 255;
        carry >>= 8;
      }
    }
  }
}
