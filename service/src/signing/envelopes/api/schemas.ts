import { Type } from "typebox";
import {
  nullable,
  oneOf,
  ref,
  requestId,
  sha256,
  text,
  timestamp,
  verifyCode,
} from "../../../kernel/http/schema-parts.ts";
import { signerAuths, signerLanguages } from "../../../orders/order/order.ts";
import { documentKinds } from "../records/documents.ts";
import { signerStatuses } from "../records/signing.ts";

export const OrderDocument = Type.Object(
  {
    documentId: Type.String({
      examples: [`sealed-${"5f".repeat(32)}`],
      description: "The document's id, opaque; it does not change.",
    }),
    kind: oneOf(documentKinds, "What it is. `original` is the document as it came.", ["sealed"]),
    sha256: sha256("SHA-256 of the file, hex."),
    origin: Type.Optional(
      Type.Literal("operator", {
        description:
          "The document was signed or notarized elsewhere, and an operator took it in; left out for any other.",
      }),
    ),
    bytes: Type.Integer({ description: "The size of the file in bytes.", examples: [84_213] }),
    createdAt: timestamp("When it was stored."),
    deletedAt: Type.Optional(timestamp("When the retention plan deleted the file; left out while it is there.")),
  },
  { $id: "OrderDocument", description: "A document of an order." },
);

const sinceOrNull = (description: string) => nullable(timestamp(description));

export const OrderSignerState = Type.Object(
  {
    n: Type.Integer({ description: "The signer's place in `signers`, from 1.", examples: [1] }),
    name: text("The signer's name.", "Jane Doe"),
    email: text("Where the link is mailed.", "jane@example.com"),
    language: oneOf(signerLanguages, "The language of this signer's emails and pages."),
    routing: Type.Integer({ description: "Those of the lowest number sign first, in any order.", examples: [1] }),
    auth: oneOf(signerAuths, "How this signer is identified, besides the mailed link."),
    status: oneOf(
      signerStatuses,
      "`pending` until it is the signer's turn and the link is sent, and also with `takenIn`, unless this person declined; `locked` after too many wrong codes.",
      ["sent"],
    ),
    takenIn: Type.Optional(
      Type.Literal(true, {
        description:
          "An operator took in a document that was signed elsewhere: it has no signature that this person made here. Left out otherwise.",
      }),
    ),
    wantsPaper: Type.Optional(
      Type.Literal(true, {
        description: "This person ended the signing to sign on paper; `status` is `declined`. Left out otherwise.",
      }),
    ),
    issuedAt: sinceOrNull("When the current link was made; null before it is sent."),
    openedAt: sinceOrNull("When the page was first opened in a browser; null before."),
    signedAt: sinceOrNull(
      "When the signature was made; null before, with `takenIn`, and where the sandbox simulated it.",
    ),
    proposal: nullable(
      Type.Object({
        name: text("That person's name.", "Bob Roe"),
        email: text("That person's email address.", "bob@example.com"),
      }),
      "Who should sign instead, as the signer says; null where nobody was named.",
    ),
    signingUrl: nullable(
      Type.String(),
      "The signer's link, for test orders only. Null for live orders, and once the link no longer opens a document.",
    ),
  },
  { $id: "OrderSignerState", description: "A signer, and where they stand." },
);

export const OrderDocuments = Type.Object(
  { documents: Type.Array(ref(OrderDocument), { description: "Oldest first." }), requestId: requestId() },
  { $id: "OrderDocuments", description: "The documents of an order." },
);

export const OrderSigners = Type.Object(
  {
    signers: Type.Array(ref(OrderSignerState), { description: "Who signs, in the order in which they were sent." }),
    envelope: nullable(
      Type.Object(
        {
          verifyCode: verifyCode("The code of its public page, once it is completed."),
          expiresAt: timestamp("When the links stop working.", "2026-04-03T15:06:07.089Z"),
          outcome: nullable(
            oneOf(["Completed", "Declined", "Expired", "Voided"]),
            "What became of it; null while it is open.",
          ),
          endedAt: nullable(timestamp("When it ended; null while it is open.")),
        },
        { description: "The latest round of signing; null before the order waits for signatures." },
      ),
    ),
    requestId: requestId(),
  },
  { $id: "OrderSigners", description: "Who signs an order." },
);

export const CopyLink = Type.Object(
  {
    linkId: Type.String({ examples: ["1-2"], description: "The link's id in its order, opaque." }),
    n: Type.Integer({ description: "The signer's place, from 1.", examples: [2] }),
    name: text("The signer's name.", "Jane Doe"),
    email: text("Where the link was mailed.", "jane@example.com"),
    issuedAt: timestamp("When the link was made."),
  },
  { $id: "CopyLink", description: "A link through which a signer downloads the finished documents of an order." },
);

export const CopyLinks = Type.Object(
  { links: Type.Array(ref(CopyLink), { description: "The links that work, by signer." }), requestId: requestId() },
  { $id: "CopyLinks", description: "The links to the copies of an order's documents." },
);
