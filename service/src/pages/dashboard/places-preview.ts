import type { FastifyInstance } from "fastify";
import { readBranding, shownBranding } from "../../firms/partners/partners.ts";
import { principalOf } from "../../kernel/http/authentication.ts";
import { readForm } from "../../kernel/http/uploads/multipart.ts";
import { invalid, isServiceError } from "../../kernel/platform/errors.ts";
import { isPlainText } from "../../kernel/platform/text.ts";
import {
  jsonList,
  looksLikePdf,
  maxSigners,
  type OrderDeps,
  parseRequestedFields,
  signerLanguages,
} from "../../orders/order/order.ts";
import type { PreviewSigner, PreviewSigning } from "../../signing/envelopes/envelopes.ts";
import { pageRoute } from "../ui/page/route.ts";
import { previewPath } from "./orders/new/places-part.ts";
import { rowField } from "./orders/new/signer-rows.ts";
import { refusalWords } from "./orders/words.ts";
import type { DashboardFrame } from "./page-shell.ts";
import { reauthenticate } from "./reauthenticate.ts";

type PlacesPreviewDeps = {
  frame: DashboardFrame;
  orders: OrderDeps;
  preview: PreviewSigning;
};

/**
 * The response to our script. The script appends the `revisions` to the document one after another. `pages` has an
 * entry for each signer; `revision` is the number of revisions in the document when this signer signs.
 */
export type PlacesPreview = {
  /** The bytes of each revision, in Base64. */
  readonly revisions: readonly string[];
  readonly pages: readonly { readonly html: string; readonly revision: number }[];
};

const messages = {
  notMultipart: "The form could not be read. Please open the preview again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please open the preview again.",
};

const maxNameLength = 200;
const maxEmailLength = 254;
const maxEntryLength = 500;
const signerParts = { properties: { name: null, email: null, language: null, routing: null, tried: null } };

/** Adds the route that prepares a document with the placed fields and renders the signing page of each signer. */
export function placesPreview(app: FastifyInstance, { frame, orders, preview }: PlacesPreviewDeps): void {
  const authenticate = reauthenticate(frame.callers);
  pageRoute(app, frame, {
    method: "POST",
    url: previewPath,
    policy: "partner-write",
    handle: async ({ request }) => {
      const form = await readForm(request, {
        filePart: "document",
        places: frame.uploadPlaces,
        messages,
        authenticate,
      });
      try {
        if (!form.upload || !looksLikePdf(form.upload.bytes)) throw invalid("document must be a PDF.");
        const principal = principalOf(request);
        const written = form.fields.get("fields") ?? "";
        const signers = signersIn(form.fields.get("signers") ?? "");
        const turns = signers.map(({ routing }) => routing);
        const { bytes } = form.upload;
        const { revisions, views } = await inWordsOfTheForm(written, signers, async () =>
          preview({
            holder: principal.partnerId,
            bytes,
            signers,
            fields: written.trim() === "" ? null : parseRequestedFields(written, turns),
            isNotarized: form.fields.get("notarized") === "on",
          }),
        );
        const branding = await readBranding(orders, principal);
        const pages = frame.previewPages({
          firm: principal,
          branding: shownBranding(branding),
          contactEmail: branding.contactEmail,
          title: form.fields.get("title")?.slice(0, maxNameLength) || "Document",
          signers,
          views,
          at: orders.clock(),
        });
        const json: PlacesPreview = {
          revisions: revisions.map((revision) => revision.toString("base64")),
          pages: pages.map((html, index) => ({ html, revision: views[index]?.document.revision ?? 1 })),
        };
        return { json };
      } finally {
        form.release();
      }
    },
  });
}

/** Reads the signers in the order of their numbers. Email addresses may still be empty. */
const signersIn = (sent: string): PreviewSigner[] =>
  jsonList("signers", sent, { max: maxSigners, schema: signerParts }, (members, at) => {
    const tried = members.raw("tried");
    return {
      name: members.required("name", maxNameLength),
      email: members.text("email", maxEmailLength) ?? "",
      language: members.oneOf("language", signerLanguages) ?? "en",
      routing: members.whole("routing", 1, 10) ?? 1,
      ...(tried !== null && { tried: entriesIn(tried, `${at}.tried`) }),
    };
  });

/**
 * Reads the values that the sender tried on a page, by field name.
 * @throws ServiceError unless the value maps names of fields to single-line texts of at most `maxEntryLength`
 * characters
 */
function entriesIn(sent: unknown, at: string): Map<string, string> {
  const entries = typeof sent === "object" && sent !== null && !Array.isArray(sent) ? Object.entries(sent) : [["", 0]];
  return new Map(
    entries.map(([name, text]): [string, string] => {
      if (typeof name === "string" && typeof text === "string" && text.length <= maxEntryLength && isPlainText(text))
        return [name, text];
      throw invalid(`${at} must be an object of texts on one line, of at most ${maxEntryLength} characters each.`);
    }),
  );
}

/**
 * Runs `work`. If it fails, rewrites the error message with the names that the sender's form uses for fields and
 * signers.
 */
async function inWordsOfTheForm<Result>(
  written: string,
  signers: readonly PreviewSigner[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isServiceError(error, "validation")) throw error;
    const names = Object.fromEntries(signers.map(({ name }, index) => [rowField(index + 1, "name"), name]));
    throw invalid(refusalWords(error.message, { ...names, fields: written }).text);
  }
}
