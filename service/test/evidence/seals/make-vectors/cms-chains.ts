import { createHash } from "node:crypto";
import { encode, OID, octetString, oid, sequence } from "@signsealship/evidence/asn1";
import { parseCertificate } from "@signsealship/evidence/x509";
import { cmsOver } from "../../../../../packages/evidence/test/signer.ts";
import { type Expectation, notVerified, verified } from "./case.ts";
import { authority, certificateOf, extension, signing, subject } from "./certificates.ts";
import * as edit from "./parts/der-edit.ts";

type Change = (cms: Uint8Array) => Uint8Array;
type Row = readonly [name: string, contents: Change, expect: Expectation, teaches: string];

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const loose = notVerified({ seal_signature_valid: "fails" });

const leaf = subject("forms leaf");
const root = subject("forms root");
export const leafDer = certificateOf(leaf, root, { serial: 2 });
const rootDer = certificateOf(root, root, { extensions: authority() });
/** A root certificate that its own key did not sign. */
const unsoundRoot = certificateOf(root, root, { extensions: authority(), signature: leaf.key.sign(Uint8Array.of(1)) });
const laterRoot = certificateOf(root, root, { serial: 7, extensions: authority() });

const other = subject("forms other");
const byLeaf = certificateOf(other, leaf, { serial: 2 });
const identifier = (octet: number) => extension(OID.subjectKeyIdentifier, octetString(Uint8Array.of(octet)), false);
export const identified = certificateOf(leaf, root, { serial: 2, extensions: [signing, identifier(1)] });
const otherIdentified = certificateOf(other, leaf, { serial: 3, extensions: [signing, identifier(2)] });
/** A root certificate with a signature algorithm that verifiers don't know. */
const oddRoot = [[0, 2], [1]].reduce(
  (der, path) => edit.withEdit(der, path, edit.becomes(hexOf(encode(sequence(oid("1.2.3.4")))))),
  rootDer,
);

/** Names the signer by its key identifier instead of by issuer and serial number. */
const byIdentifier: Change = (cms) =>
  [
    [[1, 0, 0], edit.holding("03")] as const,
    [[1, 0, 4, 0, 0], edit.holding("03")] as const,
    [[1, 0, 4, 0, 1], edit.becomes("800101")] as const,
  ].reduce((der, [path, change]) => edit.withEdit(der, path, change), cms);

/** Makes a signature value that includes these certificates. `own` is the signer's certificate. */
function holding(certificates: readonly Uint8Array[], own = leafDer, change: Change = (cms) => cms): Change {
  const signer = { ...leaf.key, certificate: parseCertificate(own) };
  const held = certificates.map(hexOf).join("");
  return (signed) => {
    const digest = Uint8Array.from(createHash("sha256").update(signed).digest());
    return edit.withEdit(change(cmsOver(digest, signer)), [1, 0, 3], edit.holding(held));
  };
}

/**
 * Seals that include certificate chains, some with a certificate that no chain needs (docs/evidence-format.md, section
 * 3.2, "nothing loose").
 */
export function chains(): readonly Row[] {
  const needed = "Going from the signer's to its issuer and on, all are met (3.2).";
  const named = "The signer's certificate is the one that the signer identifier names (3.2).";
  const ofKey = (...certificates: readonly Uint8Array[]) => holding(certificates, identified, byIdentifier);
  return [
    ["its root", holding([leafDer, rootDer]), verified(), needed],
    [
      "its root before it",
      holding([rootDer, leafDer]),
      verified(),
      "In whatever order they stand, in a seal of before.",
    ],
    [
      "a root whose signature is not its own",
      holding([leafDer, unsoundRoot]),
      loose,
      "The signature of the topmost verifies where its own issuer is at hand.",
    ],
    ["two roots of one key", holding([leafDer, rootDer, laterRoot]), loose, needed],
    ["a root by an algorithm that is not read", holding([leafDer, oddRoot]), loose, "Nobody can verify its signature."],
    ["another of the signer's serial number, by the signer", holding([byLeaf, leafDer]), loose, named],
    ["by a key identifier: its root before it", ofKey(rootDer, identified), verified(), named],
    ["by a key identifier: another before it", ofKey(otherIdentified, identified), loose, named],
  ];
}
