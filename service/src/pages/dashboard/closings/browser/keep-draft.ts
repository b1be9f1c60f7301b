/** Saves the form as a draft while it is filled in, and before it is submitted. */

const everyMs = 5_000;
const maxMs = 10_000;

type Form = { form: () => HTMLFormElement; typed: () => URLSearchParams };
type Answer = {
  id?: string;
  version?: number;
  isCopy?: boolean;
  until?: string;
  address?: string;
  isEnded?: boolean;
  error?: string;
};

let parts: Form;
/** The values of the form at the last save or load, as text. The service has these values. */
let saved: string | undefined;
let running: Promise<boolean> | undefined;
/** True while the form is being saved and then submitted. */
let isSubmitting = false;

/**
 * Saves the form regularly from now on. Call `markSaved` after the form was replaced by the service's version, if that
 * has no unsaved changes.
 */
export function keepDraft(of: Form): void {
  parts = of;
  markSaved();
  setInterval(() => void save(), everyMs);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden") void save();
  });
  document.addEventListener("submit", (event) => {
    if (event.target !== parts.form() || isSubmitting) return;
    event.preventDefault();
    isSubmitting = true;
    void submit(event.submitter);
  });
  // After "Back", the browser may restore this page as it was. Then the form must be submittable again.
  addEventListener("pageshow", () => {
    isSubmitting = false;
  });
}

/** Records that the service has the current state of the form. */
export function markSaved(): void {
  saved = state();
}

/** Waits for a save that is in progress. The next request can then name the draft's newest version. */
export const draftSettled = async (): Promise<unknown> => running;

/**
 * Saves the form, then submits it, even if the service did not save it. If the session has ended, the form is not
 * submitted, because the sign-in page would replace it.
 */
async function submit(submitter: HTMLElement | null): Promise<void> {
  await running;
  const isSignedIn = await save();
  // A form ignores `requestSubmit` until the browser has handled the prevented submit event. A promise can settle
  // earlier than that, so this waits for a new task.
  await new Promise((resolve) => setTimeout(resolve));
  if (isSignedIn) parts.form().requestSubmit(submitter);
  isSubmitting = false;
}

function state(): string {
  const values = parts.typed();
  for (const name of ["draft", "draft_version", "draft_window"]) values.delete(name);
  return values.toString();
}

/**
 * Saves the form. If a save is already in progress, waits for that one.
 * @returns false when the session has ended
 */
function save(): Promise<boolean> {
  running ??= send().finally(() => {
    running = undefined;
  });
  return running;
}

async function send(): Promise<boolean> {
  const now = state();
  if (now === saved) return true;
  try {
    const response = await fetch(element("draft-state")?.dataset["draft"] ?? "", {
      method: "POST",
      body: parts.typed(),
      headers: { Accept: "application/json" },
      signal: AbortSignal.timeout(maxMs),
    });
    if (response.status === 401) {
      warn("You are signed out. Sign in in another tab, then go on here: nothing on this page is lost.");
      return false;
    }
    const answer = (await response.json()) as Answer;
    if (!response.ok) {
      warn(`The draft is not saved: ${answer.error ?? "try again in a moment."}`);
      return true;
    }
    saved = now;
    note(answer);
  } catch {
    warn("The draft is not saved, because the service does not answer. It is tried again.");
  }
  return true;
}

function note({ id, version, isCopy, until, address, isEnded }: Answer): void {
  warn(
    isEnded
      ? "This closing was placed or discarded in another window, so it is not saved here any more. To continue with this version, update the price."
      : isCopy
        ? "The draft was changed in another window. Your version here is saved as a separate draft."
        : "",
  );
  if (id === undefined || until === undefined) return;
  set("draft", id);
  set("draft_version", String(version));
  if (address !== undefined) history.replaceState(null, "", address);
  const day = new Date(until).toLocaleDateString("en-US", { dateStyle: "medium" });
  const time = new Date().toLocaleTimeString("en-US", { timeStyle: "short" });
  const line = element("draft-state");
  if (line)
    line.textContent = `Saved as a draft at ${time}, for you alone. It is deleted on ${day} unless you place it.`;
}

const element = (id: string): HTMLElement | null => document.getElementById(id);

function set(name: string, value: string): void {
  const input = parts.form().elements.namedItem(name);
  if (input instanceof HTMLInputElement) input.value = value;
}

function warn(text: string): void {
  const problem = element("draft-problem");
  if (problem && problem.textContent !== text) problem.textContent = text;
}
