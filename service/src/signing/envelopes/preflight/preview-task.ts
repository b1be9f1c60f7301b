import { pageCount } from "../../../kernel/pdf/pages/page-count.ts";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { RequestedField } from "../../../orders/order/order.ts";
import { buildAct } from "../pdf/act.ts";
import { ownFields, type PreparedField, textsOf } from "../pdf/fields.ts";
import { elementNames } from "../pdf/placement/asked.ts";
import { plan, planBlock } from "../pdf/placement/plan.ts";
import { type Preparation, type Prepared, prepareDocument } from "../pdf/prepare.ts";
import { type ExampleSigner, exampleEntries, fieldsReferencedBy } from "./example-entries.ts";
import { requirePlaces } from "./require-places.ts";
import { refusalWords } from "./trial-task.ts";

/** The input of a preview, except the document. */
export type ToPreview = Pick<Preparation, "page" | "docSha256"> & {
  readonly signers: readonly (ExampleSigner & { readonly routing: number })[];
  readonly fields: readonly RequestedField[] | null;
  readonly isNotarized: boolean;
  /**
   * For each signer: the values that the sender entered in the preview while trying that signer's page, by field name;
   * undefined if the sender didn't try it.
   */
  readonly tried: readonly (ReadonlyMap<string, string> | undefined)[];
  readonly at: Date;
  /** The time zone of the dates in the document. */
  readonly zone: string;
};

export type PreviewOutput =
  | (Pick<Prepared, "fields"> & {
      readonly pages: number;
      /** The number of the document's pages after the preparation. */
      readonly preparedPages: number;
      /** The revisions to append: the prepared fields, then the values of signers in the order of their turns. */
      readonly revisions: readonly Buffer[];
      /** The values that the signers fill in by these revisions, by field name. */
      readonly entries: ReadonlyMap<string, string>;
    })
  | { readonly refusal: string };

/**
 * Prepares a document as an order would, with the rules of an order. Then fills it in for all signers except those of
 * the last turn. Nothing is signed: the drawn signatures have no cryptographic contents.
 */
export async function run(original: Buffer, input: ToPreview): Promise<PreviewOutput> {
  const { signers, fields: requested, page, docSha256, isNotarized } = input;
  try {
    const planned = await plan(original, { signers: signers.length, fields: requested });
    const block = isNotarized ? await planBlock(original, planned) : null;
    const typeset = await typesetFor([...planned.flatMap(textsOf), page.title, page.note]);
    const preparation = { planned, signers: signers.length, page, docSha256, isNotarized, ...(block && { block }) };
    const prepared = prepareDocument(original, preparation, typeset);
    requirePlaces(lookUpPdf(original), planned, elementNames(requested ?? []));
    const pages = pageCount(original) ?? 0;
    const preparedPages = Math.max(pages, ...prepared.fields.map((field) => field.page + 1));
    const fields = prepared.fields.filter(({ name }) => name !== prepared.block?.name);
    const acts = await exampleActs(Buffer.concat([original, prepared.tail]), fields, input);
    return { fields, pages, preparedPages, revisions: [prepared.tail, ...acts.tails], entries: acts.entries };
  } catch (error) {
    const refusal = refusalWords(error, { signers: signers.map(({ name }) => name), fields: requested });
    if (refusal === null) throw error;
    return { refusal };
  }
}

/**
 * Fills in examples for every signer except those of the last turn, the way real signing would. So a later signer's
 * preview shows what earlier signers filled in.
 * @param document the prepared document
 */
async function exampleActs(
  document: Buffer,
  fields: readonly PreparedField[],
  { signers, tried, docSha256, at, zone }: ToPreview,
): Promise<{ tails: Buffer[]; entries: Map<string, string> }> {
  const lastTurn = Math.max(...signers.map(({ routing }) => routing));
  const entries = new Map<string, string>();
  const tails: Buffer[] = [];
  let whole = document;
  for (const { signer, n } of inTurns(signers)) {
    if (signer.routing === lastTurn) break;
    const { name } = signer;
    const own = ownFields(fields, n);
    const filling = { ...signer, at, zone, tried: tried[n - 1] };
    const values = exampleEntries(own, fieldsReferencedBy(own, fields, entries), filling);
    const caption = `${at.toISOString().slice(0, 16).replace("T", " ")} UTC · ${name}`;
    const act = { fields: own, values, mark: { kind: "typed", text: name }, caption, signerName: name, at } as const;
    const typeset = await typesetFor([name, caption, ...values.values()]);
    const { tail } = buildAct(whole, docSha256, { ...act, ...withoutSignature }, typeset);
    tails.push(tail);
    whole = Buffer.concat([whole, tail]);
    for (const [field, value] of values) entries.set(field, value);
  }
  return { tails, entries };
}

const withoutSignature = { reason: "", actSha256: "0".repeat(64), reserve: 1 } as const;

/** The signers with their numbers, in the order of their turns. */
export const inTurns = <Signer extends { readonly routing: number }>(
  signers: readonly Signer[],
): { readonly signer: Signer; readonly n: number }[] =>
  signers.map((signer, index) => ({ signer, n: index + 1 })).sort((a, b) => a.signer.routing - b.signer.routing);
