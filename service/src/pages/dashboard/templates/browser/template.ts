import { part } from "../../../ui/browser/parts.ts";
import { loadPdfJs } from "../../../ui/browser/viewer/pdf-js.ts";
import { openDocument } from "../../orders/browser/places/opened.ts";
import { openPlaces } from "../../orders/browser/places/section.ts";
import { rowOf, type Signer, signerOf } from "../../orders/browser/places/signers.ts";

// The page of an archived template, or of one without signing, has no form for fields.
const form = document.getElementById("template-form");
if (form instanceof HTMLFormElement && document.getElementById("places")) connect(form);

/** Allows the firm to place fields for its roles on the pages of the template's document, or of a newly chosen one. */
function connect(form: HTMLFormElement): void {
  const chosen = part<HTMLInputElement>("field-document");
  const statusLine = part("places-said");
  const storedUrl = part("places").dataset["kept"] ?? "";
  let library: ReturnType<typeof loadPdfJs> | undefined;

  const open = async (bytes: ArrayBuffer) => {
    library ??= loadPdfJs(form.dataset["pdfJs"] ?? "");
    return openDocument(await library, bytes);
  };

  const places = openPlaces({
    id: "places",
    input: part<HTMLInputElement>("field-fields"),
    form,
    signers: () => rolesIn(form),
    numbering: { signerOf: (row) => signerOf(rolesIn(form))(row), rowOf: rowOf(rolesIn(form)) },
    ...(storedUrl !== "" && { load: openStored }),
    previewed: {
      titleOf: () => String(new FormData(form).get("name") ?? ""),
      isNotarized: () => new FormData(form).get("svc_notary") === "on",
    },
    changed() {},
  });

  async function openStored() {
    const response = await fetch(storedUrl);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return open(await response.arrayBuffer());
  }

  chosen.addEventListener("change", async () => {
    const file = chosen.files?.[0];
    places.show(null);
    if (!file && storedUrl === "") return;
    statusLine.textContent = "Opening the pages…";
    try {
      const opened = await (file ? file.arrayBuffer().then(open) : openStored());
      if (chosen.files?.[0] === file) places.show(opened);
      else void opened.document.loadingTask.destroy();
    } catch {
      statusLine.textContent = "The pages of this file can’t be shown here. We look at it when you save the template.";
    }
  });
}

/** The roles that are currently in the form, in the order of their numbers. */
function rolesIn(form: HTMLFormElement): Signer[] {
  const inputs = [...form.querySelectorAll<HTMLInputElement>("input")];
  return inputs.flatMap(({ name, value }) => {
    const row = Number(/^role(\d+)_name$/.exec(name)?.[1] ?? 0);
    const of = (member: string) => String(new FormData(form).get(`role${row}_${member}`) ?? "");
    if (row === 0 || value.trim() === "") return [];
    return [
      { row, name: value.trim(), isRole: true, language: of("language") || "en", routing: Number(of("routing")) || 1 },
    ];
  });
}
