import { type Html, html } from "../ui/render.ts";

/**
 * The message from a page in a frame to the page around it. `state` is the state of the signing, or the reason why
 * there is none.
 */
export type FrameData = { origin: string; signer: number | null; state: string };

/**
 * `embed.js` reads this data. It names no person and no document, and no order code, because that would be a
 * credential.
 */
export const frameData = ({ origin, signer, state }: FrameData): Html =>
  html`<div id="embed" hidden data-origin="${origin}" data-signer="${signer ?? ""}" data-state="${state}"></div>`;
