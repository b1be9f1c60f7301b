import { fileURLToPath } from "node:url";
import type { Sealing } from "../../evidence/seals/seals.ts";
import type { TelnyxSettings } from "../../kernel/config/config.ts";
import type { DocumentNotice } from "../../kernel/pdf/unseen/notice.ts";
import { openDocumentNames } from "../../kernel/platform/document-name.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import type { Jobs } from "../../kernel/platform/jobs/jobs.ts";
import { runOr, type Task, type Workers } from "../../kernel/platform/workers/task.ts";
import type { Resources } from "../../kernel/resources.ts";
import { untilMorning } from "../../orders/fulfilment/fulfilment.ts";
import {
  countryOfNumber,
  envelopeQueue,
  type NoticesOf,
  notarizedQueue,
  type TitleOf,
  type TrySigning,
  titleReader,
} from "../../orders/order/order.ts";
import type { VersionedPricing } from "../../orders/pricing/pricing.ts";
import { createTelnyx, type Providers } from "../../providers/providers.ts";
import { openActs } from "./ceremony/act.ts";
import type { Ceremony } from "./ceremony/ceremony.ts";
import type { WasSignedAgain } from "./ceremony/copies.ts";
import { openCeremony } from "./ceremony/open-ceremony.ts";
import { sweepPreparedActs } from "./ceremony/prepared-acts.ts";
import { sweepTexts } from "./ceremony/text-code.ts";
import { type ConsentTexts, readConsentTexts } from "./consent/texts.ts";
import { envelopeSeal } from "./custody/seal-custody.ts";
import { sweepDue } from "./lifecycle/due.ts";
import { followOrder } from "./lifecycle/follow.ts";
import type { ClosingsOf } from "./lifecycle/join-session.ts";
import { mailNotarized } from "./lifecycle/notarized.ts";
import type { SignerAuthorities } from "./open-signer-authority.ts";
import { type PlannedField, signersWithout } from "./pdf/fields.ts";
import type { Trial } from "./preflight/trial.ts";
import type { TrialOutput } from "./preflight/trial-task.ts";
import type { EnvelopeDeps } from "./records/deps.ts";
import { sweepEmbeds } from "./records/embeds.ts";
import { signingLinks } from "./records/link-tokens.ts";
import { sweepSittings } from "./records/sittings.ts";
import { signerCertificates } from "./revocation.ts";
import type { Texts } from "./texts/texts.ts";

const consentFolder = fileURLToPath(new URL("../../../data/consent", import.meta.url));

export const openConsentTexts = (): ConsentTexts => readConsentTexts(consentFolder);

type Parts = {
  workers: Workers;
  sealing: Sealing;
  pricing: Pick<VersionedPricing, "catalog">;
  consentTexts: ConsentTexts;
  /** Null if no text messages can be sent (`textsOf`). */
  texts: Texts | null;
};

/** The dependencies of envelopes. */
export function envelopesWith(
  resources: Resources,
  { workers, sealing, pricing, consentTexts, texts }: Parts,
): EnvelopeDeps {
  const { config, db, clock, log, blobs, rowMac, secrets } = resources;
  const { baseUrl } = config;
  const titleOf = titleReader({ names: openDocumentNames(resources), pricing });
  const seal = envelopeSeal({ ...sealing, db, workers, titleOf, consentTexts, baseUrl });
  const reach = { links: signingLinks(secrets, baseUrl), untilMorning: untilMorning(resources), texts };
  return { db, clock, log, blobs, rowMac, workers, seal, reach };
}

/** Opens the ceremony in which signers sign. */
export function ceremonyWith(
  { config: { baseUrl }, random, secrets }: Resources,
  envelopes: EnvelopeDeps,
  signing: {
    sealing: Sealing;
    signerAuthorities: SignerAuthorities;
    consentTexts: ConsentTexts;
    titleOf: TitleOf;
    closingsOf: ClosingsOf;
    noticesOf: NoticesOf;
    wasSignedAgain: WasSignedAgain;
  },
): Ceremony {
  const { stamp } = signing.sealing;
  const { db, clock, blobs, rowMac, workers } = envelopes;
  const certificates = signerCertificates({ db, random, baseUrl }, signing.signerAuthorities);
  const acts = openActs({ db, clock, blobs, rowMac, workers, random, certificates, stamp });
  return openCeremony(envelopes, { ...signing, secrets, acts });
}

