import { encode, OID, octetString, oid, sequence } from "@signsealship/evidence/asn1";
import { parseCertificate } from "@signsealship/evidence/x509";
import { tokenOver, withLowS } from "../../../../../../packages/evidence/test/signer.ts";
import { certificateOf, signing, subject, usages } from "../certificates.ts";
import { sealedAt, tsa } from "../signers.ts";
import * as edit from "./der-edit.ts";
import { CONTENT, SHA384, SHA512_256, sha } from "./form.ts";
import type { Part } from "./part.ts";

const GRANTED = ["status", "nonce"];

/** Changes the token's serial number, but not its signature, which covers the old number. */
const renumbered: edit.Edit = ({ tag, content }) => [
  { tag, content: edit.withEdit(content as Uint8Array, [3], edit.holding("08")) },
];

/**
 * Vectors of time-stamp tokens (docs/evidence-format.md, section 5.1). A token alone has no response and no request, so
 * its `status` and `nonce` are undecided.
 */
export function tokens(): Part[] {
  const good = tokenOver(Buffer.from(CONTENT), tsa, sealedAt.getTime());
  const info = [1, 0, 2, 1, 0] as const;
  const anchors = [Buffer.from(tsa.certificate.der).toString("hex")];
  /** A token whose TSTInfo has another value in one place, signed again by the same authority. */
  const stamped = (path: readonly number[], change: edit.Edit, from = good): Uint8Array => {
    const { content } = edit.valueAt(from, info);
    const changed = edit.withEdit(content as Uint8Array, path, change);
    const held = edit.withEdit(from, info, edit.holding(Buffer.from(changed).toString("hex")));
    return edit.resigned(
      held,
      [edit.attributeIndex(held, "2a864886f70d010904"), 1, 0],
      edit.holding(Buffer.from(sha("sha256", changed)).toString("hex")),
      (data) => withLowS(tsa.sign?.(data) ?? data),
    );
  };
  const imprint = (algorithm: string, hash: string) =>
    stamped(
      [2],
      edit.becomes(
        Buffer.from(encode(sequence(sequence(oid(algorithm)), octetString(sha(hash, CONTENT))))).toString("hex"),
      ),
    );
  const usageOf = (name: string, critical: boolean, ...purposes: readonly string[]) => {
    const by = subject(name);
    const der = certificateOf(by, by, { serial: 51, extensions: [signing, usages(critical, ...purposes)] });
    return {
      token: tokenOver(Buffer.from(CONTENT), { ...by.key, certificate: parseCertificate(der) }, sealedAt.getTime()),
      anchors: [Buffer.from(der).toString("hex")],
    };
  };
  const rows: readonly (readonly [
    name: string,
    der: Uint8Array,
    notHolding: readonly string[],
    given?: readonly string[],
  ])[] = [
    ["as it should be", good, []],
    ["over something else", tokenOver(Buffer.from("other"), tsa, sealedAt.getTime()), ["messageImprint"]],
    ["an imprint by SHA-384", imprint(SHA384, "sha384"), []],
    ["an imprint by SHA-1", imprint(OID.sha1, "sha1"), ["messageImprint"]],
    ["an imprint by a hash that is not read", imprint(SHA512_256, "sha512-256"), ["messageImprint"]],
    ["an imprint of another length", stamped([2, 1], edit.longerBy("00")), ["messageImprint"]],
    ["a content that was changed", edit.withEdit(good, info, renumbered), ["messageDigest"]],
    ["later than it is verified", tokenOver(Buffer.from(CONTENT), tsa, Date.UTC(2026, 5, 1, 0, 5, 1)), ["chain"]],
    [
      "within five minutes of when it is verified",
      tokenOver(Buffer.from(CONTENT), tsa, Date.UTC(2026, 5, 1, 0, 4, 59)),
      [],
    ],
    [
      "two signers",
      edit.withEdit(good, [1, 0, 4, 0], edit.repeated(2)),
      ["contentType", "messageDigest", "signature", "signingCertificate", "chain"],
    ],
    [
      "no signer",
      edit.withEdit(good, [1, 0, 4, 0], edit.dropped),
      ["contentType", "messageDigest", "signature", "signingCertificate", "chain"],
    ],
    [
      "a content of another type",
      edit.withEdit(good, [1, 0, 2, 0], edit.holding("2a864886f70d010701")),
      ["messageImprint", "contentType", "chain"],
    ],
    ["no authority trusted", good, ["chain"], []],
  ];
  const wide = usageOf("wide authority", true, OID.kpTimeStamping, OID.kpDocumentSigning);
  const soft = usageOf("soft authority", false, OID.kpTimeStamping);
  const other = usageOf("other authority", true, OID.kpDocumentSigning);
  return [
    ...rows.map(([name, der, notHolding, given]): Part => tokenPart(name, der, given ?? anchors, notHolding)),
    tokenPart("an authority of two usages", wide.token, wide.anchors, ["signingCertificate", "chain"]),
    tokenPart("an authority whose usage is not critical", soft.token, soft.anchors, ["signingCertificate", "chain"]),
    tokenPart("an authority for documents", other.token, other.anchors, ["signingCertificate", "chain"]),
  ];
}

const tokenPart = (name: string, der: Uint8Array, anchors: readonly string[], notHolding: readonly string[]): Part => ({
  name: `token: ${name}`,
  kind: "token",
  hex: Buffer.from(der).toString("hex"),
  content: CONTENT,
  anchors,
  at: "2026-06-01T00:00:00.000Z",
  expect: notHolding.length === 0 ? "accepted" : "refused",
  notHolding: [...GRANTED, ...notHolding],
  teaches: "The eight checks of section 5.1.",
});
