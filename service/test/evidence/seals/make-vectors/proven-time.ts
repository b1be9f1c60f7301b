import { verifyProof } from "@signsealship/evidence/seal";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Made, type NewCase, notVerified, type State, verified } from "./case.ts";
import { confirmedProof, HEIGHT, sha256 } from "./evidence.ts";
import { document, sealed } from "./sealing.ts";
import * as by from "./signers.ts";
import { oddZip } from "./zip-writer.ts";

/** Years after the certificates of the seal and of the authority have expired. */
const at = "2040-01-01T00:00:00.000Z";
const tsaTrust = ["trust/tsa.pem"];
const ended = { seal_certificate_valid_at_time: "fails", seal_certificate_trusted: "unchecked" } as const;
const stampIs = (state: State) => ({ separate_time_stamp_valid: state }) as const;
const anchored = { anchored_in_block: "holds", "ots.bitcoin": "holds" } as const;
const unanchored = { anchored_in_block: "unchecked", "ots.bitcoin": "unchecked" } as const;
const retirement = (state: State) => ({ seal_certificate_not_retired: state }) as const;
const seconds = (instant: string) => Date.parse(instant) / 1000;

/**
 * Seals without a time stamp, but with detached evidence: which evidence proves a time, and the consequences of that
 * time (docs/evidence-format.md, section 6.2).
 */
export async function provenTimes(): Promise<Made> {
  const { add, put, trust, slug, made } = collection("proven-time");
  const pdf = await sealed(document());
  const other = await sealed(document("Contrast"));

  const one = (name: string, parts: Readonly<Record<string, Uint8Array>>, more: Partial<NewCase>) => {
    const entries = Object.entries({ "sealed.pdf": pdf, ...parts }).map(([key, bytes]) => ({ name: key, bytes }));
    const zip = put(`${slug(name)}.zip`, oddZip(entries));
    add({ name, kind: "evidence_zip", files: { zip }, expect: verified(), teaches: "", at, tsaTrust, ...more });
  };
  const token = (bytes: Uint8Array) => ({ "timestamp.tst": bytes });
  const block = (time: number) => {
    const { proof, headers } = confirmedProof(sha256(pdf), time);
    return { parts: { "sealed.pdf.ots": proof }, given: { headers } };
  };

  one(
    "nothing beside it",
    {},
    { expect: notVerified(ended), teaches: "Nothing proves a time: the certificate has ended." },
  );
  const overFile = token(by.stamp(pdf));
  one("a token over the whole file", overFile, {
    expect: verified(stampIs("holds")),
    teaches: "A trusted token beside the file proves a time as one inside the seal does.",
  });
  one("a token of an authority that is not trusted", token(tokenOver(pdf, by.stranger, by.stampedAt)), {
    expect: notVerified({ ...ended, ...stampIs("fails") }),
    teaches: "Anybody can make a token.",
  });
  one("a token over the whole file, no authority trusted", overFile, {
    tsaTrust: [],
    expect: notVerified({ ...ended, ...stampIs("unchecked") }),
    teaches: "An intact token of nobody in particular proves no time.",
  });
  one("a token over the signature value", token(by.stamp(await signatureOf(pdf))), {
    expect: verified(stampIs("holds")),
    teaches: "Likewise.",
  });
  one("a token over the signature value of another seal", token(by.stamp(await signatureOf(other))), {
    expect: notVerified({ ...ended, ...stampIs("fails") }),
    teaches: "A token of another seal proves nothing of this one.",
  });
  const early = block(seconds("2026-01-16T00:00:00Z"));
  one("a block whose header is given", early.parts, {
    ...early.given,
    expect: verified(anchored),
    teaches: "A proof in a block, by a header that is given, proves a time.",
  });
  one("a block whose header is not given", early.parts, {
    expect: notVerified({ ...ended, ...unanchored }),
    teaches: "Without the header nobody knows the block's time.",
  });
  const own = Buffer.from(`${HEIGHT} ${early.given.headers[HEIGHT]}\n`);
  one(
    "a block whose header came with the evidence",
    { ...early.parts, "headers.txt": own },
    {
      expect: notVerified({ ...ended, ...unanchored, other_files: "unchecked" }),
      teaches: "A header counts when the caller gives it, and not because the evidence brings it.",
    },
  );
  const ofOther = confirmedProof(sha256(other), seconds("2026-01-16T00:00:00Z"));
  one("a block whose header is another one's", early.parts, {
    headers: ofOther.headers,
    expect: notVerified({ ...ended, anchored_in_block: "fails", "ots.bitcoin": "fails" }),
    teaches: "A proof that contradicts a header fails, and proves no time.",
  });
  const last = block(by.validTo / 1000 - 7200);
  one("a block two hours before the certificate's end", last.parts, {
    ...last.given,
    expect: verified(anchored),
    teaches: "The proven time is the block's and two hours.",
  });
  const late = block(by.validTo / 1000 - 7199);
  one("a block a second later", late.parts, {
    ...late.given,
    expect: notVerified({ ...ended, ...anchored }),
    teaches: "Two hours after the block the certificate had ended.",
  });

  const list = (name: string, retiredAt: string, reason: string) => {
    const text = JSON.stringify({ format: 1, sealCertificates: [{ pem: by.sealPem, retiredAt, reason }] }, null, 1);
    return { trust: [trust(`${name}.json`, `${text}\n`)] };
  };
  const theft = "2026-03-01T00:00:00.000Z";
  const stolen = { ...list("proven-stolen", theft, "key-compromise"), at: "2026-06-01T00:00:00.000Z" };
  one("a token over the whole file, key stolen later", overFile, {
    ...stolen,
    expect: verified({ ...stampIs("holds"), ...retirement("holds") }),
    teaches: "A trusted token beside the file, of before the theft, saves a seal.",
  });
  one("a block, key stolen later", early.parts, {
    ...stolen,
    ...early.given,
    expect: verified({ ...anchored, ...retirement("holds") }),
    teaches: "So does a block.",
  });
  const then = block(seconds(theft) - 7200);
  one("a block two hours before the theft", then.parts, {
    ...stolen,
    ...then.given,
    expect: notVerified({ ...anchored, ...retirement("fails") }),
    teaches: "The proven time is the instant of the theft, which is not before it.",
  });
  const soon = block(seconds("2026-02-01T12:00:00Z"));
  one("a block of an hour ago, key stolen later", soon.parts, {
    ...stolen,
    ...soon.given,
    at: "2026-02-01T13:00:00.000Z",
    expect: notVerified({ ...anchored, ...retirement("fails") }),
    teaches: "A block proves nothing until two hours after it.",
  });
  const superseded = { ...list("proven-superseded", theft, "superseded"), at: "2026-06-01T00:00:00.000Z" };
  const lateToken = token(tokenOver(pdf, by.tsa, Date.UTC(2026, 3, 1)));
  one("a late token beside it, key superseded", lateToken, {
    ...superseded,
    expect: verified({ ...stampIs("holds"), ...retirement("unchecked") }),
    teaches: "Late proof beside the file is none against a seal.",
  });
  return made();
}

/** The signature value of a seal, which its time stamp covers. */
async function signatureOf(pdf: Uint8Array): Promise<Uint8Array> {
  const trust = { sealAnchors: [], tsaAnchors: [] };
  const { seal } = await verifyProof(pdf, trust, by.stampedAt, { crypto: createNodeCrypto() });
  if (!seal?.pades.signatureValue) throw new Error("a seal that can't be read");
  return seal.pades.signatureValue;
}
