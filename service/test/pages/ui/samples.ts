import { generateKeyPairSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import { sha256Hex } from "@signsealship/evidence/digest";
import { buildManifest, type ManifestInput, manifestBytes } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { encodePem } from "@signsealship/evidence/x509";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import type { RoomRow } from "../../../src/closing/rooms/view/store.ts";
import type { ProofRecord } from "../../../src/evidence/proof-passports/proof-passports.ts";
import { createCmsSigner } from "../../../src/evidence/seals/cms/cms.ts";
import type { SealPlace } from "../../../src/evidence/seals/cms/signed-data.ts";
import { sealKeyOf } from "../../../src/evidence/seals/keys/file-key.ts";
import { sealPdf } from "../../../src/evidence/seals/pdf/seal-pdf.ts";
import { readRetention } from "../../../src/kernel/retention/retention.ts";
import type { ClosingRecord, ClosingVersionRecord } from "../../../src/pages/verify/closing/page.ts";
import { selfSigned } from "../../evidence/seals/signers.ts";

export const proofCode = "mfrggzdfmztwq2lknnwg23tpoa";
export const testProofCode = "mfrggzdfmztwq2lknnwg23tpob";
export const closingCode = "mfrggzdfmztwq2lknnwg23tpoc";
export const brokenClosingCode = "mfrggzdfmztwq2lknnwg23tpod";
export const roomCode = "9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b";
export const emptyRoomCode = "9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4c";

export const sealedAt = new Date("2026-10-05T09:08:07.000Z");

/** A separate seal identity: its certificate, and a function that seals a document with it. */
export async function sealer() {
  const key = sealKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey, "memory");
  const leaf = await selfSigned(key, sealedAt.getTime() - 86_400_000);
  const signer = createCmsSigner({ key, chain: [leaf] });
  return {
    pem: encodePem(leaf.der, "CERTIFICATE"),
    async seal(original: Buffer, reason: string = sealReasons.proof.live, at = sealedAt) {
      const sign = async (place: SealPlace) => (await signer.sign(place)).cms();
      const made = await sealPdf({ original, at, reserve: signer.maxLength(), reason, sign });
      return { ...made, bytes: Buffer.concat([original, made.tail]) };
    },
  };
}

export const contract = makePdf({ pages: 2, text: "Purchase agreement" });

/** The shipped retention plan. */
export const retention = readRetention(fileURLToPath(new URL("../../../data/retention.yaml", import.meta.url)));

export const proofRecord = (changes: Partial<ProofRecord> = {}): ProofRecord => ({
  verifyCode: proofCode,
  name: null,
  environment: "live",
  docSha256: "a".repeat(64),
  sealedSha256: "b".repeat(64),
  sealedAt,
  documentKept: true,
  deletedAt: null,
  timeStamp: { authority: "https://freetsa.org/tsr", at: sealedAt },
  anchor: { calendar: "https://a.pool.opentimestamps.org", submittedAt: sealedAt, status: "pending" },
  ...changes,
});

const manifestInput = (version: number, prevManifestSha256: string | null): ManifestInput => ({
  roomCode,
  roomName: "12 Elm Street, Żółć & <b>Söhne</b> 登記",
  reference: "FILE-2207",
  version,
  prevManifestSha256,
  generatedAt: new Date(sealedAt.getTime() + version * 3_600_000),
  documents: [
    {
      orderCode: "3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
      label: "Deed of trust",
      status: "NotarizationComplete",
      originalSha256: "1".repeat(64),
      sealedSha256: "2".repeat(64),
      envelopeVerifyCode: "mfrggzdfmztwq2lknnwg23tpoe",
    },
    {
      orderCode: "9f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
      label: null,
      status: "QuoteReady",
      originalSha256: "3".repeat(64),
    },
  ],
});

