import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { type EnvelopeEvidence, envelopeBytes, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { sealReasons } from "@signsealship/evidence/seal";
import {
  type ChainPems,
  issuerOf,
  type SealDocument,
  type Sealed,
  sealOwnDocument,
} from "../../../evidence/seals/seals.ts";
import { firmLogo, readShownFirm } from "../../../firms/partners/partners.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { languages } from "../../../kernel/platform/languages.ts";
import { ownBuffer, type Task, type Workers } from "../../../kernel/platform/workers/task.ts";
import type { TitleOf } from "../../../orders/order/order.ts";
import type { ConsentTexts } from "../consent/texts.ts";
import type { EnvelopeSeal } from "../records/deps.ts";
import { type Envelope, titleOf as untitled } from "../records/envelope.ts";
import { agreedTexts, type CustodyContent } from "./content.ts";

const drawing: Task<Omit<CustodyContent, "envelope">, Uint8Array | { readonly fault: string }> = {
  name: "draw a custody certificate",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: minuteMs,
};

/** The path of the public page where anybody can verify an envelope. */
const envelopePath = (verifyCode: string): string => `/v/envelope/${verifyCode}`;

type CustodyDeps = {
  db: Sql;
  workers: Workers;
  sealDocument: SealDocument;
  chainPem: ChainPems;
  titleOf: TitleOf;
  /** Finds a consent text; undefined if there is none of this version and language. */
  consentTexts: Pick<ConsentTexts, "find">;
  baseUrl: string;
};

export const envelopeSeal = (deps: CustodyDeps): EnvelopeSeal => ({
  signed: deps.sealDocument,
  custody: (envelope, evidence, document) => sealCustody(deps, envelope, evidence, document),
});

async function sealCustody(
  deps: CustodyDeps,
  envelope: Envelope,
  evidence: EnvelopeEvidence,
  document: Buffer,
): Promise<Sealed> {
  const { db, workers, sealDocument, titleOf, baseUrl } = deps;
  const bytes = envelopeBytes(evidence);
  const holder = envelope.partnerId;
  const input = {
    envelopeBytes: bytes,
    envelopeSha256: hash("sha256", bytes),
    title: titleOf({ ...envelope, code: envelope.orderCode }) ?? untitled(envelope),
    reference: envelope.externalReference,
    firm: {
      name: envelope.partnerName,
      accentColor: (await readShownFirm(db, holder)).branding?.accentColor ?? null,
      logo: await firmLogo(db, holder),
    },
    consents: consentsOf(deps, evidence),
    issuer: issuerOf(deps, envelope.environment),
    verifyUrl: `${baseUrl}${envelopePath(envelope.verifyCode)}`,
  };
  const drawn = await workers.run(drawing, { holder, bytes: document, input });
  if ("fault" in drawn) throw new Error(`the evidence of order ${envelope.orderCode} does not hold: ${drawn.fault}`);
  const drawnBytes = ownBuffer(drawn);
  const reason = sealReasons.custody[envelope.environment];
  const sealed = await sealOwnDocument(sealDocument, { bytes: drawnBytes, holder, reason });
  const { purpose, envelope: attached } = await readCustodyCertificate(sealed.bytes);
  const asMeant = purpose?.kind === "custody" && purpose.environment === envelope.environment;
  if (!asMeant || attached === null || !equalBytes(attached, bytes))
    throw new Error("the sealed custody certificate does not say what it should");
  return sealed;
}

/** The consent texts to attach. A text that no longer exists is omitted; the evidence still contains its hash. */
const consentsOf = ({ consentTexts }: CustodyDeps, evidence: EnvelopeEvidence): CustodyContent["consents"] =>
  agreedTexts(evidence).flatMap(({ name, version, language, sha256 }) => {
    const supported = languages.find((one) => one === language);
    const text = supported && consentTexts.find(version, supported);
    return text?.sha256 === sha256 ? [{ name, bytes: Buffer.from(text.markdown) }] : [];
  });
