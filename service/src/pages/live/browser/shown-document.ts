/** Reports the hash of the document that this browser shows. The session's record lists the hashes of all browsers. */
import { toHex } from "@signsealship/evidence/bytes";
import { part } from "../../ui/browser/parts.ts";
import { post } from "./connection.ts";

/**
 * Reports the hash of the document in the frame of a signer's room. The signing page in that frame sends the hash in a
 * message.
 */
export function reportFramedDocument(base: string): void {
  addEventListener("message", ({ origin, data }: MessageEvent<{ kind?: unknown; sha256?: unknown } | null>) => {
    if (origin !== location.origin || data?.kind !== "document-shown" || typeof data.sha256 !== "string") return;
    // The server records even the hash of an outdated document. It need not refuse one, because the signing page itself
    // refuses to sign such a document.
    post(`${base}/shown`, { sha256: data.sha256 }).catch(() => {});
  });
}

/** The notary's button: fetches the document, reports its hash, and shows a link that opens exactly these bytes. */
export function offerDocument(base: string): void {
  const button = document.getElementById("show-document");
  if (!(button instanceof HTMLButtonElement)) return;
  const [statusLine, link] = [part("shown-said"), part<HTMLAnchorElement>("shown-document")];
  button.addEventListener("click", () => {
    button.disabled = true;
    show()
      .then(() => {
        statusLine.textContent = button.dataset["same"] ?? "";
        link.hidden = false;
        part("lead").hidden = false;
        link.focus();
      })
      .catch((error: Error) => {
        statusLine.textContent = error.message;
        link.hidden = true;
      })
      .finally(() => {
        button.disabled = false;
      });
  });

  async function show(): Promise<void> {
    const answer = await fetch(button?.dataset["source"] ?? "");
    if (!answer.ok) throw new Error(String(answer.status));
    const bytes = await answer.arrayBuffer();
    const sha256 = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([bytes], { type: "application/pdf" }));
    await post(`${base}/shown`, { sha256 });
  }
}
