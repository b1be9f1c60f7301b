import { createHash } from "node:crypto";
import { auditLine } from "../../kernel/audit/audit.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import { documentUse, insertFilled } from "../order/order.ts";
import { findCatalogVersion, findVersion, type TemplateDeps } from "../templates/templates.ts";
import { type Answers, filledIn } from "./questions.ts";
import { endFill, type FillForm } from "./store.ts";
import { fillTokensOf } from "./tokens.ts";

type Deps = { templates: TemplateDeps; secrets: SecretBytes };
export type Filling = FillForm & { id: string; revision: number };

/** The actor in the audit log when the holder of the link acts. */
export const client = "client";

/** Makes the document with the answers in it. @throws UnshownAnswers, ServiceError */
export async function filledDocument(
  deps: Deps,
  { owner, use, isCatalogForm, questions }: FillForm,
  answers: Answers,
): Promise<{ bytes: Buffer; pages: number }> {
  const template = isCatalogForm
    ? await findCatalogVersion(deps.templates, owner.environment, use)
    : await findVersion(deps.templates, owner, use.templateId, use.version);
  if (!template) throw new Error(`the template ${use.templateId} of a fill is missing`);
  const { blobKey, sha256, pages } = template;
  const at = { key: blobKey, use: documentUse(sha256), holder: memoryHolder(owner) };
  return deps.templates.blobs.withBytes(at, async (bytes) => {
    if (!bytes) throw new ServiceError("unavailable", "The form is not available any more.");
    return {
      bytes: await filledIn(deps.templates.workers, owner.partnerId, { bytes, sha256, questions }, answers),
      pages,
    };
  });
}

/**
 * Makes the filled-in document and stores its bytes.
 * @returns `blobKey`, the key of the bytes, and `write`. The caller runs `write` in its transaction, to store the
 * document's token and end the fill. If that fails, the caller discards the bytes.
 * @throws UnshownAnswers, ServiceError
 */
export async function complete(deps: Deps, fill: Filling, answers: Answers, actor: string) {
  const { bytes, pages } = await filledDocument(deps, fill, answers);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const blobKey = await deps.templates.blobs.put(bytes, documentUse(sha256));
  const [token] = fillTokensOf(deps.secrets, fill.id);
  return {
    blobKey,
    async write(tx: Tx): Promise<void> {
      const at = deps.templates.clock();
      const { id, owner, use, slug, revision } = fill;
      if (token === undefined || !(await endFill(tx, id, { state: "completed", at, revision })))
        throw new ServiceError("conflict", "This form was changed or ended at the same time.");
      const document = { sha256, bytes: bytes.length, pages, blobKey };
      await insertFilled(tx, deps.templates.rowMac, { ...document, token, slug, owner, use, at });
      const { partnerId } = owner;
      const detail = { fillId: id, sha256 };
      await tx.query(auditLine({ at, action: "fill.completed", actor, partnerId, detail }));
    },
  };
}
