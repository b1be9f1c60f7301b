// Keyboard shortcuts of the console. Every shortcut of a single key has an equivalent link or button, and can be
// switched off (WCAG 2.1.4). Ctrl+/ always shows the list of keys, so that a person can switch them on again.
const stored = "console-keys";
const help: readonly (readonly [keys: string, what: string])[] = [
  ["/", "Find an order"],
  ["g t", "Today"],
  ["g o", "Orders"],
  ["j, k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["c", "Claim the row’s task"],
  ["m", "To what can be done with the order"],
  ["?", "These keys"],
  ["Ctrl+/", "These keys, also while single keys are off"],
];

const isOn = () => localStorage.getItem(stored) !== "off";
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"));

let lastKey = "";

const rows = () => [...document.querySelectorAll<HTMLElement>("table.records tbody tr")];
const rowNow = () => document.activeElement?.closest<HTMLElement>("table.records tbody tr") ?? null;

/**
 * Moves the focus to the first link or button of the next or previous row. Screen readers then read the row, and Enter
 * opens it.
 */
function step(by: 1 | -1): void {
  const all = rows();
  const now = rowNow();
  const index = now ? all.indexOf(now) + by : by === 1 ? 0 : all.length - 1;
  all[Math.min(Math.max(index, 0), all.length - 1)]?.querySelector<HTMLElement>("a, button")?.focus();
}

function showHelp(): void {
  const open = document.querySelector<HTMLDialogElement>("#console-keys");
  // After `close`, a dialog stays in the page until its close event removes it. So the page may have a dialog that is
  // not open.
  if (open?.open) {
    open.close();
    return;
  }
  open?.remove();
  const dialog = document.createElement("dialog");
  dialog.id = "console-keys";
  dialog.setAttribute("aria-labelledby", "console-keys-title");
  const title = document.createElement("h2");
  title.id = "console-keys-title";
  title.textContent = "Keys";
  const list = document.createElement("dl");
  for (const [keys, what] of help) {
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = keys;
    text.textContent = what;
    list.append(term, text);
  }
  const box = document.createElement("div");
  const off = document.createElement("button");
  off.type = "button";
  off.className = "quiet-button";
  off.textContent = isOn() ? "Switch single keys off" : "Switch single keys on";
  off.addEventListener("click", () => {
    localStorage.setItem(stored, isOn() ? "off" : "on");
    dialog.close();
  });
  const close = document.createElement("button");
  close.type = "button";
  close.textContent = "Close";
  close.addEventListener("click", () => dialog.close());
  box.append(off, close);
  dialog.append(title, list, box);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

const actions: Readonly<Record<string, () => void>> = {
  "/": () => document.querySelector<HTMLElement>("#console-search")?.focus(),
  j: () => step(1),
  k: () => step(-1),
  c: () => rowNow()?.querySelector<HTMLButtonElement>("form[action$='/claim'] button")?.click(),
  m: () =>
    document
      .querySelector<HTMLElement>(".status-card :is(form input:not([type=hidden]), textarea, button, summary)")
      ?.focus(),
  "?": showHelp,
  "g t": () => location.assign("/operator"),
  "g o": () => location.assign("/operator/orders"),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented) return;
  const hasModifier = event.ctrlKey || event.metaKey;
  if (hasModifier && !event.altKey && event.key === "/") {
    event.preventDefault();
    showHelp();
    return;
  }
  if (hasModifier || event.altKey || isTyping(event.target)) return;
  const keys = lastKey === "g" ? `g ${event.key}` : event.key;
  lastKey = event.key;
  const action = isOn() ? actions[keys] : undefined;
  if (!action) return;
  event.preventDefault();
  action();
});
