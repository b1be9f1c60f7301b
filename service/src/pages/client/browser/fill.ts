/**
 * Saves the answers in a step of an online form while they are typed. Without JavaScript, they are saved when the
 * button is pressed.
 */
import { part } from "../../ui/browser/parts.ts";

const form = part<HTMLFormElement>("fill-form");
const statusLine = part("fill-said");
const pauseMs = 800;

const { save = "", saving = "", saved = "", refused = "", unsaved = "", stale = "" } = form.dataset;
let timer = 0;
let sending: Promise<void> | null = null;

async function send(): Promise<void> {
  statusLine.textContent = saving;
  try {
    const body = new URLSearchParams();
    for (const [name, value] of new FormData(form)) if (typeof value === "string") body.append(name, value);
    const answer = await fetch(save, { method: "POST", headers: { Accept: "application/json" }, body });
    if (!answer.ok) throw new Error(String(answer.status));
    const result = (await answer.json()) as { revision?: number; refused?: number };
    if (result.revision === undefined) {
      statusLine.textContent = stale;
      return;
    }
    const revision = form.elements.namedItem("revision");
    if (revision instanceof HTMLInputElement) revision.value = String(result.revision);
    statusLine.textContent = result.refused ? refused : saved;
  } catch {
    statusLine.textContent = unsaved;
  }
}

/**
 * Saves soon after the last change, but never during another save, because each save sends the revision number that the
 * previous save returned.
 */
function saveSoon(): void {
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    if (sending) {
      saveSoon();
      return;
    }
    sending = send().finally(() => {
      sending = null;
    });
  }, pauseMs);
}

form.addEventListener("input", saveSoon);
form.addEventListener("submit", (event) => {
  window.clearTimeout(timer);
  if (!sending) return;
  event.preventDefault();
  const button = event.submitter;
  void sending.then(() => form.requestSubmit(button));
});
