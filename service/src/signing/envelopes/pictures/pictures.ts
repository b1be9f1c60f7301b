import { crc32, deflateSync } from "node:zlib";
import { runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { PictureInput, PictureOutput } from "./picture-task.ts";

export type { FitPicture } from "./picture-task.ts";
export type { PictureFault } from "./raster.ts";

const task: Task<PictureInput, PictureOutput> = {
  name: "read a picture of a signature",
  module: import.meta.resolve("./picture-task.ts"),
  limitMs: 10_000,
};

/** The limits for a picture in a document: its pixels, and its bytes after compression. */
export const maxPicture = { width: 600, height: 300, bytes: 90_000 } as const;
/** The sizes to try, from the largest. At the last size, any picture fits the limit for bytes. */
const sizes = [maxPicture, { width: 400, height: 200 }, { width: 200, height: 100 }];

/**
 * Reads a PNG or JPEG that a signer sent, and scales it to fit a document.
 * @returns the picture, or the reason why it was rejected
 */
export async function readPictureIn(workers: Workers, call: { holder: string; bytes: Buffer }): Promise<PictureOutput> {
  const input = { sizes, bytes: maxPicture.bytes };
  return runOr(workers, task, { ...call, input }, () => ({ fault: "size" }) as const);
}

const signature = Buffer.from("89504e470d0a1a0a", "hex");

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

type Pixels = { width: number; height: number; rgba: Uint8Array };

/** Encodes pixels as a PNG (ISO/IEC 15948) with 8 bits per sample and alpha, and without metadata. */
export function encodePng({ width, height, rgba }: Pixels): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 6, 0, 0, 0], 8);
  const rows = Buffer.alloc(height * (1 + width * 4));
  for (let y = 0; y < height; y++) rows.set(rgba.subarray(y * width * 4, (y + 1) * width * 4), y * (1 + width * 4) + 1);
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", new Uint8Array()),
  ]);
}
