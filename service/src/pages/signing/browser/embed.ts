import { refusePresses, timeOf } from "./press-guard.ts";

// Notifies the firm's page when something happens in the frame with the signing pages. A message names no person and no
// document, and contains no credential. It is sent only to the origin that the service allows for this page.

type Message = { type: string; code?: string };

const data = document.getElementById("embed");
const { origin = "", signer = "", state = "" } = data?.dataset ?? {};
const isFramed = window.parent !== window && origin !== "";

function tell(message: Message): void {
  if (!isFramed) return;
  const about = signer === "" ? {} : { signer: Number(signer) };
  window.parent.postMessage({ source: "signsealship", v: 1, ...about, ...message }, origin);
}

/** The message for each of these states of the signing. The state `ready` isn't in this table: it is handled below. */
const messages: Readonly<Record<string, Message>> = {
  begin: { type: "ready" },
  signed: { type: "signed" },
  completed: { type: "signed" },
  declined: { type: "declined" },
  expired: { type: "error", code: "expired" },
  voided: { type: "error", code: "voided" },
  locked: { type: "error", code: "locked" },
  used: { type: "error", code: "used" },
  ended: { type: "error", code: "expired" },
};

const message = messages[state];
if (message) tell(message);
if (state === "ready") tell({ type: "viewed" });

document.getElementById("embed-close")?.addEventListener("click", () => tell({ type: "closed" }));

window.addEventListener("message", (event) => {
  if (event.source !== window.parent || event.origin !== origin) return;
  const asked = event.data as Partial<{ target: string; type: string }> | null;
  if (asked?.target !== "signsealship") return;
  if (asked.type === "close") tell({ type: "closed" });
  if (asked.type === "focus") document.querySelector<HTMLElement>("h1")?.focus();
});

const minWidth = 320;
const minHeight = 480;
const seenMs = 1000;
let visibleSince = Number.POSITIVE_INFINITY;

/**
 * True if the frame is large enough and was visible long enough. Otherwise the surrounding page could show only the
 * frame's button, next to a misleading text (clickjacking).
 */
const isInSight = (press: Event): boolean =>
  window.innerWidth >= minWidth && window.innerHeight >= minHeight && timeOf(press) - visibleSince >= seenMs;

/**
 * Ignores clicks on the button unless the frame is large enough and the button was visible for a second. The firm's
 * page is notified of each ignored click.
 */
function guard(button: HTMLElement): void {
  const look = (entries: readonly IntersectionObserverEntry[]) => {
    const isSeen = (entries.at(-1)?.intersectionRatio ?? 0) > 0.99;
    if (!isSeen) visibleSince = Number.POSITIVE_INFINITY;
    else if (visibleSince === Number.POSITIVE_INFINITY) visibleSince = performance.now();
  };
  new IntersectionObserver(look, { threshold: [0, 1] }).observe(button);
  refusePresses(button, (press) => {
    if (isInSight(press)) return false;
    tell({ type: "error", code: "hidden" });
    return true;
  });
}

const signButton = document.getElementById("sign-button");
if (isFramed && signButton) guard(signButton);
