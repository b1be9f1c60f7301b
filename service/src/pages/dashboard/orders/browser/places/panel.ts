import { currencies, type NumberFormat } from "../../../../../orders/order/form/field-values.ts";
import { make } from "../../../../ui/browser/parts.ts";
import type { Actions } from "./actions.ts";
import { type Control, checkControl, linesControl, selectControl, textControl } from "./controls.ts";
import { type Box, type Field, hasOptions, hasValue, kindWords, withOptions } from "./field.ts";
import { copyControl, placeControls } from "./place-controls.ts";
import { ruleControls } from "./rule-controls.ts";
import type { Signer } from "./signers.ts";
import type { Store } from "./store.ts";

export type PanelDeps = {
  readonly store: Store;
  readonly signers: () => readonly Signer[];
  readonly pages: number;
  readonly actions: Pick<Actions, "duplicate" | "onPages" | "remove">;
};

/**
 * Opens the panel that sets the selected field's label, values and position. Its number inputs are the keyboard
 * alternative to dragging.
 */
export function openPanel(deps: PanelDeps) {
  const { store } = deps;
  const element = make("div", { className: "place-panel" });
  element.setAttribute("role", "region");
  element.setAttribute("aria-label", "The selected field");
  // An empty panel keeps its space on the page, so that the pages don't change their size when a field is selected.
  const nothing = make("p", { className: "hint", textContent: "Select a field to describe what it asks for." });
  let shownFor = "none yet";
  let controls: Control[] = [];
  // On a phone the settings are collapsed, so that the page stays visible.
  let isExpanded = false;
  let settings = make("div");
  let expand = (_to: boolean): void => {};

  function refresh(): void {
    const box = store.selected();
    const key = box ? `${box.field.id}.${box.option}.${box.field.error}` : "";
    if (key !== shownFor) {
      shownFor = key;
      controls = box ? controlsOf(box, deps) : [];
      element.replaceChildren(...(box ? contentOf(box) : [nothing]));
    }
    if (box) for (const { update } of controls) update(box);
    element.classList.toggle("unselected", box === null);
  }

  function contentOf(box: Box): HTMLElement[] {
    const { field, option } = box;
    const button = (text: string, click: (now: Box) => void, className = "quiet-button") => {
      const toolButton = make("button", { type: "button", textContent: text, className });
      toolButton.addEventListener("click", () => {
        const now = store.selected();
        if (now) click(now);
      });
      return toolButton;
    };
    const actions = [
      button("Duplicate", deps.actions.duplicate),
      button("Delete", deps.actions.remove, "danger-button"),
    ];
    const every = Array.from({ length: deps.pages }, (_, index) => index + 1);
    if (deps.pages > 1)
      actions.splice(
        1,
        0,
        button("On every page", (now) => deps.actions.onPages(now, every)),
      );
    const toggle = make("button", { type: "button", className: "place-more quiet-button" });
    settings = make("div", { className: "form place-settings" }, ...controls.map((each) => each.element));
    const show = () => {
      settings.classList.toggle("open", isExpanded);
      toggle.setAttribute("aria-expanded", String(isExpanded));
      toggle.textContent = isExpanded ? "Close" : "Edit";
    };
    expand = (to) => {
      isExpanded = to;
      show();
    };
    toggle.addEventListener("click", () => expand(!isExpanded));
    show();
    const of = option === null ? "" : ` · option ${option + 1}`;
    const title = make("h3", { className: "place-title", textContent: `${kindWords[field.kind]}${of}` });
    const error = field.error === null ? [] : [make("p", { className: "field-error", textContent: field.error })];
    return [
      make("div", { className: "place-head" }, title, make("div", { className: "form-actions" }, ...actions, toggle)),
      ...error,
      settings,
    ];
  }

  return {
    element,
    refresh,
    /** Moves the focus to the first setting. */
    focus() {
      expand(true);
      settings.querySelector<HTMLElement>("select, input")?.focus();
    },
  };
}

