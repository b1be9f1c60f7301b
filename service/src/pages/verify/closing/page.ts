import type { Manifest, ManifestDocument } from "@signsealship/evidence/manifest";
import type { ClosingRecord } from "../../../closing/closing-passports/closing-passports.ts";
import { deletedMessage, type RetentionPlan } from "../../../kernel/retention/retention.ts";
import { accentStripe, attribution } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, codeText, emptyState, facts, notice } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { clientNav, layout } from "../../ui/layout.ts";
import { onPaper } from "../../ui/on-paper.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { type Html, html } from "../../ui/render.ts";
import type { ClosingConfig } from "../browser/config.ts";
import { closingDropWords, dropZone } from "../drop-zone.ts";
import { closingChecks, manualChecks } from "../manual-checks.ts";
import { retractionBanner } from "../retraction.ts";
import { statementView } from "../statement.ts";
import { type Summary, sealedAt } from "../summary.ts";
import { technicalDetails, technicalPart } from "../technical-details.ts";
import { type ClaimLine, claimList, resultCard, verdictBanner } from "../verdict.ts";
import { certificateLink, chainPart, claimsOf, isIntact, ownOf, sealedFacts } from "./claims.ts";

export type { ClosingRecord, ClosingVersionRecord } from "../../../closing/closing-passports/closing-passports.ts";

/** A record with a readable manifest, which may differ from the sealed one. */
type ReadableRecord = ClosingRecord & { manifest: Manifest };

type Deps = { record: ClosingRecord; sealCertificates: string; baseUrl: string; retention: RetentionPlan };

const sealUnchecked: ClaimLine = {
  name: "The certificate’s seal",
  state: "unchecked",
  why: "This page has not opened the PDF. Choose it above, and your browser checks it.",
};

function banner(record: ReadableRecord): Html {
  if (record.retraction) return retractionBanner(record.retraction);
  if (claimsOf(record).some(({ state }) => state === "fails")) {
    return verdictBanner(
      "refuted",
      "This closing certificate failed the check",
      "The stored records do not match. Do not rely on it.",
    );
  }
  return record.environment === "live"
    ? verdictBanner(
        "verified",
        "This closing certificate passed every check",
        "Check below that your copy of the certificate is the one on record.",
      )
    : verdictBanner(
        "unknown",
        "A test closing certificate",
        "It matches its record, but was made with a test key. It means nothing outside of testing.",
      );
}

const artifacts = [
  ["originalSha256", "SHA-256 of the document as uploaded"],
  ["sealedSha256", "SHA-256 of the sealed document"],
  ["notarizedSha256", "SHA-256 of the notarized document"],
  ["custodyCertSha256", "SHA-256 of the custody certificate"],
  ["envelopeVerifyCode", "Verify code of the signing envelope"],
] as const;

const labelOf = ({ label, orderCode }: ManifestDocument): string => label ?? `Order ${shortCode(orderCode)}`;

/** The contents of the passport, one line per document. */
const documentsCard = ({ documents }: Manifest): Html =>
  card(
    "documents",
    documents.length === 1 ? "1 document" : `${documents.length} documents`,
    documents.length === 0
      ? emptyState("No documents", "There were no orders in the room when this version was made.")
      : html`<ul class="document-lines">${documents.map(
          (document) =>
            html`<li><strong>${labelOf(document)}</strong> <span class="quiet-text">${statusWords(document.statusAtSnapshot.value).label}</span></li>`,
        )}</ul>
<p class="quiet">The status is what this service stated at the time. It is not proof.</p>`,
  );

const documentItem = (document: ManifestDocument): Html =>
  html`<li class="document"><h3>${labelOf(document)}</h3>
${facts([
  ...artifacts.map(([member, term]) => {
    const value = document[member];
    return [term, value === undefined ? null : codeText(value, term)] as const;
  }),
  ["Order", codeText(document.orderCode, "order code")],
])}</li>`;

