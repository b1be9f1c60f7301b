import { hasEnded, isBetweenServices, isStuckStatus, type SealWish } from "../../../closing/rooms/rooms.ts";
import { payers } from "../../../orders/order/order.ts";
import { card, codeText, emptyState, notice, pageHead } from "../../ui/components.ts";
import { plainTime, shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, field } from "../../ui/forms/fields.ts";
import { inThisRoom, progressMeters, waitingIn } from "../../ui/orders/progress.ts";
import { nameOfAltered } from "../../ui/orders/room-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { endDevices, signHere } from "../orders/sitting.ts";
import { deliveryCard } from "./delivery.ts";
import { ordersPart, orderTitle } from "./orders.ts";
import { paymentPart } from "./payment.ts";
import { completeLabel, sandboxCard } from "./sandbox.ts";
import {
  deviceCodes,
  formPath,
  openOrClosed,
  problemOf,
  type RoomDetailView,
  signingCodes,
  typedInto,
} from "./view.ts";

function devicesPart(view: RoomDetailView): Html | "" {
  if (deviceCodes(view.room).length === 0) return "";
  const part = signingCodes(view.room).length > 0 ? signHere : endDevices;
  return html`<div class="room-part">${part(formPath(view, "sitting"), "closing")}</div>`;
}

/** The page of a room for its owner, part by part. */
export function roomBody(view: RoomDetailView): Html {
  const { name, reference, status, roomCode } = view.room;
  const waits = [waitingIn(view.room), idleInTest(view)].join(" ").trim();
  const lead = html`<span class="room-lead">${openOrClosed(status)}<span class="breakable">${reference === null ? "No file number" : `File number ${reference}`}</span></span>`;
  const links = html`<p class="room-links"><a href="/dashboard/rooms">All rooms</a><a href="/rooms/${roomCode}">Open the public page</a></p>`;
  return html`${pageHead(name, lead, links)}
${alteredPart(view)}
<div class="panels">
${card("glance", "At a glance", html`<p class="lead">${inThisRoom(view.room)}</p>${waits !== "" && html`<p>${waits}</p>`}${progressMeters(view.room)}${dayPart(view)}`)}
${card("orders", "Orders", html`${ordersPart(view)}${devicesPart(view)}`)}
${(payers.some((payer) => view.payable[payer].length > 0) || view.firmPays.moving.length + view.firmPays.sending.length + view.firmPays.paid.length > 0 || view.problem?.part === "payment") && card("payment", "Payment", paymentPart(view))}
${sandboxCard(view)}
${view.deliveries && deliveryCard({ room: view.room, submission: view.submission, deliveries: view.deliveries, problem: problemOf(view, "delivery"), typed: view.problem?.part === "delivery" ? view.problem.typed : null })}
${card("passport", "Closing certificate", passportPart(view))}
${card("share", "Share", sharePart(view))}
${card("participants", "Participants", participantsPart(view))}
${card("state", status === "closed" ? "Reopen the room" : "Close the room", statePart(view))}
</div>`;
}

/** Names the orders that the page leaves out, because their record was altered. */
function alteredPart({ room: { altered }, titleOf }: RoomDetailView): Html | false {
  if (altered.length === 0) return false;
  // The title of a document that another firm placed is not shown to this firm.
  const names = altered.map((order) => nameOfAltered(order.isOwn ? titleOf : () => null, order));
  return notice(
    "stopped",
    "Some records were altered",
    `This page leaves out orders whose record was altered outside the service: ${names.join(", ")}. Contact the operator of this service, who has to look at them. You can go on with the others.`,
  );
}

/**
 * A hint for a test order whose next service has not begun. In live, the next service begins automatically; in test,
 * somebody must begin it.
 */
const idleInTest = (view: RoomDetailView): string =>
  view.environment === "test" &&
  view.room.orders.some((order) => view.room.ownOrders.has(order.orderCode) && isBetweenServices(order))
    ? `In test, the next step does not begin by itself: press “${completeLabel(view)}” under Sandbox, or ask the operator of this service to begin it.`
    : "";

/** The day on which the closing is due, and the form that changes it. */
function dayPart(view: RoomDetailView): Html {
  const { closesOn } = view.room;
  const typed = typedInto(view, "day")["closes_on"];
  return html`<div class="room-part">${problemOf(view, "day")}
<form class="form" method="post" action="${formPath(view, "closes-on")}">
${field({ form: "day", name: "closes_on", label: "Closes on", type: "date", value: typed ?? closesOn ?? "", hint: "Your list of closings is sorted by this day. Only your firm sees it. Empty it to remove the day." })}
<div class="form-actions"><button type="submit" class="quiet-button">Save the day</button></div>
</form></div>`;
}

