import type { Typeset } from "@signsealship/certificate";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { changesSince, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { sealPurposeOf } from "@signsealship/evidence/seal";
import { trySeal } from "../../../evidence/seals/trial.ts";
import { LIMITS } from "../../../kernel/pdf/limits.ts";
import { PdfRefusal, type PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { unseenIn } from "../../../kernel/pdf/unseen/unseen.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { ToSign, TriedDocument } from "../../../orders/order/order.ts";
import { buildAct } from "../pdf/act.ts";
import { ownFields, type PlannedField, type PreparedField } from "../pdf/fields.ts";
import { elementNames } from "../pdf/placement/asked.ts";
import { plan, planBlock } from "../pdf/placement/plan.ts";
import { TooLongForTags } from "../pdf/placement/unmatched-tag.ts";
import { prepareDocument, whyIllegible } from "../pdf/prepare.ts";
import { requirePlaces } from "./require-places.ts";

export type Tried = Pick<TriedDocument, "notices" | "unfit"> & { readonly planned: readonly PlannedField[] };

/** The input of the trial, except the document. */
export type Trial = Omit<ToSign, "holder" | "bytes">;

/**
 * A typeset without glyphs. Loading the fonts takes longer than the rest of the trial, so only the sender's texts are
 * drawn with real glyphs. The fonts have glyphs for every other text.
 */
const withoutGlyphs: Typeset = () => ({ lines: [], text: "", escaped: false });

/**
 * A typeset with real glyphs for these texts, which must fit their places. All other texts, such as labels, are drawn
 * without glyphs.
 */
const onlyOf =
  (texts: ReadonlySet<string>, typeset: Typeset): Typeset =>
  (text, width) =>
    texts.has(text) ? typeset(text, width) : withoutGlyphs(text, width);

/**
 * Bytes reserved once for the fields and the seal, and once more for each signer. A signer's act appends a certificate,
 * a time stamp and drawings.
 */
const roomBytes = 256 * 1024;

/**
 * Prepares, signs and seals a document in memory, without keys, to find out if it can be signed.
 * @returns the planned fields, and notices about content that people may overlook
 * @throws PdfRefusal, UnfitField, UnmatchedTag, UnseenContent
 */
export async function tryAll(
  original: Buffer,
  { sha256, signers, fields: requested, isNotarized = false, texts = [] }: Trial,
): Promise<Tried> {
  const max = LIMITS.fileBytes - (signers.length + 1) * roomBytes;
  if (original.length > max)
    throw new PdfRefusal(
      "too_large",
      `${original.length} bytes, where ${max} leave room for ${signers.length} signatures`,
    );
  // For a document that can't be read, this throws the same refusal as the sealer.
  const look = lookUpPdf(original);
  await refuseFinished(original);
  const planned = await plan(original, { signers: signers.length, fields: requested });
  const page = { title: "", note: "" };
  const sampleTexts = new Set([
    ...planned.flatMap(({ value, options = [] }) => [...(value === undefined ? [] : [value]), ...options]),
    ...texts.map(({ text }) => text),
  ]);
  const typeset = sampleTexts.size === 0 ? withoutGlyphs : onlyOf(sampleTexts, await typesetFor([...sampleTexts]));
  const block = isNotarized ? await planBlock(original, planned) : null;
  const { tail, fields, ...reserved } = prepareDocument(
    original,
    { planned, signers: signers.length, page, docSha256: sha256, isNotarized, ...(block && { block }) },
    typeset,
  );
  const prepared = fields.filter(({ name }) => name !== reserved.block?.name);
  const names = elementNames(requested ?? []);
  requirePlaces(look, planned, names);
  let document = Buffer.concat([original, tail]);
  const preparedBytes = document.length;
  for (const [index, name] of signers.entries()) {
    const own = ownFields(prepared, index + 1);
    const act = buildAct(document, sha256, { ...trialAct, fields: own, signerName: name }, withoutGlyphs);
    document = Buffer.concat([document, act.tail]);
  }
  await requireOwnFields(document, preparedBytes, prepared);
  const seal = trySeal(document, sha256, isNotarized ? "fields" : "document");
  await requireFilling(Buffer.concat([document, seal]), preparedBytes);
  const unfit = texts.flatMap(({ field, text }, index) => {
    const own = fields[names.indexOf(`fields[${field}]`)];
    const why = own ? whyIllegible(own, text, typeset) : null;
    return why === null ? [] : [{ text: index, why }];
  });
  return { planned, notices: unseenIn(original), unfit };
}

/**
 * The faults that prevent only electronic signatures. The document can still be printed, so it can be notarized on
 * paper.
 */
const inkOnly: ReadonlySet<PdfRefusalReason> = new Set(["needs_repair", "docmdp_forbids_changes", "too_large"]);

/**
 * Tries a document that only a notary signs. The notary's signature changes a document like a seal does, so a seal is
 * tried.
 * @returns the notice `ink_only` for a document that can't be signed electronically
 * @throws PdfRefusal for a document that can't be opened
 * @throws UnmatchedTag, UnseenContent
 */
export async function tryNotarizing(
  original: Buffer,
  { sha256, beforeNotary = 1 }: Pick<Trial, "sha256" | "beforeNotary">,
): Promise<Tried> {
  try {
    const seal = trySeal(original, sha256);
    await refuseFinished(original);
    await requireFilling(Buffer.concat([original, seal]), original.length);
    // This call only finds out whether the fields can be planned. They are planned again when the notary's act begins,
    // after the payment.
    await plan(original, { signers: beforeNotary, fields: null, closesUnusable: true }).catch((error: unknown) => {
      // The document is accepted even if its text is too long to search. It may contain no tags, and a document
      // that is notarized on paper needs none.
      if (!(error instanceof TooLongForTags)) throw error;
    });
    return { planned: [], notices: unseenIn(original), unfit: [] };
  } catch (error) {
    if (!(error instanceof PdfRefusal && inkOnly.has(error.reason))) throw error;
    return { planned: [], notices: [{ code: "ink_only", page: null, text: error.detail }], unfit: [] };
  }
}

/**
 * Refuses a document to which nobody can add a signature any more.
 * @throws PdfRefusal for a document with this service's own final seal, which permits only further seals and time
 * stamps; also for one that the verifier can't read
 */
async function refuseFinished(original: Buffer): Promise<void> {
  const signatures = await openUnlocked(original).then(findSignatures).catch(unreadable);
  const isFinished = signatures.some(
    ({ dictionary }) => dictionary.entries.has("SSSOriginalLength") && sealPurposeOf(dictionary) !== null,
  );
  if (isFinished)
    throw new PdfRefusal(
      "docmdp_forbids_changes",
      "it is finished: a seal of this service closed it to new signatures",
    );
}

/**
 * Throws a refusal if the verifier can't read the document, because the verifier would reject the signed document, too.
 * @throws PdfRefusal; any other error is rethrown
 */
function unreadable(error: unknown): never {
  if (error instanceof EvidenceError) throw new PdfRefusal("needs_repair", error.message, { cause: error });
  throw error;
}

/**
 * Rejects a document in which an act or a seal would change more than the values of fields. Signers' browsers refuse to
 * sign any other change, and a seal permits none.
 */
async function requireFilling(document: Buffer, preparedBytes: number): Promise<void> {
  const level = changesSince(await openUnlocked(document).catch(unreadable), preparedBytes);
  if (level !== "forms" && level !== "signatures")
    throw new PdfRefusal("needs_repair", "filling in its fields, or the seal, would change more than the fields");
}

/** Rejects a document whose fields the verifier can't distinguish. The verifier would later reject every act in it. */
async function requireOwnFields(document: Buffer, preparedBytes: number, prepared: readonly PreparedField[]) {
  const own = prepared.filter(({ readOnly }) => !readOnly);
  const names = new Map(own.map(({ name, kind }) => [name, kind]));
  const file = await openUnlocked(document).catch(unreadable);
  try {
    if (fillsOwnFields(file, preparedBytes, names)) return;
  } catch (error) {
    unreadable(error);
  }
  throw new PdfRefusal("needs_repair", "filling in its fields would change more than the fields");
}

const trialAct = {
  values: new Map<string, string>(),
  mark: { kind: "typed", text: "" },
  caption: "",
  reason: "",
  at: new Date(0),
  actSha256: "0".repeat(64),
  reserve: 1024,
} as const;
