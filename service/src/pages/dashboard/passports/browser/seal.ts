import { listenForDrops } from "../../../ui/browser/drops.ts";

const form = part("seal-form") as HTMLFormElement;
const picker = part("seal-file") as HTMLInputElement;
const list = part("seal-files");

type Entry = { file: File; row: ReturnType<typeof newRow> };

const waiting: Entry[] = [];
let isRunning = false;

// Allows several files at once: the server accepts one file per request, and this script sends them one by one.
picker.multiple = true;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  showFiles(picker.files ?? undefined);
  form.reset();
});
listenForDrops(form, showFiles);

function showFiles(files: FileList | undefined): void {
  for (const file of files ?? []) {
    const row = newRow(file.name);
    row.say("Waiting");
    waiting.push({ file, row });
  }
  if (!isRunning) void sealAll();
}

/**
 * Seals the chosen files one after the other. If only one file was chosen, the page of its passport then opens.
 * Otherwise the page's list shows the new passports.
 */
async function sealAll(): Promise<void> {
  isRunning = true;
  const outcomes: Sent[] = [];
  for (let next = waiting.shift(); next; next = waiting.shift()) outcomes.push(await seal(next));
  isRunning = false;
  const sealed = outcomes.flatMap((outcome) => ("location" in outcome ? outcome.location : []));
  const [location] = sealed;
  if (location === undefined) return;
  if (outcomes.length === 1) return window.location.assign(location);
  announce(`${sealed.length} of ${outcomes.length} files were sealed.`);
  await renewList();
}

async function seal({ file, row }: Entry): Promise<Sent> {
  announce(`Sending ${file.name}`);
  const outcome = await send(file, row);
  if ("location" in outcome) {
    row.link(outcome.location);
    announce(`${file.name} is sealed.`);
  } else {
    row.refuse(outcome.refused);
    announce(`${file.name}: ${outcome.refused}`);
  }
  return outcome;
}

async function send(file: File, row: Entry["row"]): Promise<Sent> {
  const { maxBytes = "", tooLarge = "" } = form.dataset;
  if (file.size > Number(maxBytes)) return { refused: tooLarge };
  row.sent(0);
  return sendFile(form, file, {
    sent: row.sent,
    working() {
      row.working();
      announce(`Sealing ${file.name}`);
    },
  });
}

/** A line about one file. The file's name is set as text, never as HTML. */
function newRow(name: string) {
  const title = document.createElement("span");
  title.className = "seal-name";
  title.textContent = name;
  const state = document.createElement("span");
  state.className = "seal-state";
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", `Progress of ${name}`);
  const line = document.createElement("li");
  line.append(title, state);
  list.append(line);
  const say = (words: string) => {
    state.textContent = words;
  };
  return {
    say,
    sent(share: number) {
      if (!bar.isConnected) line.append(bar);
      bar.value = share;
      say(`Sending ${Math.floor(share * 100)} %`);
    },
    working() {
      bar.removeAttribute("value");
      say("Sealing…");
    },
    link(location: string) {
      bar.remove();
      const link = document.createElement("a");
      link.href = location;
      link.textContent = "Sealed: open it";
      state.replaceChildren(link);
    },
    refuse(why: string) {
      bar.remove();
      line.classList.add("refused");
      say(why);
    },
  };
}

/** Reloads the list of passports. */
async function renewList(): Promise<void> {
  const response = await fetch(form.action, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("sealed");
  if (fresh) part("sealed").replaceWith(fresh);
}

/** Makes screen readers announce the words. */
function announce(words: string): void {
  part("seal-said").textContent = words;
}

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** The result for one file: the URL of its passport, or the reason why it was rejected. */
type Sent = { location: string } | { refused: string };

/**
 * Callbacks for the progress of one file. `sent` gets the fraction that was uploaded so far. `working` is called when
 * the upload is complete and the server seals the file.
 */
type Way = { sent: (share: number) => void; working: () => void };

const lost = "The connection was lost. Please send the file again.";

/** Sends one file as the part `file` of a form, with the form's other values. Never rejects. */
function sendFile(form: HTMLFormElement, file: File, way: Way): Promise<Sent> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", ({ loaded, total }) => way.sent(loaded / Math.max(total, 1)));
    request.upload.addEventListener("load", way.working);
    request.addEventListener("load", () => resolve(answerOf(request)));
    for (const end of ["error", "abort"]) request.addEventListener(end, () => resolve({ refused: lost }));
    const body = new FormData(form);
    body.set("file", file, file.name);
    request.open("POST", form.action);
    request.setRequestHeader("Accept", "application/json");
    request.send(body);
  });
}

function answerOf({ status, responseText }: XMLHttpRequest): Sent {
  const answer = parsed(responseText);
  if (status === 200 && typeof answer["location"] === "string") return { location: answer["location"] };
  return { refused: typeof answer["error"] === "string" ? answer["error"] : `That did not work (status ${status}).` };
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
