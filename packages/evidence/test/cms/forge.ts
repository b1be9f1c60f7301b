import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { OID } from "../../src/asn1/oid.ts";
import * as der from "../../src/asn1/writer.ts";

const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
const otherKey = generateKeyPairSync("rsa", { modulusLength: 2048 });
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest();
const algorithm = (oid: string) => der.sequence(der.oid(oid));
const name = (text: string) => der.sequence(der.set(der.sequence(der.oid(OID.commonName), der.utf8String(text))));

/**
 * A self-signed P-256 certificate over the forger's key. `extendedKeyUsage` adds that usage alone, as a critical
 * extension.
 */
export function forgedCertificate(
  options: { serial?: number; subject?: string; extendedKeyUsage?: string } = {},
): Uint8Array {
  const validity = der.sequence(der.time(Date.UTC(2020, 0, 1)), der.time(Date.UTC(2040, 0, 1)));
  const usage = options.extendedKeyUsage;
  const extension =
    usage && der.sequence(der.oid(OID.extKeyUsage), der.boolean(true), der.octetStringOf(der.sequence(der.oid(usage))));
  const tbs = der.encode(
    der.sequence(
      der.explicit(0, der.integer(2)),
      der.integer(options.serial ?? 7),
      algorithm(OID.ecdsaWithSha256),
      name("Forger"),
      validity,
      name(options.subject ?? "Forger"),
      der.raw(pair.publicKey.export({ type: "spki", format: "der" })),
      ...(extension ? [der.explicit(3, der.sequence(extension))] : []),
    ),
  );
  const signature = der.bitString(sign("sha256", tbs, pair.privateKey));
  return der.encode(der.sequence(der.raw(tbs), algorithm(OID.ecdsaWithSha256), signature));
}

export const attribute = (type: string, ...values: der.DerValue[]) => der.sequence(der.oid(type), der.set(...values));
export const contentType = (type: string = OID.idData) => attribute(OID.idContentType, der.oid(type));
export const messageDigest = (content: Uint8Array) => attribute(OID.idMessageDigest, der.octetString(sha256(content)));
export const essV2 = (certificate: Uint8Array) =>
  attribute(
    OID.idAaSigningCertificateV2,
    der.sequence(der.sequence(der.sequence(der.octetString(sha256(certificate))))),
  );

export interface Forgery {
  readonly content: Uint8Array;
  readonly certificate: Uint8Array;
  readonly certificates?: readonly Uint8Array[];
  readonly attributes?: readonly der.DerValue[];
  readonly eContentType?: string;
  readonly eContent?: Uint8Array;
  readonly digestOid?: string;
  readonly signatureOid?: string;
  readonly signWith?: "sha256" | "sha384" | "rsa";
  readonly signers?: number;
}

/** A SignedData that the forger's key signed. The signature is valid unless the options break it. */
export function forgedCms(forgery: Forgery): Uint8Array {
  const { content, certificate } = forgery;
  const attributes = forgery.attributes ?? [
    contentType(forgery.eContentType),
    messageDigest(content),
    essV2(certificate),
  ];
  const signedAttrs = der.setOf(attributes);
  const toSign = der.encode(signedAttrs);
  const signature =
    forgery.signWith === "rsa"
      ? sign("sha256", toSign, otherKey.privateKey)
      : sign(forgery.signWith ?? "sha256", toSign, pair.privateKey);
  const digest = algorithm(forgery.digestOid ?? OID.sha256);
  const signerInfo = der.sequence(
    der.integer(1),
    der.sequence(name("Forger"), der.integer(7)),
    digest,
    der.implicit(0, signedAttrs),
    algorithm(forgery.signatureOid ?? OID.ecdsaWithSha256),
    der.octetString(signature),
  );
  const eContent = forgery.eContent === undefined ? [] : [der.explicit(0, der.octetString(forgery.eContent))];
  const signedData = der.sequence(
    der.integer(3),
    der.set(digest),
    der.sequence(der.oid(forgery.eContentType ?? OID.idData), ...eContent),
    der.implicit(0, der.set(...(forgery.certificates ?? [certificate]).map(der.raw))),
    der.set(...Array.from({ length: forgery.signers ?? 1 }, () => signerInfo)),
  );
  return der.encode(der.sequence(der.oid(OID.idSignedData), der.explicit(0, signedData)));
}
