const TURNS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const SINES = Uint32Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32));

/** MD5 (RFC 1321) of bytes: 16 bytes. Only for the keys of encrypted PDFs. Web Crypto does not support MD5. */
export function md5(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const padded = new Uint8Array(((bytes.length + 72) >> 6) << 6);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n, true);
  const state = new Uint32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]);
  for (let at = 0; at < padded.length; at += 64) compress(state, new DataView(padded.buffer, at, 64));
  const digest = new DataView(new ArrayBuffer(16));
  state.forEach((word, i) => {
    digest.setUint32(4 * i, word, true);
  });
  return new Uint8Array(digest.buffer);
}

function compress(state: Uint32Array, block: DataView): void {
  let [a = 0, b = 0, c = 0, d = 0] = state;
  for (let i = 0; i < 64; i++) {
    const round = i >> 4;
    const mixed = [(b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d)][round] ?? 0;
    const word = ([1, 5, 3, 7][round] ?? 0) * i + ([0, 1, 5, 0][round] ?? 0);
    const sum = (a + mixed + (SINES[i] ?? 0) + block.getUint32(4 * (word % 16), true)) | 0;
    const turn = TURNS[4 * round + (i % 4)] ?? 0;
    [a, d, c, b] = [d, c, b, (b + ((sum << turn) | (sum >>> (32 - turn)))) | 0];
  }
  [a, b, c, d].forEach((word, i) => {
    state[i] = (state[i] ?? 0) + word;
  });
}
