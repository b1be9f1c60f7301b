/** Keeps the cards of a room's page up to date. */
import { carryEntries, carryFocus, isStillMeant } from "../../ui/browser/entries.ts";
import { part } from "../../ui/browser/parts.ts";

/**
 * The result of a load. After `failed`, a retry is useful: the service did not respond, was failing, or limited the
 * rate.
 */
type Load = "done" | "failed";

const retryMs = 2_000;

/**
 * Runs loads one at a time. Of two concurrent loads, the earlier could finish last and show an outdated state. Calls
 * during a load start one further load after it, because the running load may have missed the change. A failed load is
 * retried after a pause.
 * @returns a function that resolves after a load that began after the call, even if that load failed
 */
export function oneByOne(load: () => Promise<Load>): () => Promise<void> {
  let running: Promise<void> | null = null;
  let next: Promise<void> | null = null;
  let timer: ReturnType<typeof setTimeout> | null = null;

  async function run(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const result = await load().catch((): Load => "failed");
    running = null;
    if (result === "failed" && next === null) timer = setTimeout(() => void ask(), retryMs);
  }

  function ask(): Promise<void> {
    if (running === null) {
      running = run();
      return running;
    }
    next ??= running.then(() => {
      next = null;
      return ask();
    });
    return next;
  }
  return ask;
}

/** A load without a response must not block the next load forever. */
const answerMs = 15_000;

/**
 * The last HTML of each card. If the new HTML of a card is the same, the card is not replaced, so that its frame
 * doesn't reload. A replaced card gets back the typed values and the focus.
 */
const shown = new Map<string, string>();

function remember(cards: Element): void {
  shown.clear();
  for (const each of cards.children) shown.set(each.id, each.outerHTML);
}

/**
 * Keeps the cards in `#room-part` up to date.
 * @param apply called after each successful load
 * @returns a function that loads the cards again; resolves after the load, even if it failed
 */
export function startRefreshing(base: string, apply: () => void): () => Promise<void> {
  remember(part("room-part"));
  return oneByOne(async () => {
    const signal = AbortSignal.timeout(answerMs);
    const answer = await fetch(`${base}/part${location.search}`, { signal });
    // Server errors and rate limits pass, so a retry is useful. Any other error means that the person may no longer see
    // the room.
    if (!answer.ok) return answer.status >= 500 || answer.status === 429 ? "failed" : "done";
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.getElementById("room-part");
    if (!next) return "done";
    show(next);
    apply();
    return "done";
  });
}

function show(next: HTMLElement): void {
  const now = part("room-part");
  const incoming = [...next.children];
  for (const each of [...now.children]) if (!incoming.some(({ id }) => id === each.id)) each.remove();
  let before: Element | null = null;
  for (const each of incoming) {
    const existing = [...now.children].find(({ id }) => id === each.id);
    let current: Element = existing ?? document.importNode(each, true);
    if (existing && shown.get(each.id) !== each.outerHTML) {
      current = document.importNode(each, true);
      const restoreFocus = carryFocus(existing);
      carryEntries(existing, current, isStillMeant);
      existing.replaceWith(current);
      restoreFocus(current);
    } else if (!existing) {
      if (before) before.after(current);
      else now.prepend(current);
    }
    before = current;
  }
  remember(next);
  now.dataset["media"] = next.dataset["media"] ?? "off";
  now.dataset["awake"] = next.dataset["awake"] ?? "no";
}
