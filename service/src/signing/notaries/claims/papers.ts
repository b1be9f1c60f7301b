import type { SealDocument } from "../../../evidence/seals/seals.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { TitleOf } from "../../../orders/order/order.ts";
import { type JournalCopy, sealJournal } from "../acts/export.ts";
import type { UploadReport, UploadRules } from "../uploads/check.ts";

/** The functions that name, verify and seal the documents of notaries. */
export type NotaryPapers = {
  titleOf: TitleOf;
  /**
   * Checks a document that a notary uploaded.
   * @throws ServiceError for a document that takes too long to read
   */
  checkUpload: (holder: string, bytes: Buffer, rules: Omit<UploadRules, "tsaRoots">) => Promise<UploadReport>;
  sealDocument: SealDocument;
  sealJournal: (notaryId: string, copy: JournalCopy) => Promise<Buffer>;
};

const checking: Task<UploadRules, UploadReport> = {
  name: "check a notary's upload",
  module: import.meta.resolve("../uploads/check-task.ts"),
  limitMs: 30_000,
};

/**
 * Opens the functions for notaries' documents.
 * @param tsaRoots PEM of the certificates of trusted time-stamping authorities
 */
export const openNotaryPapers = (
  workers: Workers,
  { tsaRoots, sealDocument, titleOf }: { tsaRoots: string; sealDocument: SealDocument; titleOf: TitleOf },
): NotaryPapers => ({
  titleOf,
  checkUpload: (holder, bytes, rules) =>
    runOr(workers, checking, { holder, bytes, input: { ...rules, tsaRoots } }, () => {
      throw invalid("The document takes too long to read.");
    }),
  sealDocument,
  sealJournal: (notaryId, copy) => sealJournal({ workers, sealDocument }, notaryId, copy),
});
