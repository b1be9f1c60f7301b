import type { ActivityItem, OrderCard, RoomView } from "../../closing/rooms/rooms.ts";
import { accentStripe, attribution } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, emptyState, facts, notice, statusBadge, type Tone } from "../ui/components.ts";
import { day, plainTime } from "../ui/format.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { inThisRoom, progressMeters } from "../ui/orders/progress.ts";
import { activityText, nameOf, servicesText } from "../ui/orders/room-words.ts";
import { statusWords } from "../ui/orders/status-words.ts";
import { type Html, html, render } from "../ui/render.ts";
import type { Words } from "../ui/words/en/en.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";

export type RoomPageView = RoomView & { environment: "live" | "test"; retention: string | null; allActivity: boolean };

const evidence: Readonly<Record<OrderCard["evidenceBadge"], { shape: IconName; tone: Tone }>> = {
  sealed: { shape: "evidence", tone: "done" },
  recorded: { shape: "info", tone: "progress" },
  none: { shape: "upcoming", tone: "waiting" },
};

function signer({ name, email, signed }: OrderCard["signers"][number], isSimulated: boolean, { room }: Words): Html {
  const mark = signed && !isSimulated ? "done" : "waiting";
  return html`<li class="${mark}">${icon(mark)}<span>${name ?? email}${
    name !== null && html` <span class="quiet-text">${email}</span>`
  } ${isSimulated ? room.simulated : signed ? room.hasSigned : room.hasNotSigned}</span></li>`;
}

/**
 * The card of an order in the room. It does not link to the order's page, because that page shows the client's prices,
 * and everyone in the closing can open the room.
 */
function orderCard(order: OrderCard, words: Words): Html {
  const { orderCode, status, signers, evidenceBadge, takenIn, trackingNumber, carrier, services, attachedAt } = order;
  const isSimulated = order.simulated === true;
  const { room, language } = words;
  const { tone, label, summary } = statusWords(status, words, [{ isSimulated, wantsPaper: false }]);
  const { shape, tone: evidenceTone } = evidence[evidenceBadge];
  const id = `order-${orderCode}`;
  return html`<li class="card order-card" id="${id}">
<p class="eyebrow">${statusBadge(tone, label)}<span>${servicesText(services, words)}</span></p>
<h3 id="${id}-name">${nameOf(order, words)}</h3>
<p class="order-summary">${summary}</p>
${signers.length > 0 && html`<ul class="signers" aria-label="${room.signers}">${signers.map((one) => signer(one, isSimulated, words))}</ul>`}
<p class="evidence-line ${evidenceTone}">${icon(shape)}<span>${room.evidence[evidenceBadge]}</span></p>
${takenIn && html`<p class="evidence-line">${icon("waiting")}<span>${words.orders.takenIn}</span></p>`}
${facts([
  [room.tracking, carrier === null ? null : [carrier, trackingNumber].filter(Boolean).join(" ")],
  [room.added, plainTime(new Date(attachedAt), language)],
])}
</li>`;
}