/** Text messages through Telnyx; null if Telnyx or its sending number is not configured. */
export function textsOf(providers: Providers, settings: TelnyxSettings | null): Texts | null {
  const from = settings?.smsFrom ?? null;
  if (settings === null || from === null || !providers.has("telnyx")) return null;
  // A separate circuit breaker, so that failing faxes don't stop the text messages with signing codes.
  const telnyx = createTelnyx(providers.separateCallOf("telnyx"));
  const outcomes = { done: "sent", refused: "refused", unavailable: "away", unknown: "unknown" } as const;
  return {
    send: async (message) => outcomes[(await telnyx.sendText({ ...message, from })).kind],
    reaches: (phone) => settings.smsCountries.includes(countryOfNumber(phone) ?? ""),
  };
}

/** The jobs that make envelopes match their orders. */
export function envelopeJobs(jobs: Jobs, deps: EnvelopeDeps): void {
  // For this queue, each node prepares only two documents at once, because preparing a document of 35 MiB takes several
  // times its size in memory.
  jobs.work<{ orderId: number }>(envelopeQueue, ({ orderId }) => followOrder(deps, orderId), { concurrency: 2 });
  jobs.work<{ orderId: number }>(notarizedQueue, ({ orderId }) => mailNotarized(deps, orderId));
}

/**
 * Deletes temporary data of the ceremony, then ends overdue envelopes and sends due reminders. Several nodes may run it
 * at once.
 * @returns true if more may be due
 */
export async function sweepEnvelopes(deps: EnvelopeDeps, stopping?: AbortSignal): Promise<boolean> {
  const now = deps.clock();
  await sweepPreparedActs(deps.db, now);
  await sweepTexts(deps.db, now);
  await sweepEmbeds(deps.db, now);
  await sweepSittings(deps.db, now);
  return sweepDue(deps, stopping);
}

const trying: Task<Trial, TrialOutput> = {
  name: "try to sign a document",
  module: import.meta.resolve("./preflight/trial-task.ts"),
  limitMs: 15_000,
};

const examining: Task<readonly PlannedField[], DocumentNotice[]> = {
  name: "read the words of a document",
  module: import.meta.resolve("./preflight/examine-task.ts"),
  limitMs: 5_000,
};

/**
 * Signs or notarizes a document on trial before the order is placed. So a document that can't be signed is rejected
 * before anybody pays.
 */
export const createPreflight =
  (workers: Workers): TrySigning =>
  async (toSign) => {
    const { holder, bytes, ...input } = toSign;
    const outcome = await runOr(workers, trying, { holder, bytes, input }, () => {
      throw invalid(
        `document can't be ${toSign.signers.length === 0 ? "notarized" : "signed"}: reading it takes too long.`,
      );
    });
    if ("refusal" in outcome) throw invalid(outcome.refusal);
    const { pages, notices, planned, unfit } = outcome;
    if (input.signers.length === 0) return { pages, notices, withoutPlace: [], unfit };
    const withoutPlace = signersWithout(planned, input.signers.length);
    const ofText = await runOr(workers, examining, { holder, bytes, input: planned }, () => {
      // A document whose text takes too long to read, such as a drawing with a million lines, can still be signed. The
      // notice says that its words were not examined.
      return [{ code: "partly_examined", page: null, text: null } as const];
    });
    const isNoticed = notices.some(({ code }) => code === "partly_examined");
    return {
      pages,
      withoutPlace,
      unfit,
      notices: [
        ...notices,
        ...ofText.filter(({ code, page }) => !isNoticed || code !== "partly_examined" || page !== null),
      ],
    };
  };
