import { hash } from "../../../../../packages/evidence/test/manifest/manifests.ts";
import { collection, type Expectation, type Made, verified } from "./case.ts";
import { hexOf } from "./evidence.ts";
import {
  answer,
  type Claims,
  CODE,
  c1,
  c2,
  documents,
  expectation,
  fromOne,
  text,
  v1,
  v2,
  version,
  withLabel,
} from "./rooms.ts";

/** A service's responses about one version of a room, with the certificate that it serves. */
export function roomRecords(): Made {
  const { add, put, made, slug } = collection("room-records");
  const stated = { sealed: true, stated: true } as const;
  // The PDF's own claims (docs/evidence-format.md, section 6) replace certificate.vN.seal and .trusted.
  const asPdf = (n: number): Claims => ({ [`certificate.v${n}.seal`]: null, [`certificate.v${n}.trusted`]: null });
  const seal = verified().claims as Claims;
  const first = (changes: Claims = {}) => [
    seal,
    fromOne,
    version(1, stated),
    asPdf(1),
    { service_chain_ok: "unchecked" } as Claims,
    changes,
  ];
  const unreadable = expectation("not_verified", { record_readable: "fails" });
  const one = (name: string, record: Uint8Array, pdf: Uint8Array | null, expect: Expectation, teaches: string) => {
    const files = {
      record: put(`${slug(name)}.json`, record),
      ...(pdf !== null && { certificate: put(`certificate-${hexOf(pdf).slice(0, 12)}.pdf`, pdf) }),
    };
    add({ name, kind: "room_record", code: CODE, files, expect, teaches });
  };
  const bad = (changes: Claims) => expectation("not_verified", ...first(changes));
  one(
    "version 1",
    answer(v1, c1),
    c1,
    expectation("verified", ...first()),
    "Hashes, seal and manifest recomputed; chainOk is not believed.",
  );
  one(
    "version 2",
    answer(v2, c2),
    c2,
    expectation("verified", seal, version(2, stated, { "manifest.v2.link": "unchecked" }), asPdf(2), {
      "chain.versions": "unchecked",
      service_chain_ok: "unchecked",
    }),
    "The version before was not given.",
  );
  one(
    "a member more",
    answer(v1, c1, { more: 1 }),
    c1,
    expectation("verified", ...first()),
    "Unknown members are not looked at.",
  );
  one(
    "a test's certificate",
    answer(v1, documents.test),
    documents.test,
    expectation("verified_test", ...first({ seal_environment: "unchecked" })),
    "The seal says that it is a test.",
  );
  one(
    "chainOk false",
    answer(v1, c1, { chainOk: false }),
    c1,
    bad({ service_chain_ok: "fails" }),
    "The service's own word is believed when it is no.",
  );
  one(
    "another manifest",
    answer(withLabel(v1), c1, { manifestSha256: hexOf(v1) }),
    c1,
    bad({ "manifest.v1.hash": "fails", "certificate.v1.manifest": "fails" }),
    "Neither the stated hash nor the attachment is of it.",
  );
  one(
    "another manifestSha256",
    answer(v1, c1, { manifestSha256: hash("0") }),
    c1,
    bad({ "manifest.v1.hash": "fails" }),
    "The manifest's canonical form has another hash.",
  );
  one(
    "another sealedSha256",
    answer(v1, c1, { sealedSha256: hash("0") }),
    c1,
    bad({ "certificate.v1.hash": "fails" }),
    "The certificate has another hash.",
  );
  one(
    "another room's certificate",
    answer(v1, c1),
    documents.firstOfOther,
    bad({ "certificate.v1.hash": "fails", "certificate.v1.manifest": "fails" }),
    "A genuine certificate of another room.",
  );
  one(
    "another version's certificate",
    answer(v1, c1),
    c2,
    bad({ "certificate.v1.hash": "fails", "certificate.v1.manifest": "fails" }),
    "A genuine certificate of another version.",
  );
  one(
    "a proof in the certificate's place",
    answer(v1, documents.proof),
    documents.proof,
    bad({ "certificate.v1.purpose": "fails" }),
    "Sealed for somebody who attached a manifest.",
  );
  one(
    "another version's number",
    answer(v1, c1, { version: 2 }),
    c1,
    expectation("not_verified", { "manifest.v2.version": "fails" }),
    "The manifest is of version 1.",
  );
  one(
    "no certificate",
    answer(v1, c1),
    null,
    expectation("unsigned", fromOne, version(1, { sealed: false, stated: true }), { service_chain_ok: "unchecked" }),
    "Nobody vouches for the manifest.",
  );
  const wrong: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
    ["no chainOk", { chainOk: undefined }],
    ["null for chainOk", { chainOk: null }],
    ["a text for chainOk", { chainOk: "true" }],
    ["null for the manifest", { manifest: null }],
    ["an empty manifest", { manifest: {} }],
    ["no manifestSha256", { manifestSha256: undefined }],
    ["null for sealedSha256", { sealedSha256: null }],
    ["a text for the version", { version: "1" }],
    ["version 0", { version: 0 }],
    ["version 21", { version: 21 }],
    ["format 2", { format: 2 }],
  ];
  for (const [name, changes] of wrong)
    one(name, answer(v1, c1, changes), c1, unreadable, "A record that can't be read is no record to rest on.");
  const twice = text(Buffer.from(answer(v1, c1)).toString().replace("{", '{\n  "chainOk": false,'));
  one("a member twice", twice, c1, unreadable, "One reader takes the first, another the last.");
  return made();
}