/** A room's passport with this many versions. On request, version 2 has a broken link. */
export async function closingRecord(
  count: number,
  { broken = false, sealedSha256 = "c".repeat(64) } = {},
): Promise<ClosingRecord> {
  const versions: ClosingVersionRecord[] = [];
  let previous: string | null = null;
  let manifest = buildManifest(manifestInput(1, null));
  for (let version = 1; version <= count; version++) {
    const wrong = broken && version === 2;
    const prevManifestSha256: string | null = wrong ? "0".repeat(64) : previous;
    manifest = buildManifest(manifestInput(version, prevManifestSha256));
    const bytes = manifestBytes(manifest);
    const manifestSha256 = await sha256Hex(bytes);
    versions.push({
      version,
      createdAt: new Date(sealedAt.getTime() + version * 3_600_000),
      manifestSha256,
      prevManifestSha256,
      sealedSha256,
      manifestText: Buffer.from(bytes).toString(),
      hashHolds: true,
      linkHolds: !wrong,
      certificateHolds: true,
    });
    previous = manifestSha256;
  }
  const [first, ...others] = versions;
  if (!first) throw new Error("a passport has a version");
  return {
    verifyCode: closingCode,
    environment: "live",
    partnerName: "Acme Title",
    branding: { brandName: "Acme Title & Escrow", accentColor: "#c2410c", logoUrl: null },
    manifest,
    certificateDeletedAt: null,
    retraction: null,
    log: { state: "witnessed", cosignatures: 2, witnesses: 3 },
    versions: [first, ...others],
  };
}

const card = (changes: Partial<RoomRow["cards"][number]>): RoomRow["cards"][number] => ({
  code: "3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
  label: "Deed of trust",
  status: "NotarizationPending",
  statusBeforeHold: null,
  named: null,
  sign: true,
  notarize: true,
  ship: false,
  fax: false,
  signers: [{ name: "Dana Whitfield", email: "dana@example.com", routing: 1, signed: true }],
  customerName: "Dana Whitfield",
  customerEmail: "dana@example.com",
  hasSealed: true,
  takenIn: false,
  isSimulated: false,
  carrier: null,
  trackingNumber: null,
  attachedAt: "2026-10-01T08:00:00.000Z",
  ...changes,
});

/** A room with one of everything, as the database returns it. */
export const roomRow = (changes: Partial<RoomRow> = {}): RoomRow => ({
  version: "1.1",
  code: roomCode,
  name: "12 Elm Street",
  reference: "FILE-2207",
  status: "open",
  createdAt: new Date("2026-10-01T08:00:00.000Z"),
  updatedAt: new Date("2026-10-02T08:00:00.000Z"),
  partnerName: "Acme Title",
  brandName: "Acme Title & Escrow",
  accentColor: "#c2410c",
  logoUrl: null,
  cards: [
    card({}),
    card({
      code: "4f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
      label: "x".repeat(120),
      status: "IdentityLocked",
      signers: null,
      hasSealed: false,
      customerEmail: `${"y".repeat(60)}@${"z".repeat(60)}.example`,
      customerName: null,
    }),
    card({
      code: "5f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
      label: null,
      status: "QuoteReady",
      sign: false,
      notarize: false,
      hasSealed: false,
    }),
    card({
      code: "6f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
      label: "Survey <script>alert(1)</script>",
      status: "Completed",
      ship: true,
      fax: true,
    }),
  ],
  activity: [
    { action: "order.transition", fromStatus: "EsignComplete", toStatus: "NotarizationPending" },
    { action: "signing_link.issued", fromStatus: null, toStatus: null },
    { action: "room.order_attached", fromStatus: null, toStatus: null },
    { action: "order.created", fromStatus: null, toStatus: "Created" },
  ].map((item, i) => ({
    orderCode: "3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d",
    occurredAt: `2026-10-0${4 - i}T08:00:00.000Z`,
    ...item,
  })),
  participants: [
    { name: "Dana Whitfield", email: "dana@example.com", role: "buyer" },
    { name: "Lee Ortega", email: "lee@example.org", role: "seller" },
  ].map((person, i) => ({
    participantId: `0b5d6c1e-0000-4000-8000-00000000000${i}`,
    createdAt: "2026-10-01T08:00:00.000Z",
    ...person,
  })),
  passport: { version: 2, verifyCode: closingCode, createdAt: "2026-10-04T08:00:00.000Z" },
  ...changes,
});
