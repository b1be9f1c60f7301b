/** RC4, where encryption and decryption are the same. Only for old encrypted PDFs. Web Crypto does not support RC4. */
export function rc4(key: Uint8Array, data: Uint8Array): Uint8Array<ArrayBuffer> {
  const state = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + (state[i] ?? 0) + (key[i % key.length] ?? 0)) & 255;
    swap(state, i, j);
  }
  const out = new Uint8Array(data.length);
  for (let at = 0, j = 0; at < data.length; at++) {
    const i = (at + 1) & 255;
    j = (j + (state[i] ?? 0)) & 255;
    swap(state, i, j);
    out[at] = (data[at] ?? 0) ^ (state[((state[i] ?? 0) + (state[j] ?? 0)) & 255] ?? 0);
  }
  return out;
}

function swap(state: Uint8Array, i: number, j: number): void {
  const previous = state[i] ?? 0;
  state[i] = state[j] ?? 0;
  state[j] = previous;
}
