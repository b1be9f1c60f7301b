import type { FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Upload } from "../../../kernel/http/uploads/multipart.ts";
import type { Principal } from "../../../kernel/identity/identity.ts";
import { documentName } from "../../../kernel/platform/document-name.ts";
import { invalid, isServiceError } from "../../../kernel/platform/errors.ts";
import {
  keepUpload,
  looksLikePdf,
  maxSigners,
  maxUploads,
  maxUploadsByMember,
  type OrderDeps,
} from "../../../orders/order/order.ts";
import { type Html, html } from "../../ui/render.ts";
import { type ClosingDocument, fileText } from "./fields.ts";

/**
 * Stores a file of the form.
 * @returns the text of the hidden field that describes the file, and the reason why the file can't be signed (empty for
 * none)
 * @throws ServiceError without a file, for a file that can't be printed, or when too much is stored
 */
export async function keepFile(
  orders: OrderDeps,
  request: FastifyRequest,
  upload: Upload | null,
): Promise<{ file: string; fault: string }> {
  const principal = principalOf(request);
  if (!upload || upload.bytes.length === 0) throw invalid("Choose a PDF first.");
  if (!looksLikePdf(upload.bytes)) throw invalid("The file must be a PDF.");
  const fault = await faultOf(orders, principal, upload);
  if (unopened.test(fault)) throw invalid(`This file can’t be used: ${ruleOf(fault)}`);
  await orders.originals.requireStorage(principal, upload.bytes.length);
  const stored = await keepUpload(orders, upload.bytes, principal, "closing");
  if (!stored)
    throw invalid(
      `You have ${maxUploadsByMember.closing} files in closings that are not placed, or your firm has ${maxUploads.closing}. Place or discard one of these.`,
    );
  const { fillToken: token, pages } = stored;
  return { file: fileText({ token, pages, fileName: documentName(upload.filename) ?? "" }), fault };
}

/** Matches the error messages for files that can't even be printed and signed on paper. */
const unopened = /: it (?:is encrypted\. Found: it needs a password|has no pages|is not a PDF)/;

const maxFaultLength = 300;

/**
 * Tests if the document can be signed. The form names no signers yet, so the test assumes as many signers as possible,
 * all in front of a notary. Tags in the text are verified only when the closing is placed, because placed fields can
 * replace them.
 * @returns why the document can't be signed online; empty if it can, or if only its tags are faulty
 */
async function faultOf(
  { originals }: OrderDeps,
  { partnerId: holder }: Principal,
  { bytes, sha256 }: Upload,
): Promise<string> {
  try {
    const asked = { holder, bytes, sha256, fields: null, signers: [], beforeNotary: maxSigners };
    const { notices } = await originals.trySigning(asked);
    const ink = notices.find(({ code }) => code === "ink_only");
    return ink ? `${unsigned}${ink.text}.`.slice(0, maxFaultLength) : "";
  } catch (error) {
    if (!isServiceError(error, "validation")) throw error;
    return aboutTags.test(error.message) ? "" : error.message.slice(0, maxFaultLength);
  }
}

const aboutTags = /\{\{|its field |name the places in fields/;
const unsigned = "document can't be signed: ";
const ruleOf = (fault: string): string => fault.replace(/^document can't be (?:signed|notarized): /, "");

type Faulty = Pick<ClosingDocument, "fault" | "services">;

/** True if the document's fault prevents one of its chosen services (signing or notarization). */
export const isPrevented = ({ fault, services }: Faulty): boolean =>
  fault !== "" && (services.sign || (services.notary && !fault.startsWith(unsigned)));

/** A note on which services the document's fault prevents, and why. */
export function faultNote(document: Faulty): Html {
  const { fault } = document;
  if (fault === "") return html``;
  const words = fault.startsWith(unsigned)
    ? "This document can’t be signed online. A notary can notarize it in ink, and it can be shipped or faxed."
    : "This document can’t be signed or notarized. It can be shipped or faxed.";
  return html`<p class="${isPrevented(document) ? "field-error" : "hint"}">${words} Found: ${ruleOf(fault).replace(/^.*?Found: /, "")}</p>`;
}
