import { join } from "node:path";
import type { Config, TelnyxSettings } from "./config/config.ts";
import { type ConsentTexts, type EnvelopeDeps, readConsentTexts, type Texts } from "./envelopes/envelopes.ts";
import { countryOfNumber } from "./orders/orders.ts";
import { createTelnyx, type Providers } from "./providers/providers.ts";
import { root } from "./resources.ts";
import type { Sealing } from "./seals/seals.ts";

const consentFolder = join(root, "service/data/consent");

/** What envelopes work with; maintenance needs the same. */
export function envelopesWith(
  deps: Omit<EnvelopeDeps, "baseUrl" | "sealDocument" | "chainPem" | "stamp" | "consentTexts"> & {
    config: Config;
    sealing: Sealing;
  },
): EnvelopeDeps & { consentTexts: ConsentTexts } {
  const { db, clock, log, blobs, rowMac, secrets, workers, sealing, signerAuthorities, texts, config } = deps;
  const { sealDocument, chainPem, stamp } = sealing;
  return {
    db,
    clock,
    log,
    blobs,
    rowMac,
    secrets,
    workers,
    sealDocument,
    chainPem,
    stamp,
    signerAuthorities,
    texts,
    consentTexts: readConsentTexts(consentFolder),
    baseUrl: config.baseUrl,
  };
}

/** Text messages by Telnyx; null without a number that they come from. */
export function textsOf(providers: Providers, settings: TelnyxSettings | null): Texts | null {
  const from = settings?.smsFrom ?? null;
  if (settings === null || from === null || !providers.has("telnyx")) return null;
  // A fax that goes wrong is no reason to send no codes.
  const telnyx = createTelnyx(providers.separateCallOf("telnyx"));
  const outcomes = { done: "sent", refused: "refused", unavailable: "away", unknown: "unknown" } as const;
  return {
    send: async (message) => outcomes[(await telnyx.sendText({ ...message, from })).kind],
    reaches: (phone) => settings.smsCountries.includes(countryOfNumber(phone) ?? ""),
  };
}
