import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { blobsOf } from "@signsealship/testing/blobs";
import { newClient } from "@signsealship/testing/client";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { replaceInRooms } from "../../../../src/closing/deliveries/deliveries.ts";
import { openSealing, type SealDocument } from "../../../../src/evidence/seals/seals.ts";
import { type Clock, systemClock } from "../../../../src/kernel/platform/clock.ts";
import { openDocumentNames } from "../../../../src/kernel/platform/document-name.ts";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../../src/kernel/platform/metrics.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { createWorkerPool } from "../../../../src/kernel/platform/workers/pool.ts";
import { titleReader } from "../../../../src/orders/order/order.ts";
import { openActs } from "../../../../src/signing/envelopes/ceremony/act.ts";
import { type CeremonyDeps, openCeremony } from "../../../../src/signing/envelopes/ceremony/open-ceremony.ts";
import { envelopeSeal } from "../../../../src/signing/envelopes/custody/seal-custody.ts";
import {
  type Ceremony,
  type ConsentText,
  type EnvelopeDeps,
  type Link,
  openConsentTexts,
  openSignerAuthorities,
} from "../../../../src/signing/envelopes/envelopes.ts";
import { signingLinks } from "../../../../src/signing/envelopes/records/link-tokens.ts";
import { signerCertificates } from "../../../../src/signing/envelopes/revocation.ts";

export const browser = { ip: "203.0.113.7", userAgent: "Test/1" };
export const consentText = { version: "4", language: "en" } as const;

type CeremonyParts = Partial<
  Omit<EnvelopeDeps, "seal" | "reach"> & CeremonyDeps & Pick<EnvelopeDeps["reach"], "texts">
> & { sealDocument?: SealDocument };
const noText = (language: ConsentText["language"]): ConsentText => ({
  scope: "document",
  version: "0",
  language,
  markdown: "",
  sha256: "",
});
/** Empty consent texts, for a ceremony without real ones. */
export const withoutTexts = { current: noText, ofClosing: noText, inPresence: noText };

