import type { ShowWhen } from "../../../../../orders/order/form/field-rules.ts";
import { type Control, selectControl, textControl } from "./controls.ts";
import { type Box, type Field, type Kind, kindWords } from "./field.ts";
import type { Store } from "./store.ts";

type Set = (change: Partial<Field>) => void;
type Operator = ShowWhen["operator"];
type Choices = readonly (readonly [value: string, label: string])[];

const words: Readonly<Record<Operator, string>> = {
  checked: "is checked",
  unchecked: "is not checked",
  filled: "is filled in",
  empty: "is empty",
  equals: "is",
  not_equals: "is not",
  greater_than: "is more than",
  less_than: "is less than",
};

const ofTexts: readonly Operator[] = ["filled", "empty", "equals", "not_equals"];
/** The kinds of fields that a condition can read, with their operators. */
const operators: Readonly<Partial<Record<Kind, readonly Operator[]>>> = {
  checkbox: ["checked", "unchecked"],
  text: ofTexts,
  number: [...ofTexts, "greater_than", "less_than"],
  radio: ofTexts,
  multiple: ofTexts,
  dropdown: ofTexts,
};
const withValue: readonly Operator[] = ["equals", "not_equals", "greater_than", "less_than"];

const none = [["", "Always"]] as const;

/**
 * The inputs for a field's name in rules, its formula, its number of options, and its condition. The service rejects
 * invalid combinations.
 */
export function ruleControls({ id, kind }: Field, set: Set, store: Store): Control[] {
  const controls: Control[] = [];
  const named = () => store.fields().filter((field) => field.id !== id && field.name !== "" && operators[field.kind]);
  const readBy = (showWhen: ShowWhen | null) => named().find(({ name }) => name === showWhen?.field);
  const now = () => store.fields().find((field) => field.id === id)?.showWhen ?? null;
  if (operators[kind])
    controls.push(
      textControl(
        {
          label: "Name for rules",
          hint: "Lowercase letters, digits and underscores. Conditions and formulas of other fields use it.",
          read: (box) => box.field.name,
          changed: (name) => set({ name }),
        },
        { maxLength: 40 },
      ),
    );
  if (kind === "number")
    controls.push(
      textControl({
        label: "Calculated as",
        hint: "Such as round(rent * 12, 2), with the names of other numbers. Leave it empty to have it typed.",
        read: (box) => box.field.formula,
        changed: (formula) => set({ formula }),
      }),
    );
  if (kind === "multiple") controls.push(countControl("At least", "least", set), countControl("At most", "most", set));
  if (kind === "signature") return controls;
  const titleOf = (field: Field) => `${field.label === "" ? kindWords[field.kind] : field.label} (${field.name})`;
  const condition = (box: Box) => box.field.showWhen;
  controls.push(
    selectControl(
      {
        label: "Show this field",
        hint: "Fields with a name for rules can be chosen here.",
        read: (box) => (readBy(condition(box)) ? (condition(box)?.field ?? "") : ""),
        changed(name) {
          const [operator] = operators[named().find((field) => field.name === name)?.kind ?? "signature"] ?? [];
          set({ showWhen: operator ? { field: name, operator } : null });
        },
      },
      () => [...none, ...named().map((field) => [field.name, `Only if ${titleOf(field)}`] as const)],
    ),
    shownOnlyWith(
      selectControl(
        {
          label: "Condition",
          read: (box) => condition(box)?.operator ?? "",
          changed(value) {
            const operator = value as Operator;
            const before = now();
            const formerValue =
              withValue.includes(operator) && before?.value !== undefined ? { value: before.value } : {};
            if (before) set({ showWhen: { field: before.field, operator, ...formerValue } });
          },
        },
        () => (operators[readBy(now())?.kind ?? "signature"] ?? []).map((each) => [each, words[each]] as const),
      ),
      (box) => condition(box) !== null,
    ),
    shownOnlyWith(valueControl(now, readBy, set), (box) => withValue.includes(condition(box)?.operator ?? "filled")),
  );
  return controls;
}

function countControl(label: string, name: "least" | "most", set: Set): Control {
  return textControl(
    {
      label,
      read: (box) => String(box.field[name] ?? ""),
      changed: (value) => set({ [name]: /^\d{1,2}$/.test(value) ? Number(value) : null }),
    },
    { number: true },
  );
}

function valueControl(now: () => ShowWhen | null, readBy: (showWhen: ShowWhen | null) => Field | undefined, set: Set) {
  const read = (box: Box) => box.field.showWhen?.value ?? "";
  const changed = (value: string) => {
    const before = now();
    if (before) set({ showWhen: { ...before, value } });
  };
  const asked = { label: "Value", read, changed };
  const labels = (): Choices => (readBy(now())?.options ?? []).map(({ label }) => [label, label]);
  const [typed, chosen] = [textControl(asked), selectControl(asked, () => [["", "Choose"], ...labels()])];
  const element = document.createElement("div");
  return {
    element,
    update(box: Box) {
      const current = labels().length > 0 ? chosen : typed;
      if (element.firstChild !== current.element) element.replaceChildren(current.element);
      current.update(box);
    },
  };
}

const shownOnlyWith = ({ element, update }: Control, isShown: (box: Box) => boolean): Control => ({
  element,
  update(box) {
    element.hidden = !isShown(box);
    update(box);
  },
});
