import { make, part, setNumbers } from "../../../../ui/browser/parts.ts";
import { openEditor } from "./editor.ts";
import { boxesOf, type Field, readWritten, written } from "./field.ts";
import type { SizeRules } from "./geometry.ts";
import type { OpenDocument } from "./opened.ts";
import { rowOf, type Signer, signerOf, signersIn } from "./signers.ts";
import { openStore } from "./store.ts";

type Refusal = { readonly index: number; readonly text: string };

/** The part of the order form that opens the pages, and contains the fields that were placed on them. */
export function placesPart(form: HTMLFormElement) {
  const host = part("places");
  const input = part<HTMLInputElement>("field-fields");
  const said = part("places-said");
  const ask = part<HTMLInputElement>("places-ask");
  const button = part<HTMLButtonElement>("places-open");
  const signing = part<HTMLInputElement>("field-svc_sign");
  const pictures = openPictures(part("places-pictures"));
  const rules = JSON.parse(host.dataset["sizes"] ?? "{}") as SizeRules;
  const refusals = JSON.parse(host.dataset["refused"] ?? "[]") as readonly Refusal[];
  let opened: OpenDocument | null = null;
  const signers = () => signersIn(form);
  const store = openStore(
    readWritten(input.value, rowOf(signers())).map((field, index) => ({
      ...field,
      error: refusals.find((refusal) => refusal.index === index)?.text ?? null,
    })),
    (page) => opened?.pageSize(page) ?? { width: 612, height: 792 },
    rules,
  );

  function refresh(): void {
    const fields = store.fields();
    // While no field is placed, the form also sends the input `ask`, so that the service asks before it adds a page.
    // Without a script, the service adds a page when it finds no place for signatures.
    input.value = written(fields, signerOf(signers()));
    input.disabled = !signing.checked;
    const agreed = document.getElementById("field-page_added");
    ask.disabled = fields.length > 0 || (agreed instanceof HTMLInputElement && agreed.checked);
    if (!opened) return;
    button.textContent = fields.length === 0 ? "Place fields on the pages" : "Change the fields on the pages";
    said.textContent = summaryOf(fields, signers());
    pictures.mark(fields);
  }

  store.watch(refresh);
  form.addEventListener("input", refresh);
  // A change of the document's type can change whether the document is signed.
  form.addEventListener("change", refresh);
  button.addEventListener("click", async () => {
    if (!opened) return;
    button.disabled = true;
    try {
      await openEditor({
        opened,
        store,
        rules,
        signers,
        at: store.fields().find(({ error }) => error !== null) ?? null,
      });
    } finally {
      button.disabled = false;
      button.focus();
    }
  });
  refresh();

  return {
    /** Shows the pages of another document; null closes it. */
    show(next: OpenDocument | null): void {
      void opened?.document.loadingTask.destroy();
      opened = next;
      button.disabled = next === null;
      pictures.clear();
      if (!next) return;
      const kept = store.fields().filter(({ page }) => page <= next.document.numPages);
      const lost = store.fields().length - kept.length;
      if (lost > 0) store.replace(kept);
      refresh();
      if (lost > 0) said.textContent += ` Gone are ${lost} fields on pages that this file does not have.`;
      pictures.draw(next).catch(() => pictures.clear());
    },
  };
}

function summaryOf(fields: readonly Field[], signers: readonly Signer[]): string {
  if (fields.length === 0)
    return "No fields yet. Without fields, people sign where the document has signature fields or tags.";
  const counted = (count: number) => (count === 1 ? "1 field" : `${count} fields`);
  const parts = signers.map(
    ({ row, name }) => `${name}: ${counted(fields.filter((each) => each.row === row).length)}.`,
  );
  const lost = fields.filter(({ row }) => !signers.some((signer) => signer.row === row)).length;
  if (lost > 0) parts.push(`${counted(lost)} for a signer whom nobody is named for any more.`);
  const refused = fields.filter(({ error }) => error !== null).length;
  if (refused > 0) parts.push(`${counted(refused)} to correct.`);
  return parts.join(" ");
}

/** The number of pages that the form shows as small pictures. */
const mostPictures = 8;
/** The width of a page's small picture, in CSS pixels. The style sheet has the same width. */
const pictureWidth = 96;

/** Small pictures of the first pages, with the placed fields drawn on them. */
function openPictures(host: HTMLElement) {
  let fields: readonly Field[] = [];

  function mark(picture: Element, page: number): void {
    for (const old of picture.querySelectorAll(".places-mark")) old.remove();
    const boxes = fields.filter((field) => field.page === page).flatMap(boxesOf);
    for (const { field, rect } of boxes) {
      const place = make("span", { className: `places-mark of-${field.row}` });
      setNumbers(place, { left: rect.x, top: rect.y, width: rect.width, height: rect.height });
      picture.append(place);
    }
  }

  return {
    clear: () => host.replaceChildren(),
    mark(of: readonly Field[]): void {
      fields = of;
      for (const [index, picture] of [...host.children].entries()) mark(picture, index + 1);
    },
    async draw({ document: pdf }: OpenDocument): Promise<void> {
      const pictures = Array.from({ length: Math.min(pdf.numPages, mostPictures) }, () =>
        make("span", { className: "places-picture" }),
      );
      host.replaceChildren(...pictures);
      for (const [index, picture] of pictures.entries()) {
        if (!picture.isConnected) return;
        const proxy = await pdf.getPage(index + 1);
        const scale = pictureWidth / proxy.getViewport({ scale: 1 }).width;
        const viewport = proxy.getViewport({ scale: scale * Math.min(devicePixelRatio, 2) });
        const canvas = make("canvas", { width: Math.floor(viewport.width), height: Math.floor(viewport.height) });
        setNumbers(picture, { scale });
        picture.prepend(canvas);
        mark(picture, index + 1);
        await proxy.render({ canvas, viewport }).promise;
      }
    },
  };
}
