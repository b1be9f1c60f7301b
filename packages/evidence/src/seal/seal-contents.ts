import { readDer, TAG } from "../asn1/der.ts";
import { OID } from "../asn1/oid.ts";
import { fieldsOf, readInteger, unsignedOf } from "../asn1/values.ts";
import * as der from "../asn1/writer.ts";
import { concatBytes, equalBytes } from "../bytes.ts";
import { type SignedData, signatureTimeStampTokens } from "../cms/signed-data.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import type { Certificate } from "../x509/certificate.ts";
import type { SealStatement } from "./seal-statement.ts";

/** Half the order of the curve P-256 (SEC 2, section 2.4.2). The sealer writes signatures whose s is at most this. */
const HALF_OF_P256 = 0x7fffffff_80000000_7fffffff_ffffffff_de737d56_d38bcf42_79dce561_7e3192a8n;

/**
 * Compares a seal's value, byte by byte, with the value that the sealer would write. A CMS has parts that its signature
 * does not cover, and an ECDSA signature has two forms. Everything but the sealer's form is refused, so that each seal
 * has only one form (docs/evidence-format.md, section 3.2).
 *
 * @param contents the ContentInfo that `signedData` was read from
 * @param signer the certificate of its only signer
 * @returns a noun phrase for the part that the sealer would not write; null when there is none
 */
export async function foreignToSealer(
  contents: Uint8Array,
  signedData: SignedData,
  signer: Certificate,
  { certificatesSha256 }: SealStatement,
  crypto: EvidenceCrypto,
): Promise<string | null> {
  const included = concatBytes(signedData.certificates.map((one) => one.der));
  if (!equalBytes(await crypto.digest("SHA-256", [included]), certificatesSha256)) {
    return "certificates other than those it was sealed with";
  }
  const written = rewritten(signedData, signer);
  if (written === null || !equalBytes(written, contents)) return "something that the sealer does not write";
  return null;
}

/**
 * The ContentInfo that the sealer would write for the same signed attributes, signature, certificates and token; null
 * when it would never write them.
 */
function rewritten(signedData: SignedData, signer: Certificate): Uint8Array | null {
  const [signerInfo] = signedData.signerInfos;
  const algorithm = algorithmOf(signer);
  if (!signerInfo?.signedAttrsDer || algorithm === null || !isCanonical(signerInfo.signature, signer)) return null;
  const [token, another] = signatureTimeStampTokens(signerInfo);
  if (another !== undefined) return null;
  const signedAttrs = Uint8Array.from(signerInfo.signedAttrsDer);
  signedAttrs[0] = 0xa0;
  const unsigned =
    token === undefined
      ? []
      : [der.implicit(1, der.set(der.sequence(der.oid(OID.idAaTimeStampToken), der.set(der.raw(token)))))];
  const sha256 = der.sequence(der.oid(OID.sha256));
  const certificates = der.setOf(signedData.certificates.map((one) => der.raw(one.der)));
  return der.encode(
    der.sequence(
      der.oid(OID.idSignedData),
      der.explicit(
        0,
        der.sequence(
          der.integer(1),
          der.set(sha256),
          der.sequence(der.oid(OID.idData)),
          der.implicit(0, certificates),
          der.set(
            der.sequence(
              der.integer(1),
              der.sequence(der.raw(signer.issuer), der.primitive(TAG.integer, signer.serialNumber)),
              sha256,
              der.raw(signedAttrs),
              algorithm,
              der.octetString(signerInfo.signature),
              ...unsigned,
            ),
          ),
        ),
      ),
    ),
  );
}

function algorithmOf({ publicKey }: Certificate): der.DerValue | null {
  if (publicKey.type === "rsa") return der.sequence(der.oid(OID.sha256WithRsa), der.nullValue);
  return publicKey.type === "ec" && publicKey.curve === "P-256" ? der.sequence(der.oid(OID.ecdsaWithSha256)) : null;
}

/**
 * True if the signature has the sealer's form. An RSA signature must be as long as the modulus. An ECDSA signature must
 * have the lower s of the two forms (r, s) and (r, n - s).
 */
function isCanonical(signature: Uint8Array, { publicKey }: Certificate): boolean {
  if (publicKey.type === "rsa") return signature.length === Math.ceil(publicKey.bits / 8);
  try {
    const fields = fieldsOf(readDer(signature), "cms");
    readInteger(fields.next("r"));
    const s = unsignedOf(readInteger(fields.next("s")));
    fields.end();
    return s.reduce((value, octet) => value * 256n + BigInt(octet), 0n) <= HALF_OF_P256;
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}
