/** The connection between a document's viewer and the notary's room whose frame shows the viewer. */
import { toHex } from "@signsealship/evidence/bytes";

/**
 * The window of the notary's room that shows this page in a frame; null when there is none. The room records the hash
 * of the displayed document. It also sends the number of the page that the notary shows.
 */
function roomAround(): Window | null {
  try {
    const { parent } = window;
    return parent !== window && parent.location.origin === window.location.origin ? parent : null;
  } catch {
    // The surrounding page has another origin, such as a firm's.
    return null;
  }
}

const tell = (message: object): void => roomAround()?.postMessage(message, location.origin);

/** Sends the room the hash of the document that this frame shows. */
export const tellHash = (sha256: string): void => tell({ kind: "document-shown", sha256 });

/** Hex SHA-256 of bytes. Null without `crypto.subtle`, which browsers offer only on https pages. */
export async function hashOf(bytes: Uint8Array): Promise<string | null> {
  const subtle = globalThis.crypto?.subtle;
  return subtle ? toHex(new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>))) : null;
}

let reportedPage = 0;

/** Sends the room the number of the displayed page. */
export function tellPage(page: number, pages: number): void {
  if (page === reportedPage) return;
  reportedPage = page;
  tell({ kind: "at-page", page, pages });
}

/**
 * Scrolls to the page that the notary shows. Scrolls only this window: `scrollIntoView` would also scroll the
 * surrounding room. The focus doesn't move.
 */
export function followRoom(pageOf: (n: number) => HTMLElement): void {
  const room = roomAround();
  if (!room) return;
  addEventListener("message", ({ origin, source, data }: MessageEvent<{ kind?: unknown; page?: unknown } | null>) => {
    if (origin !== location.origin || source !== room || data?.kind !== "go-to-page") return;
    if (typeof data.page === "number") scrollBy(0, pageOf(data.page).getBoundingClientRect().top - 8);
  });
}
