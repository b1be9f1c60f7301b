import assert from "node:assert/strict";
import { test } from "node:test";
import { minimal } from "@signsealship/testing/inputs/order-form";
import { ServiceError } from "../../../../../src/kernel/platform/errors.ts";
import { parseOrderForm } from "../../../../../src/orders/order/form/form.ts";
import { orderFormBody } from "../../../../../src/pages/dashboard/orders/new/form.ts";
import { withSigners } from "../../../../../src/pages/dashboard/orders/new/signer-rows.ts";
import { signersPart } from "../../../../../src/pages/dashboard/orders/signers.ts";
import { refusalWords } from "../../../../../src/pages/dashboard/orders/words.ts";
import { html } from "../../../../../src/pages/ui/render.ts";
import type { SignerState } from "../../../../../src/signing/envelopes/envelopes.ts";

const rules = { catalogRow: () => null, notarizationBlocked: () => false };
const row = { signer3_name: "Jane", signer3_email: "jane@example.com", signer3_auth: "text_code" };
const signersIn = (values: Record<string, string>) =>
  parseOrderForm(withSigners(new Map(Object.entries({ ...minimal, svc_sign: "true", ...values }))), true, rules).signing
    .signers;

test("a signer of the form is asked for a code by text message to the row's number", () => {
  const [jane] = signersIn({ ...row, signer3_phone: "(212) 555-0142" }) ?? [];
  assert.deepEqual([jane?.auth, jane?.phone], ["text_code", "+12125550142"]);
});

test("without a number the row says that it is missing", () => {
  assert.throws(
    () => signersIn(row),
    (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(refusalWords(error.message, row), {
        field: "signer3_phone",
        text: "“Mobile number” of signer 3 is required when a code goes there by text message.",
      });
      return true;
    },
  );
});

test("the forms offer text messages only where they are sent", () => {
  const pricing = { catalog: [], notarizationBlocked: () => false };
  const submission = { environment: "test", submission: "s" } as const;
  const jane: SignerState = {
    n: 1,
    name: "Jane",
    email: "jane@example.com",
    language: "en",
    routing: 1,
    auth: "link",
    status: "sent",
    takenIn: false,
    wantsPaper: false,
    isSimulated: false,
    issuedAt: null,
    openedAt: null,
    signedAt: null,
    proposal: null,
    signingUrl: null,
  };
  for (const textCodes of [true, false]) {
    const form = String(
      orderFormBody({
        ...submission,
        pricing,
        paymentsConfigured: false,
        openRooms: [],
        zone: html``,
        templatePages: [],
        pdfJs: "/pdf-js/",
        textCodes,
      }),
    );
    const replacing = String(
      signersPart({
        submission: "s",
        orderCode: "a",
        signers: [jane],
        places: [],
        elsewhere: new Map(),
        open: true,
        isOnHold: false,
        isNextRound: false,
        textCodes,
      }),
    );
    for (const page of [form, replacing])
      assert.deepEqual([page.includes('value="text_code"'), page.includes("Mobile number")], [textCodes, textCodes]);
  }
});
