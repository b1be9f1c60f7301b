/** Copies a person's typed values, ticks and focus from a part of the page to the part that replaces it. */

type Control = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;

const controlsIn = (part: ParentNode): Control[] => [
  ...part.querySelectorAll<Control>("input:not([type=file]), textarea, select"),
];

const isBox = (control: Element): control is HTMLInputElement =>
  control instanceof HTMLInputElement && (control.type === "checkbox" || control.type === "radio");

/**
 * Identifies a form by its id. Without an id, it is identified by its URL and hidden inputs, which differ between forms
 * for different steps. So a tick is never copied from one step to another.
 */
function formKey({ form }: { form: HTMLFormElement | null }): string {
  if (!form) return "";
  return form.id === "" ? `${form.getAttribute("action")}\n${hiddenIn(form)}` : `#${form.id}`;
}

function hiddenIn(form: HTMLFormElement): string {
  // The input `shows` is not compared. The script in `pictures.ts` fills it in while the person's video moves, so its
  // value does not identify the form's step.
  const hidden = [...form.querySelectorAll<HTMLInputElement>("input[type=hidden]:not([name=shows])")];
  return hidden.map(({ name, value }) => `${name}=${value}`).join("\n");
}

/**
 * Identifies a control in its form by its name. Boxes of a group share a name, so a box is also identified by its
 * value.
 */
const keyOf = (control: Control | HTMLButtonElement): string =>
  JSON.stringify([
    formKey(control),
    control.tagName,
    control.name,
    isBox(control) || control instanceof HTMLButtonElement ? control.value : "",
  ]);

/**
 * True if the person changed the control. Always false for hidden inputs, because changing their value also changes
 * their default.
 */
function isChanged(control: Control): boolean {
  if (control instanceof HTMLSelectElement)
    return [...control.options].some(({ selected, defaultSelected }) => selected !== defaultSelected);
  return isBox(control) ? control.checked !== control.defaultChecked : control.value !== control.defaultValue;
}

/**
 * True if the person changed the control, and the change applies to `target`, too. A tick applies only if both forms
 * have the same hidden inputs. For example, a consent names the observers of the session, so a new observer clears the
 * tick.
 */
export function isStillMeant(control: Control, target: Control): boolean {
  const asksTheSame = !control.form || !target.form || hiddenIn(control.form) === hiddenIn(target.form);
  return isChanged(control) && (asksTheSame || !isBox(control));
}

/**
 * Copies values from the controls in `from` to the controls in `to` that have the same form and name. Skips forms that
 * were just sent (`data-sent`).
 * @param which returns true if a control's value may be copied to its target, for example `isStillMeant`
 */
export function carryEntries(
  from: ParentNode,
  to: ParentNode,
  which: (control: Control, target: Control) => boolean,
): void {
  const targets = new Map(controlsIn(to).map((control) => [keyOf(control), control]));
  for (const control of controlsIn(from)) {
    const isSent = control.form?.dataset["sent"] === "yes";
    const target = targets.get(keyOf(control));
    if (!target || isSent || !which(control, target)) continue;
    if (isBox(control) && isBox(target)) target.checked = control.checked;
    else if (target instanceof HTMLSelectElement) {
      // A choice that is no longer offered is not copied, because the list would become empty.
      if ([...target.options].some(({ value }) => value === control.value)) target.value = control.value;
    } else target.value = control.value;
  }
}

const isControl = (element: Element | null): element is Control | HTMLButtonElement =>
  element?.matches("input, textarea, select, button") ?? false;

/**
 * Saves the focus inside a part that is about to be replaced.
 * @returns a function that restores the focus and the selected text in the new part, without scrolling
 */
export function carryFocus(from: Element): (to: Element) => void {
  const focused = document.activeElement;
  if (!focused || !from.contains(focused)) return () => {};
  const { id } = focused;
  const key = isControl(focused) ? keyOf(focused) : null;
  const selection =
    focused instanceof HTMLTextAreaElement || focused instanceof HTMLInputElement
      ? ([focused.selectionStart, focused.selectionEnd] as const)
      : null;
  return (to) => {
    const all = [...to.querySelectorAll<HTMLElement>("*")];
    const target =
      all.find((each) => id !== "" && each.id === id) ?? all.find((each) => isControl(each) && keyOf(each) === key);
    target?.focus({ preventScroll: true });
    // Inputs for numbers and dates have no selection.
    if (
      selection &&
      selection[0] !== null &&
      (target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)
    )
      target.setSelectionRange(...selection);
  };
}
