import { takeDrops } from "../../../ui/browser/drops.ts";
import { type Sent, sendFile } from "./sending.ts";

const form = part("seal-form") as HTMLFormElement;
const picker = part("seal-file") as HTMLInputElement;
const list = part("seal-files");

type Entry = { file: File; row: ReturnType<typeof newRow> };

const waiting: Entry[] = [];
let isRunning = false;

// Without this script a form has one file: the server takes one at a time.
picker.multiple = true;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  take(picker.files ?? undefined);
  form.reset();
});
takeDrops(form, take);

function take(files: FileList | undefined): void {
  for (const file of files ?? []) {
    const row = newRow(file.name);
    row.say("Waiting");
    waiting.push({ file, row });
  }
  if (!isRunning) void sealAll();
}

/** One file after the other. A file that came alone leads to its passport; of several the list below tells. */
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

/** A line about one file, with its name as text. */
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
      link.textContent = "Sealed: open passport";
      state.replaceChildren(link);
    },
    refuse(why: string) {
      bar.remove();
      line.classList.add("refused");
      say(why);
    },
  };
}

/** Puts the newest list in the place of the one that is shown. */
async function renewList(): Promise<void> {
  const response = await fetch(form.action, { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response?.ok) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("sealed");
  if (fresh) part("sealed").replaceWith(fresh);
}

/** For those who hear the page. */
function announce(words: string): void {
  part("seal-said").textContent = words;
}

function part(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}
