import { Type } from "typebox";
import { nullable, oneOf, ref, requestId, sha256, timestamp, verifyCode } from "../../http/schema-parts.ts";
import { signerAuths, signerLanguages } from "../../orders/orders.ts";
import { documentKinds } from "../records/documents.ts";
import { signerStatuses } from "../records/signing.ts";

export const OrderDocument = Type.Object(
  {
    documentId: Type.String({
      examples: [`sealed-${"5f".repeat(32)}`],
      description: "Opaque. The same for the same document of the order.",
    }),
    kind: oneOf(documentKinds),
    sha256: sha256("Of the file."),
    bytes: Type.Integer(),
    createdAt: timestamp(),
    deletedAt: Type.Optional(timestamp("When the retention plan deleted the file; left out while it is there.")),
  },
  { $id: "OrderDocument" },
);

const sinceOrNull = (description: string) => nullable(timestamp(description));

export const OrderSignerState = Type.Object(
  {
    n: Type.Integer({ description: "The signer's place in `signers`, from 1." }),
    name: Type.String(),
    email: Type.String(),
    language: oneOf(signerLanguages),
    routing: Type.Integer({ description: "Those of the lowest number sign first, in any order." }),
    auth: oneOf(signerAuths),
    status: oneOf(
      signerStatuses,
      "`pending` until the link is sent, which is when the signer's turn comes; `locked` after too many wrong codes.",
    ),
    issuedAt: sinceOrNull("When the present link was made."),
    openedAt: sinceOrNull("When the page was first opened in a browser."),
    signedAt: sinceOrNull("When the signature was made; null also where the sandbox simulated it."),
    proposal: nullable(
      Type.Object({ name: Type.String(), email: Type.String() }, { description: "Whom the signer says should sign." }),
    ),
    signingUrl: nullable(Type.String({ description: "Of test orders alone: the signer's link." })),
  },
  { $id: "OrderSignerState" },
);

export const OrderDocuments = Type.Object(
  { documents: Type.Array(ref(OrderDocument), { description: "Oldest first." }), requestId: requestId() },
  { $id: "OrderDocuments" },
);

export const OrderSigners = Type.Object(
  {
    signers: Type.Array(ref(OrderSignerState)),
    envelope: nullable(
      Type.Object(
        {
          verifyCode: verifyCode("Of its public page, once it is completed."),
          expiresAt: timestamp(),
          outcome: nullable(oneOf(["Completed", "Declined", "Expired", "Voided"])),
          endedAt: nullable(timestamp()),
        },
        { description: "The latest one; null before the order waits for signatures." },
      ),
    ),
    requestId: requestId(),
  },
  { $id: "OrderSigners" },
);
