import { part } from "../../../ui/browser/parts.ts";

/** Which services each document of the catalog has, as the form says. */
type Services = Readonly<Record<string, { sign: boolean; notarize: boolean }>>;

const form = part<HTMLFormElement>("order-form");
const type = part<HTMLSelectElement>("field-doc_slug");
const boxes = { sign: part<HTMLInputElement>("field-svc_sign"), notarize: part<HTMLInputElement>("field-svc_notary") };
const services = JSON.parse(form.dataset["services"] ?? "{}") as Services;
let own = { sign: boxes.sign.checked, notarize: boxes.notarize.checked };
let wasOther = true;

type.addEventListener("change", follow);
follow();

/** The catalog decides for its documents: the boxes show it, and come back as they were for any other. */
function follow(): void {
  const known = services[type.value];
  if (known && wasOther) own = { sign: boxes.sign.checked, notarize: boxes.notarize.checked };
  wasOther = known === undefined;
  for (const service of ["sign", "notarize"] as const) {
    boxes[service].checked = (known ?? own)[service];
    boxes[service].disabled = known !== undefined;
  }
  for (const note of form.querySelectorAll<HTMLElement>("[data-note-of]"))
    note.toggleAttribute("data-chosen", note.dataset["noteOf"] === type.value);
}
