import { hash } from "node:crypto";
import { pagesOf } from "../orders/orders.ts";
import { paperOrder, printFor, withSentDocument } from "../paper/paper.ts";
import { ServiceError } from "../platform/errors.ts";
import { actor, type FaxDeps } from "./deps.ts";

/** What Telnyx takes (its OpenAPI document, `POST /faxes`). */
const most = { bytes: 50 * 1024 * 1024, pages: 350 };

/** The file that is faxed: a cover sheet that says where the sealed original is checked, and the document. */
export type FaxPacket = { pdf: Buffer; documentSha256: string; sentSha256: string; pages: number };

/** @returns why there can be no fax, instead: for good, or because the order was held or ended meanwhile */
export async function faxPacket(
  deps: FaxDeps,
  orderCode: string,
): Promise<FaxPacket | { refused: string } | { notNow: string }> {
  const { db, paper } = deps;
  const order = await paperOrder(db, orderCode, "live").catch((error) => {
    if (error instanceof ServiceError && error.code === "not_found") return null;
    throw error;
  });
  if (!order) return { notNow: "the order is not being faxed now" };
  try {
    const documentSha256 = await withSentDocument(paper, order, async ({ sha256 }) => sha256);
    const pdf = await printFor(paper, order, { what: "packet", actor });
    if (pdf.length > most.bytes) return { refused: "With its cover sheet the document is larger than 50 MB." };
    const pages = await pagesOf(paper.workers, order.partnerId, pdf);
    if (pages > most.pages)
      return { refused: `With its cover sheet the document has ${pages} pages: a fax has at most ${most.pages}.` };
    return { pdf, documentSha256, sentSha256: hash("sha256", pdf), pages };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // A store or workers that are away for a while are no reason for a person to fax.
    return error.code === "unavailable" ? { notNow: error.message } : { refused: error.message };
  }
}
