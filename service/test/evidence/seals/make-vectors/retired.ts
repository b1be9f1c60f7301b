import { collection, type Made, type NewCase, notVerified, type State, verified } from "./case.ts";
import { document, sealed, stamped } from "./sealing.ts";
import * as by from "./signers.ts";

const withTime = { time_stamp_valid: "holds" } as const;
const retirement = (state: State) => ({ seal_certificate_not_retired: state }) as const;
const later = "2026-03-01T00:00:00.000Z";
const earlier = "2026-01-10T00:00:00.000Z";
const nobody = { tsaTrust: [] } as const;

/** Seals with a retired certificate: from before its retirement, from after it, and from an unproven time. */
export async function retired(): Promise<Made> {
  const { add, put, trust, made } = collection("retired");
  const bb = put("b-b.pdf", await sealed(document()));
  const bt = put("b-t.pdf", await stamped(document()));

  /** A trust list in which a certificate is retired; the seal's own unless another is named. */
  const list = (name: string, retiredAt: string, reason: string, pem: string = by.sealPem) => {
    const all = [...new Set([by.sealPem, pem])];
    const sealCertificates = all.map((one) => (one === pem ? { pem: one, retiredAt, reason } : { pem: one }));
    return { trust: [trust(`${name}.json`, `${JSON.stringify({ format: 1, sealCertificates }, null, 1)}\n`)] };
  };
  const one = (file: string, name: string, teaches: string, more: Partial<NewCase>) =>
    add({ name, kind: "sealed_pdf", files: { sealed: file }, teaches, expect: verified(), ...more });
  const refused = notVerified(retirement("fails"));
  const refusedInTime = notVerified({ ...withTime, ...retirement("fails") });

  const stolen = list("stolen-later", later, "key-compromise");
  one(bt, "B-T, key stolen later", "A trusted time stamp from before the theft saves a seal.", {
    ...stolen,
    expect: verified({ ...withTime, ...retirement("holds") }),
  });
  one(bb, "B-B, key stolen later", "A seal's own word on its time saves nothing.", { ...stolen, expect: refused });
  one(bt, "B-T, key stolen later, no authority trusted", "A time stamp counts by its authority.", {
    ...stolen,
    ...nobody,
    expect: refused,
  });
  one(bt, "B-T, key stolen before", "Stamped after the theft.", {
    ...list("stolen-before", earlier, "key-compromise"),
    expect: refusedInTime,
  });
  one(bt, "B-T, key stolen at the stamped instant", "The instant itself is not before.", {
    ...list("stolen-then", new Date(by.stampedAt).toISOString(), "key-compromise"),
    expect: refusedInTime,
  });
  one(bb, "B-B, retired for a reason that is not known", "An unknown reason counts like a theft.", {
    ...list("unknown-reason", later, "moonlight"),
    expect: refused,
  });
  one(bb, "B-B, another certificate of the key stolen", "What is stolen is the key, and not the certificate.", {
    ...list("stolen-renewed", later, "key-compromise", by.renewedSealPem),
    expect: refused,
  });
  one(bb, "B-B, another certificate of the key superseded", "Its successor is not retired with it.", {
    ...list("superseded-renewed", later, "superseded", by.renewedSealPem),
  });
  one(bb, "B-B, another certificate of the key superseded before", "Its successor is not retired with it.", {
    ...list("superseded-renewed-before", earlier, "superseded", by.renewedSealPem),
  });
  one(bt, "B-T, superseded between /M and the stamped instant", "A late token in the seal counts against it.", {
    ...list("superseded-then", new Date(by.stampedAt).toISOString(), "superseded"),
    expect: refusedInTime,
  });
  const superseded = list("superseded-later", later, "superseded");
  one(bt, "B-T, superseded later", "The seal is proven to be older.", {
    ...superseded,
    expect: verified({ ...withTime, ...retirement("holds") }),
  });
  one(bb, "B-B, superseded later", "Nobody else has the key: not decided, and no fault.", {
    ...superseded,
    expect: verified(retirement("unchecked")),
  });
  const before = list("superseded-before", earlier, "superseded");
  one(bt, "B-T, superseded before", "Stamped after the date.", { ...before, expect: refusedInTime });
  one(bb, "B-B, superseded before", "A seal's own word on its time counts against it.", { ...before, expect: refused });
  return made();
}
