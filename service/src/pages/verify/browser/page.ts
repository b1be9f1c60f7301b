import { takeDrops } from "../../ui/browser/drops.ts";
import { part } from "../../ui/browser/parts.ts";
import { type Html, render } from "../../ui/render.ts";
import { recheckClosing } from "./closing-recheck.ts";
import type { VerifyConfig } from "./config.ts";
import type { CheckReport, CheckRequest } from "./messages.ts";
import { headlineOf, outcomesView } from "./outcome-view.ts";

/** The page's side: takes files, asks the worker, shows what came of it. */
export function startPage(): void {
  const worker = workerAddress();
  const config = JSON.parse(part("verify-config").textContent ?? "") as VerifyConfig;
  const zone = part("drop");
  const picker = part<HTMLInputElement>("drop-files");
  let files: readonly File[] = [];
  let running: Worker | null = null;

  async function check(): Promise<void> {
    if (files.length === 0) return;
    const request: CheckRequest = { files, config, trust: await readersTrust(), at: Date.now() };
    running?.terminate();
    const mine = new Worker(worker);
    running = mine;
    const finish = (said: string, view: Html) => {
      mine.terminate();
      if (running !== mine) return;
      running = null;
      zone.removeAttribute("aria-busy");
      progress(null, null);
      show(said, view);
    };
    zone.setAttribute("aria-busy", "true");
    mine.addEventListener("message", ({ data }: MessageEvent<CheckReport>) => {
      if (data.kind === "reading") progress(data.read, data.total);
      else if (data.kind === "checking") progress(null, 1);
      else if (data.kind === "done") finish(headlineOf(data.outcomes), outcomesView(data.outcomes, config.firm));
      else finish("That did not work.", outcomesView([{ kind: "failed", name: "The check", why: data.why }]));
    });
    mine.addEventListener("error", ({ message }) =>
      finish("That did not work.", outcomesView([{ kind: "failed", name: "The check", why: message }])),
    );
    mine.postMessage(request);
  }

  const take = (chosen: FileList | undefined) => {
    if (chosen === undefined || chosen.length === 0) return;
    files = [...chosen];
    // Beside the button stands what was dropped, too.
    if (picker.files !== chosen) picker.files = chosen;
    void check();
  };
  picker.addEventListener("change", () => take(picker.files ?? undefined));
  // So that the same file, changed on the disk, can be chosen again.
  picker.addEventListener("click", () => {
    picker.value = "";
  });
  for (const name of ["trust-seal", "trust-time"]) part(name).addEventListener("change", () => void check());
  takeDrops(zone, take);
  if (!globalThis.isSecureContext) {
    picker.disabled = true;
    part("outcome-said").textContent = "This browser checks signatures only on https pages. Use the commands below.";
  }
  if (config.closing !== null) {
    void recheckClosing(config.closing).then(({ said, claims }) => {
      part("recheck-said").textContent = said;
      put(part("recheck"), claims);
    });
  }
}

/** The address of this very script, for a worker: where it came from, or its text when it is part of the page. */
function workerAddress(): string {
  const script = document.currentScript as HTMLScriptElement;
  if (script.src !== "") return script.src;
  return URL.createObjectURL(new Blob([script.textContent ?? ""], { type: "text/javascript" }));
}

async function readersTrust(): Promise<CheckRequest["trust"]> {
  const text = (id: string) => part<HTMLInputElement>(id).files?.[0]?.text() ?? "";
  const [seal, timeStamping] = await Promise.all([text("trust-seal"), text("trust-time")]);
  return { seal, timeStamping };
}

/** Bytes read of a total; without the first it is not known how far the work is; without both there is none. */
function progress(read: number | null, total: number | null): void {
  const bar = part<HTMLProgressElement>("drop-progress");
  const said = part("outcome-said");
  bar.hidden = total === null;
  if (total === null) return;
  if (read === null) bar.removeAttribute("value");
  else bar.value = read / Math.max(total, 1);
  const words = read === null ? "Checking" : "Reading";
  if (!said.textContent?.startsWith(words)) said.textContent = `${words}…`;
}

/** `said` is for those who hear the page; the focus moves to what they may want to read. */
function show(said: string, view: Html): void {
  part("outcome-said").textContent = said;
  const outcome = part("outcome");
  put(outcome, view);
  const heading = outcome.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

function put(into: HTMLElement, view: Html): void {
  into.innerHTML = render(view);
}
