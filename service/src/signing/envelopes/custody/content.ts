import { instantText } from "@signsealship/certificate";
import { type EnvelopeEvidence, memberOf, type TrailEntry } from "@signsealship/evidence/envelope";
import type { JsonValue } from "@signsealship/evidence/manifest";
import type { Issuer } from "../../../evidence/seals/seals.ts";

/** The content of a custody certificate. */
export type CustodyContent = {
  envelope: EnvelopeEvidence;
  /** The canonical JSON of the evidence, attached as `envelope.json`. */
  envelopeBytes: Uint8Array;
  envelopeSha256: string;
  title: string;
  /** The firm's file number or other reference; null without one. */
  reference: string | null;
  /** `logo` is a PNG that this service encoded itself. */
  firm: { name: string; accentColor: string | null; logo: Uint8Array | null };
  /**
   * The texts to which the signers consented, word for word, each attached under its name. Texts that no longer exist
   * are left out.
   */
  consents: readonly { name: string; bytes: Uint8Array }[];
  issuer: Issuer;
  /** The absolute URL of the page that verifies the envelope; the QR code contains it too. */
  verifyUrl: string;
};

/** One signer's act, in words. */
export type ShownAct = {
  n: number;
  name: string;
  email: string;
  signedAt: string;
  identifiedBy: string;
  mark: string;
  consent: string;
  consentSha256: string;
  client: string;
  key: string;
  timeStamp: string;
  actSha256: string;
};

const textIn = (value: JsonValue | undefined, ...path: string[]): string => {
  const found = path.reduce((at, name) => memberOf(at, name), value);
  return typeof found === "string" || typeof found === "number" ? String(found) : "";
};

const methods: Readonly<Record<string, string>> = {
  mail_code: "a code mailed to the same address",
  access_code: "an access code that the sender agreed on with the signer",
};

/**
 * How a signer in a frame or on a device of the firm was identified, in words. Such a signer signed without a mailed
 * link.
 */
const withoutLink: Readonly<Record<string, string>> = { mail_code: "a code mailed to the signer’s address" };

/** The acts as stated in their records, in the order of the signers. */
export const actsOf = ({
  envelope: { signers, trail },
  consents,
}: Pick<CustodyContent, "envelope" | "consents">): ShownAct[] => {
  const attached = new Set(consents.map(({ name }) => name));
  return signers.flatMap((signer) =>
    trail
      .filter((entry) => entry.event === "signed" && entry.signer === signer.n)
      .map((entry) => shown(entry, attached)),
  );
};

function shown({ act, actSha256, timeStamp }: TrailEntry, attached: ReadonlySet<string>): ShownAct {
  const identifiedBy = memberOf(act, "identifiedBy");
  const methodWords = ["embedded", "in_person"].includes(textIn(act, "channel"))
    ? { ...methods, ...withoutLink }
    : methods;
  const steps = Array.isArray(identifiedBy)
    ? identifiedBy.map((step) => methodWords[String(step)] ?? String(step))
    : [];
  const consentAt = textIn(act, "consent", "at");
  const consentText = act === undefined ? "" : consentName(act);
  return {
    n: Number(textIn(act, "signer", "n")),
    name: textIn(act, "signer", "name"),
    email: textIn(act, "signer", "email"),
    signedAt: instantText(textIn(act, "at")),
    identifiedBy: steps.join("; "),
    mark: markWords[textIn(act, "mark", "kind")]?.(textIn(act, "mark", "text")) ?? "",
    consent: `agreed to sign electronically, ${instantText(consentAt)}; the consent text ${attached.has(consentText) ? `is attached as ${consentText}` : "has the SHA-256 shown below"}`,
    consentSha256: textIn(act, "consent", "textSha256"),
    client: [textIn(act, "client", "ip"), textIn(act, "client", "userAgent")].filter(Boolean).join(", "),
    key:
      textIn(act, "keyHeldBy") === "service"
        ? "created by this service for this signature only, held in its memory only, then destroyed"
        : "created in the signer’s browser for this signature only, and never stored",
    timeStamp: timeStamp
      ? `${instantText(textIn(timeStamp, "at"))} by ${textIn(timeStamp, "authority")}`
      : "none; only this service states the time",
    actSha256: typeof actSha256 === "string" ? actSha256 : "",
  };
}

const markWords: Readonly<Record<string, (text: string) => string>> = {
  typed: (text) => `the typed name “${text}”`,
  drawn: () => "a signature drawn by hand",
  uploaded: () => "a picture that the signer chose",
};

type Act = JsonValue | undefined;

/** The file name under which a consent text is attached. In alphabetical order it comes after `envelope.json`. */
const consentName = (act: Act): string =>
  `signer-consent-${textIn(act, "consent", "language")}-${textIn(act, "consent", "version")}.md`;

type AgreedText = { name: string; version: string; language: string; sha256: string };

/** The texts to which the signers consented, by version and language. Each text is included once. */
export function agreedTexts({ trail }: EnvelopeEvidence): AgreedText[] {
  const acts = trail.flatMap(({ event, act }) => (event === "signed" && act !== undefined ? [act] : []));
  const named = acts.map((act) => {
    const of = (member: string) => textIn(act, "consent", member);
    const text = { name: consentName(act), version: of("version"), language: of("language"), sha256: of("textSha256") };
    return [text.name, text] as const;
  });
  return [...new Map(named).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

const eventWords: Readonly<Record<string, string>> = {
  created: "The document was prepared for its signers",
  link_issued: "A signing link was created, to be mailed",
  embedded: "The firm opened the signing page for the signer",
  in_person: "The firm handed the signer a device in person",
  session_identified: "The signer used one link for several documents",
  opened: "The link was opened",
  code_sent: "A code was sent",
  code_failed: "A wrong code was entered",
  code_ok: "The correct code was entered",
  locked: "The link was locked after too many wrong codes",
  unlocked: "The link was unlocked",
  consented: "The signer agreed to sign electronically",
  signed: "The signer signed",
  declined: "The signer declined",
  proposed: "Another person was proposed as signer",
  replaced: "The signer was replaced",
  reminded: "A reminder was sent",
  handed_over: "The notary handed the signer the device",
  notarized: "The notary signed the document",
  sealed: "The document was sealed",
};

/** A record of the trail as one line of text. */
export function entryWords({ signers }: EnvelopeEvidence, entry: TrailEntry): string {
  const { event, signer, origin, host } = entry;
  const site = event === "embedded" && typeof origin === "string" ? `, on the firm’s page at ${origin}` : "";
  const by = event === "in_person" && typeof host === "string" ? `, through ${host}` : "";
  // Trails from earlier releases lack the member `continued`. They record every turn on a device as a hand-over.
  const isContinued = event === "in_person" && entry["continued"] === true;
  const plain = isContinued
    ? "The signer continued to this document on the device that the firm had handed over in person"
    : (eventWords[event] ?? event.replaceAll("_", " "));
  const words = `${plain}${site}${by}`;
  const name = signers.find(({ n }) => n === signer)?.name;
  return name === undefined ? words : `${words}: ${name}`;
}
