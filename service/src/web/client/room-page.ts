import type { OrderCard, RoomView } from "../../rooms/rooms.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets.ts";
import { card, emptyState, facts, notice, statusBadge, type Tone } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { clientNav, layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { orderCount, progressMeters } from "../ui/orders/progress.ts";
import { nameOf, servicesText } from "../ui/orders/room-words.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { type Html, html, render } from "../ui/render.ts";
import { roomActivity } from "./room-activity.ts";

/** A room's public view, the environment of its orders, what the retention plan says of them, and whether every step is asked for. */
export type RoomPageView = RoomView & { environment: "live" | "test"; retention: string | null; everyStep: boolean };

const evidence: Readonly<Record<OrderCard["evidenceBadge"], { shape: IconName; tone: Tone; text: string }>> = {
  sealed: { shape: "evidence", tone: "done", text: "Sealed: its hash is on record" },
  recorded: { shape: "info", tone: "progress", text: "On record, not sealed yet" },
  none: { shape: "upcoming", tone: "waiting", text: "No evidence yet" },
};

function signer({ name, email, signed }: OrderCard["signers"][number]): Html {
  return html`<li class="${signed ? "done" : "waiting"}">${icon(signed ? "done" : "waiting")}<span>${name ?? email}${
    name !== null && html` <span class="quiet-text">${email}</span>`
  } ${signed ? "has signed" : "has not signed yet"}</span></li>`;
}

function orderCard(order: OrderCard): Html {
  const { orderCode, status, signers, evidenceBadge, trackingNumber, carrier, services, attachedAt } = order;
  const { tone, label, summary } = statusWords(status);
  const { shape, tone: evidenceTone, text } = evidence[evidenceBadge];
  const id = `order-${orderCode}`;
  return html`<li class="card order-card" id="${id}">
<p class="eyebrow">${statusBadge(tone, label)}<span>${servicesText(services)}</span></p>
<h3 id="${id}-name"><a href="/orders/${orderCode}">${nameOf(order)}</a></h3>
<p class="order-summary">${summary}</p>
${signers.length > 0 && html`<ul class="signers" aria-label="Signers">${signers.map(signer)}</ul>`}
<p class="evidence-line ${evidenceTone}">${icon(shape)}<span>${text}</span></p>
${facts([
  ["Tracking", trackingNumber === null ? null : [carrier, trackingNumber].filter(Boolean).join(" ")],
  ["Added", time(new Date(attachedAt))],
])}
</li>`;
}

function passportCard({ passport }: RoomView): Html {
  const body = passport
    ? html`<p>Version ${passport.version} was sealed on ${time(new Date(passport.createdAt))}. It lists the hashes of the documents at that time, and anyone can check it.</p>
<p><a href="/v/room/${passport.verifyCode}">Verify the closing passport</a></p>`
    : html`<p>Not sealed yet. Once it is, it lists the hashes of the documents at that time, and anyone can check it.</p>`;
  return card("passport", "Closing passport", body);
}

const people = ({ participants }: RoomView): Html | false =>
  participants.length > 0 &&
  card(
    "participants",
    "People",
    html`<ul class="people">${participants.map(
      ({ name, email, role }) => html`<li><span>${name}</span><span class="quiet-text">${role}, ${email}</span></li>`,
    )}</ul>`,
  );

/** Everything that changes while one looks at the page; merged into what is shown, so focus and scroll stay. */
function live(room: RoomPageView): Html {
  const { name, reference, status, branding, partnerName, progress, orders, environment } = room;
  const closed = status === "closed";
  return html`<header class="room-head">
${accentStripe(branding?.accentColor)}
${attribution(partnerName, branding)}
<h1>${name}</h1>
<p class="eyebrow"><span>${reference ? html`Reference ${reference}` : "Closing room"}</span>${statusBadge(closed ? "stopped" : "progress", closed ? "Closed" : "Open")}</p>
</header>
${environment === "test" && notice("attention", "A test room", "Nothing in it is real: no money moves, and nothing is signed, notarized, or sent.")}
${room.retention && html`<p class="quiet">${room.retention}</p>`}
${card("glance", "At a glance", html`<p class="lead">${orderCount(progress)} in this room</p>${progressMeters(room)}`)}
<div class="room">
<section aria-labelledby="orders-title"><h2 id="orders-title">Orders</h2>
${orders.length === 0 ? emptyState("No orders yet", closed ? "The room was closed without orders." : "Orders appear here once they are added.") : html`<ul class="order-cards">${orders.map(orderCard)}</ul>`}
</section>
<div class="room-side">
${passportCard(room)}
${people(room)}
${card("activity", "Activity", roomActivity(room, room.everyStep))}
</div>
</div>`;
}

/** The part that refreshes itself. */
export const roomFragment = (room: RoomPageView): string => render(live(room));

/** The page of a room. Its code in the address is the permission to see it. */
export const roomPage = (assets: Pick<Assets, "url">, room: RoomPageView, baseUrl: string): string =>
  layout(assets, {
    title: `${room.name} · ${room.branding?.brandName ?? room.partnerName}`,
    credential: true,
    headerNav: clientNav,
    scripts: ["htmx.js"],
    body: html`<div id="room" class="stack" hx-get="/rooms/${room.roomCode}/status${room.everyStep ? "?activity=all" : ""}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(room)}
</div>
<p class="quiet no-print"><span class="with-script">This page updates every 15 seconds.</span><span class="without-script">Reload this page for the latest.</span> Anyone with this link can see the whole room, so share it with care.</p>
${onPaper(`${baseUrl}/rooms/${room.roomCode}`, "This room’s page")}`,
  });
