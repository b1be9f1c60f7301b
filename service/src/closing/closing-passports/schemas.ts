import { type Static, Type } from "typebox";
import {
  environment,
  logNote,
  nullable,
  orderCodeExample,
  roomCodeExample,
  sha256,
  text,
  timestamp,
  verifyCode,
  verifyCodeExample,
} from "../../kernel/http/schema-parts.ts";

const version = Type.Integer({
  minimum: 1,
  maximum: 20,
  description: "The version, from 1 without a gap.",
  examples: [1],
});
const manifestSha256 = sha256("SHA-256 of the canonical manifest, hex.");
const prevManifestSha256 = nullable(sha256("`manifestSha256` of the previous version; null on version 1."));
const sealedSha256 = sha256("SHA-256 of the sealed certificate PDF, hex.");

export const ClosingPassport = Type.Object(
  {
    version,
    verifyCode: verifyCode(),
    verifyUrl: text("The page that verifies it: a path on this service.", `/v/room/${verifyCodeExample}`),
    manifestSha256,
    prevManifestSha256,
    sealedSha256,
    createdAt: timestamp("When it was sealed."),
    log: logNote(),
  },
  { $id: "ClosingPassport", description: "One version of a room's closing passport; it never changes." },
);
export type ClosingPassport = Static<typeof ClosingPassport>;

const artifact = (description: string) => Type.Optional(sha256(`${description} Absent when there is none.`));

export const ClosingManifest = Type.Object(
  {
    coverage: Type.Object(
      {
        covers: Type.Array(Type.String(), { description: "What is evidence." }),
        doesNotCover: Type.Array(Type.String(), { description: "What is not." }),
      },
      { description: "What the passport covers, in sentences that never change." },
    ),
    documents: Type.Array(
      Type.Object({
        orderCode: text("The order's public code.", orderCodeExample),
        label: nullable(Type.String({ examples: ["Deed of trust"] }), "What the room calls the document."),
        originalSha256: artifact("SHA-256 of the document as it came, hex."),
        sealedSha256: artifact("SHA-256 of the sealed document, hex."),
        envelopeVerifyCode: Type.Optional(
          text("The verify code of how it was signed. Absent when there is none.", verifyCodeExample),
        ),
        custodyCertSha256: artifact("SHA-256 of the custody certificate, hex."),
        notarizedSha256: artifact("SHA-256 of the notarized document, hex."),
        statusAtSnapshot: Type.Object(
          {
            basis: Type.Literal("platform_attestation", { description: "Always `platform_attestation`." }),
            note: text("What that means, in one sentence that never changes."),
            value: text("The order's status then.", "EsignPending"),
          },
          { description: "The order's status when the room was sealed: our statement, not evidence." },
        ),
      }),
      { description: "One for each attached order, sorted by `orderCode`." },
    ),
    passport: Type.Object(
      {
        roomCode: text("The room's code then.", roomCodeExample),
        roomName: text("The room's name.", "12 Elm Street"),
        reference: nullable(Type.String({ examples: ["FILE-2207"] }), "The firm's own reference; null for none."),
        version,
        prevManifestSha256,
        generatedAtUtc: text("When the snapshot was taken, UTC, to the second.", "2026-03-04T15:06:07Z"),
      },
      { description: "Which room was sealed, and which version this is." },
    ),
  },
  {
    $id: "ClosingManifest",
    description:
      "What was sealed. Its canonical form is what was hashed: members sorted, no white space, characters outside ASCII as `\\uXXXX`. `jq -Sca .` prints it.",
  },
);

export const ClosingVerification = Type.Object(
  {
    // Null when the stored text of the manifest is no longer JSON; `chainOk` is false then.
    manifest: nullable(
      Type.Unsafe<object>({ $ref: "ClosingManifest#" }),
      "What was sealed; null when what is stored can't be read any more, and `chainOk` is false.",
    ),
    manifestSha256,
    sealedSha256,
    version,
    prevManifestSha256,
    chainOk: Type.Boolean({
      description:
        "Computed for this answer: the stored manifest hashes to `manifestSha256`, and `prevManifestSha256` is the hash of the previous version.",
    }),
    branding: nullable(
      Type.Object({
        brandName: nullable(Type.String({ examples: ["Harbor Title"] }), "The name that the firm shows."),
        accentColor: nullable(Type.String({ examples: ["#1a2b3c"] }), "The firm's color, as `#rrggbb`."),
        logoUrl: nullable(Type.String(), "The firm's logo, a public https address."),
      }),
      "How the firm shows itself; null where it set nothing.",
    ),
    createdAt: timestamp("When it was sealed."),
    environment: environment("`test`: sealed with a test key; it means nothing outside of testing."),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the certificate; absent when it did not."),
    ),
    downloadUrl: text("The certificate PDF: a path on this service.", `/api/verify/room/${verifyCodeExample}/pdf`),
  },
  { $id: "ClosingVerification", description: "What is recorded of a version of a closing passport." },
);
export type ClosingVerification = Static<typeof ClosingVerification>;
