import { type Html, html } from "../../ui/render.ts";

/** One version in the picture. `linked`: its manifest states the hash of the version before. */
export type ChainLink = { version: number; createdAt: Date; manifestSha256: string; linked: boolean; own: boolean };

const rowHeight = 64;
const width = 320;
const x = 28;
const radius = 18;

/** The chain of a room's versions, drawn, newest first; the words in it are said beside it, too. */
export function chainPicture(links: readonly ChainLink[]): Html {
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
