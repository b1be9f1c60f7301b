import type { Manifest, ManifestDocument } from "@signsealship/evidence/manifest-schema";
import { accentStripe, attribution } from "./accent.ts";
import type { Assets } from "./assets.ts";
import type { ClosingConfig } from "./browser/config.ts";
import { byHand, closingChecks } from "./by-hand.ts";
import { chainPicture } from "./chain-picture.ts";
import { card, codeText, emptyState, facts, notice } from "./components.ts";
import { closingDropWords, dropZone } from "./drop-zone.ts";
import { time } from "./format.ts";
import { layout } from "./layout.ts";
import { statusWords } from "./order-words.ts";
import { type Html, html } from "./render.ts";
import { statementView } from "./statement.ts";
import { type ClaimLine, claimList, verdictBanner } from "./verdict.ts";

/** One version of a room's Closing Passport. Hashes are lowercase hex SHA-256. */
export type ClosingVersionRecord = {
  version: number;
  createdAt: Date;
  manifestSha256: string;
  prevManifestSha256: string | null;
  sealedSha256: string;
  /** The stored bytes, which are ASCII; null when this version is not for the eyes of whoever has the code. */
  manifestText: string | null;
  /** Recomputed just now: the stored manifest hashes to `manifestSha256`, and it links to the version before. */
  hashHolds: boolean;
  linkHolds: boolean;
};

/** What `/v/room/{verifyCode}` shows. */
export type ClosingRecord = {
  verifyCode: string;
  environment: "live" | "test";
  partnerName: string | null;
  branding: { brandName: string | null; accentColor: string | null; logoUrl: string | null } | null;
  manifest: Manifest;
  /** Whether the certificate can be downloaded. */
  certificateKept: boolean;
  /** Every version up to this one, in ascending order: this one is the last. */
  versions: readonly [ClosingVersionRecord, ...ClosingVersionRecord[]];
};

type Deps = { record: ClosingRecord; sealCertificates: string; baseUrl: string };

const ownOf = ({ versions }: ClosingRecord): ClosingVersionRecord => versions.at(-1) ?? versions[0];

function claimsOf(record: ClosingRecord): ClaimLine[] {
  const own = ownOf(record);
  const earlier = record.versions.slice(0, -1);
  const state = (holds: boolean) => (holds ? "holds" : "fails");
  const whole = earlier.every(({ hashHolds, linkHolds }) => hashHolds && linkHolds);
  return [
    {
      name: "The manifest is the one that was sealed",
      state: state(own.hashHolds),
      why: `Its stored bytes were hashed for this page: they ${own.hashHolds ? "give" : "do not give"} ${own.manifestSha256}.`,
    },
    {
      name: "It is linked to the version before",
      state: state(own.linkHolds),
      why:
        own.version === 1
          ? `It is the first version, ${own.linkHolds ? "and links to none" : "and yet links to one"}.`
          : `It states the hash of version ${own.version - 1}${own.linkHolds ? "" : ", and that is not its hash"}.`,
    },
    ...(earlier.length > 0
      ? [
          {
            name: "The versions before are whole",
            state: state(whole),
            why: `${earlier.length === 1 ? "One version was" : `${earlier.length} versions were`} hashed and linked for this page, too.`,
          } as const,
        ]
      : []),
    {
      name: "The certificate’s seal",
      state: "unchecked",
      why: "This page does not look into the PDF. Drop it below, and your browser does.",
    },
  ];
}

function banner(record: ClosingRecord): Html {
  const own = ownOf(record);
  const { roomName } = record.manifest.passport;
  if (claimsOf(record).some(({ state }) => state === "fails")) {
    return verdictBanner(
      "refuted",
      "This closing passport does not verify",
      "What is stored does not fit together. Do not rely on it.",
    );
  }
  return record.environment === "live"
    ? verdictBanner(
        "verified",
        "This closing passport holds",
        html`Version ${own.version} of “${roomName}”, sealed on ${time(own.createdAt)}. Hash and chain were computed again for this page.`,
      )
    : verdictBanner(
        "unknown",
        "A test closing passport",
        html`Version ${own.version} of “${roomName}” fits together, but it was made with a test key. It stands for nothing outside of a test.`,
      );
}

const artifacts = [
  ["originalSha256", "SHA-256 of the document as uploaded"],
  ["sealedSha256", "SHA-256 of the sealed document"],
  ["custodyCertSha256", "SHA-256 of the custody certificate"],
  ["envelopeVerifyCode", "Verify code of the signing envelope"],
] as const;

