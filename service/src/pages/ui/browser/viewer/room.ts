/** A document's viewer in a frame of a notary's room: what it tells the room around it, and where the room sends it. */
import { toHex } from "@signsealship/evidence/bytes";

/**
 * The window of a notary's room that shows this page in a frame; null when there is none. The room records the
 * displayed hash for its session, and tells which page the notary shows.
 */
function roomAround(): Window | null {
  try {
    const { parent } = window;
    return parent !== window && parent.location.origin === window.location.origin ? parent : null;
  } catch {
    // A page of another origin, such as a firm's.
    return null;
  }
}

const tell = (message: object): void => roomAround()?.postMessage(message, location.origin);

/** Tells the room the hash of the document that this frame shows. */
export const tellHash = (sha256: string): void => tell({ kind: "document-shown", sha256 });

/** Hex SHA-256 of bytes. Null without `crypto.subtle`, which browsers offer only on https pages. */
export async function hashOf(bytes: Uint8Array): Promise<string | null> {
  const subtle = globalThis.crypto?.subtle;
  return subtle ? toHex(new Uint8Array(await subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>))) : null;
}

let reportedPage = 0;

/** Tells the room which page is read. */
export function tellPage(page: number, pages: number): void {
  if (page === reportedPage) return;
  reportedPage = page;
  tell({ kind: "at-page", page, pages });
}

/**
 * Goes to the page that the notary shows. Only this window scrolls: `scrollIntoView` would also scroll the room around
 * it. The focus stays where it is.
 */
export function followRoom(pageOf: (n: number) => HTMLElement): void {
  const room = roomAround();
  if (!room) return;
  addEventListener("message", ({ origin, source, data }: MessageEvent<{ kind?: unknown; page?: unknown } | null>) => {
    if (origin !== location.origin || source !== room || data?.kind !== "go-to-page") return;
    if (typeof data.page === "number") scrollBy(0, pageOf(data.page).getBoundingClientRect().top - 8);
  });
}
