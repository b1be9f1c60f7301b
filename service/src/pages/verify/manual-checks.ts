import { type Html, html } from "../ui/render.ts";

/** Commands of independent tools for one check; `means` explains the expected result. */
export type ManualCheck = { means: string; commands: readonly string[] };

/** A numbered list of checks that a reader can run without this service. */
export const manualChecks = (checks: readonly ManualCheck[]): Html =>
  html`<ol class="manual-checks">${checks.map(
    ({ means, commands }) => html`<li><p>${means}</p><pre><code>${commands.join("\n")}</code></pre></li>`,
  )}</ol>`;

/** The checks for a sealed PDF; `file` is its name. */
export const proofChecks = (file: string): ManualCheck[] => [
  {
    means: "The file’s hash. If it matches the hash you were given, this is the sealed document, byte for byte.",
    commands: [`sha256sum ${file}`],
  },
  {
    means:
      "The seal, checked by an independent PDF library: the signature is valid, and “Total document signed” means that nothing was added after it.",
    commands: [`pdfsig ${file}`],
  },
  {
    means: "The same, from another library: the signature covers every byte of the file except its own value.",
    commands: [`mutool sign -v ${file}`],
  },
  {
    means: "Everything at once, offline, with this service’s open-source verifier.",
    commands: [`signsealship verify ${file}`],
  },
];

/** The checks for a proof passport: the files to fetch, and how to compare them with the record. */
export const recordChecks = (baseUrl: string, verifyCode: string): ManualCheck[] => [
  {
    means: "What this service says about the code, in machine-readable form.",
    commands: [`curl -sS ${baseUrl}/api/passport/verify/${verifyCode}`],
  },
  {
    means: "The sealed PDF, if we keep it, and all evidence about it, with a README that lists further checks.",
    commands: [
      `curl -sSo sealed.pdf ${baseUrl}/api/passport/verify/${verifyCode}/document`,
      `curl -sSo evidence.zip ${baseUrl}/api/passport/verify/${verifyCode}/evidence`,
    ],
  },
  ...proofChecks("sealed.pdf"),
];

/**
 * The checks for a closing passport: its manifest, the link to the previous version, its certificate, and the manifest
 * in the certificate.
 */
export const closingChecks = (baseUrl: string, verifyCode: string): ManualCheck[] => {
  const api = `${baseUrl}/api/verify/room/${verifyCode}`;
  return [
    {
      means:
        "The manifest’s hash. The canonical form is sorted ASCII without white space. The hash must equal that of the manifest above.",
      commands: [`curl -sS ${api} | jq -Scaj .manifest | sha256sum`],
    },
    {
      means: "The link: the hash of the previous version, as this manifest states it.",
      commands: [`curl -sS ${api} | jq -r .manifest.passport.prevManifestSha256`],
    },
    {
      means: "The certificate’s hash. It must equal that of the certificate above.",
      commands: [`curl -sSo passport.pdf ${api}/pdf`, "sha256sum passport.pdf"],
    },
    {
      means: "Its seal: the signature is valid, and “Total document signed” means that nothing was added after it.",
      commands: ["pdfsig passport.pdf"],
    },
    {
      means: "The manifest attached to it. It must have the hash from the first check.",
      commands: ["pdfdetach -save 1 -o manifest.json passport.pdf", "sha256sum manifest.json"],
    },
  ];
};

/** The checks for an envelope: its record, each revision of the document, and the signatures in it. */
export const envelopeChecks = (
  baseUrl: string,
  verifyCode: string,
  revisions: readonly { bytes: number }[],
): ManualCheck[] => [
  {
    means: "What this service says about the code, in machine-readable form.",
    commands: [`curl -sS ${baseUrl}/api/verify/envelope/${verifyCode}`],
  },
  {
    means: "The states of the file, from your own copy: each hash must be the one listed.",
    commands: revisions.map(({ bytes }) => `head -c ${bytes} sealed.pdf | sha256sum`),
  },
  {
    means: "The signature of each act, and the seal: every one is valid.",
    commands: ["pdfsig sealed.pdf"],
  },
  {
    means: "The hashes of the acts, as the signatures bear them: the custody certificate’s envelope.json has the acts.",
    commands: [
      "grep -a -o 'SSSActSha256<[0-9a-f]*>' sealed.pdf",
      "pdfdetach -save 1 -o envelope.json certificate.pdf",
      "jq -r '.trail[] | select(.event == \"signed\") | .actSha256' envelope.json",
    ],
  },
  {
    means: "Everything at once, offline, with this service’s open-source verifier.",
    commands: ["signsealship verify certificate.pdf --with sealed.pdf"],
  },
];
