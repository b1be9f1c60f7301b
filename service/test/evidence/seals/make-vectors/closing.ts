import { hash } from "../../../../../packages/evidence/test/manifest/manifests.ts";
import { collection, type Expectation, type Made } from "./case.ts";
import { asJson, hexOf } from "./evidence.ts";
import {
  answer,
  type Claims,
  c1,
  c2,
  c3,
  documents,
  expectation,
  foreign,
  fromOne,
  manifest,
  sealedOne,
  text,
  unsealed,
  v1,
  v2,
  v3,
  version,
  withLabel,
} from "./rooms.ts";

type Files = {
  readonly manifests?: readonly Uint8Array[];
  readonly certificates?: readonly Uint8Array[];
  readonly records?: readonly Uint8Array[];
};
type Row = readonly [name: string, files: Files, expect: Expectation, teaches: string];

function honest(): readonly Row[] {
  const both = [1, 2, 3].map((n) => version(n, sealedOne));
  return [
    [
      "three versions, each with its certificate",
      { manifests: [v1, v2, v3], certificates: [c1, c2, c3] },
      expectation("verified", fromOne, ...both),
      "Every hash, link and seal.",
    ],
    [
      "the same in another order",
      { manifests: [v3, v1, v2], certificates: [c2, c3, c1] },
      expectation("verified", fromOne, ...both),
      "Order says nothing.",
    ],
    [
      "certificates alone",
      { certificates: [c1, c2, c3] },
      expectation("verified", fromOne, ...both),
      "The attached manifest counts.",
    ],
    [
      "manifests alone",
      { manifests: [v1, v2, v3] },
      expectation("unsigned", fromOne, ...[1, 2, 3].map((n) => version(n, unsealed))),
      "Nobody vouches for them.",
    ],
    [
      "two versions, the later one certified",
      { manifests: [v1, v2], certificates: [c2] },
      expectation("verified", fromOne, version(1, unsealed), version(2, sealedOne)),
      "A seal vouches for the versions before, too.",
    ],
    [
      "two versions, the earlier one certified",
      { manifests: [v1, v2], certificates: [c1] },
      expectation("unsigned", fromOne, version(1, sealedOne), version(2, unsealed)),
      "And for none after it.",
    ],
    [
      "version 2 alone",
      { certificates: [c2] },
      expectation(
        "verified",
        { "chain.versions": "unchecked" },
        version(2, sealedOne, { "manifest.v2.link": "unchecked" }),
      ),
      "What came before was not given.",
    ],
    [
      "a certificate and its record",
      { certificates: [c1], records: [answer(v1, c1)] },
      expectation("verified", fromOne, version(1, { sealed: true, stated: true }), { service_chain_ok: "unchecked" }),
      "A record's hashes are compared; its chainOk is not believed.",
    ],
    [
      "two records and certificates",
      { certificates: [c1, c2], records: [answer(v1, c1), answer(v2, c2)] },
      expectation(
        "verified",
        fromOne,
        version(1, { sealed: true, stated: true }),
        version(2, { sealed: true, stated: true }),
      ),
      "The records give the manifests.",
    ],
  ];
}

function withLetter(certificate: Uint8Array): Uint8Array {
  const changed = Uint8Array.from(certificate);
  changed[Buffer.from(certificate).indexOf("(Certificate") + 1] = 0x4b;
  return changed;
}