/** A service whose jobs open envelopes, and a ceremony that uses its records. */
export async function openCeremonyService(env: Record<string, string> = {}) {
  const running = await openHarness(env);
  const { close } = running;
  const { dataDir, baseUrl } = running.service;
  const { headers } = await newPartner(running.service);
  const client = newClient(baseUrl, headers.Authorization.replace("Bearer ", ""), (status) => status < 300);
  const workers = createWorkerPool({ size: 2, heapMb: 512, processMb: 16_384 });
  const secrets = await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`);
  const log = openLog("silent");
  const common = { db: running.db, clock: systemClock, random: systemRandom, log, rowMac: running.rowMac, workers };
  const settings = { sealKey: `file:${join(dataDir, "keys/seal")}`, sealCertificate: null, dataDir, baseUrl };
  const sealing = await openSealing(
    { ...common, fetch, metrics: createMetrics() },
    { ...settings, tsaUrls: [], tsaTrust: null },
  );
  const signerCa = { signerCaKey: `file:${join(dataDir, "keys/signer-ca")}`, signerCaCertificate: null };
  const signers = await openSignerAuthorities({ ...settings, ...signerCa }, new Date(), () => randomBytes(16));
  const { sealDocument, chainPem } = sealing;
  const blobs = await blobsOf(dataDir);
  const consentTexts = openConsentTexts();
  const names = openDocumentNames({ secrets, log });
  const titleOf = titleReader({ names, pricing: { catalog: [] } });
  const sealer = { ...common, sealDocument, chainPem, titleOf, consentTexts, baseUrl };
  const seal = envelopeSeal(sealer);
  const reach = { links: signingLinks(secrets, baseUrl), untilMorning: async () => 0, texts: null };
  const deps = { ...common, secrets, blobs, seal, reach, baseUrl, sealDocument };
  const certificates = signerCertificates({ ...common, baseUrl }, signers.authorities);
  const actsWith = (parts: Partial<Parameters<typeof openActs>[0]>) =>
    openActs({ ...common, blobs, certificates, stamp: null, ...parts });
  /** A ceremony with some parts replaced. @param parts `sealDocument`: seals in place of the service's sealer */
  const ceremonyWith = ({ sealDocument: sealOther, texts = null, ...parts }: CeremonyParts): Ceremony => {
    const resealed = sealOther && envelopeSeal({ ...sealer, sealDocument: sealOther });
    const naming = { titleOf: () => null, closingsOf: async () => [] };
    const others = { consentTexts, ...naming, noticesOf: () => [], wasSignedAgain: async () => false };
    return openCeremony(
      { ...deps, ...parts, seal: resealed ?? seal, reach: { ...reach, texts } },
      { ...deps, ...others, acts: actsWith(parts), ...parts },
    );
  };
  const openAt = (clock: Clock): Ceremony => ceremonyWith({ clock });
  const outbox = join(dataDir, "outbox");
  // Caches mails by file name, because a written mail never changes.
  const mails = new Map<string, { at: number; mail: string }>();

  /** The mails to an email address, oldest first. */
  function mailsTo(email: string): string[] {
    for (const file of existsSync(outbox) ? readdirSync(outbox) : []) {
      if (!file.endsWith(".eml") || mails.has(file)) continue;
      const path = join(outbox, file);
      const mail = readFileSync(path, "utf8").replaceAll("=\r\n", "").replaceAll("=3D", "=");
      mails.set(file, { at: statSync(path).mtimeMs, mail });
    }
    const found = [...mails.values()].filter(({ mail }) => mail.includes(`To: ${email}`));
    return found.sort((one, other) => one.at - other.at).map(({ mail }) => mail);
  }

  // Returns the harness itself, because a test that restarts the service assigns the new service to it.
  return Object.assign(running, {
    deps,
    /** The dependencies of `replaceSigner`. */
    replacing: { envelopes: deps, replaceInRooms },
    actsWith,
    ceremonyWith,
    client,
    headers,
    signerAuthorities: signers.authorities,
    root: signers.authorities.test.chain.at(-1) ?? signers.authorities.test.chain[0],
    openAt,
    ceremony: openAt(systemClock),
    mailsTo,
    /**
     * Places an order that needs signatures, and pays it unless `pay` is false. The signers can't sign an unpaid order.
     * @returns its code
     */
    async order(
      signers: readonly object[],
      more: Record<string, string> = {},
      document = makePdf({ pages: 2 }),
      { pay = true, fileName = "document.pdf" } = {},
    ) {
      const fields = { ...minimal, svc_sign: "true", signers: JSON.stringify(signers), ...more };
      const { orderCode } = await client.ok<{ orderCode: string }>(
        "POST",
        "/api/partner/orders",
        orderForm(fields, document, fileName),
      );
      if (pay) await client.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`);
      return orderCode;
    },
    /** The latest signing link that was mailed to an email address. */
    async linkOf(email: string): Promise<Link> {
      const find = () =>
        /\/sign\/([0-9a-f]{40})/.exec(mailsTo(email).findLast((mail) => mail.includes("/sign/")) ?? "");
      await until(() => find() !== null);
      return { token: find()?.[1] ?? "", session: null };
    },
    async close() {
      await workers.close();
      await sealing.close();
      await signers.close();
      await close();
    },
  });
}

/** Opens the link, consents, and signs every document with a typed name. */
export async function signBy(ceremony: Ceremony, link: Link, text: string) {
  await ceremony.opened(link, browser);
  await ceremony.consent(link, consentText, browser);
  for (;;) {
    const { document } = await ceremony.view(link);
    const request = { revision: document?.revision ?? 0, mark: { kind: "typed", text } as const, values: new Map() };
    const done = await ceremony.sign(link, request, browser);
    if (done.outcome === "signed") return done;
  }
}