function passportCard({ passport }: RoomView, { language, room: { passport: text } }: Words): Html {
  const body = passport
    ? html`<p>${text.sealed(passport.version)} ${plainTime(new Date(passport.createdAt), language)}. ${text.lists}</p>
<p><a href="/v/room/${passport.verifyCode}">${text.verify}</a></p>`
    : html`<p>${text.none}</p>`;
  return card("passport", text.title, body);
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

/**
 * The part of the page that refreshes itself. htmx merges it into the page, so the focus and the scroll position stay.
 */
function live(room: RoomPageView, reader: Reader): Html {
  const { name, reference, status, branding, partnerName, orders, environment } = room;
  const { words } = reader;
  const { room: text } = words;
  const closed = status === "closed";
  return html`<header class="room-head">
${accentStripe(branding?.accentColor)}
${attribution(partnerName, branding, words.preparedBy)}
<p class="quiet-text">${words.aboutUs(branding?.brandName ?? partnerName)}</p>
<h1>${name}</h1>
<p class="eyebrow"><span>${reference ? text.reference(reference) : text.closingRoom}</span>${statusBadge(closed ? "stopped" : "progress", closed ? text.closed : text.open)}</p>
</header>
${environment === "test" && notice("attention", words.test.title, words.test.text)}
${room.retention && html`<p class="quiet">${room.retention}</p>`}
${card("glance", text.glance, html`<p class="lead">${inThisRoom(room, words)}</p>${progressMeters(room, words)}`)}
<div class="room">
<section aria-labelledby="orders-title"><h2 id="orders-title">${text.orders}</h2>
${orders.length === 0 ? emptyState(text.noOrders.title, closed ? text.noOrders.closed : text.noOrders.text) : html`<ul class="order-cards">${orders.map((order) => orderCard(order, words))}</ul>`}
</section>
<div class="room-side">
${passportCard(room, words)}
${people(room, words)}
${card("activity", text.activity.title, roomActivity(room, room.allActivity, reader))}
</div>
</div>`;
}

/** The HTML that htmx requests every few seconds to refresh the page of a room. */
export const roomFragment = (room: RoomPageView, reader: Reader): string => render(live(room, reader));

/** The page of a room. Anyone who has the code in its URL may see it. */
export function roomPage(assets: Pick<Assets, "url">, room: RoomPageView, baseUrl: string, reader: Reader): string {
  const { words } = reader;
  const refreshed = linkFor(reader, `/rooms/${room.roomCode}/status${room.allActivity ? "?activity=all" : ""}`);
  return layout(assets, {
    ...clientFrame(words, room.allActivity ? "activity=all&" : ""),
    // Link previews show the title, so it names neither people nor the closing.
    title: words.room.closingRoom,
    scripts: ["htmx.js"],
    body: html`<div id="room" class="stack" hx-get="${refreshed}" hx-trigger="every 15s" hx-swap="innerMorph">
${live(room, reader)}
</div>
<p class="quiet no-print"><span class="with-script">${words.updates}</span><span class="without-script">${words.reload}</span> ${words.room.share}</p>
${onPaper(`${baseUrl}/rooms/${room.roomCode}`, { ...words.components.paper, page: words.room.paper })}`,
  });
}

/** The latest activity of an order on one day (UTC), and the number of its earlier activities on that day. */
type Fold = { latest: ActivityItem; earlier: number };

/** Combines all activity of one order on one day into one entry. The list stays sorted, newest first. */
function folded(activity: readonly ActivityItem[]): Fold[] {
  const folds = new Map<string, Fold>();
  for (const item of activity) {
    const key = `${day(new Date(item.occurredAt))} ${item.orderCode}`;
    const fold = folds.get(key);
    if (fold) fold.earlier += 1;
    else folds.set(key, { latest: item, earlier: 0 });
  }
  return [...folds.values()];
}

/** The activity in a room. Shows only the latest of each order on each day, or everything when `every` is true. */
function roomActivity({ activity, orders, roomCode }: RoomView, every: boolean, reader: Reader): Html {
  const { words } = reader;
  const text = words.room.activity;
  if (activity.length === 0) return emptyState(text.none.title, text.none.text);
  const names = new Map(orders.map((order) => [order.orderCode, nameOf(order, words)]));
  const line = (item: ActivityItem, more = "") =>
    html`<li><span>${activityText(item, words)}<span class="timeline-of">${names.get(item.orderCode) ?? ""}${more}</span></span>${plainTime(new Date(item.occurredAt), words.language)}</li>`;
  const other = (query: string, label: string) =>
    html`<p class="no-print"><a href="${linkFor(reader, `/rooms/${roomCode}${query}`)}">${label}</a></p>`;
  if (every) return html`<ol class="timeline">${activity.map((item) => line(item))}</ol>${other("", text.latest)}`;
  const folds = folded(activity);
  return html`<ol class="timeline">${folds.map(({ latest, earlier }) => line(latest, earlier > 0 ? `, ${text.earlier(earlier)}` : ""))}</ol>${
    folds.some(({ earlier }) => earlier > 0) && other("?activity=all", text.every)
  }`;
}
