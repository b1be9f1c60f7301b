import { formatLogProof, sealEntry } from "@signsealship/evidence/log";
import { hashOfLeaf, inclusionOf, rootOf } from "../../../../../packages/evidence/test/log/sample-tree.ts";
import { key, leaves, live } from "../../../../../packages/evidence/test/log/vectors/sample.ts";
import { collection, type Made, type NewCase, notCovered, notVerified, verified } from "./case.ts";
import { confirmedProof, hexOf } from "./evidence.ts";
import { document, oddSeal, sealed } from "./sealing.ts";
import * as by from "./signers.ts";
import { oddZip } from "./zip-writer.ts";

const INDEX = 5;
const text = (value: string): Uint8Array => Uint8Array.from(Buffer.from(value));
/** The signed state of the log right before the line of the seal is appended. */
const before = live.signed(INDEX, rootOf(leaves.slice(0, INDEX)));

/**
 * The log with the line of a sealed file as entry 5 of 11: its root, a checkpoint over that root, and the proof of the
 * line.
 */
function logWith(pdf: Uint8Array) {
  const own = leaves.with(INDEX, hashOfLeaf(text(sealEntry(hexOf(pdf)))));
  const root = rootOf(own);
  const checkpoint = live.signed(own.length, root);
  const proof = text(formatLogProof({ extra: null, index: INDEX, hashes: inclusionOf(own, INDEX), checkpoint }));
  return { root, checkpoint, proof };
}

/**
 * A time years after the seal's certificate expired. Only a proven time shows that the seal was made before the expiry.
 */
const late = { at: "2040-01-01T00:00:00.000Z" };
const ended = { seal_certificate_valid_at_time: "fails", seal_certificate_trusted: "unchecked" } as const;
const included = { log_inclusion: "holds", log_checkpoint_signed: "holds" } as const;
const carriedAlone = { absent: ["log_sandwich"] } as const;

/**
 * Seals that contain a checkpoint of the log, seals with log proofs, and proofs of the checkpoint's time
 * (docs/evidence-format.md, sections 22.4, 22.6 and 22.7).
 */
