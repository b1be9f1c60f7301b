import type { Clock } from "../../../kernel/platform/clock.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { hashYielding } from "../../../kernel/platform/hash-yielding.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { type Task, tooCostly, type Workers } from "../../../kernel/platform/workers/task.ts";
import { dateText, idsReadBy, type RequestedField, textsIn } from "../../../orders/order/order.ts";
import { openMs, signaturePageWords } from "../lifecycle/open.ts";
import { ownFields, type PreparedField } from "../pdf/fields.ts";
import type { PreviewOutput, ToPreview } from "../preflight/preview-task.ts";
import { senderValue, shownField } from "./shown-field.ts";
import type { SigningView } from "./view.ts";

/** `email` may be empty: a template names roles, and not people. */
export type PreviewSigner = { readonly name: string; readonly email: string; readonly language: Language };

export type PreviewRequest = {
  /** The document's owner: the workers serve owners round-robin. */
  readonly holder: string;
  readonly bytes: Buffer;
  readonly signers: readonly PreviewSigner[];
  /** The requested places. Null when people sign in the document's own signature fields or tags. */
  readonly fields: readonly RequestedField[] | null;
};

/** The part of a signing view that depends on the document and its fields. */
export type PreviewView = Pick<SigningView, "fields" | "known" | "senderValues" | "expiresAt"> & {
  readonly document: NonNullable<SigningView["document"]>;
};

export type SigningPreview = {
  /** The bytes to append to the document: the prepared fields of all signers. */
  readonly tail: Buffer;
  /** For each signer: the view at the moment in which the signer has consented and nobody has signed. */
  readonly views: readonly PreviewView[];
};

export type PreviewSigning = (request: PreviewRequest) => Promise<SigningPreview>;

const previewing: Task<ToPreview, PreviewOutput> = {
  name: "prepare a document for a preview",
  module: import.meta.resolve("../preflight/preview-task.ts"),
  limitMs: 15_000,
};

/**
 * Shows a sender how each signer will see the document, before an order is placed. The document is prepared as for an
 * order, and nothing is stored.
 * @throws ServiceError for a document or for fields that an order would refuse
 */
export const createPreview =
  (workers: Workers, clock: Clock): PreviewSigning =>
  async ({ holder, bytes, signers, fields: requested }) => {
    const hash = await hashYielding(bytes);
    const docSha256 = hash.copy().digest("hex");
    const input = { signers: signers.map(({ name }) => name), fields: requested, page: signaturePageWords, docSha256 };
    const output = await workers.run(previewing, { holder, bytes, input }).catch((error) => {
      if (!tooCostly(error)) throw error;
      throw invalid("document can't be signed: reading it takes too long.");
    });
    if ("refusal" in output) throw invalid(output.refusal);
    const tail = Buffer.from(output.tail);
    const { fields } = output;
    const document = {
      revision: 1,
      bytes: bytes.length + tail.length,
      sha256: hash.update(tail).digest("hex"),
      pages: Math.max(output.pages, ...fields.map(({ page }) => page + 1)),
      hasSignaturePage: fields.some(({ page }) => page >= output.pages),
    };
    const at = clock();
    const expiresAt = new Date(at.getTime() + openMs);
    const views = signers.map(({ language }, index) => {
      const own = ownFields(fields, index + 1);
      return {
        document,
        expiresAt,
        fields: own.map((field) => shownField(field, (format) => dateText(at, format, language))),
        known: knownBefore(fields, own),
        senderValues: fields.flatMap(senderValue),
      };
    });
    return { tail, views };
  };

/** The fields of others that the rules of own fields refer to. Nobody has signed, so only the sender's values count. */
function knownBefore(all: readonly PreparedField[], own: readonly PreparedField[]): SigningView["known"] {
  const ids = new Set(own.flatMap(idsReadBy));
  return all
    .filter((field) => field.id !== undefined && ids.has(field.id) && !own.includes(field))
    .map((field) => ({
      kind: field.kind,
      label: field.label,
      ...(field.id !== undefined && { id: field.id }),
      texts: textsIn(field, field.value ?? ""),
    }));
}
