import { minuteMs } from "../../../kernel/platform/clock.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { ownBuffer, runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { CertificateContent } from "./content.ts";

/**
 * Draws a certificate as a PDF without a seal. The holder is the firm's id; workers serve holders round-robin.
 * @throws ServiceError
 */
export type DrawCertificate = (holder: string, content: CertificateContent) => Promise<Buffer>;

const task: Task<CertificateContent, Uint8Array<ArrayBuffer>> = {
  name: "draw a certificate",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: minuteMs,
};

/** Runs in a worker, because laying out fifty labels of two hundred characters takes seconds. */
export const drawIn =
  (workers: Workers): DrawCertificate =>
  async (holder, content) => {
    const bytes = await runOr(workers, task, { holder, input: content }, () => {
      throw invalid("The room can't be sealed: its certificate is too complex to draw.");
    });
    return ownBuffer(bytes);
  };
