import type { ClosingRecord, ClosingVersionRecord } from "../../../closing/closing-passports/closing-passports.ts";
import { deletedMessage, type RetentionPlan } from "../../../kernel/retention/retention.ts";
import { codeText } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { logWords } from "../../ui/proof-record.ts";
import { type Html, html } from "../../ui/render.ts";
import { roomRetention } from "../../ui/retention.ts";
import { technicalPart } from "../technical-details.ts";
import type { ClaimLine } from "../verdict.ts";

/** The version that the page shows. */
export const ownOf = ({ versions }: ClosingRecord): ClosingVersionRecord => versions.at(-1) ?? versions[0];

/** True if the checks of a version passed: its hash, its link to the previous version, and its certificate. */
export const isIntact = ({ hashHolds, linkHolds, certificateHolds }: ClosingVersionRecord): boolean =>
  hashHolds && linkHolds && certificateHolds;

const stateWords = (version: ClosingVersionRecord): string => {
  if (isIntact(version)) return "passed";
  if (!version.linkHolds) return "failed: its link to the version before is broken";
  return version.hashHolds ? "failed: it has another certificate" : "failed: its hash does not match";
};

function certificateClaim(record: ClosingRecord): ClaimLine {
  const { certificateDeletedAt } = record;
  const name = "Its sealed certificate bears this manifest";
  if (certificateDeletedAt)
    return {
      name,
      state: "unchecked",
      why: `${deletedMessage("The certificate", certificateDeletedAt)} Check your own copy.`,
    };
  return ownOf(record).certificateHolds
    ? { name, state: "holds", why: "The archived certificate was compared with it, and its seal passed." }
    : {
        name,
        state: "fails",
        why: "The archived certificate is gone, bears another manifest, or its seal failed.",
      };
}

/** The claims that the service verifies itself: about the page's version and, as a whole, about all earlier ones. */
export function claimsOf(record: ClosingRecord): ClaimLine[] {
  const own = ownOf(record);
  const earlier = record.versions.slice(0, -1);
  const state = (holds: boolean) => (holds ? "holds" : "fails");
  const whole = earlier.every(isIntact);
  return [
    {
      name: "The manifest is the one that was sealed",
      state: state(own.hashHolds),
      why: `Its stored bytes were hashed for this page. The hash ${own.hashHolds ? "is" : "is not"} ${own.manifestSha256}.`,
    },
    certificateClaim(record),
    {
      name: "It links to the previous version",
      state: state(own.linkHolds),
      why:
        own.version === 1
          ? `It is the first version, ${own.linkHolds ? "and links to no other" : "but does not say that it links to no other"}.`
          : `It ${own.linkHolds ? "states" : "does not state"} the hash of version ${own.version - 1}.`,
    },
    ...(earlier.length > 0
      ? [
          {
            name: "All earlier versions",
            state: state(whole),
            why: `${earlier.length === 1 ? "One version was" : `${earlier.length} versions were`} checked for this page, too.`,
          } as const,
        ]
      : []),
  ];
}

function versionsTable({ versions }: ClosingRecord): Html {
  return html`<ol class="versions" reversed>${versions
    .toReversed()
    .map(
      (one) =>
        html`<li><p><strong>Version ${one.version}</strong>, ${time(one.createdAt)}: ${stateWords(
          one,
        )}</p>${codeText(one.manifestSha256, `manifest hash of version ${one.version}`)}</li>`,
    )}</ol>`;
}

/** The chain up to this version, as a picture and as a list. */
export function chainPart(record: ClosingRecord): Html {
  const own = ownOf(record);
  const links = record.versions.map(({ version, createdAt, manifestSha256, linkHolds }) => ({
    version,
    createdAt,
    manifestSha256,
    linked: linkHolds,
    own: version === own.version,
  }));
  return technicalPart(
    "The chain of versions",
    html`<p>Each version states the hash of the previous one, so nothing in an old version can change without breaking the chain.</p><div class="chain-part">${chainPicture(links)}${versionsTable(record)}</div>`,
  );
}

/** The link that downloads the certificate. */
export const certificateLink = (verifyCode: string): Html =>
  html`<a href="/api/verify/room/${verifyCode}/pdf">Certificate (PDF)</a>`;

/**
 * The hashes in the version's own record, its state in the transparency log, and how long the certificate is stored.
 */
export function sealedFacts(
  record: ClosingRecord,
  retention: RetentionPlan,
): (readonly [string, Html | string | null])[] {
  const own = ownOf(record);
  const { certificateDeletedAt, environment, log } = record;
  return [
    ["SHA-256 of the manifest", codeText(own.manifestSha256, "manifest hash")],
    [
      "SHA-256 of the previous manifest",
      own.prevManifestSha256 && codeText(own.prevManifestSha256, "manifest hash of the previous version"),
    ],
    ["SHA-256 of the certificate PDF", codeText(own.sealedSha256, "certificate hash")],
    ["Transparency log", log && logWords(log)],
    ["How long it is kept", certificateDeletedAt ? null : roomRetention(retention, environment)],
  ];
}

/** One version in the picture. `linked` means that its manifest states the hash of the previous version. */
type ChainLink = { version: number; createdAt: Date; manifestSha256: string; linked: boolean; own: boolean };

const rowHeight = 64;
const width = 320;
const x = 28;
const radius = 18;

/** The chain of a room's versions as a picture, newest first. The text next to it contains the same facts. */
function chainPicture(links: readonly ChainLink[]): Html {
  const newestFirst = links.toReversed();
  const height = newestFirst.length * rowHeight;
  const label =
    links.length === 1
      ? "A chain of one version"
      : `A chain of ${links.length} versions, ${links.every(({ linked }) => linked) ? "each linked to the previous one" : "with a broken link"}`;
  return html`<svg class="chain" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
${newestFirst.map((link, row) => connection(link, row, row === newestFirst.length - 1))}
${newestFirst.map(node)}
</svg>`;
}

function connection({ linked }: ChainLink, row: number, last: boolean): Html | "" {
  if (last) return "";
  const [top, bottom] = [row * rowHeight + rowHeight / 2 + radius, (row + 1) * rowHeight + rowHeight / 2 - radius];
  const middle = (top + bottom) / 2;
  if (linked) return html`<path class="link" d="M${x} ${top}V${bottom}"/>`;
  return html`<path class="link broken" d="M${x} ${top}V${bottom}"/><path class="cross" d="m${x - 5} ${middle - 5} 10 10m0-10-10 10"/>`;
}

function node({ version, createdAt, manifestSha256, linked, own }: ChainLink, row: number): Html {
  const y = row * rowHeight + rowHeight / 2;
  const state = `${linked ? "whole" : "broken"}${own ? " own" : ""}`;
  return html`<g class="${state}"><circle cx="${x}" cy="${y}" r="${radius}"/><text class="number" x="${x}" y="${y}" dy="0.35em" text-anchor="middle">${version}</text>
<text class="when" x="${x + 32}" y="${y - 4}">${createdAt.toISOString().slice(0, 10)}${own && ", this version"}</text><text class="hash" x="${x + 32}" y="${y + 15}">${manifestSha256.slice(0, 16)}…</text></g>`;
}
