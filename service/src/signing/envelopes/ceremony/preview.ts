import type { Hash } from "node:crypto";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { hashYielding } from "../../../kernel/platform/hash-yielding.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { runOr, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import { dateText, type RequestedField } from "../../../orders/order/order.ts";
import { zoneOf } from "../../../orders/payments/payments.ts";
import { openMs, signaturePageWords } from "../lifecycle/open.ts";
import { ownFields } from "../pdf/fields.ts";
import { fieldsReferencedBy } from "../preflight/example-entries.ts";
import type { PreviewOutput, ToPreview } from "../preflight/preview-task.ts";
import { senderValue, shownField } from "./shown-field.ts";
import type { SigningView } from "./view.ts";

/** `email` may be empty, because a template defines roles, not people. */
export type PreviewSigner = {
  readonly name: string;
  readonly email: string;
  readonly language: Language;
  /** The signer's turn: signers with a lower number sign first. */
  readonly routing: number;
  /** Values that the sender tried out on the signer's page, by field name; undefined if there are none. */
  readonly tried?: ReadonlyMap<string, string>;
};

type PreviewRequest = {
  /** The id of the firm that owns the document. The workers take the tasks of different owners in turn. */
  readonly holder: string;
  readonly bytes: Buffer;
  readonly signers: readonly PreviewSigner[];
  /**
   * The places that the sender requested for fields. If null, the document's own fields or tags are used, and signers
   * without a place sign on an added page (`plan`).
   */
  readonly fields: readonly RequestedField[] | null;
  /** True if a notary signs after the signers. */
  readonly isNotarized: boolean;
};

/** The part of a signing view that depends on the document and its fields. */
export type PreviewView = Pick<SigningView, "fields" | "referenced" | "senderValues" | "expiresAt"> & {
  readonly document: NonNullable<SigningView["document"]>;
};

type SigningPreview = {
  /**
   * The bytes to append to the document, in parts. The first part contains the prepared fields of all signers. Each
   * further part contains the values of one signer. The signers of the last turn have no part.
   */
  readonly revisions: readonly Buffer[];
  /**
   * For each signer, the view at the moment of signing: the signer has consented, and everyone with an earlier turn has
   * signed. The view's revision number is the number of `revisions` appended up to that moment.
   */
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
  ({ db, clock, workers }: { db: Sql; clock: Clock; workers: Workers }): PreviewSigning =>
  async ({ holder, bytes, signers, fields: requested, isNotarized }) => {
    const hash = await hashYielding(bytes);
    const at = clock();
    const zone = await zoneOf(db, holder);
    const input = {
      fields: requested,
      isNotarized,
      page: signaturePageWords,
      at,
      zone,
      docSha256: hash.copy().digest("hex"),
      signers: signers.map(({ name, language, routing }) => ({ name, language, routing })),
      tried: signers.map(({ tried }) => tried),
    };
    const output = await runOr(workers, previewing, { holder, bytes, input }, () => {
      throw invalid("document can't be signed: reading it takes too long.");
    });
    if ("refusal" in output) throw invalid(output.refusal);
    const { fields, entries, preparedPages: pages } = output;
    const revisions = output.revisions.map((revision) => Buffer.from(revision));
    const states = statesOf({ bytes: bytes.length, hash }, revisions);
    const expiresAt = new Date(at.getTime() + openMs);
    const views = signers.map(({ language, routing }, index) => {
      const own = ownFields(fields, index + 1);
      const revision = 1 + signers.filter((other) => other.routing < routing).length;
      const { bytes = 0, sha256 = "" } = states[revision - 1] ?? {};
      return {
        document: { revision, bytes, sha256, pages, hasSignaturePage: pages > output.pages },
        expiresAt,
        fields: own.map((field) => shownField(field, (format) => dateText(at, { format, language, zone }))),
        referenced: fieldsReferencedBy(own, fields, entries),
        senderValues: fields.flatMap(senderValue),
      };
    });
    return { revisions, views };
  };

/** The length and the hash of the document after each revision is appended. */
function statesOf(original: { readonly bytes: number; readonly hash: Hash }, revisions: readonly Buffer[]) {
  let { bytes } = original;
  return revisions.map((revision) => {
    bytes += revision.length;
    return { bytes, sha256: original.hash.update(revision).copy().digest("hex") };
  });
}
