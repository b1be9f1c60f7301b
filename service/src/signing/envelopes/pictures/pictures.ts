import { type Task, tooCostly, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { PictureInput, PictureOutput } from "./picture-task.ts";

export type { FitPicture } from "./picture-task.ts";
export type { PictureFault } from "./raster.ts";

const task: Task<PictureInput, PictureOutput> = {
  name: "read a picture of a signature",
  module: import.meta.resolve("./picture-task.ts"),
  limitMs: 10_000,
};

/** Of a picture in a document: pixels, and bytes when deflated. */
export const mostPicture = { width: 600, height: 300, bytes: 90_000 } as const;
/** Of the last one any picture fits. */
const sizes = [mostPicture, { width: 400, height: 200 }, { width: 200, height: 100 }];

/**
 * Reads a PNG or JPEG that a signer sent, and makes it fit into a document.
 * @returns the picture, or why there is none
 */
export async function readPictureIn(workers: Workers, call: { holder: string; bytes: Buffer }): Promise<PictureOutput> {
  return workers.run(task, { ...call, input: { sizes, bytes: mostPicture.bytes } }).catch((error) => {
    if (!tooCostly(error)) throw error;
    return { fault: "size" } as const;
  });
}
