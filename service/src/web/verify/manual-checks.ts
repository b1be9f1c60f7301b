import { type Html, html } from "../ui/render.ts";

/** Commands that show the same with tools of others; `means` says what to look at. */
export type HandCheck = { means: string; commands: readonly string[] };

/** A list of checks by hand. */
export const byHand = (checks: readonly HandCheck[]): Html =>
  html`<ol class="by-hand">${checks.map(
    ({ means, commands }) => html`<li><p>${means}</p><pre><code>${commands.join("\n")}</code></pre></li>`,
  )}</ol>`;

/** For a sealed PDF; `file` is its name. */
export const proofChecks = (file: string): HandCheck[] => [
  {
    means:
      "The hash of the file. It is the sealed document, to the byte, when it is the hash that you were given of it.",
    commands: [`sha256sum ${file}`],
  },
  {
    means:
      "The seal, by a PDF library that is not ours: the signature is valid, and “Total document signed” says that nothing was added after it.",
    commands: [`pdfsig ${file}`],
  },
  {
    means: "The same from inside: every byte outside of the signature’s own value is in what it signs.",
    commands: [`mutool sign -v ${file}`],
  },
  {
    means: "Everything at once, offline, with the verifier of this service, which is open source.",
    commands: [`signsealship verify ${file}`],
  },
];

/** For a proof passport: what is fetched, and compared with what the record says. */
export const recordChecks = (baseUrl: string, verifyCode: string): HandCheck[] => [
  {
    means: "What this service says about the code, for machines.",
    commands: [`curl -sS ${baseUrl}/api/passport/verify/${verifyCode}`],
  },
  {
    means: "The sealed PDF, where it is kept, and all evidence about it with a README of further checks.",
    commands: [
      `curl -sSo sealed.pdf ${baseUrl}/api/passport/verify/${verifyCode}/document`,
      `curl -sSo evidence.zip ${baseUrl}/api/passport/verify/${verifyCode}/evidence`,
    ],
  },
  ...proofChecks("sealed.pdf"),
];

/** For a closing passport: manifest, link, certificate, and the manifest in it. */
export const closingChecks = (baseUrl: string, verifyCode: string): HandCheck[] => {
  const api = `${baseUrl}/api/verify/room/${verifyCode}`;
  return [
    {
      means:
        "The manifest’s hash: the canonical form is sorted, without white space, in ASCII. It must be manifestSha256.",
      commands: [`curl -sS ${api} | jq -Scaj .manifest | sha256sum`],
    },
    {
      means: "The link: the hash of the version before, as this manifest states it.",
      commands: [`curl -sS ${api} | jq -r .manifest.passport.prevManifestSha256`],
    },
    {
      means: "The certificate’s hash. It must be sealedSha256.",
      commands: [`curl -sSo passport.pdf ${api}/pdf`, "sha256sum passport.pdf"],
    },
    {
      means: "Its seal: the signature is valid, and “Total document signed” says that nothing was added after it.",
      commands: ["pdfsig passport.pdf"],
    },
    {
      means: "The manifest that is attached to it. It must have the hash of the first check.",
      commands: ["pdfdetach -save 1 -o manifest.json passport.pdf", "sha256sum manifest.json"],
    },
  ];
};
