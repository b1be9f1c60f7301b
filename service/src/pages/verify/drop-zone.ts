import { raw } from "hono/html";
import { notice } from "../ui/components.ts";
import { icon } from "../ui/icons.ts";
import { type Html, html } from "../ui/render.ts";
import type { VerifyConfig } from "./browser/config.ts";
import { publishedCertificates } from "./published-certificates.ts";

/** The words of the drop zone about its files, and the types of files that its file dialog accepts. */
export type DropWords = { file: string; hint: string; accept: string };

/**
 * The area where files are dropped or chosen, and where `verify.js` shows the results. Without JavaScript, it shows a
 * note that JavaScript is required.
 * @param config public facts for the script, as JSON in the page
 */
export const dropZone = (config: VerifyConfig, { file, hint, accept }: DropWords): Html =>
  html`<div class="drop-part with-script-block">
<div class="drop" id="drop">
${icon("evidence")}
<label for="drop-files"><span class="by-mouse">Drop the ${file} here, or choose it</span><span class="by-touch">Choose the ${file}</span></label>
<input type="file" id="drop-files" accept="${accept}" multiple aria-describedby="drop-hint">
<p id="drop-hint">${hint} <strong>Nothing is uploaded</strong>: your browser reads and checks the file.</p>
<progress id="drop-progress" max="1" aria-label="Progress of the check" hidden></progress>
</div>
<p id="outcome-said" role="status" class="said"></p>
<div id="outcome"></div>
<details class="trust">
<summary>Whom this page trusts</summary>
<p>${publishedCertificates(config.sealCertificates)} Add more as PEM files; they stay in your browser.</p>
<div class="trust-files">
<div><label for="trust-seal">For a seal, or its issuer</label><input type="file" id="trust-seal" accept=".pem,.crt,.cer"></div>
<div><label for="trust-time">For a time-stamping authority</label><input type="file" id="trust-time" accept=".pem,.crt,.cer"></div>
</div>
</details>
</div>
<div class="without-script">${notice("info", "This page needs JavaScript", "To check a file in your browser, allow this page to run its script. Or run the commands below.")}</div>
<script type="application/json" id="verify-config">${raw(JSON.stringify(config).replaceAll("<", "\\u003c"))}</script>`;

export const proofDropWords: DropWords = {
  file: "sealed PDF",
  hint: "You can add its .ots proof or time-stamp token. Or choose the zip that you got with your documents, without unpacking it.",
  accept: ".pdf,.zip,.ots,.tlog-proof,.tst,.tsr,.json,application/pdf",
};

export const closingDropWords: DropWords = {
  file: "certificate PDF",
  hint: "You can add documents, and certificates of other versions. Or choose the closing’s zip, without unpacking it.",
  accept: ".pdf,.json,.zip,.ots,.tlog-proof,application/pdf,application/json",
};
