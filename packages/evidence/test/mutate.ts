import { concatBytes } from "../src/bytes.ts";

/** A small deterministic generator (xorshift32), so that the seed is enough to reproduce a failing mutation. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Makes a damaged copy. One to four times, bytes are changed, cut, doubled, inserted or removed. */
export function mutate(source: Uint8Array, random: (below: number) => number): Uint8Array {
  let bytes = source;
  for (let times = 1 + random(4); times > 0; times--) bytes = mutateOnce(bytes, random);
  return bytes;
}

function mutateOnce(bytes: Uint8Array, random: (below: number) => number): Uint8Array {
  const at = random(bytes.length + 1);
  const to = Math.min(bytes.length, at + 1 + random(16));
  const [head, middle, tail] = [bytes.subarray(0, at), bytes.subarray(at, to), bytes.subarray(to)];
  switch (random(6)) {
    case 0:
      return head.slice();
    case 1:
      return concatBytes([head, tail]);
    case 2:
      return concatBytes([head, middle, middle, tail]);
    case 3:
      return concatBytes([head, Uint8Array.of(random(256)), middle, tail]);
    case 4:
      return concatBytes([head, middle.map(() => [0x00, 0xff, 0x7f, 0x80, 0x08, 0xf0][random(6)] ?? 0), tail]);
    default: {
      const copy = bytes.slice();
      if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << random(8));
      return copy;
    }
  }
}
