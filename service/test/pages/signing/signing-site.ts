import type { OpenPage } from "@signsealship/testing/browser";
import { openSigning } from "../../signing/envelopes/pdf/signing.ts";
import { servePages } from "../ui/serve-pages.ts";
import { consentTexts, memoryCeremony, type Options, token } from "./memory-ceremony.ts";

const branding = { brandName: "Acme Title & Escrow", accentColor: "#663399", logoUrl: null };

export type Envelope = Awaited<ReturnType<typeof memoryCeremony>>;

/** The signing pages for the envelope that the test opened last. @param logoUrl the firm's logo */
export async function openSigningSite(logoUrl: string | null = null) {
  const signing = await openSigning();
  let envelope: Envelope;
  const site = await servePages({
    signing: {
      ceremony: new Proxy({} as Envelope["ceremony"], { get: (_, name) => Reflect.get(envelope.ceremony, name) }),
      consentTexts,
      brandingOf: async () => ({ ...branding, logoUrl }),
      meetings: { of: async () => [], open: () => Promise.reject(new Error("nobody is to meet a notary")) },
    },
  });
  return {
    url: `${site.baseUrl}/sign/${token}`,
    baseUrl: site.baseUrl,
    async open(options: Options = {}): Promise<Envelope> {
      envelope = await memoryCeremony(signing, options);
      return envelope;
    },
    close: site.close,
  };
}

/** Waits until the page accepts clicks again after it has moved. */
export const settled = (page: OpenPage["page"]): Promise<void> =>
  page.locator("html:not(.settling)").waitFor({ state: "attached" });

/**
 * Waits until the field to which the page has led was in sight long enough for a press to fill it in. Counts from the
 * second frame: a slow page notices late that the field is in sight.
 */
export const inSight = (page: OpenPage["page"]): Promise<unknown> =>
  page.evaluate(
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 900))))",
  );