function controlsOf({ field }: Box, { store, signers, pages, actions }: PanelDeps): Control[] {
  const { id, kind } = field;
  const set = (change: Partial<Field>) => store.change(id, (now) => ({ ...now, ...change, error: null }));
  const controls: Control[] = [
    selectControl(
      { label: "Filled in by", read: (box) => String(box.field.row), changed: (row) => set({ row: Number(row) }) },
      () => signers().map(({ row, name }) => [String(row), name] as const),
    ),
  ];
  if (kind !== "signature")
    controls.push(
      checkControl(
        "Required",
        (box) => box.field.required,
        (required) => set({ required }),
      ),
    );
  controls.push(
    textControl({
      label: "Label",
      hint: "What the signer is asked for.",
      read: (box) => box.field.label,
      changed: (label) => set({ label }),
    }),
  );
  if (hasOptions(field))
    controls.push(
      linesControl({
        label: "Options",
        hint: "One on each line.",
        read: (box) => box.field.options.map(({ label }) => label).join("\n"),
        changed: (text) => {
          const labels = text.split("\n").flatMap((line) => line.trim() || []);
          store.change(id, (now) => withOptions(now, labels));
        },
      }),
    );
  controls.push(...formatControls(field, set), ...valueControls(field, set, () => store.selected()));
  if (kind !== "signature" && kind !== "date")
    controls.push(
      textControl(
        {
          label: "Help",
          hint: "Shown to the signer below the label.",
          read: (box) => box.field.help,
          changed: (help) => set({ help }),
        },
        { maxLength: 400 },
      ),
    );
  if (pages > 1) controls.push(copyControl(store, pages, actions));
  return [...controls, ...ruleControls(field, set, store), ...placeControls(store, pages)];
}

type Set = (change: Partial<Field>) => void;

function valueControls(field: Field, set: Set, now: () => Box | null): Control[] {
  if (!hasValue(field)) return [];
  const { kind } = field;
  const readOnly = checkControl(
    "The signer can’t change it",
    (box) => box.field.readOnly,
    (checked) => set({ readOnly: checked }),
  );
  if (kind === "checkbox")
    return [
      checkControl(
        "Checked by you",
        (box) => box.field.value !== "",
        (checked) => set({ value: checked ? "true" : "" }),
      ),
      readOnly,
    ];
  const asked = {
    label: "Value from you",
    read: (box: Box) => box.field.value,
    changed: (value: string) => set({ value, ...(value === "" && { readOnly: false }) }),
  };
  if (kind === "text" || kind === "number") return [textControl(asked), readOnly];
  const labels = () => (now()?.field.options ?? field.options).map(({ label }) => [label, label] as const);
  return [selectControl(asked, () => [["", "None"], ...labels()]), readOnly];
}

const dateChoices = [
  ["us", "01/05/2026"],
  ["long", "January 5, 2026"],
  ["", "2026-01-05"],
] as const;
const textChoices = [
  ["", "Any text"],
  ["email", "Email address"],
  ["phone_us", "US phone number"],
  ["zip_us", "ZIP code"],
  ["ssn_last4", "Last 4 digits of an SSN"],
] as const;

function formatControls({ kind }: Field, set: Set): Control[] {
  if (kind === "date" || kind === "text") {
    const read = ({ field: { format } }: Box) =>
      typeof format === "string" && format !== "iso" && format !== "any" ? format : "";
    const changed = (value: string) => {
      const listed = [...dateChoices, ...textChoices].map(([each]) => each).find((each) => each === value);
      set({ format: listed || null });
    };
    return [selectControl({ label: "Format", read, changed }, () => (kind === "date" ? dateChoices : textChoices))];
  }
  if (kind !== "number") return [];
  let format: NumberFormat = {};
  const read = (name: keyof NumberFormat) => (box: Box) => {
    format = typeof box.field.format === "object" && box.field.format !== null ? box.field.format : {};
    return String(format[name] ?? "");
  };
  const change = (name: keyof NumberFormat, value: unknown) => {
    const entries = Object.entries({ ...format, [name]: value }).filter(([, each]) => each !== undefined);
    set({ format: entries.length === 0 ? null : (Object.fromEntries(entries) as NumberFormat) });
  };
  const bound = (label: string, name: "min" | "max") =>
    textControl({ label, read: read(name), changed: (value) => change(name, value || undefined) }, { number: true });
  return [
    selectControl(
      { label: "Currency", read: read("currency"), changed: (value) => change("currency", value || undefined) },
      () => [["", "None"], ...currencies.map((each) => [each, each] as const)],
    ),
    selectControl(
      {
        label: "Decimals",
        read: read("decimals"),
        changed: (value) => change("decimals", value === "" ? undefined : Number(value)),
      },
      () => [["", "As typed"], ...[0, 1, 2, 3, 4].map((each) => [`${each}`, `${each}`] as const)],
    ),
    bound("At least", "min"),
    bound("At most", "max"),
  ];
}
