import { collection, type Expectation, type Made, notVerified, type State, verified } from "./case.ts";
import { asJson, evidenceOf, HEIGHT, hexOf } from "./evidence.ts";
import { oddities } from "./odd-zips.ts";
import { trustFiles } from "./signers.ts";
import { type OddEntry, oddZip } from "./zip-writer.ts";

/** The claims that evidence adds to those of its sealed PDF. */
const EVIDENCE = {
  time_stamp_valid: "holds",
  separate_time_stamp_valid: "holds",
  anchored_in_block: "holds",
  "ots.format": "holds",
  "ots.digest": "holds",
  "ots.pending": "unchecked",
  "ots.bitcoin": "holds",
  certificates_are_the_seals: "holds",
  record_sealed_hash: "holds",
  record_document_hash: "holds",
} as const;
type Changes = Readonly<Record<string, State | null>>;
const good = (changes: Changes = {}) => verified({ ...EVIDENCE, ...changes });
const bad = (changes: Changes) => notVerified({ ...EVIDENCE, ...changes });
const refused: Expectation = { verdict: "not_verified", claims: { zip_readable: "fails" } };
const unrecorded: Expectation = { verdict: "not_verified", claims: { record_readable: "fails" } };

const evidence = await evidenceOf();
const other = await evidenceOf("Contrast");
const text = (value: string) => Buffer.from(value);
const PARTS: Readonly<Record<string, Uint8Array>> = {
  "sealed.pdf": evidence.pdf,
  "timestamp.tst": evidence.token,
  "sealed.pdf.ots": evidence.proof,
  "seal-certificates.pem": evidence.certificates,
  "passport.json": asJson(evidence.record),
  "README.txt": text("How to check this evidence without us.\n"),
};

/** The evidence's entries with changes: bytes replace or add an entry, and null removes it. */
function entries(changes: Readonly<Record<string, Uint8Array | null>> = {}): OddEntry[] {
  return Object.entries({ ...PARTS, ...changes }).flatMap(([name, bytes]) => (bytes === null ? [] : [{ name, bytes }]));
}

type Record_ = typeof evidence.record;
const record = (changes: Readonly<Record<string, unknown>>): Uint8Array => asJson({ ...evidence.record, ...changes });
const without = (member: keyof Record_): Uint8Array =>
  asJson(Object.fromEntries(Object.entries(evidence.record).filter(([name]) => name !== member)));
const flipped = (bytes: Uint8Array): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[copy.length - 1] = (copy.at(-1) ?? 0) ^ 1;
  return copy;
};

type Row = readonly [name: string, entries: OddEntry[], expect: Expectation, teaches: string];

function readable(): readonly Row[] {
  const one = (changes: Parameters<typeof entries>[0]) => entries(changes);
  const bits = { both: { flags: 0x800 } };
  return [
    ["all of it", one({}), good(), "Everything recomputed: seal, token, proof, hashes, certificate."],
    ["deflated", entries().map((entry) => ({ ...entry, deflated: true })), good(), "Entries may be deflated."],
    ["with data descriptors", entries().map((entry) => ({ ...entry, descriptor: true })), good(), "Bit 3 is allowed."],
    [
      "packed again, with times in extra fields",
      entries().map((entry) => ({ ...entry, both: { extra: Buffer.from("555405000100000000", "hex") } })),
      good(),
      "Common programs write such fields, which change nothing.",
    ],
    ["names in UTF-8", entries().map((entry) => ({ ...entry, ...bits })), good(), "Bit 11 is allowed."],
    [
      "a file more",
      one({ "notes.txt": text("x") }),
      good({ other_files: "unchecked" }),
      "A name that is not of the evidence is reported, and nothing vouches for it.",
    ],
    ["another PDF", one({ "contract.pdf": other.pdf }), bad({ other_files: "fails" }), "It would pass for evidence."],
    ["a PDF called README.txt", one({ "README.txt": other.pdf }), bad({ other_files: "fails" }), "Its name hides it."],
    [
      "a name that ends in .pdf",
      one({ "other.PDF": text("x") }),
      bad({ other_files: "fails" }),
      "Whatever it holds, it would be opened as a PDF.",
    ],
  ];
}

