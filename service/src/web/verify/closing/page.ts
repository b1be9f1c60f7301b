import type { Manifest, ManifestDocument } from "@signsealship/evidence/manifest";
import type { ClosingRecord } from "../../../closing-passports/closing-passports.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { accentStripe, attribution } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets.ts";
import { card, codeText, emptyState, facts, notice } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { layout } from "../../ui/layout.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { type Html, html } from "../../ui/render.ts";
import type { ClosingConfig } from "../browser/config.ts";
import { closingDropWords, dropZone } from "../drop-zone.ts";
import { closingChecks, manualChecks } from "../manual-checks.ts";
import { statementView } from "../statement.ts";
import { type ClaimLine, claimList, verdictBanner } from "../verdict.ts";
import { alteredClosingPage } from "./altered-page.ts";
import { chainCard, claimsOf, isIntact, ownOf, sealedFacts } from "./claims.ts";

export type { ClosingRecord, ClosingVersionRecord } from "../../../closing-passports/closing-passports.ts";

/** A record whose manifest can be read, be it the one that was sealed or not. */
type ReadableRecord = ClosingRecord & { manifest: Manifest };

type Deps = { record: ClosingRecord; sealCertificates: string; baseUrl: string; retention: RetentionPlan };

const sealUnchecked: ClaimLine = {
  name: "The certificate’s seal",
  state: "unchecked",
  why: "This page has not opened the PDF. Drop it below to have your browser check it.",
};

function banner(record: ReadableRecord): Html {
  const own = ownOf(record);
  const { roomName } = record.manifest.passport;
  if (claimsOf(record).some(({ state }) => state === "fails")) {
    return verdictBanner(
      "refuted",
      "This closing passport does not verify",
      "The stored records do not match. Do not rely on it.",
    );
  }
  return record.environment === "live"
    ? verdictBanner(
        "verified",
        "This closing passport passed every check",
        html`Version ${own.version} of “${roomName}”, sealed on ${time(own.createdAt)}. The hash and the chain were recomputed for this page.`,
      )
    : verdictBanner(
        "unknown",
        "A test closing passport",
        html`Version ${own.version} of “${roomName}” matches its record, but it was made with a test key. It means nothing outside of testing.`,
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
    "Status at the time",
    html`${statusWords(statusAtSnapshot.value).label} <span class="quiet-text">(stated by this service, not proof)</span>`,
  ],
])}</li>`;
}

function statementOf({ manifest, versions }: ReadableRecord) {
  const own = versions.at(-1);
  return {
    proven: own && isIntact(own) ? manifest.coverage.covers : [],
    attested: [
      "The order statuses at that time, and the time itself, as stated by this service.",
      "That the listed hashes are those of the documents we hold. Compare them with your own copies.",
    ],
    notCovered: manifest.coverage.doesNotCover,
  };
}

function closingConfig({ manifest, versions }: ReadableRecord): ClosingConfig {
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

/** `/v/room/{verifyCode}`: a closing passport, and the means to check it. Its code in the address is the permission to see it. */
export function closingPage(assets: Pick<Assets, "url">, deps: Deps): string {
  const { manifest } = deps.record;
  if (manifest === null) return alteredClosingPage(assets, deps);
  return readablePage(assets, { ...deps, record: { ...deps.record, manifest } });
}

type ReadableDeps = Deps & { record: ReadableRecord };

function readablePage(assets: Pick<Assets, "url">, deps: ReadableDeps): string {
  const { record, sealCertificates, baseUrl, retention } = deps;
  const { manifest, verifyCode, branding, partnerName } = record;
  const { passport, documents } = manifest;
  return layout(assets, {
    title: `Closing passport of ${passport.roomName}`,
    credential: true,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${banner(record)}
${card("claims", "What was checked", html`${claimList([...claimsOf(record), sealUnchecked])}${statementView(statementOf(record))}`)}
${card(
  "facts",
  "What was sealed",
  facts([
    ["Room", passport.roomName],
    ["Reference", passport.reference],
    ["Version", String(passport.version)],
    ["Created", time(new Date(passport.generatedAtUtc))],
    ...sealedFacts(record, retention),
  ]),
)}
${card("recheck-card", "Checked by your browser", html`<div id="recheck" aria-live="polite"><p class="with-script">Computing…</p><p class="without-script">Allow this page to run its script, and your browser will recompute the hashes and the chain.</p></div>`)}
${dropZone({ sealCertificates, proof: null, closing: closingConfig(record) }, closingDropWords)}
${chainCard(record)}
${card(
  "documents",
  documents.length === 1 ? "1 document" : `${documents.length} documents`,
  documents.length === 0
    ? emptyState("No documents", "There were no orders in the room when this version was made.")
    : html`<p>Hash your own copy of a document. If its SHA-256 is listed here, it is the same document.</p><ul class="documents">${documents.map(documentItem)}</ul>`,
)}
${card("manual-checks", "Check it yourself from the command line", manualChecks(closingChecks(baseUrl, verifyCode)))}
</div>`,
  });
}

export const unknownClosingPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "Unknown code",
    credential: true,
    body: html`<div class="stack">
${verdictBanner("unknown", "We don’t know this code", "Make sure that you copied the whole link, including the long code at the end.")}
${notice("info", "Do you have the certificate?", html`Then you don’t need a code: <a href="/verify">check the file itself</a>.`)}
</div>`,
  });
