import { verifyChain } from "@signsealship/evidence/manifest";
import { titleOf } from "@signsealship/verifier/claim-titles";
import { listenForDrops } from "../../ui/browser/drops.ts";
import { part } from "../../ui/browser/parts.ts";
import { type Html, html, render } from "../../ui/render.ts";
import { claimList } from "../verdict.ts";
import type { ClosingConfig, VerifyConfig } from "./config.ts";
import { headlineOf, outcomesView } from "./outcome-view.ts";
import type { CheckReport, CheckRequest } from "./worker.ts";

/** The page's part of the script: accepts files, calls the worker, and renders the outcomes. */
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
    const finish = (announced: string, view: Html) => {
      mine.terminate();
      if (running !== mine) return;
      running = null;
      zone.removeAttribute("aria-busy");
      progress(null, null);
      show(announced, view);
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

  const onFiles = (chosen: FileList | undefined) => {
    if (chosen === undefined || chosen.length === 0) return;
    files = [...chosen];
    // Shows the names of dropped files next to the button as well.
    if (picker.files !== chosen) picker.files = chosen;
    void check();
  };
  picker.addEventListener("change", () => onFiles(picker.files ?? undefined));
  // Allows the reader to choose the same file again after it changed on disk.
  picker.addEventListener("click", () => {
    picker.value = "";
  });
  for (const name of ["trust-seal", "trust-time"]) part(name).addEventListener("change", () => void check());
  listenForDrops(zone, onFiles);
  if (!globalThis.isSecureContext) {
    picker.disabled = true;
    part("outcome-said").textContent = "This browser checks signatures only on https pages. Use the commands below.";
  }
  if (config.closing !== null) {
    void recheckClosing(config.closing).then(({ result, claims }) => {
      part("recheck-said").textContent = result;
      put(part("recheck"), claims);
    });
  }
}

/** The URL of this script for the worker: its source URL, or its own text when the script is inline. */
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

/**
 * Shows how many bytes of a total were read. If `read` is null, the progress is unknown; if both are null, the bar is
 * hidden.
 */
function progress(read: number | null, total: number | null): void {
  const bar = part<HTMLProgressElement>("drop-progress");
  const statusLine = part("outcome-said");
  bar.hidden = total === null;
  if (total === null) return;
  if (read === null) bar.removeAttribute("value");
  else bar.value = read / Math.max(total, 1);
  const words = read === null ? "Checking" : "Reading";
  if (!statusLine.textContent?.startsWith(words)) statusLine.textContent = `${words}…`;
}

/** Announces `announced` to screen readers, and moves the focus to the results. */
function show(announced: string, view: Html): void {
  part("outcome-said").textContent = announced;
  const outcome = part("outcome");
  put(outcome, view);
  const heading = outcome.querySelector("h2");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

function put(into: HTMLElement, view: Html): void {
  into.innerHTML = render(view);
}

/** The result of the browser's own verification of a closing: a sentence, and the claims one by one. */
type Recheck = { result: string; claims: Html };

/** Verifies the hashes and the chain of the manifests in the page. */
async function recheckClosing({ roomCode, version, versions }: ClosingConfig): Promise<Recheck> {
  const encoder = new TextEncoder();
  const claims = await verifyChain({
    roomCode,
    versions: versions.flatMap(({ version, manifest, manifestSha256 }) =>
      manifest === null ? [] : [{ version, bytes: encoder.encode(manifest), manifestSha256 }],
    ),
  });
  const failing = claims.filter(({ state }) => state === "fails");
  const own = claims.filter(({ name }) => name.startsWith(`manifest.v${version}.`));
  const other = claims.filter((claim) => !own.includes(claim));
  const whole = versions.every(({ manifest }) => manifest !== null);
  const announced =
    failing.length > 0
      ? `Your browser computed it, too: ${failing.length} did not match. Do not rely on it.`
      : "Your browser computed it, too: everything matches.";
  const missing =
    "This link does not open the earlier versions. Choose their certificates above to follow the chain, too.";
  const shown = html`${!whole && html`<p>${missing}</p>`}${claimList(own, titleOf)}${
    other.length > 0 &&
    html`<details><summary>Earlier versions and the chain</summary>${claimList(other, titleOf)}</details>`
  }`;
  return { result: announced, claims: shown };
}