/** The participants, and a form to add one. */
function participantsPart(view: RoomDetailView): Html {
  const typed = typedInto(view, "add-participant");
  return html`<p>Participants are named in the room, with their emails masked. The room’s link is what opens it: email it to them here, or share it yourself.</p>
${problemOf(view, "participants")}
${view.room.participants.length === 0 ? emptyState("No participants yet", "Add the first one below.") : participantTable(view)}
<p><a href="${formPath(view, "addresses")}">Correct an email address in all documents</a></p>
<div class="room-part">
<h3>Add a participant</h3>
${problemOf(view, "add-participant")}
<form class="form" method="post" action="${formPath(view, "participants")}">
${hiddenFields({ submission: view.submission })}${field({ form: "participant", name: "name", label: "Name", value: typed["name"], required: true, maxLength: 200, autocomplete: "off" })}
${field({ form: "participant", name: "email", label: "Email", type: "email", value: typed["email"], required: true, maxLength: 320, autocomplete: "off" })}
${field({ form: "participant", name: "role", label: "Role", value: typed["role"], maxLength: 40, autocomplete: "off", hint: "Buyer, seller, or lender, for example. If you leave it empty: “client”." })}
${checkbox({ form: "participant", name: "invite", label: "Email them the room’s link", checked: isInviting(view), hint: emailHint(view) })}
<div class="form-actions"><button type="submit">Add participant</button></div>
</form>
</div>`;
}

/**
 * True if the checkbox that mails an invitation to a new participant is ticked. It is ticked at first; a rejected form
 * keeps the person's choice.
 */
const isInviting = (view: RoomDetailView): boolean =>
  view.problem?.part !== "add-participant" || view.problem.typed["invite"] !== undefined;

const emailHint = ({ environment }: RoomDetailView): string =>
  environment === "test"
    ? "In test the email is kept in the outbox, and sent to nobody."
    : "At most once a day to the same person.";

const participantTable = (view: RoomDetailView): Html =>
  records(
    "Participants of this room",
    [{ label: "Name" }, { label: "Email" }, { label: "Role" }, { label: "Added", utc: true }, { label: "Action" }],
    view.room.participants.map(({ participantId, name, email, role, createdAt }) => [
      name,
      email,
      role,
      shortTime(new Date(createdAt)),
      askFirst({
        label: "Remove",
        about: name,
        text: "They are no longer listed in the room.",
        confirm: "Remove participant",
        action: formPath(view, `participants/${participantId}/remove`),
      }),
    ]),
  );

/** The sealed versions of the room's passport, and the button that seals the next version. */
function passportPart(view: RoomDetailView): Html {
  const { nextVersion } = view;
  return html`<p>A seal records this room’s orders and the hashes of their documents as they are now. Anyone can check it without an account. A version never changes, and each one links to the previous one.</p>
${view.retention && html`<p>${view.retention}</p>`}
${view.room.versions.length === 0 ? emptyState("Not sealed yet", view.room.sealWish ? "The first version follows once every order has ended." : "Seal the first version once the documents are final.") : versionTable(view)}
<div class="room-part">${sealByItself(view)}</div>
<div class="room-part">
${problemOf(view, "passport")}
${
  nextVersion === null
    ? html`<p>This room has reached the limit of 20 versions.</p>`
    : html`${buttonForm(formPath(view, "passport"), `Seal version ${nextVersion}`, { fields: { version: String(nextVersion), submission: view.submission }, kind: sealsByItself(view) ? "quiet-button" : "" })}
<p class="form-note">A room can have 20 versions. Sealing takes a few seconds.</p>`
}
</div>`;
}

const versionTable = (view: RoomDetailView): Html =>
  records(
    "Sealed versions, newest first",
    [{ label: "Version" }, { label: "Sealed", utc: true }, { label: "Manifest SHA-256" }, { label: "Links" }],
    view.room.versions.map(({ version, verifyCode, manifestSha256, createdAt }) => {
      const verify = html`<a href="/v/room/${verifyCode}">Verify<span class="visually-hidden"> version ${version}</span></a>`;
      const download = html`<a href="/api/verify/room/${verifyCode}/pdf" download>Download PDF<span class="visually-hidden"> of version ${version}</span></a>`;
      return [
        `Version ${version}`,
        shortTime(new Date(createdAt)),
        html`<code>${manifestSha256.slice(0, 12)}…</code>`,
        html`<span class="room-links">${verify}${download}</span>`,
      ];
    }),
  );

/** The public link, and the button that replaces it. */
function sharePart(view: RoomDetailView): Html {
  const path = `/rooms/${view.room.roomCode}`;
  return html`<p>Anyone with this link can see the room without signing in: its orders and their status, its people, and the sealed record of its documents.</p>
${problemOf(view, "share")}
${codeText(view.baseUrl + path, "the public link")}
<div class="room-part share-actions"><a href="${path}">Open the public page</a>
${askFirst({
  label: "Replace the link",
  about: "of this room",
  text: "The room gets a new link, and the old one stops working immediately for everyone. Verification links of sealed versions keep working.",
  confirm: "Replace the link now",
  action: formPath(view, "rotate"),
  fields: { submission: view.submission },
})}</div>`;
}

