import type { OrderCard, RoomView } from "../../rooms/rooms.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, emptyState, facts, notice, statusBadge, type Tone } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { inThisRoom, progressMeters } from "../ui/orders/progress.ts";
import { nameOf, servicesText } from "../ui/orders/room-words.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { type Html, html, render } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import type { Words } from "../ui/words/words.ts";
import { roomActivity } from "./room-activity.ts";

/** A room's public view, the environment of its orders, what the retention plan says of them, and whether every step is asked for. */
export type RoomPageView = RoomView & { environment: "live" | "test"; retention: string | null; everyStep: boolean };

const evidence: Readonly<Record<OrderCard["evidenceBadge"], { shape: IconName; tone: Tone }>> = {
  sealed: { shape: "evidence", tone: "done" },
  recorded: { shape: "info", tone: "progress" },
  none: { shape: "upcoming", tone: "waiting" },
};

function signer({ name, email, signed }: OrderCard["signers"][number], { room }: Words): Html {
  return html`<li class="${signed ? "done" : "waiting"}">${icon(signed ? "done" : "waiting")}<span>${name ?? email}${
    name !== null && html` <span class="quiet-text">${email}</span>`
  } ${signed ? room.hasSigned : room.hasNotSigned}</span></li>`;
}

function orderCard(order: OrderCard, reader: Reader): Html {
  const { orderCode, status, signers, evidenceBadge, takenIn, trackingNumber, carrier, services, attachedAt } = order;
  const { words } = reader;
  const { room, language } = words;
  const { tone, label, summary } = statusWords(status, words);
  const { shape, tone: evidenceTone } = evidence[evidenceBadge];
  const id = `order-${orderCode}`;
  return html`<li class="card order-card" id="${id}">
<p class="eyebrow">${statusBadge(tone, label)}<span>${servicesText(services, words)}</span></p>
<h3 id="${id}-name"><a href="${linkFor(reader, `/orders/${orderCode}`)}">${nameOf(order, words)}</a></h3>
<p class="order-summary">${summary}</p>
${signers.length > 0 && html`<ul class="signers" aria-label="${room.signers}">${signers.map((one) => signer(one, words))}</ul>`}
<p class="evidence-line ${evidenceTone}">${icon(shape)}<span>${room.evidence[evidenceBadge]}</span></p>
${takenIn && html`<p class="evidence-line">${icon("waiting")}<span>${words.orders.takenIn}</span></p>`}
${facts([
  [room.tracking, trackingNumber === null ? null : [carrier, trackingNumber].filter(Boolean).join(" ")],
  [room.added, plainTime(new Date(attachedAt), language)],
])}
</li>`;
}

function passportCard({ passport }: RoomView, { language, room: { passport: said } }: Words): Html {
  const body = passport
    ? html`<p>${said.sealed(passport.version)} ${plainTime(new Date(passport.createdAt), language)}. ${said.lists}</p>
<p><a href="/v/room/${passport.verifyCode}">${said.verify}</a></p>`
    : html`<p>${said.none}</p>`;
  return card("passport", said.title, body);
}

const people = ({ participants }: RoomView, { room }: Words): Html | false =>
  participants.length > 0 &&
  card(
    "participants",
    room.people,
    html`<ul class="people">${participants.map(
      ({ name, email, role }) => html`<li><span>${name}</span><span class="quiet-text">${role}, ${email}</span></li>`,
    )}</ul>`,
  );

/** Everything that changes while one looks at the page; merged into what is shown, so focus and scroll stay. */
function live(room: RoomPageView, reader: Reader): Html {
  const { name, reference, status, branding, partnerName, orders, environment } = room;
  const { words } = reader;
  const { room: said } = words;
  const closed = status === "closed";
  return html`<header class="room-head">
${accentStripe(branding?.accentColor)}
${attribution(partnerName, branding, words.preparedBy)}
<p class="quiet-text">${words.aboutUs(branding?.brandName ?? partnerName)}</p>
<h1>${name}</h1>
<p class="eyebrow"><span>${reference ? said.reference(reference) : said.closingRoom}</span>${statusBadge(closed ? "stopped" : "progress", closed ? said.closed : said.open)}</p>
</header>
${environment === "test" && notice("attention", said.test.title, said.test.text)}
${room.retention && html`<p class="quiet">${room.retention}</p>`}
${card("glance", said.glance, html`<p class="lead">${inThisRoom(room, words)}</p>${progressMeters(room, words)}`)}
<div class="room">
<section aria-labelledby="orders-title"><h2 id="orders-title">${said.orders}</h2>
${orders.length === 0 ? emptyState(said.noOrders.title, closed ? said.noOrders.closed : said.noOrders.text) : html`<ul class="order-cards">${orders.map((order) => orderCard(order, reader))}</ul>`}
</section>
<div class="room-side">
${passportCard(room, words)}
${people(room, words)}
${card("activity", said.activity.title, roomActivity(room, room.everyStep, reader))}
</div>
</div>`;
}

/** The part that refreshes itself. */
export const roomFragment = (room: RoomPageView, reader: Reader): string => render(live(room, reader));

/** The page of a room. Its code in the address is the permission to see it. */
export function roomPage(assets: Pick<Assets, "url">, room: RoomPageView, baseUrl: string, reader: Reader): string {
  const { words } = reader;
  const refreshed = linkFor(reader, `/rooms/${room.roomCode}/status${room.everyStep ? "?activity=all" : ""}`);
  return layout(assets, {
    ...clientFrame(words, room.everyStep ? "activity=all&" : ""),
    // Previews of links show it: it names nobody and no closing.
    title: words.room.closingRoom,
    scripts: ["htmx.js"],
    body: html`<div id="room" class="stack" hx-get="${refreshed}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(room, reader)}
</div>
<p class="quiet no-print"><span class="with-script">${words.updates}</span><span class="without-script">${words.reload}</span> ${words.room.share}</p>
${onPaper(`${baseUrl}/rooms/${room.roomCode}`, { ...words.components.paper, page: words.room.paper })}`,
  });
}
