import { type Html, html } from "../ui/render.ts";

/** The message of a page in a frame to the page around it; `state` is that of the signing, or why there is none. */
export type FrameData = { origin: string; signer: number | null; state: string };

/** Read by `embed.js`. It names no person and no document; an order's code would be a credential. */
export const frameData = ({ origin, signer, state }: FrameData): Html =>
  html`<div id="embed" hidden data-origin="${origin}" data-signer="${signer ?? ""}" data-state="${state}"></div>`;