/** The button that closes the room, or opens it again. */
function statePart(view: RoomDetailView): Html {
  const closed = view.room.status === "closed";
  return html`${problemOf(view, "state")}
<p>${
    closed
      ? "The room takes orders again and counts toward your open rooms."
      : "A closed room takes no new orders, sends no documents by itself, and does not count toward your open rooms. Its public page stays up, and you can reopen it."
  }</p>
${closed ? buttonForm(formPath(view, "reopen"), "Reopen the room") : buttonForm(formPath(view, "close"), "Close the room", { kind: "quiet-button" })}`;
}

/** True if the service is to seal the closing automatically, and has not sealed it yet. */
const sealsByItself = ({ room: { sealWish } }: RoomDetailView): boolean =>
  sealWish !== null && sealWish.sealedAt === null;

/** The state of automatic sealing, and the button that turns it on or off. */
function sealByItself(view: RoomDetailView): Html {
  const { sealWish } = view.room;
  if (!sealWish)
    return html`<p>The service does not seal this closing by itself.</p>
${buttonForm(formPath(view, "seal-when-done"), "Seal it when every order has ended", { fields: { to: "on" }, kind: "quiet-button" })}`;
  return html`${stateOf(view, sealWish)}
${sealWish.sealedAt === null && buttonForm(formPath(view, "seal-when-done"), "Do not seal it by itself", { fields: { to: "off" }, kind: "quiet-button" })}`;
}

function stateOf(view: RoomDetailView, wish: SealWish): Html {
  const { orders } = view.room;
  if (wish.sealedAt !== null)
    return html`<p>${endedWords(orders)} ${sealedWords(view, wish)} If you add an order, the service seals a further version once that one has ended.</p>`;
  const failedFax = ({ orderCode }: (typeof orders)[number]) => view.failedFaxes.has(orderCode);
  const stuck = orders.filter((order) => isStuckStatus(order.status) || failedFax(order));
  if (stuck.length > 0) {
    const reasons = stuck.map((order, index) => {
      const { label } = statusWords(failedFax(order) ? "FaxFailed" : order.status);
      return html`${index > 0 && "; "}${orderTitle(view, order)}: ${label.toLowerCase()}`;
    });
    return notice(
      "attention",
      "Not sealed: something is stuck",
      html`The service seals the certificate by itself once every order has ended. ${reasons}. Put that right first, or seal a version yourself.`,
    );
  }
  if (orders.length > 0 && orders.every(({ status }) => hasEnded(status))) return endedState(orders, wish);
  return html`<p>The service seals the certificate by itself once every order has ended. You need not do anything.</p>`;
}

type Orders = RoomDetailView["room"]["orders"];

/** Describes why the closing is not sealed automatically yet, although every order has ended. */
function endedState(orders: Orders, { problem, nextTryAt }: SealWish): Html {
  if (problem !== null) {
    const next =
      nextTryAt === null
        ? "The service does not try again."
        : html`The service tries again ${plainTime(nextTryAt)}, then less and less often.`;
    return notice("attention", "Not sealed: it failed", html`${problem} ${next}`);
  }
  return orders.some(({ status }) => status === "Completed")
    ? html`<p>${endedWords(orders)} The service seals the certificate within a minute.</p>`
    : html`<p>${endedWords(orders)} The service seals nothing, because none of them is completed.</p>`;
}

/** A sentence that every order has ended, with the numbers of canceled and refunded orders. */
function endedWords(orders: Orders): string {
  const others = ["Cancelled", "Refunded"].flatMap((status) => {
    const count = orders.filter((order) => order.status === status).length;
    return count > 0 ? [`${count} ${statusWords(status).label.toLowerCase()}`] : [];
  });
  return `Every order has ended${others.length > 0 ? ` (${others.join(", ")})` : ""}.`;
}

/**
 * A sentence that names the closing's sealed version. If an earlier version already had the same documents, the service
 * sealed no new version, and the sentence says so.
 */
function sealedWords({ room }: RoomDetailView, { sealedAt, sealedVersion }: SealWish): Html {
  const isService = room.versions.some(
    ({ version, createdAt }) => version === sealedVersion && new Date(createdAt).getTime() === sealedAt?.getTime(),
  );
  return isService && sealedAt
    ? html`The service sealed version ${sealedVersion} on ${plainTime(sealedAt)}.`
    : html`Version ${sealedVersion} already had these documents, so the service sealed no further one.`;
}