function missing(): readonly Row[] {
  const no = (name: string) => entries({ [name]: null });
  const sealedOnly = Object.fromEntries(Object.keys(PARTS).map((name) => [name, null]));
  const gone: Expectation = { verdict: "unchecked", claims: { sealed_pdf: "unchecked" } };
  return [
    ["no sealed PDF", no("sealed.pdf"), gone, "Without the file nothing is decided."],
    [
      "no sealed PDF, a broken proof",
      entries({ "sealed.pdf": null, "sealed.pdf.ots": text("no proof") }),
      { verdict: "not_verified", claims: { sealed_pdf: "unchecked", "ots.format": "fails" } },
      "What fails, fails.",
    ],
    [
      "no record",
      no("passport.json"),
      good({ record_sealed_hash: null, record_document_hash: null }),
      "The bytes decide.",
    ],
    ["no token", no("timestamp.tst"), good({ separate_time_stamp_valid: null }), "The token in the seal is enough."],
    [
      "no proof",
      no("sealed.pdf.ots"),
      good({
        anchored_in_block: null,
        "ots.format": null,
        "ots.digest": null,
        "ots.pending": null,
        "ots.bitcoin": null,
      }),
      "A missing proof lowers nothing.",
    ],
    [
      "an empty sealed PDF, a token and a proof",
      entries({
        ...sealedOnly,
        "sealed.pdf": text(""),
        "timestamp.tst": evidence.token,
        "sealed.pdf.ots": evidence.proof,
      }),
      { verdict: "not_a_pdf", claims: { pdf_readable: "fails" } },
      "What the sealed PDF is decides before what lies beside it.",
    ],
    [
      "a sealed PDF that was cut before its seal, a token and a proof",
      entries({
        ...sealedOnly,
        "sealed.pdf": evidence.original,
        "timestamp.tst": evidence.token,
        "sealed.pdf.ots": evidence.proof,
      }),
      { verdict: "unsigned", claims: { pdf_readable: "holds" } },
      "Likewise.",
    ],
    [
      "an empty sealed PDF and a record",
      entries({ ...sealedOnly, "sealed.pdf": text(""), "passport.json": asJson(evidence.record) }),
      { verdict: "not_verified", claims: { record_sealed_hash: "fails" } },
      "A claim about the rest that fails makes the verdict not_verified.",
    ],
    [
      "the sealed PDF alone",
      entries({ ...sealedOnly, "sealed.pdf": evidence.pdf }),
      verified({ time_stamp_valid: "holds" }),
      "The sealed PDF is all that a verdict needs.",
    ],
  ];
}

/** The certificate of another seal, in PEM variants that OpenSSL reads and some other programs do not. */
function oddCertificates(): readonly (readonly [string, Buffer])[] {
  const pem = trustFiles["trust/other-seal.pem"];
  return [
    ["another seal's certificate before it, with a header", text(pem.replace("\n", "\nX-A: b\n\n"))],
    ["another seal's certificate before it, by an older label", text(pem.replaceAll(" CERT", " X509 CERT"))],
    ["another seal's certificate before it, with a control character", text(pem.replace(/(\nM[^\n]*)/, "$1\u0001"))],
  ];
}

