import { fileURLToPath } from "node:url";
import type { Sealing } from "../../evidence/seals/seals.ts";
import type { Config, TelnyxSettings } from "../../kernel/config/config.ts";
import { countryOfNumber } from "../../orders/order/order.ts";
import { createTelnyx, type Providers } from "../../providers/providers.ts";
import { type ConsentTexts, readConsentTexts } from "./consent/texts.ts";
import type { EnvelopeDeps } from "./records/deps.ts";
import type { Texts } from "./texts/texts.ts";

const consentFolder = fileURLToPath(new URL("../../../data/consent", import.meta.url));

/** The dependencies of envelopes; maintenance needs the same. */
export function envelopesWith(
  deps: Omit<EnvelopeDeps, "baseUrl" | "sealDocument" | "chainPem" | "stamp" | "consentTexts"> & {
    config: Config;
    sealing: Sealing;
  },
): EnvelopeDeps & { consentTexts: ConsentTexts } {
  const { db, clock, random, log, blobs, rowMac, secrets, workers, sealing, signerAuthorities, texts, config } = deps;
  const { sealDocument, chainPem, stamp } = sealing;
  return {
    db,
    clock,
    random,
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
  // A breaker of its own: a failing fax must not stop the codes.
  const telnyx = createTelnyx(providers.separateCallOf("telnyx"));
  const outcomes = { done: "sent", refused: "refused", unavailable: "away", unknown: "unknown" } as const;
  return {
    send: async (message) => outcomes[(await telnyx.sendText({ ...message, from })).kind],
    reaches: (phone) => settings.smsCountries.includes(countryOfNumber(phone) ?? ""),
  };
}
