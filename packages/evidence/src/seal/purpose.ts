import { type Claim, claim } from "../claim.ts";
import { stringText } from "../pdf/text.ts";
import type { PdfDictionary } from "../pdf/values.ts";
import type { Certificate } from "../x509/certificate.ts";

/**
 * The purposes of the service's seals. The service seals documents of its own, documents of orders, and, as proof
 * passports, any files.
 */
const kinds = [
  "proof",
  "closing",
  "custody",
  "signed",
  "notarized",
  "signed_elsewhere",
  "notarized_elsewhere",
  "journal",
  "receipt",
  "certificate",
] as const;

/** The purpose of a seal. */
export type SealPurpose = {
  readonly kind: (typeof kinds)[number];
  readonly environment: "live" | "test";
};

/**
 * The texts in /Reason of the service's seals. The same key seals the service's own documents, such as closing
 * certificates, and files that strangers upload. Only this signed text tells the service's documents from strangers'
 * files. For seals without a test certificate, only it tells live documents from tests.
 */
export const sealReasons = {
  proof: { live: "Proof passport", test: "Proof passport (test environment)" },
  closing: { live: "Closing passport", test: "Closing passport (test environment)" },
  custody: { live: "Custody certificate", test: "Custody certificate (test environment)" },
  signed: { live: "Signed", test: "Signed (test)" },
  notarized: { live: "Notarized", test: "Notarized (test)" },
  signed_elsewhere: {
    live: "Signed elsewhere, taken in by an operator",
    test: "Signed elsewhere, taken in by an operator (test)",
  },
  notarized_elsewhere: {
    live: "Notarized elsewhere, taken in by an operator",
    test: "Notarized elsewhere, taken in by an operator (test)",
  },
  journal: { live: "Notary journal", test: "Notary journal (test environment)" },
  receipt: { live: "Receipt", test: "Receipt (test environment)" },
  certificate: { live: "Proof certificate", test: "Proof certificate (test environment)" },
} as const satisfies Readonly<Record<SealPurpose["kind"], Readonly<Record<SealPurpose["environment"], string>>>>;

/** One of the purpose texts of seals. */
export type SealReason = {
  [Kind in SealPurpose["kind"]]: (typeof sealReasons)[Kind][SealPurpose["environment"]];
}[SealPurpose["kind"]];

const ofOrders: ReadonlySet<string> = new Set(["signed", "notarized", "signed_elsewhere", "notarized_elsewhere"]);

/**
 * True if a seal with this purpose is on the document of an order. The seal of a proof passport is not one of these,
 * because anybody can get such a seal on any file.
 */
export const isOfAnOrder = (purpose: SealPurpose | null | undefined): boolean => ofOrders.has(purpose?.kind ?? "");

/** The purpose in a signature dictionary; null when it is missing or unknown. */
export function sealPurposeOf(dictionary: PdfDictionary): SealPurpose | null {
  const reason = dictionary.entries.get("Reason");
  const text = reason?.kind === "string" && !dictionary.repeated.includes("Reason") ? stringText(reason) : null;
  for (const kind of kinds) {
    for (const environment of ["live", "test"] as const) {
      if (text === sealReasons[kind][environment]) return { kind, environment };
    }
  }
  return null;
}

/**
 * The claim about the environment of a seal. Only a seal by a test certificate gets this claim. Another certificate
 * says nothing about the environment, because before test certificates existed, it sealed test documents, too.
 */
export function environmentClaims(
  purpose: SealPurpose | null,
  certificate: Certificate | null,
): Claim<"seal_certificate_environment">[] {
  if (!certificate?.isTestSeals) return [];
  const name = "seal_certificate_environment";
  const own = "The certificate vouches for test documents alone";
  if (purpose === null) return [{ name, state: "unchecked", why: `${own}, and the seal states no purpose.` }];
  return [
    claim(
      name,
      purpose.environment === "test",
      `${own}, and the seal says that it is of a test.`,
      `${own}, and the seal does not say that it is of a test.`,
    ),
  ];
}