function altered(): readonly Row[] {
  const failing = (name: string, bytes: Uint8Array, changes: Changes, title: string, teaches: string): Row => [
    title,
    entries({ [name]: bytes }),
    bad(changes),
    teaches,
  ];
  const badProof = { anchored_in_block: "fails", "ots.pending": null, "ots.bitcoin": null } as const;
  const page = Buffer.from(evidence.pdf);
  page.write("K", page.indexOf("(Contract") + 1, "latin1");
  const differs = {
    record_sealed_hash: "fails",
    record_document_hash: "fails",
    ...badProof,
    "ots.digest": "fails",
  } as const;
  const changed = { document_unchanged_since_seal: "fails", seal_signature_valid: "fails" } as const;
  return [
    failing(
      "sealed.pdf",
      page,
      { ...differs, ...changed, separate_time_stamp_valid: null },
      "a letter of the sealed PDF",
      "Nothing of the evidence fits.",
    ),
    failing(
      "sealed.pdf",
      other.pdf,
      { ...differs, separate_time_stamp_valid: "fails" },
      "another sealed PDF",
      "Genuine, and not what the rest is about.",
    ),
    failing(
      "timestamp.tst",
      flipped(evidence.token),
      { separate_time_stamp_valid: "fails" },
      "the token's last byte",
      "Its signature does not hold.",
    ),
    failing(
      "timestamp.tst",
      other.token,
      { separate_time_stamp_valid: "fails" },
      "another seal's token",
      "A token is over one signature value.",
    ),
    failing(
      "timestamp.tst",
      text("no token"),
      { separate_time_stamp_valid: "fails" },
      "no token in the token's place",
      "It can't be read.",
    ),
    failing(
      "sealed.pdf.ots",
      other.proof,
      { ...badProof, "ots.digest": "fails" },
      "another file's proof",
      "A proof is of one digest.",
    ),
    failing(
      "sealed.pdf.ots",
      Uint8Array.from(evidence.proof, (octet, index) => (index === 32 ? 0x67 : octet)),
      { ...badProof, "ots.digest": "fails" },
      "a proof of the same digest by another hash",
      "A proof says by which hash the digest was made.",
    ),
    failing(
      "sealed.pdf.ots",
      evidence.proof.slice(0, -1),
      { ...badProof, "ots.format": "fails", "ots.digest": null },
      "a proof that was cut",
      "It can't be read.",
    ),
    failing(
      "sealed.pdf.ots",
      Buffer.concat([evidence.proof, text("x")]),
      { ...badProof, "ots.format": "fails", "ots.digest": null },
      "a byte behind the proof",
      "Bytes after the end are refused.",
    ),
    failing(
      "seal-certificates.pem",
      text(trustFiles["trust/other-seal.pem"]),
      { certificates_are_the_seals: "fails" },
      "another seal's certificate",
      "The file would mislead who trusts it.",
    ),
    ...oddCertificates().map(([title, odd]) =>
      failing(
        "seal-certificates.pem",
        Buffer.concat([odd, evidence.certificates]),
        { certificates_are_the_seals: "fails" },
        title,
        "Some programs take the certificate of another seal here.",
      ),
    ),
    failing(
      "seal-certificates.pem",
      text("no certificate\n"),
      { certificates_are_the_seals: "fails" },
      "no certificate in its place",
      "It can't be read.",
    ),
    failing(
      "passport.json",
      record({ sealedSha256: hexOf(evidence.original) }),
      { record_sealed_hash: "fails" },
      "another sealedSha256 in the record",
      "The record names another file.",
    ),
    failing(
      "passport.json",
      record({ docSha256: hexOf(evidence.pdf) }),
      { record_document_hash: "fails" },
      "another docSha256 in the record",
      "The record names another document.",
    ),
  ];
}

