import { isDeviceName } from "@signsealship/evidence/zip";
import type { ProofForm } from "../../evidence/transparency-log/transparency-log.ts";
import type { Environment } from "../../kernel/identity/identity.ts";

/**
 * The longest file name, in bytes. Names of this length, with their folders, stay within the path limits of every
 * system.
 */
const maxBytes = 120;

/** Characters that some operating system forbids in file names, and characters that change the direction of text. */
const forbidden = /[<>:"/\\|?*\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Spaces and dots at the ends of a name, which Windows drops. */
const edges = /^[ .]+|[ .]+$/g;

/**
 * Turns a text into a part of a file name that every system accepts.
 * @param max the longest result, in bytes
 */
export function namePart(text: string, max = maxBytes): string {
  const spaced = text.toWellFormed().normalize("NFC").replaceAll(forbidden, " ").replaceAll(/\s+/g, " ");
  let name = spaced.replaceAll(edges, "");
  while (Buffer.byteLength(name) > max) name = [...name].slice(0, -1).join("").replaceAll(edges, "");
  return isDeviceName(name) ? `_${name}` : name;
}

/** Replaces the kind in the file name of a document that the sandbox notarized. */
export const simulatedNotarization = "simulated_notarization";

const words: Readonly<Record<string, string>> = {
  [simulatedNotarization]: "notarization simulated",
  original: "original",
  sealed: "signed",
  notarized: "notarized",
  custody_certificate: "custody certificate",
  fax_report: "fax report",
  fax_certificate: "fax certificate",
  delivery_receipt: "delivery receipt",
  mail_receipt: "mail receipt",
};

export type Named = {
  /** The firm's own number for the closing or order; null without one. */
  reference: string | null;
  /** The document's title; null without one. */
  title: string | null;
  kind: string;
};

/** The name that people would give the file, without its extension: "2026-1187 Warranty deed, notarized". */
export function fileName({ reference, title, kind }: Named): string {
  const ending = `, ${words[kind] ?? kind}`;
  const called = documentTitle(title);
  const start = reference !== null && !called.startsWith(reference) ? `${reference} ${called}` : called;
  return `${namePart(start, maxBytes - Buffer.byteLength(ending) - ".pdf (99)".length) || "Document"}${ending}`;
}

/** A document's title is often the name of a file, so its extension is removed. */
export const documentTitle = (title: string | null): string => (title ?? "Document").replace(/\.pdf$/i, "");

/** Makes names unique, ignoring case, by adding numbers: "Deed (2)". */
export function uniqueNames(): (path: string, ending: string) => string {
  const used = new Set<string>();
  return (path, ending) => {
    for (let n = 1; ; n++) {
      const name = `${path}${n === 1 ? "" : ` (${n})`}${ending}`;
      if (used.has(name.toLowerCase())) continue;
      used.add(name.toLowerCase());
      return name;
    }
  };
}

export type Contents = {
  /** The name of the closing; for a zip of one order, the name of its document. */
  title: string;
  reference: string | null;
  firmName: string;
  environment: Environment;
  documents: readonly { path: string; kind: string; sha256: string; deletedAt?: Date }[];
  /** The paths of the documents whose orders have no custody certificate of a signing with this service. */
  unsigned: ReadonlySet<string>;
  /** The paths of the notarized documents that no notary signed, because the sandbox made them. */
  simulated: ReadonlySet<string>;
  /** True if the zip's Evidence folder contains a signed document that was notarized afterwards. */
  hasSigned: boolean;
  /** The kinds of the files in the zip. */
  kinds: ReadonlySet<string>;
  isCertificateLost: boolean;
  /** The files in the zip for which the transparency log has a proof. */
  files: readonly { path: string; form: ProofForm }[];
  /** The paths of the files that still lack a proof. */
  waiting: Readonly<Record<ProofForm, readonly string[]>>;
  /** True if the verification page accepts all files of the zip at once. */
  fitsChecker: boolean;
  baseUrl: string;
};

const mebibyte = 1024 * 1024;
/** The files and bytes that the verification page accepts at once (`pages/verify/browser/worker.ts`). */
const checker = { files: 64, bytes: 256 * mebibyte };
/** An upper bound for the bytes of the explanation, even in a zip with 50 documents. */
const maxReadmeBytes = mebibyte;

/**
 * True if the verification page accepts a zip of this length.
 * @param others the length of the zip without its explanation, in bytes
 */
export const fitsChecker = (others: number): boolean => others + maxReadmeBytes <= checker.bytes;

/**
 * The explanation for a lawyer who has never heard of this service. It states which file is authoritative, how to
 * verify it, and what is not proven.
 */
export function readme(contents: Contents): string {
  const { title, reference, firmName, environment, documents, unsigned, simulated, hasSigned, kinds, baseUrl } =
    contents;
  const hasCustody = kinds.has("custody_certificate");
  const sections = [
    `${title}${reference === null ? "" : `\nFile number: ${reference}`}\nSent by: ${firmName}`,
    environment === "test" ? "A TEST: the seals in these files mean nothing outside of testing." : null,
    `THE DOCUMENTS

${documents.map(({ path, kind, deletedAt }) => `- ${path}\n  ${deletedAt ? `Not here: it was deleted on ${deletedAt.toISOString().slice(0, 10)}, as agreed. contents.json has its hash.` : simulated.has(path) ? notNotarized : meaning(kind, !unsigned.has(path))}`).join("\n")}

The PDF file itself is the document. A print of it shows its words, and proves nothing.`,
    `HOW TO CHECK A DOCUMENT, WITHOUT US

1. Open verify.html with a browser. It needs no network, and sends nothing anywhere.
2. ${contents.fitsChecker ? "Drop the whole zip on it, as you got it." : tooLarge} For each document, it shows whether a byte was changed since it was
   sealed, by which seal, and when${hasCustody ? "; and who signed it. Its custody certificate is a PDF: open it to read how\n   each signer was identified" : ""}.
3. Or drop single documents on it: ${hasCustody ? "a signed one together with its custody certificate, and" : "each"} with its proofs from the folder
   Evidence. Do not rename these.${
     hasSigned && hasCustody
       ? ` The custody certificate of a notarized document belongs to the signed file that it
   continues: that one is in the folder Evidence, too.`
       : ""
   }

The same page on the web: ${baseUrl}/verify. PDF readers show the signatures, too. They may say that the issuer is "not trusted":
that is said of every certificate that your computer was not told to trust.`,
    `THE OTHER FILES
${othersText(contents)}${proofsText(contents)}
- contents.json: the name and the SHA-256 of each file, for programs.`,
    `WHAT IS NOT PROVEN

That the words of a document are true or have legal effect; who a signer was${hasCustody ? " beyond the steps that its custody certificate names" : ""};
that a recorder or a lender accepts it. Which files are here is the choice of the sender.`,
  ];
  return `${sections.filter((section) => section !== null).join("\n\n\n")}\n`.replaceAll("\n", "\r\n");
}

const tooLarge = `Unpack this zip, because the page takes at most ${checker.bytes / mebibyte} MB and ${checker.files} files at once. Drop its files on it in
   parts: each document together with its certificate and its proofs.`;

export const receipts: ReadonlySet<string> = new Set([
  "fax_report",
  "fax_certificate",
  "delivery_receipt",
  "mail_receipt",
]);

/** Describes the certificates and receipts that are in the zip. For a test, also explains why some are missing. */
function othersText({ kinds, environment, isCertificateLost }: Contents): string {
  const hasCustody = kinds.has("custody_certificate");
  const hasReceipt = [...kinds].some((kind) => receipts.has(kind));
  const certificates = [
    hasCustody
      ? "A custody certificate tells the story of one document: who was asked, identified and signed, and when."
      : "",
    kinds.has("closing_certificate")
      ? "The closing certificate lists the documents of this closing with their hashes. It numbers all of them by the codes of\n  their orders: a number there can differ from the number in a file's name here, so go by the name."
      : "",
  ].filter((each) => each !== "");
  const missing = [...(hasCustody ? [] : ["custody certificates"]), ...(hasReceipt ? [] : ["receipts"])];
  const parts = [
    certificates.length > 0 ? `\n- Certificates: ${certificates.join("\n  ")}` : "",
    isCertificateLost
      ? "\n- Not here: the closing certificate. It is missing at the service, or was altered there."
      : "",
    hasReceipt ? "\n- Receipts: the words of carriers and fax machines about what was sent." : "",
    environment === "test" && missing.length > 0
      ? `\n- Not here: ${missing.join(" and ")}. In a test nothing is shipped or faxed${hasCustody ? "" : ", and a document that the sandbox completed has no custody certificate"}.`
      : "",
  ];
  return parts.join("");
}

/** Explains what the transparency log's proofs show, and when the missing ones will exist. */
function proofsText({ files, waiting, environment }: Contents): string {
  const has = (form: ProofForm) => files.some((file) => file.form === form);
  const parts = [
    has("tlog-proof")
      ? `
- Evidence: NAME.pdf.tlog-proof proves that the seal of NAME.pdf is an entry of a public log, which its operator can only add to.
  A seal that was made later and dated back has no such entry in time.`
      : "",
    has("ots")
      ? `
- Evidence: NAME.pdf.ots (OpenTimestamps) proves since when NAME.pdf exists, by a block of Bitcoin once one confirms it, usually
  within a day. Any OpenTimestamps program checks it, too.`
      : "",
    notYet(waiting["tlog-proof"], "log proof (.tlog-proof)", "within a minute after the seal"),
    notYet(
      waiting.ots,
      "OpenTimestamps proof (.ots)",
      environment === "test" ? "within a day after the seal" : "within about an hour after the seal",
    ),
  ];
  return parts.join("");
}

function notYet(paths: readonly string[], proof: string, when: string): string {
  if (paths.length === 0) return "";
  return `
- Not here yet: the ${proof} of these files. It exists ${when}: download the zip again then.
${paths.map((path) => `    ${path}`).join("\n")}`;
}

const notNotarized = "A test: the notarization was simulated, and no notary signed it.";

function meaning(kind: string, isSignedHere: boolean): string {
  if (kind === "notarized") return "The notarized document. Use this file.";
  if (kind === "sealed" && !isSignedHere)
    return "The document as it was sealed. No signature that was made here is in it. Use this file.";
  if (kind === "sealed") return "The signed document, sealed after the last signature. Use this file.";
  return "The document as it was handed in: nothing was to be signed in it here.";
}