function altered(): readonly Row[] {
  const changed = withLetter(c1);
  const pretty = asJson(JSON.parse(Buffer.from(v1).toString()));
  const swapped = manifest({ version: 2, prevManifestSha256: hash("0") });
  const twoSecond = manifest({ version: 2, prevManifestSha256: hexOf(v1), reference: "x" });
  const not = (...claims: readonly Claims[]) => expectation("not_verified", ...claims);
  return [
    [
      "a version missing between",
      { certificates: [c1, c3] },
      not(
        { "chain.versions": "fails" },
        version(1, sealedOne),
        version(3, sealedOne, { "manifest.v3.link": "unchecked" }),
      ),
      "Versions run without a gap.",
    ],
    [
      "two manifests of version 2",
      { manifests: [v1, v2, twoSecond] },
      not({ "chain.versions": "fails" }),
      "One of them was not published.",
    ],
    [
      "version 1 changed",
      { manifests: [withLabel(v1), v2], certificates: [c2] },
      not(fromOne, version(1, unsealed), version(2, sealedOne, { "manifest.v2.link": "fails" })),
      "Version 2 names the hash of another.",
    ],
    [
      "version 2 links elsewhere",
      { manifests: [v1, swapped] },
      not(fromOne, version(1, unsealed), version(2, unsealed, { "manifest.v2.link": "fails" })),
      "prevManifestSha256 is the hash of the version before.",
    ],
    [
      "a manifest that is not canonical",
      { manifests: [pretty] },
      not(fromOne, version(1, unsealed, { "manifest.v1.canonical": "fails" })),
      "The same values, other bytes, another hash.",
    ],
    [
      "a manifest that is not canonical, beside its certificate",
      { manifests: [pretty], certificates: [c1] },
      not(fromOne, version(1, sealedOne, { "manifest.v1.canonical": "fails", "certificate.v1.manifest": "fails" })),
      "The attachment is byte-identical to what is beside it.",
    ],
    [
      "another room's version 2",
      { manifests: [v1, manifest(foreign)] },
      not(fromOne, version(1, unsealed), version(2, unsealed, { "manifest.v2.room": "fails" })),
      "A set is of one room.",
    ],
    [
      "another room's certificate",
      { manifests: [v1, v2], certificates: [documents.foreign] },
      not(fromOne, version(1, unsealed), version(2, sealedOne, { "certificate.v2.manifest": "fails" })),
      "A certificate is of the manifest attached to it.",
    ],
    [
      "a letter of the certificate",
      { certificates: [changed] },
      not(fromOne, version(1, sealedOne, { "certificate.v1.seal": "fails" })),
      "Its seal does not hold.",
    ],
    [
      "one line feed behind the certificate",
      { certificates: [Uint8Array.from([...c1, 10])] },
      expectation("not_verified", { "certificate.v1.seal": "fails", "certificate.v1.manifest": "holds" }),
      "No signature ends at the last byte: whether a purpose is read is open.",
    ],
    [
      "a proof with a manifest attached",
      { certificates: [documents.proof] },
      not(fromOne, version(1, sealedOne, { "certificate.v1.purpose": "fails" })),
      "Anybody may have any document sealed: only the purpose tells.",
    ],
    [
      "an order's document with a manifest attached",
      { certificates: [documents.signed] },
      not(fromOne, version(1, sealedOne, { "certificate.v1.purpose": "fails" })),
      "Likewise.",
    ],
    [
      "a certificate without an attachment",
      { certificates: [documents.bare] },
      expectation("not_verified", {
        "certificate.v?.seal": "holds",
        "certificate.v?.trusted": "holds",
        "certificate.v?.manifest": "fails",
      }),
      "A certificate has its manifest.",
    ],
    [
      "two attachments of the name",
      { certificates: [documents.twice] },
      expectation("not_verified", {
        "certificate.v?.seal": "holds",
        "certificate.v?.trusted": "holds",
        "certificate.v?.manifest": "fails",
      }),
      "Readers would take different ones.",
    ],
    [
      "a compressed attachment",
      { certificates: [documents.deflated] },
      expectation("not_verified", {
        "certificate.v?.seal": "holds",
        "certificate.v?.trusted": "holds",
        "certificate.v?.manifest": "fails",
      }),
      "The attached bytes stand in the file as they are.",
    ],
    [
      "the tree of attachments twice",
      { certificates: [documents.treeTwice] },
      expectation("not_verified", { "certificate.v?.manifest": "fails" }),
      "Of a key that stands twice one reader takes the first, another the last.",
    ],
    [
      "/F and /UF of /EF apart",
      { certificates: [documents.apart] },
      expectation("not_verified", { "certificate.v?.manifest": "fails" }),
      "Readers would take different data.",
    ],
    [
      "a further member",
      { manifests: [text(Buffer.from(v1).toString().replace('{"coverage"', '{"a":1,"coverage"'))] },
      expectation("not_verified", { "manifest.v1.schema": "fails" }),
      "A further member makes it no manifest.",
    ],
    [
      "version 1 with a version before",
      {
        manifests: [
          text(
            Buffer.from(v1)
              .toString()
              .replace('"prevManifestSha256":null', `"prevManifestSha256":"${hash("0")}"`),
          ),
        ],
      },
      expectation("not_verified", { "manifest.v1.schema": "fails" }),
      "Null on version 1, and there alone.",
    ],
    [
      "no JSON",
      { manifests: [text("no JSON")] },
      expectation("not_verified", { "manifest.v1.schema": "fails" }),
      "A manifest that can't be read.",
    ],
  ];
}

/** Vectors in which a verifier gets manifests, certificates and records of one room together. */
export function closingSets(): Made {
  const { add, put, made } = collection("closing");
  const one = ([name, files, expect, teaches]: Row, more: object = {}) => {
    const stored = Object.entries(files).map(([role, list]) => {
      const suffix = role === "certificates" ? "pdf" : "json";
      return [role, list.map((bytes) => put(`${role}-${hexOf(bytes).slice(0, 12)}.${suffix}`, bytes))] as const;
    });
    add({ name, kind: "closing_set", files: Object.fromEntries(stored), expect, teaches, ...more });
  };
  for (const row of [...honest(), ...altered()]) one(row);
  const only = { certificates: [c1] };
  one([
    "a test's certificate",
    { certificates: [documents.test] },
    expectation("verified_test", fromOne, version(1, sealedOne)),
    "One test is enough.",
  ]);
  one([
    "a test's certificate, then a live one",
    { certificates: [documents.test, c2] },
    expectation("verified_test", fromOne, version(1, sealedOne), version(2, sealedOne)),
    "One test is enough.",
  ]);
  const untrusted = version(1, sealedOne, { "certificate.v1.trusted": "unchecked" });
  one(["no seal trusted", only, expectation("intact", fromOne, untrusted), "Without trust: intact."], { trust: [] });
  const distrusted = version(1, sealedOne, { "certificate.v1.trusted": "fails" });
  one(
    [
      "another seal trusted",
      only,
      expectation("not_verified", fromOne, distrusted),
      "The seal holds, and is nobody's who is trusted.",
    ],
    { trust: ["trust/other-seal.pem"] },
  );
  one(
    [
      "another seal trusted, and a letter of the certificate",
      { certificates: [withLetter(c1)] },
      expectation("not_verified", fromOne, distrusted, { "certificate.v1.seal": "fails" }),
      "Trust is a claim of its own. So is the seal, which does not hold.",
    ],
    { trust: ["trust/other-seal.pem"] },
  );
  return made();
}
