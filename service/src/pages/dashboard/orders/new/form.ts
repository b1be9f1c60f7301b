import type { OpenRoom } from "../../../../closing/rooms/rooms.ts";
import { senderTextNames, senderTexts } from "../../../../orders/order/order.ts";
import type { VersionedPricing } from "../../../../orders/pricing/pricing.ts";
import { usStates } from "../../../../orders/pricing/pricing.ts";
import { notice, pageHead } from "../../../ui/components.ts";
import { type Choice, checkbox, errorSummary, field, select } from "../../../ui/forms/fields.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { type Html, html } from "../../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../../submit-once.ts";
import { roomChoice } from "../rooms.ts";
import { chargeNote, labels, type OrderField, paidFirst, refusalWords, senderTextWords } from "../words.ts";
import type { ModelOrder } from "./another.ts";
import { fileField, type Part, type StoredFormFile, senderPart, shippingPart } from "./form-parts.ts";
import { placesPart } from "./places-part.ts";
import { quotePath } from "./quote.ts";
import { isPriceFirst } from "./shown-charge.ts";
import { signerRowsPart } from "./signers-part.ts";

export type OrderFormView = FormSubmission & {
  pricing: Pick<VersionedPricing, "catalog" | "notarizationBlocked">;
  /** True if this installation offers checkout in the member's current environment. */
  paymentsConfigured: boolean;
  /** True if this installation sends text messages. */
  textCodes: boolean;
  /** The sentence that names the time zone of dates. */
  zone: Html;
  /** The firm's latest open rooms, to choose from, and the chosen room, even if it is older. */
  openRooms: readonly OpenRoom[];
  /** An existing order; the new order is for the same client. */
  model?: ModelOrder;
  /** The room in which the order was started. */
  room?: string | undefined;
  /**
   * The typed values of a form that is shown again, and the reasons why it was rejected. `messages` is empty when the
   * member only changed the form, for example by adding a row. It is also empty when the values are those of a form
   * that was filled in online.
   */
  typed?: { values: FormValues; messages: readonly string[] };
  /**
   * The page counts of the firm's templates. The script uploads a chosen file for comparison only if one of them
   * matches.
   */
  templatePages: readonly number[];
  /** The URL of the folder with pdf.js, with which the script counts a file's pages. */
  pdfJs: string;
};

/**
 * The form that places an order. The Enter key presses the form's first button, so the first button must not be the one
 * that adds a signer.
 */
export function orderFormBody(view: OrderFormView): Html {
  const { environment, pricing, paymentsConfigured, textCodes, typed } = view;
  const test = environment === "test";
  const values = typed?.values ?? view.model?.values ?? { room: view.room ?? "" };
  const problems = (typed?.messages ?? []).map((message) => refusalWords(message, values));
  const part: Part = (name) => ({
    name,
    label: labels[name],
    value: values[name],
    error: problems.find(({ field }) => field === name)?.text,
  });
  const box = (name: OrderField, hint?: string) => {
    const { value, ...rest } = part(name);
    return checkbox({ ...rest, hint, checked: value === "on" || value === "true" });
  };
  const asksPriceFirst = isPriceFirst(values) || problems.some(({ field }) => field === "price_first");
  return html`${pageHead(test ? "Place a test order" : "Place an order", html`You see the price while you fill out the form, and <a href="/dashboard/prices#estimate">under Prices</a> before you have a document. ${chargeNote}`)}
${!test && notice("attention", "A real order", "This order will be priced, signed, notarized, and sent for real.")}
${errorSummary(problems.map(({ text }) => text))}
<form class="form order-form card" id="order-form" method="post" action="/dashboard/orders/new" enctype="multipart/form-data"
data-pdf-js="${view.pdfJs}" data-template-pages="${view.templatePages.join(" ")}" data-quote="${quotePath}" data-services="${servicesOf(pricing.catalog)}">
<button type="submit" hidden></button>
${submissionFields(view)}
${view.model && modelNotice(view.model)}
<fieldset><legend>Document</legend>
${fileField({ ...part("document"), again: typed !== undefined, stored: storedFileIn(values) })}
${select({ ...part("doc_slug"), options: catalogChoices(pricing.catalog), hint: "Choosing one of these sets whether the document is signed and notarized." })}
${signingNotes(pricing.catalog)}
</fieldset>
<fieldset><legend>Client</legend>
${field({ ...part("email"), type: "email", required: true, maxLength: 254, hint: "Gets updates about the order, and signs unless you name other signers." })}
${field({ ...part("name"), maxLength: 200 })}
${select({ ...part("signer_state"), options: signerStates(pricing) })}
</fieldset>
<fieldset class="services"><legend>Services</legend>
${box("svc_sign", "The client, or the signers that you name, sign online.")}
${signerRowsPart(part, values, problems, textCodes)}
${placesPart(part, values, typed?.messages ?? [])}
${view.zone}
${box("svc_notary", "An online notary notarizes the document.")}
${box("svc_ship", "We ship the finished document on paper.")}
${shippingPart(part)}
${field({ ...part("fax_to"), type: "tel", maxLength: 40, hint: "Enter a number to have the finished document faxed: 10 US digits, or start with + and the country code." })}
</fieldset>
${senderPart(part)}
<fieldset><legend>For your records</legend>
${senderTextNames.map((name) => field({ ...part(name), maxLength: senderTexts[name].maxLength, hint: senderTextWords[name].hint }))}
${
  view.openRooms.length > 0 &&
  select({
    name: "room",
    label: "Room",
    value: values["room"],
    options: [{ value: "", label: "None" }, ...view.openRooms.map(roomChoice)],
    hint: "Everyone with the room’s link sees the order there, by the name of its document.",
  })
}
${select({ ...part("pay_by"), value: values["pay_by"] ?? "client", options: payers, hint: payersHint })}
<noscript><p class="hint">This browser runs no script, so the form shows no price, and nothing is charged when the order is placed. The order’s page shows the price, and charges it.</p></noscript>
${asksPriceFirst && box("price_first", priceFirstHint)}
${paymentsConfigured && box("create_checkout", "You can also do this later, from the order’s page.")}
</fieldset>
${checkbox({ ...part("byod_confirmed"), required: true, value: "on", checked: values["byod_confirmed"] === "on" })}
<section class="live-quote with-script-block" id="live-quote" aria-live="polite" aria-label="Price"></section>
<div class="form-actions"><button type="submit" id="place-order">${test ? "Place the test order" : "Place the order"}</button>
<button type="submit" class="quiet-button" id="place-another" name="next" value="another">Place it, and start another for this client</button></div>
</form>`;
}

