import type { Typeset } from "@signsealship/certificate";
import { fillsOwnFields } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { changesSince, findSignatures, openUnlocked } from "@signsealship/evidence/pdf";
import { sealPurposeOf } from "@signsealship/evidence/seal";
import { trySeal } from "../../../evidence/seals/trial.ts";
import { LIMITS } from "../../../kernel/pdf/limits.ts";
import { PdfRefusal, type PdfRefusalReason } from "../../../kernel/pdf/refusal.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import { unseenIn } from "../../../kernel/pdf/unseen/unseen.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { ToSign } from "../../../orders/order/order.ts";
import { buildAct } from "../pdf/act.ts";
import { ownFields, type PlannedField, type PreparedField } from "../pdf/fields.ts";
import { elementNames } from "../pdf/placement/asked.ts";
import { plan } from "../pdf/placement/plan.ts";
import { prepareDocument } from "../pdf/prepare.ts";
import { requirePlaces } from "./require-places.ts";

export type Tried = { readonly planned: readonly PlannedField[]; readonly notices: readonly DocumentNotice[] };

/** The parts that are tried. */
export type Trial = Omit<ToSign, "holder" | "bytes">;

/** No text is drawn but what the sender gives: whatever a text is, there are glyphs for it, and loading the fonts would take longer than all the rest. */
const withoutGlyphs: Typeset = () => ({ lines: [], text: "", escaped: false });

/** Labels are drawn without glyphs here, too: only what must fit its place is measured. */
const onlyOf =
  (texts: readonly string[], typeset: Typeset): Typeset =>
  (text, width) =>
    texts.includes(text) ? typeset(text, width) : withoutGlyphs(text, width);

/** Room for what is appended: the fields and the seal, and for each signer a certificate, a time stamp and what is drawn. */
const roomBytes = 256 * 1024;

/**
 * Prepares, signs and seals a document in memory, without keys.
 * @returns its fields, and what its objects have that people may not see as it is sealed
 * @throws PdfRefusal, UnfitField, UnmatchedTag, UnseenContent
 */
export async function tryAll(
  original: Buffer,
  { sha256, signers, fields, isNotarized = false }: Trial,
): Promise<Tried> {
  const most = LIMITS.fileBytes - (signers.length + 1) * roomBytes;
  if (original.length > most)
    throw new PdfRefusal(
      "too_large",
      `${original.length} bytes, where ${most} leave room for ${signers.length} signatures`,
    );
  // The sealer refuses in its own words a document that it can't read.
  const look = lookUpPdf(original);
  await refuseFinished(original);
  const planned = await plan(original, { signers: signers.length, fields });
  const page = { title: "", note: "" };
  const given = planned.flatMap(({ value, options = [] }) => [...(value === undefined ? [] : [value]), ...options]);
  const typeset = given.length === 0 ? withoutGlyphs : onlyOf(given, await typesetFor(given));
  const { tail, fields: prepared } = prepareDocument(
    original,
    { planned, signers: signers.length, page, docSha256: sha256, isNotarized },
    typeset,
  );
  requirePlaces(look, planned, elementNames(fields ?? []));
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
  return { planned, notices: unseenIn(original) };
}

/** Readers open and print these, so that they can be notarized on paper. */
const inkOnly: ReadonlySet<PdfRefusalReason> = new Set(["needs_repair", "docmdp_forbids_changes", "too_large"]);

/**
 * Tries a document that only a notary signs: their signature changes it as a seal does.
 * @returns `ink_only` for one that takes no electronic signature
 * @throws PdfRefusal for one that can't be opened
 * @throws UnseenContent
 */
export async function tryNotarizing(original: Buffer, sha256: string): Promise<Tried> {
  try {
    const seal = trySeal(original, sha256);
    await refuseFinished(original);
    await requireFilling(Buffer.concat([original, seal]), original.length);
    return { planned: [], notices: unseenIn(original) };
  } catch (error) {
    if (!(error instanceof PdfRefusal && inkOnly.has(error.reason))) throw error;
    return { planned: [], notices: [{ code: "ink_only", page: null, text: error.detail }] };
  }
}

/** @throws PdfRefusal for a document that a seal of the service closed: only seals and time stamps may follow */
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

/** The verifier could not accept, once signed, a document that it can't read. @throws PdfRefusal, and any other error */
function unreadable(error: unknown): never {
  if (error instanceof EvidenceError) throw new PdfRefusal("needs_repair", error.message, { cause: error });
  throw error;
}

/**
 * Signers' browsers sign only what fills in fields, and a seal on top permits no more: a document in which our new objects mean more
 * than that, acts or seal, is not a document to sign.
 */
async function requireFilling(document: Buffer, preparedBytes: number): Promise<void> {
  const level = changesSince(await openUnlocked(document).catch(unreadable), preparedBytes);
  if (level !== "forms" && level !== "signatures")
    throw new PdfRefusal("needs_repair", "filling in its fields, or the seal, would change more than the fields");
}

/** The service keeps no act that does more: a document whose fields it can't tell would be taken, and never signed. */
async function requireOwnFields(document: Buffer, preparedBytes: number, prepared: readonly PreparedField[]) {
  const own = prepared.filter(({ readOnly }) => !readOnly);
  const names = new Map(own.map(({ name, kind }) => [name, kind]));
  const file = await openUnlocked(document).catch(unreadable);
  try {
    if (fillsOwnFields(file, preparedBytes, names)) return;
  } catch (error) {
    unreadable(error);
  }
  throw new PdfRefusal("needs_repair", "filling in its fields would change more than them");
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
