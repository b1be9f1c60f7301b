/**
 * Scrolls the document in a person's browser to the page that the notary shows. Shows the notary which page each person
 * reads.
 */
import { say } from "../../ui/browser/parts.ts";
import { type Led, post, type Reads } from "./connection.ts";

type FollowDeps = { base: string; words: Readonly<Record<string, string>> };

/** A person must stay on a page for this long, in milliseconds, before the page is reported to the notary. */
const settledMs = 400;

const element = <Kind extends HTMLElement>(id: string) => document.getElementById(id) as Kind | null;

/**
 * Delays work until the reader stays on one page.
 * @returns a function to call at each change of the page
 */
function whenSettled(work: () => void): () => void {
  let timer: number | undefined;
  return () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(work, settledMs);
  };
}

const documentFrame = () => element<HTMLIFrameElement>("document-frame");

/**
 * Handles the messages of the frame with the document. The frame element is looked up for each message, because it may
 * have been replaced. It is replaced when the person's turn to sign begins or ends, and when the document changes.
 */
function onFrame(uses: {
  replaced: () => void;
  shown: (sha256: string) => void;
  moved: (page: number, pages: number) => void;
}): void {
  let last: HTMLIFrameElement | null = null;
  addEventListener("message", ({ origin, source, data }: MessageEvent<Record<string, unknown> | null>) => {
    const frame = documentFrame();
    if (origin !== location.origin || !frame || source !== frame.contentWindow || data === null) return;
    if (frame !== last) {
      last = frame;
      uses.replaced();
    }
    const { kind, sha256, page, pages } = data;
    if (kind === "document-shown" && typeof sha256 === "string") uses.shown(sha256);
    if (kind === "at-page" && typeof page === "number" && typeof pages === "number") uses.moved(page, pages);
  });
}

/**
 * Scrolls the frame to the notary's page while the person's checkbox is ticked. When the frame is replaced, so is the
 * checkbox.
 *
 * @returns a function to call with each page that the notary shows
 */
export function startFollowing({ base, words }: FollowDeps) {
  let led: Led | null = null;
  let shownHash: string | null = null;
  let at: { page: number; pages: number } | null = null;
  /** The page to which the frame is scrolling; null after it has arrived. */
  let goingTo: number | null = null;
  const box = () => element<HTMLInputElement>("follow-notary");
  const tell = (text: string) => {
    const statusLine = element("follow-said");
    if (statusLine && statusLine.textContent !== text) statusLine.textContent = text;
  };

  function follow(): void {
    if (led === null || !box()?.checked || shownHash === null) return;
    if (led.sha256 !== shownHash) {
      tell(words["other"] ?? "");
      return;
    }
    tell(say(words["leads"] ?? "", { page: led.page }));
    if (at?.page === led.page) return;
    goingTo = led.page;
    documentFrame()?.contentWindow?.postMessage({ kind: "go-to-page", page: led.page }, location.origin);
  }

  const report = whenSettled(() => {
    if (at === null || !box()) return;
    const fields = { page: String(at.page), pages: String(at.pages), following: isWithNotary() ? "yes" : "no" };
    post(`${base}/page`, fields)
      .then(({ led: now }) => lead(now as Led | null))
      .catch(() => {});
  });

  const isWithNotary = () => led !== null && (box()?.checked ?? false) && at?.page === led.page;

  function lead(now: Led | null): void {
    if (now === null || (now.page === led?.page && now.sha256 === led.sha256)) return;
    led = now;
    follow();
  }

  /**
   * Called with the page in view. If it is not the notary's page and the frame is not scrolling there, the person has
   * scrolled. The checkbox is then unticked.
   */
  function moved(page: number, pages: number): void {
    at = { page, pages };
    const follows = box();
    if (page === goingTo) goingTo = null;
    else if (goingTo === null && led !== null && follows?.checked && page !== led.page && led.sha256 === shownHash) {
      follows.checked = false;
      tell(words["left"] ?? "");
    }
    report();
  }

  onFrame({
    replaced() {
      // A new frame starts at the first page. The person has not scrolled there, so the checkbox stays ticked.
      shownHash = null;
      at = null;
      goingTo = null;
    },
    shown(sha256) {
      shownHash = sha256;
      follow();
      report();
    },
    moved,
  });
  document.addEventListener("change", ({ target }) => {
    if (target !== box()) return;
    goingTo = null;
    if (box()?.checked) follow();
    else tell("");
    report();
  });

  return lead;
}

/** Shows on the notary's page which page each person reads. */
export function startReaders(nameOf: (person: string) => string) {
  const lines = new Map<string, string>();
  return ({ person, page, pages, isFollowing }: Reads): void => {
    const statusLine = element("reads-said");
    if (!statusLine) return;
    const where = isFollowing ? "on your page" : "not on your page";
    lines.set(person, `${nameOf(person)} reads page ${page} of ${pages}, ${where}.`);
    statusLine.textContent = [...lines.values()].join(" ");
  };
}

/** Makes the notary's form ask the signers to go to a page of the document. */
export function offerPages(base: string): void {
  const form = element<HTMLFormElement>("lead");
  const statusLine = element("lead-said");
  if (!form || !statusLine) return;
  const input = form.elements.namedItem("page") as HTMLInputElement;
  const show = (page: number) => {
    input.value = String(Math.max(1, page));
    post(`${base}/page`, { page: input.value })
      .then(() => {
        statusLine.textContent = `You asked the signers to go to page ${input.value}.`;
        const link = element<HTMLAnchorElement>("shown-document");
        if (link) link.href = `${link.href.replace(/#.*$/, "")}#page=${input.value}`;
      })
      .catch((error: Error) => {
        statusLine.textContent = error.message;
      });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    show(Number(input.value));
  });
  element("lead-before")?.addEventListener("click", () => show(Number(input.value) - 1));
  element("lead-next")?.addEventListener("click", () => show(Number(input.value) + 1));
}