export async function logged(): Promise<Made> {
  const { add, put, trust, slug, made } = collection("logged");
  const list = { format: 1, sealCertificates: [{ pem: by.sealPem }], logs: [{ environment: "live", key }] };
  const log = [trust("log.json", `${JSON.stringify(list, null, 1)}\n`)];
  const pdf = await sealed(document(), { checkpoint: before });
  const { root, checkpoint, proof } = logWith(pdf);
  const stamp = by.stamp(text(checkpoint));

  type More = Partial<NewCase> & Pick<NewCase, "expect" | "teaches">;
  const zip = (name: string, parts: Readonly<Record<string, Uint8Array>>, more: More) => {
    const all = { "sealed.pdf": pdf, "sealed.pdf.tlog-proof": proof, ...parts };
    const entries = Object.entries(all).map(([entry, bytes]) => ({ name: entry, bytes }));
    const files = { zip: put(`${slug(name)}.zip`, oddZip(entries)) };
    add({ name, kind: "evidence_zip", files, trust: log, ...more });
  };
  const place = { log_carried: "holds", log_sandwich: "holds" } as const;
  const unplaced = { log_carried: "holds", log_sandwich: "unchecked" } as const;
  zip(
    "a seal between two checkpoints of its log",
    { "checkpoint-1.tst": stamp },
    {
      expect: verified({ ...included, ...place, log_checkpoint_stamped: "holds" }),
      absent: ["log_checkpoint_anchored"],
      teaches: "The log had the line within a day of the time that the seal states, and not before the seal was made.",
    },
  );
  zip(
    "a stamp over the checkpoint, the certificate ended",
    { "checkpoint-1.tst": stamp },
    {
      ...late,
      expect: verified({ ...included, ...place, log_checkpoint_stamped: "holds" }),
      teaches: "A trusted stamp over a checkpoint proves a time of each seal that the checkpoint is over.",
    },
  );
  zip(
    "a stamp over the checkpoint by an authority that is not trusted",
    { "checkpoint-1.tst": stamp },
    {
      tsaTrust: ["trust/other-tsa.pem"],
      expect: verified({ ...included, ...unplaced, log_checkpoint_stamped: "unchecked" }),
      teaches: "Another reader may know the authority: the stamp proves no time, and lowers nothing.",
    },
  );
  const failing = { ...included, ...unplaced, log_checkpoint_stamped: "fails" } as const;
  zip(
    "a stamp over another checkpoint",
    { "checkpoint-1.tst": by.stamp(text(before)) },
    { expect: notVerified(failing), teaches: "Each stamp is over the checkpoint of the log proof." },
  );
  zip(
    "a stamp that can't be read, beside a good one",
    { "checkpoint-1.tst": stamp, "checkpoint-2.tst": Uint8Array.of(0x30, 0x00) },
    { expect: notVerified(failing), teaches: "Each stamp can be read." },
  );
  zip(
    "a stamp beside a log proof that can't be read",
    { "sealed.pdf.tlog-proof": text("c2sp.org/tlog-proof@v1\n"), "checkpoint-1.tst": stamp },
    {
      ...carriedAlone,
      expect: notVerified({ log_inclusion: "fails", log_checkpoint_stamped: "unchecked", log_carried: "holds" }),
      teaches: "No checkpoint is there that the stamp should be over.",
    },
  );
  const other = logWith(await sealed(document("Contrast")));
  zip(
    "a stamped log proof of another file, the certificate ended",
    { "sealed.pdf.tlog-proof": other.proof, "checkpoint-1.tst": by.stamp(text(other.checkpoint)) },
    {
      ...late,
      ...carriedAlone,
      expect: notVerified({
        ...ended,
        log_inclusion: "fails",
        log_checkpoint_signed: "holds",
        log_checkpoint_stamped: "holds",
        log_carried: "holds",
      }),
      teaches:
        "The log's signature and the stamp are good, and prove no time of a seal that the checkpoint is not over.",
    },
  );
  const seconds = Date.UTC(2026, 0, 16) / 1000;
  const anchor = confirmedProof(root, seconds);
  zip(
    "a block over the root, the certificate ended",
    { "checkpoint.ots": anchor.proof },
    {
      ...late,
      headers: anchor.headers,
      expect: verified({ ...included, ...unplaced, log_checkpoint_anchored: "holds" }),
      absent: ["log_checkpoint_stamped"],
      teaches: "So does a block over its root. For the place of the line no block counts.",
    },
  );
  zip(
    "a block over the root whose header is not given, the certificate ended",
    { "checkpoint.ots": anchor.proof },
    {
      ...late,
      expect: notVerified({ ...ended, ...included, ...unplaced, log_checkpoint_anchored: "unchecked" }),
      teaches: "Without the header nobody knows the block's time.",
    },
  );
  const ofOther = confirmedProof(other.root, seconds);
  zip(
    "a block over another root",
    { "checkpoint.ots": ofOther.proof },
    {
      headers: ofOther.headers,
      expect: notVerified({ ...included, ...unplaced, log_checkpoint_anchored: "fails" }),
      teaches: "The proof is one of the checkpoint's root.",
    },
  );

  const seal = (name: string, bytes: Uint8Array, more: More) =>
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, ...carriedAlone, ...more });
  seal("a checkpoint in the seal", pdf, {
    expect: verified({ log_carried: "unchecked" }),
    teaches: "Where no log is trusted, nobody says whose checkpoint it is: that is open, and lowers nothing.",
  });
  const oddly = (value: string) =>
    oddSeal(document(), {
      dictionary: (dictionary) => dictionary.replace("/SSSOriginalLength", `${value}/SSSOriginalLength`),
    });
  const unread = notVerified({ log_carried: "fails" });
  seal("a checkpoint in the seal that is a name", oddly("/SSSLogCheckpoint/None"), {
    expect: unread,
    teaches: "It is a string.",
  });
  const [head, tail] = [before.slice(0, 1), before.slice(1)].map((part) => Buffer.from(part).toString("hex"));
  seal("a checkpoint in the seal that is not UTF-8", oddly(`/SSSLogCheckpoint<${head}ff${tail}>`), {
    expect: unread,
    teaches: "It is a text in UTF-8.",
  });
  const note = Buffer.from(before).toString("hex");
  seal("a checkpoint in the seal twice", oddly(`/SSSLogCheckpoint<${note}>/SSSLogCheckpoint<${note}>`), {
    expect: notCovered,
    absent: ["log_carried", "log_sandwich"],
    teaches: "A key that stands twice in the signature dictionary makes the signature unusable (repeated-key).",
  });
  return made();
}