function statementOf({ manifest, versions }: ReadableRecord) {
  const own = versions.at(-1);
  return {
    proven: own && isIntact(own) ? manifest.coverage.covers : [],
    attested: [
      "The statuses of the orders at that time, and the time itself, as this service states them.",
      "That the listed hashes are those of the documents we keep. Compare them with your own copies.",
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

/** `/v/room/{verifyCode}`: a closing certificate, and ways to verify it. Anyone with the code in its URL may see it. */
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
    // Link previews show the title, so it does not name the closing.
    title: "A closing certificate",
    credential: true,
    headerNav: clientNav,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${resultCard(banner(record), closingSummary(record, new URL(baseUrl).host))}
${documentsCard(manifest)}
${dropZone({ sealCertificates, firm: branding?.brandName ?? partnerName, proof: null, closing: closingConfig(record) }, closingDropWords)}
${technicalDetails(html`
${technicalPart("What was checked", html`${claimList([...claimsOf(record), sealUnchecked])}${statementView(statementOf(record))}`)}
${technicalPart("Checked by your browser", html`<div id="recheck"><p class="with-script">Computing…</p><p class="without-script">Allow this page to run its script, and your browser computes the hashes and the chain again.</p></div>`)}
${technicalPart("What was sealed", facts([["Created", time(new Date(passport.generatedAtUtc))], ...sealedFacts(record, retention)]))}
${documents.length > 0 && technicalPart("Hashes of the documents", html`<p>Hash your own copy of a document. If its SHA-256 is listed here, it is the same document.</p><ul class="documents">${documents.map(documentItem)}</ul>`)}
${chainPart(record)}
${technicalPart("Check it yourself from the command line", manualChecks(closingChecks(baseUrl, verifyCode)))}`)}
${onPaper(`${baseUrl}/v/room/${verifyCode}`)}
</div>`,
  });
}

const unreadable: ClaimLine = {
  name: "The manifest can be read",
  state: "fails",
  why: "The stored data is not a manifest, so the sealed content cannot be shown.",
};

/** The page `/v/room/{verifyCode}` for a version whose stored manifest was altered and can't be parsed. */
function alteredClosingPage(
  assets: Pick<Assets, "url">,
  { record, retention, baseUrl }: { record: ClosingRecord; retention: RetentionPlan; baseUrl: string },
): string {
  const { branding, partnerName } = record;
  return layout(assets, {
    title: "A closing certificate that failed the check",
    credential: true,
    headerNav: clientNav,
    scripts: ["copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${resultCard(
  verdictBanner(
    "refuted",
    "This closing certificate failed the check",
    "The stored record is not the sealed one. Do not rely on it.",
  ),
  closingSummary(record, new URL(baseUrl).host),
)}
${notice("info", "Do you have the certificate?", html`The sealed manifest is attached to it: <a href="/verify">check the file itself</a>.`)}
${technicalDetails(html`
${technicalPart("What was checked", claimList([unreadable, ...claimsOf(record)]))}
${technicalPart("What is on record", facts(sealedFacts(record, retention)))}
${chainPart(record)}`)}
</div>`,
  });
}

/** The element where the browser shows its own result. */
const recheckStatus = html`<span id="recheck-said" aria-live="polite"></span>`;

/** The six summary lines about a closing certificate. @param host the host name of this service */
function closingSummary(record: ClosingRecord, host: string): Summary {
  const { manifest, branding, partnerName, certificateDeletedAt, verifyCode } = record;
  const own = ownOf(record);
  const failed = claimsOf(record).some(({ state }) => state === "fails") || manifest === null;
  const room = manifest && html`“${manifest.passport.roomName}”`;
  const reference = manifest?.passport.reference;
  return {
    document: html`Closing certificate${room && html` of ${room}`}${reference && html`, ${reference}`}, version ${own.version}`,
    firm: branding?.brandName ?? partnerName,
    sealed: sealedAt(own.createdAt, "As this service states it."),
    sealedBy: `SignSealShip at ${host}`,
    unchanged: failed
      ? { answer: "no", why: html`The stored records do not match the sealed ones. ${recheckStatus}` }
      : {
          answer: "yes",
          why: html`Everything was computed again for this page. ${recheckStatus}`,
        },
    download: certificateDeletedAt
      ? deletedMessage("The certificate", certificateDeletedAt)
      : certificateLink(verifyCode),
  };
}
