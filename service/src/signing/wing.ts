import { type Sealing, tsaRootsPem } from "../evidence/seals/seals.ts";
import { readBranding, shownBranding } from "../firms/partners/partners.ts";
import type { Fetch } from "../kernel/platform/bounds/bounded-request.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { Wing } from "../kernel/wing.ts";
import type { NoticesOf, TitleOf } from "../orders/order/order.ts";
import type { VersionedPricing } from "../orders/pricing/pricing.ts";
import type { OrderPorts } from "../orders/wing.ts";
import type { MediaEngine, Providers } from "../providers/providers.ts";
import {
  type ClosingsOf,
  ceremonyWith,
  createPreflight,
  createPreview,
  endRound,
  envelopeJobs,
  envelopesWith,
  envelopeVerificationRoutes,
  moveSigners,
  noticeMail,
  openConsentTexts,
  paperWishes,
  type ReplaceInRooms,
  type SignerAuthorities,
  signingMail,
  signingRoutes,
  textsOf,
} from "./envelopes/envelopes.ts";
import {
  appointmentInvitationMail,
  appointmentJobs,
  appointmentMail,
  bookingMail,
  expiryMail,
  guestMail,
  identityJobs,
  identityMail,
  inPersonMail,
  inPersonRoutes,
  liveMail,
  notarizationOf,
  openMeetings,
  openNotaries,
  queueMail,
  type RecordingDisk,
  type Recordings,
  recordingMail,
  recordsMail,
  renewNotaryLinks,
  wasSignedAgain,
} from "./notaries/notaries.ts";
import { signingTasks } from "./signing-tasks.ts";

/** Live audio and video. */
export type LiveMedia = { engine: MediaEngine; recordings: Recordings; disk: RecordingDisk };

type Parts = {
  workers: Workers;
  pricing: VersionedPricing;
  keys: { sealing: Sealing; signerAuthorities: SignerAuthorities };
  texts: { titleOf: TitleOf; noticesOf: NoticesOf };
  providers: Providers;
  fetch: Fetch;
  /** Null when live audio and video is off. */
  media: LiveMedia | null;
  /** The functions of closings that signing uses. */
  closing: { closingsOf: ClosingsOf; replaceInRooms: ReplaceInRooms };
};

const mails = [
  signingMail,
  noticeMail,
  expiryMail,
  appointmentMail,
  recordingMail,
  recordsMail,
  inPersonMail,
  identityMail,
  liveMail,
  queueMail,
  bookingMail,
  guestMail,
  appointmentInvitationMail,
];

/** Opens envelopes and the work of notaries. */
export function openSigningWing(resources: Resources, parts: Parts) {
  const { config, db, clock } = resources;
  const { workers, pricing, providers, fetch, media, closing } = parts;
  const { titleOf, noticesOf } = parts.texts;
  const { sealing, signerAuthorities } = parts.keys;
  const { closingsOf, replaceInRooms } = closing;
  const consentTexts = openConsentTexts();
  const texts = textsOf(providers, config.telnyx);
  const envelopes = envelopesWith(resources, { workers, sealing, pricing, consentTexts, texts });
  const notaries = openNotaries(resources, { workers, pricing, sealing, titleOf, providers, fetch, media });
  const wing: Wing = {
    routes(app, { frame }) {
      signingRoutes(app, { frame, envelopes, replaceInRooms, baseUrl: config.baseUrl });
      inPersonRoutes(app, { frame, db, clock });
      envelopeVerificationRoutes(app, { frame, envelopes });
    },
    jobs(jobs, mailDeps) {
      envelopeJobs(jobs, envelopes);
      identityJobs(jobs, providers, notaries.identity);
      appointmentJobs(jobs, notaries.identity);
      for (const mail of mails) mail.work(jobs, { ...mailDeps, titleOf, closingsOf });
    },
    tasks: signingTasks(resources, { envelopes, signerAuthorities }),
  };
  return {
    envelopes,
    notaries,
    signers: {
      ceremony: ceremonyWith(resources, envelopes, {
        sealing,
        signerAuthorities,
        consentTexts,
        titleOf,
        closingsOf,
        noticesOf,
        wasSignedAgain: (orderCode) => wasSignedAgain(resources, orderCode),
      }),
      consentTexts,
      brandingOf: async (partnerId: string) => shownBranding(await readBranding(resources, { partnerId })),
      meetings: openMeetings({ ...notaries.identity, titleOf, closingsOf }),
    },
    finished: { envelopes, tsaRoots: tsaRootsPem(config) },
    preview: createPreview({ db, clock, workers }),
    ports: portsOf(resources, workers, envelopes, notaries),
    wing,
  };
}

export type Signing = ReturnType<typeof openSigningWing>;

/** The functions of signing that orders use. */
const portsOf = (
  { db, rowMac, secrets }: Resources,
  workers: Workers,
  envelopes: ReturnType<typeof envelopesWith>,
  { supply }: ReturnType<typeof openNotaries>,
): OrderPorts["signing"] => ({
  trySigning: createPreflight(workers),
  texts: envelopes.reach.texts,
  notarySupply: supply,
  notarizationOf: (code) => notarizationOf({ db, rowMac }, code),
  paperWishes,
  endRound: (...of) => endRound(envelopes, ...of),
  moveSigners: (...of) => moveSigners(envelopes, ...of),
  renewNotaryLinks: (tx, ...of) => renewNotaryLinks(tx, { desk: { rowMac }, secrets }, ...of),
});
