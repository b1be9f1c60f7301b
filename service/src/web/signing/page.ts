import type { ConsentTexts } from "../../envelopes/envelopes.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { type Html, html } from "../ui/render.ts";
import type { PlacedField, SigningConfig } from "./browser/config.ts";
import { framed, type Shown } from "./frame.ts";
import { consentStep } from "./steps/consent.ts";
import { documentPart, documentUrl } from "./steps/document.ts";
import { endedStep } from "./steps/ended.ts";
import { identifyStep } from "./steps/identify.ts";
import { otherChoices } from "./steps/other-choices.ts";
import { filledIn, inputOf, labelOf, signStep } from "./steps/sign.ts";

type PageDeps = { assets: Pick<Assets, "url" | "pdfJs">; consentTexts: ConsentTexts };

/** The page of a link, at the step where its signer is. */
export function signingPage({ assets, consentTexts }: PageDeps, shown: Shown): string {
  const { view } = shown;
  if (view.state === "identify") return framed(assets, shown, identifyStep(shown));
  if (view.state !== "ready") return framed(assets, shown, endedStep(shown, view.state));
  const step = view.consent ? signStep(shown) : consentStep(shown, consentTexts.current(view.signer.language));
  return framed(assets, shown, besideDocument(shown, step, assets));
}

const besideDocument = (shown: Shown, step: Html, assets: PageDeps["assets"]): Html =>
  html`<div class="signing-columns">${documentPart(shown, configOf(shown, assets))}
<div class="stack">${step}
${otherChoices(shown)}</div></div>`;

/** What the script needs; null without a document. */
function configOf({ token, view, words }: Shown, { pdfJs, url }: PageDeps["assets"]): SigningConfig | null {
  const { document } = view;
  return (
    document && {
      document: documentUrl(token, document.revision),
      bytes: document.bytes,
      sha256: document.sha256,
      pages: document.pages,
      pdfjs: pdfJs.folder,
      check: url("act-check.js"),
      opened: `/sign/${token}/opened`,
      prepare: `/sign/${token}/prepare`,
      complete: `/sign/${token}/complete`,
      signed: `/sign/${token}?done=signed`,
      fields: view.consent ? placedFields(view, words) : [],
      words: words.viewer,
    }
  );
}

function placedFields(view: Shown["view"], words: Shown["words"]): PlacedField[] {
  const inputs = new Set(filledIn(view.fields));
  return view.fields.map((field) => {
    const { name, kind, page, left, top, width, height } = field;
    const own = inputs.has(field) ? `field-${inputOf(field)}` : "field-name";
    const input = kind === "date" ? null : own;
    return { name, kind, page, left, top, width, height, label: labelOf(field, words), input };
  });
}