function records(): readonly Row[] {
  const one = (title: string, bytes: Uint8Array, expect: Expectation, teaches: string): Row => [
    title,
    entries({ "passport.json": bytes }),
    expect,
    teaches,
  ];
  const test: Expectation = { ...good(), verdict: "verified_test" };
  const twice = text(asJson(evidence.record).toString().replace("{", '{\n  "environment": "test",'));
  const shape = "A record that can't be read is no record to rest on.";
  return [
    one("a record of a test", record({ environment: "test" }), test, "A record can only lower the verdict."),
    one("a record with verdict verified_test", record({ verdict: "verified_test" }), test, "Likewise."),
    one("a record of before it had a format", without("format"), good(), "Without a format it is of version 1."),
    one("a record with a member more", record({ branding: null }), good(), "Unknown members are not looked at."),
    one("a record of format 2", record({ format: 2 }), unrecorded, shape),
    one("a format that is a text", record({ format: "1" }), unrecorded, shape),
    one("a record without sealedSha256", without("sealedSha256"), unrecorded, shape),
    one("a record without docSha256", without("docSha256"), unrecorded, shape),
    one("a record without verifyCode", without("verifyCode"), unrecorded, shape),
    one("a record without environment", without("environment"), unrecorded, shape),
    one("another environment", record({ environment: "Live" }), unrecorded, shape),
    one("another status", record({ status: "withdrawn" }), unrecorded, shape),
    one("a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), record({})]), unrecorded, shape),
    one("a member twice", twice, unrecorded, "One reader takes the first, another the last."),
    one("a list for a record", text("[]\n"), unrecorded, shape),
    one("null for a record", text("null\n"), unrecorded, shape),
    one("a number for a record", text("1\n"), unrecorded, shape),
    one("a text for a record", text('"sealed"\n'), unrecorded, shape),
    one("no JSON for a record", text("sealed\n"), unrecorded, shape),
    one("a record in Latin-1", Buffer.from('{"environment":"\xfc"}\n', "latin1"), unrecorded, shape),
    one("a hash in upper case", record({ sealedSha256: hexOf(evidence.pdf).toUpperCase() }), unrecorded, shape),
    one("a hash that is too short", record({ docSha256: "00" }), unrecorded, shape),
    one("null for a hash", record({ sealedSha256: null }), unrecorded, shape),
    one("a number for the environment", record({ environment: 1 }), unrecorded, shape),
    one("a list for the verdict", record({ verdict: ["verified"] }), unrecorded, shape),
  ];
}

/** Vectors of evidence zips. */
export function zips(): Made {
  const { add, put, made, slug } = collection("zips");
  const trusted = { headers: evidence.headers };
  const one = (name: string, zip: Uint8Array, expect: Expectation, teaches: string, more: object = trusted) =>
    add({ name, kind: "evidence_zip", files: { zip: put(`${slug(name)}.zip`, zip) }, expect, teaches, ...more });
  for (const [name, list, expect, teaches] of [...readable(), ...missing(), ...altered(), ...records()]) {
    one(name, oddZip(list), expect, teaches);
  }
  for (const [name, list, end] of oddities(entries(), other.pdf))
    one(name, oddZip(list, end), refused, "Programs disagree about such zips.");
  const whole = oddZip(entries());
  const unanchored = good({ anchored_in_block: "unchecked", "ots.bitcoin": "unchecked" });
  one("all of it", whole, unanchored, "Without a header nobody knows whether the block is one.", {});
  const header = { headers: { [HEIGHT]: other.headers[HEIGHT] ?? "" } };
  const contradicted = bad({ anchored_in_block: "fails", "ots.bitcoin": "fails" });
  one("all of it", whole, contradicted, "The block at this height has another merkle root.", header);
  const distrusted = bad({ time_stamp_valid: "fails", separate_time_stamp_valid: "fails" });
  const otherTime = { ...trusted, tsaTrust: ["trust/other-tsa.pem"] };
  one("all of it", whole, distrusted, "The tokens are by another authority of time than the trusted one.", otherTime);
  const large = entries({ "passport.json": record({ more: "x".repeat(1_048_576) }) });
  const small = large.map((entry) => ({ ...entry, deflated: entry.name === "passport.json" }));
  one("a record of more than 1 MiB", oddZip(small), unrecorded, "A record is at most 1 MiB.");
  return made();
}
