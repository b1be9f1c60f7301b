import { type Static, Type } from "typebox";
import { environment, nullable, sha256, timestamp, verifyCode, verifyCodeExample } from "../http/schema-parts.ts";

const orderCode = "3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d";

const version = Type.Integer({ minimum: 1, maximum: 20, description: "From 1, without a gap." });
const manifestSha256 = sha256("SHA-256 of the canonical manifest, hex.");
const prevManifestSha256 = nullable(sha256("manifestSha256 of the version before; null on version 1."));
const sealedSha256 = sha256("SHA-256 of the sealed certificate PDF, hex.");

export const ClosingPassport = Type.Object(
  {
    version,
    verifyCode: verifyCode(),
    verifyUrl: Type.String({ examples: [`/v/room/${verifyCodeExample}`], description: "Root-relative." }),
    manifestSha256,
    prevManifestSha256,
    sealedSha256,
    createdAt: timestamp(),
  },
  { $id: "ClosingPassport", description: "One version of a room's closing passport; it never changes." },
);
export type ClosingPassport = Static<typeof ClosingPassport>;

const artifact = (description: string) => Type.Optional(sha256(`${description} Absent when there is none.`));

export const ClosingManifest = Type.Object(
  {
    coverage: Type.Object({ covers: Type.Array(Type.String()), doesNotCover: Type.Array(Type.String()) }),
    documents: Type.Array(
      Type.Object({
        orderCode: Type.String({ examples: [orderCode] }),
        label: nullable(Type.String()),
        originalSha256: artifact("Of the document as it came."),
        sealedSha256: artifact("Of the sealed document."),
        envelopeVerifyCode: Type.Optional(Type.String({ description: "Absent when there is none." })),
        custodyCertSha256: artifact("Of the custody certificate."),
        statusAtSnapshot: Type.Object({
          basis: Type.Literal("platform_attestation"),
          note: Type.String(),
          value: Type.String({ examples: ["EsignPending"] }),
        }),
      }),
      { description: "One for each order attached, ordered by orderCode." },
    ),
    passport: Type.Object({
      roomCode: Type.String(),
      roomName: Type.String(),
      reference: nullable(Type.String()),
      version,
      prevManifestSha256,
      generatedAtUtc: Type.String({ examples: ["2026-03-04T05:06:07Z"] }),
    }),
  },
  {
    $id: "ClosingManifest",
    description:
      "Its canonical form is what was hashed: members sorted, no white space, characters outside ASCII as \\uXXXX; `jq -Sca .` prints it.",
  },
);

export const ClosingVerification = Type.Object(
  {
    // Null when what is stored is no JSON any more; `chainOk` is false then.
    manifest: nullable(Type.Unsafe<object>({ $ref: "ClosingManifest#" })),
    manifestSha256,
    sealedSha256,
    version,
    prevManifestSha256,
    chainOk: Type.Boolean({
      description: "Computed for this answer: the stored manifest hashes to manifestSha256 and the link holds.",
    }),
    branding: nullable(
      Type.Object({
        brandName: nullable(Type.String()),
        accentColor: nullable(Type.String()),
        logoUrl: nullable(Type.String()),
      }),
    ),
    createdAt: timestamp(),
    environment: environment("`test`: sealed with a test key; it means nothing outside of testing."),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the certificate; absent when it did not."),
    ),
    downloadUrl: Type.String({ examples: [`/api/verify/room/${verifyCodeExample}/pdf`] }),
  },
  { $id: "ClosingVerification" },
);
export type ClosingVerification = Static<typeof ClosingVerification>;
