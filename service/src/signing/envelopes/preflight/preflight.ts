import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { type Task, tooCostly, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { TrySigning } from "../../../orders/order/order.ts";
import { type PlannedField, signersWithout } from "../pdf/fields.ts";
import type { Trial } from "./trial.ts";
import type { TrialOutput } from "./trial-task.ts";

const task: Task<Trial, TrialOutput> = {
  name: "try to sign a document",
  module: import.meta.resolve("./trial-task.ts"),
  limitMs: 15_000,
};

const examining: Task<readonly PlannedField[], DocumentNotice[]> = {
  name: "read the words of a document",
  module: import.meta.resolve("./examine-task.ts"),
  limitMs: 5_000,
};

/** Tries the document of an order for signing or notarizing, so that it is refused before money moves. */
export const createPreflight =
  (workers: Workers): TrySigning =>
  async (toSign) => {
    const { holder, bytes, ...input } = toSign;
    const outcome = await workers.run(task, { holder, bytes, input }).catch((error) => {
      if (!tooCostly(error)) throw error;
      throw invalid(
        `document can't be ${toSign.signers.length === 0 ? "notarized" : "signed"}: reading it takes too long.`,
      );
    });
    if ("refusal" in outcome) throw invalid(outcome.refusal);
    const { pages, notices, planned } = outcome;
    if (input.signers.length === 0) return { pages, notices, withoutPlace: [] };
    const withoutPlace = signersWithout(planned, input.signers.length);
    const ofText = await workers.run(examining, { holder, bytes, input: planned }).catch((error) => {
      if (!tooCostly(error)) throw error;
      // A drawing of a million lines is signed: that its words were not read is told.
      return [{ code: "partly_examined", page: null, text: null } as const];
    });
    const isTold = notices.some(({ code }) => code === "partly_examined");
    return {
      pages,
      withoutPlace,
      notices: [
        ...notices,
        ...ofText.filter(({ code, page }) => !isTold || code !== "partly_examined" || page !== null),
      ],
    };
  };