function documentItem(document: ManifestDocument): Html {
  const { orderCode, label, statusAtSnapshot } = document;
  return html`<li class="document"><h3>${label ?? `Order ${orderCode.slice(0, 6).toUpperCase()}`}</h3>
${facts([
  ...artifacts.map(([member, term]) => {
    const value = document[member];
    return [term, value === undefined ? null : codeText(value, term)] as const;
  }),
  ["Order", codeText(orderCode, "order code")],
  [
    "Status then",
    html`${statusWords(statusAtSnapshot.value).label} <span class="quiet-text">(stated by this service, not evidence)</span>`,
  ],
])}</li>`;
}

function statementOf({ manifest, versions }: ClosingRecord) {
  const own = versions.at(-1);
  return {
    proven: own?.hashHolds && own.linkHolds ? manifest.coverage.covers : [],
    attested: [
      "The statuses of the orders at that moment, and the time of it: this service’s word.",
      "That the hashes listed are those of the documents that were held: compare them with your own copies.",
    ],
    notCovered: manifest.coverage.doesNotCover,
  };
}

function versionsTable({ versions }: ClosingRecord): Html {
  return html`<ol class="versions" reversed>${versions
    .toReversed()
    .map(
      ({ version, createdAt, manifestSha256, hashHolds, linkHolds }) =>
        html`<li><p><strong>Version ${version}</strong>, ${time(createdAt)}: ${
          hashHolds && linkHolds ? "whole" : linkHolds ? "its hash does not hold" : "its link does not hold"
        }</p>${codeText(manifestSha256, `manifest hash of version ${version}`)}</li>`,
    )}</ol>`;
}

function closingConfig({ manifest, versions }: ClosingRecord): ClosingConfig {
  return {
    roomCode: manifest.passport.roomCode,
    version: manifest.passport.version,
    versions: versions.map(({ version, manifestText, manifestSha256, sealedSha256 }) => ({
      version,
      manifest: manifestText,
      manifestSha256,
      sealedSha256,
    })),
  };
}

/** `/v/room/{verifyCode}`: a Closing Passport for whoever has its code, and the means to check it. */
export function closingPage(assets: Pick<Assets, "url">, { record, sealCertificates, baseUrl }: Deps): string {
  const { manifest, verifyCode, versions, branding, partnerName } = record;
  const { passport, documents } = manifest;
  const own = ownOf(record);
  const links = versions.map(({ version, createdAt, manifestSha256, linkHolds }) => ({
    version,
    createdAt,
    manifestSha256,
    linked: linkHolds,
    own: version === own.version,
  }));
  return layout(assets, {
    title: `Closing passport of ${passport.roomName}`,
    credential: true,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${banner(record)}
${card("claims", "Claim by claim", html`${claimList(claimsOf(record))}${statementView(statementOf(record))}`)}
${card(
  "facts",
  "What was sealed",
  facts([
    ["Room", passport.roomName],
    ["Reference", passport.reference],
    ["Version", String(passport.version)],
    ["Made", time(new Date(passport.generatedAtUtc))],
    ["SHA-256 of the manifest", codeText(own.manifestSha256, "manifest hash")],
    [
      "SHA-256 of the manifest before",
      own.prevManifestSha256 && codeText(own.prevManifestSha256, "manifest hash of the version before"),
    ],
    ["SHA-256 of the certificate PDF", codeText(own.sealedSha256, "certificate hash")],
    [
      "Certificate",
      record.certificateKept
        ? html`<a href="/api/verify/room/${verifyCode}/pdf">Download the sealed PDF</a>`
        : "It is not available here",
    ],
  ]),
)}
${card("recheck-card", "Checked by your own browser", html`<div id="recheck" aria-live="polite"><p class="with-script">Computing…</p><p class="without-script">Allow this page to run its script, and your browser computes hashes and chain again by itself.</p></div>`)}
${dropZone({ sealCertificates, proof: null, closing: closingConfig(record) }, closingDropWords)}
${card("chain", "The chain of versions", html`<p>Each version states the hash of the one before. Nothing in an old one can change without breaking the chain.</p><div class="chain-part">${chainPicture(links)}${versionsTable(record)}</div>`)}
${card(
  "documents",
  documents.length === 1 ? "1 document" : `${documents.length} documents`,
  documents.length === 0
    ? emptyState("No documents", "No order was in the room when this version was made.")
    : html`<p>Hash your own copy of a document: it is the one meant when its SHA-256 is listed.</p><ul class="documents">${documents.map(documentItem)}</ul>`,
)}
${card("by-hand", "The same by hand", byHand(closingChecks(baseUrl, verifyCode)))}
</div>`,
  });
}

export const unknownClosingPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "Unknown code",
    credential: true,
    body: html`<div class="stack">
${verdictBanner("unknown", "Nothing is known under this code", "Check that the link was copied whole: the code at its end is needed to the last character.")}
${notice("info", "You have the certificate?", html`Then no code is needed: <a href="/verify">check the file itself</a>.`)}
</div>`,
  });
