import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { notice } from "../ui/components.ts";
import { layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { type Html, html } from "../ui/render.ts";
import type { Reader } from "../ui/words/reader.ts";
import type { VerifyConfig } from "./browser/config.ts";
import { dropZone, proofDropWords } from "./drop-zone.ts";
import { manualChecks, proofChecks } from "./manual-checks.ts";
import { resultWords } from "./result-words.ts";
import { technicalDetails, technicalPart } from "./technical-details.ts";
import { verdictBanner } from "./verdict.ts";

/** The body of the verification page without a record; also used for the standalone file. */
export const verifyBody = (config: VerifyConfig, more: Html | "" = ""): Html =>
  html`<div class="stack verify">
<div><h1>Verify a document</h1>
<p class="lead">Was this PDF sealed, and has it changed since? The answer comes from the file itself.</p></div>
${dropZone(config, proofDropWords)}
${technicalDetails(html`
${technicalPart("What the words mean", resultWords)}
${technicalPart("Check it yourself from the command line", manualChecks(proofChecks("sealed.pdf")))}`)}
${more}
</div>`;

type Deps = { sealCertificates: string; baseUrl: string };

/** `/verify`. @param sealCertificates trust list of the service's own seals */
export const verifyPage = (assets: Pick<Assets, "url">, { sealCertificates, baseUrl }: Deps): string =>
  layout(assets, {
    title: "Verify a document",
    canonical: `${baseUrl}/verify`,
    description:
      "Was this PDF sealed here, and has it changed since? Your browser checks the file; nothing is uploaded.",
    scripts: ["verify.js", "copy.js"],
    body: verifyBody(
      { sealCertificates, firm: null, proof: null, closing: null },
      html`<p class="quiet no-print"><a href="/verify/offline">Save this check as one file</a>. It needs no network, and nothing of us: it works when we are gone.</p>
${onPaper(`${baseUrl}/verify`)}`,
    ),
  });

/**
 * The page for a malformed or unknown code. Both get the same page, which suggests checking the file itself.
 * @param file the kind of file for which the code in this URL stands
 */
export const unknownCodePage = (
  assets: Pick<Assets, "url">,
  file: "document" | "certificate",
  { words }: Pick<Reader, "words">,
): string => {
  const { page, verdict, have, noCode, check } = words.unknownCode;
  return layout(assets, {
    ...clientFrame(words),
    title: page,
    body: html`<div class="stack">
${verdictBanner("unknown", verdict.title, verdict.text)}
${notice("info", have[file], html`${noCode} <a href="/verify">${check}</a>.`)}
</div>`,
  });
};