const payersHint = `${paidFirst} When your firm pays, the client gets no mail about money and sees no prices. The card or bank account on file is charged when the order is placed if the form names the charge below. Otherwise the order waits: charge it or open the checkout on its page, or for all orders on the room’s.`;

const priceFirstHint =
  "Nothing is charged when it is placed. A price that we set is mailed to you; any other is on the order’s page. Somebody of your firm charges it there, or cancels the order, which costs nothing.";

const payers = [
  { value: "client", label: "The client" },
  { value: "firm", label: "Your firm" },
];

const inWords = new Intl.ListFormat("en");

const modelNotice = ({ code, name, values }: ModelOrder): Html => {
  const copied = ["client", values["external_reference"] && "file number", values["room"] && "room"];
  return notice(
    "info",
    "Another order for the same client",
    html`The form has the ${inWords.format(copied.flatMap((each) => each || []))} of <a href="/dashboard/orders/${code}">${name}</a>. Choose the next document and its services.`,
  );
};

const storedFileIn = (values: FormValues): StoredFormFile | null =>
  values["fill_token"]
    ? { token: values["fill_token"], name: values["document_name"] ?? "", pages: values["document_pages"] ?? "" }
    : null;

/**
 * The services that the catalog sets for each type of document, as JSON, with which the page's script ticks the boxes
 * of services.
 */
const servicesOf = (catalog: OrderFormView["pricing"]["catalog"]): string =>
  JSON.stringify(Object.fromEntries(catalog.map(({ slug, sign, notarize }) => [slug, { sign, notarize }])));

/** Shows the notes for all types of documents, because without JavaScript the page can't react to the chosen type. */
const signingNotes = (catalog: OrderFormView["pricing"]["catalog"]): Html[] =>
  catalog.flatMap(({ slug, title, signingNote }) =>
    signingNote
      ? [
          html`<div data-note-of="${slug}">${notice("info", title, `${signingNote.text} (${signingNote.source})`)}</div>`,
        ]
      : [],
  );

function catalogChoices(catalog: OrderFormView["pricing"]["catalog"]): Choice[] {
  const does = (sign: boolean, notarize: boolean) =>
    [sign && "signed", notarize && "notarized"].filter(Boolean).join(" and ") || "neither signed nor notarized";
  return [
    { value: "", label: "Other document" },
    ...catalog.map(({ slug, title, sign, notarize }) => ({ value: slug, label: `${title} (${does(sign, notarize)})` })),
  ];
}

const signerStates = ({ notarizationBlocked }: OrderFormView["pricing"]): Choice[] => [
  { value: "", label: "Not known yet" },
  ...[...usStates].map(([value, { name }]) => ({
    value,
    label: notarizationBlocked(value) ? `${name} (no online notarization)` : name,
  })),
];
