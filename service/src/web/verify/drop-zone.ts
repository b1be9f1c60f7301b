import { raw } from "hono/html";
import { notice } from "../ui/components.ts";
import { icon } from "../ui/icons.ts";
import { type Html, html } from "../ui/render.ts";
import type { VerifyConfig } from "./browser/config.ts";

/** What can be dropped, in words. */
type DropWords = { title: string; hint: string; accept: string };

/**
 * Where files are dropped or chosen, and where `verify.js` shows what came of them. Without script it says so.
 * @param config public facts for the script, as JSON in the page: data, not script
 */
export const dropZone = (config: VerifyConfig, { title, hint, accept }: DropWords): Html =>
  html`<div class="drop-part with-script-block">
<div class="drop" id="drop">
${icon("evidence")}
<label for="drop-files">${title}</label>
<input type="file" id="drop-files" accept="${accept}" multiple aria-describedby="drop-hint">
<p id="drop-hint">${hint} <strong>Nothing is uploaded</strong>: your browser reads the file and checks it by itself.</p>
<progress id="drop-progress" max="1" aria-label="Progress of the check" hidden></progress>
</div>
<p id="outcome-said" role="status" class="said"></p>
<div id="outcome"></div>
<details class="trust">
<summary>Certificates that you trust</summary>
<p>${
    config.sealCertificates === ""
      ? "A seal shows that nothing has changed. Whose seal it is, a certificate shows that you have from a source you trust."
      : "The certificates of this service are known to this page. Add others for seals and time stamps of elsewhere."
  } The files are PEM texts; they stay in your browser, too.</p>
<div class="trust-files">
<div><label for="trust-seal">Of a seal, or its issuer</label><input type="file" id="trust-seal" accept=".pem,.crt,.cer"></div>
<div><label for="trust-time">Of a time-stamping authority</label><input type="file" id="trust-time" accept=".pem,.crt,.cer"></div>
</div>
</details>
</div>
<div class="without-script">${notice("info", "This needs script", "To check a file in the browser, allow this page to run its script. Everything it does can be done by hand, too: the commands are below.")}</div>
<script type="application/json" id="verify-config">${raw(JSON.stringify(config).replaceAll("<", "\\u003c"))}</script>`;

export const proofDropWords: DropWords = {
  title: "Drop the sealed PDF here, or choose it",
  hint: "An evidence zip, an .ots proof or a time-stamp token may come with it.",
  accept: ".pdf,.zip,.ots,.tst,.tsr,.json,application/pdf",
};

export const closingDropWords: DropWords = {
  title: "Drop the certificate PDF here, or choose it",
  hint: "Manifests and certificates of other versions may come with it.",
  accept: ".pdf,.json,application/pdf,application/json",
};
