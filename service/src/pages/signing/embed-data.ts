import { type Html, html } from "../ui/render.ts";

/**
 * The message from a page in a frame to the surrounding page. `state` is the state of the signing. If the frame can't
 * show the signing, `state` is the reason.
 */
export type FrameData = { origin: string; signer: number | null; state: string };

/**
 * The data for `embed.js`. It contains no person, no document and no order code, because an order code is a credential.
 */
export const frameData = ({ origin, signer, state }: FrameData): Html =>
  html`<div id="embed" hidden data-origin="${origin}" data-signer="${signer ?? ""}" data-state="${state}"></div>`;
