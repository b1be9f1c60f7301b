import assert from "node:assert/strict";
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { mock, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import fastify from "fastify";
import { eventStreams } from "../../../../src/kernel/http/event-stream.ts";
import type { MediaEngine, MediaEvent } from "../../../../src/providers/media/media.ts";
import type { Recordings } from "../../../../src/signing/notaries/recordings/recordings.ts";
import { askingPage } from "../../../../src/signing/notaries/sessions/holders.ts";
import { LiveRooms } from "../../../../src/signing/notaries/sessions/rooms.ts";

let now = 1_000_000;
const admitted: object[] = [];
let emit: (event: MediaEvent) => void = () => {};
const engine = {
  listen: (listener: typeof emit) => {
    emit = listener;
    return () => {};
  },
  remove: async () => {},
  admit: async (session: string, person: string, allowed: object) => {
    admitted.push({ session, person, allowed });
    return { ticket: person, iceServers: [] };
  },
} as unknown as MediaEngine;
const rooms = new LiveRooms({ engine, recordings: {} as Recordings, now: () => now });

const page = () => {
  const got = { news: 0, ended: 0 };
  return { got, hear: () => void got.news++, end: () => void got.ended++ };
};
const second = (session: string, unseenMs: number | null, hasPicture = true) =>
  emit({
    kind: "quality",
    session,
    person: "signer-1",
    at: now,
    audioPackets: 50,
    videoPackets: 0,
    lost: 0,
    dropped: 0,
    silentMs: 0,
    unseenMs,
    picture: hasPicture ? { width: 640, height: 480 } : null,
  });
const chunk = (session: string) =>
  emit({
    kind: "chunk",
    session,
    line: {
      seq: 1,
      at: "",
      take: 1,
      person: "signer-1",
      n: 0,
      from: 0,
      to: 1,
      key: true,
      bytes: 1,
      sha256: "",
      previousSha256: "",
    },
  });

test("the pages of a person whose connection failed join again, and no other pages", () => {
  rooms.add("failed", 1, new Date(now), ["notary", "signer-1"], { until: 0, since: performance.now() });
  const [notary, signer] = [page(), page()];
  rooms.listen("failed", "notary", notary);
  rooms.listen("failed", "signer-1", signer);
  const of = { session: "failed", person: "signer-1" };
  emit({ kind: "cut", ...of });
  assert.deepEqual([notary.got.news, signer.got.news], [0, 1]);
  // A page that itself replaced its connection must not be notified.
  emit({ kind: "left", cause: "replaced", ...of });
  assert.deepEqual([notary.got.news, signer.got.news], [0, 1]);
});

/**
 * A live session in which the signer has the pages "one" and "two", and the notary has one page. `news` returns the new
 * notifications of all three.
 */
function tabs(session: string) {
  rooms.add(session, 1, new Date(now), ["notary", "signer-1"], { until: 0, since: performance.now() });
  const heard: string[] = [];
  const listens = (person: string, name: string) =>
    rooms.listen(session, person, {
      hear: (news) => void heard.push(`${name}: ${news.kind}${news.kind === "taken" ? ` ${news.page}` : ""}`),
      end: () => {},
    });
  listens("signer-1", "one");
  listens("signer-1", "two");
  listens("notary", "other");
  /**
   * Requests the connection for a page on which the person acted `agoMs` milliseconds ago. @returns true if the page
   * got it
   */
  const asks = async (name: string, agoMs: number) =>
    "ticket" in (await rooms.connect(session, "signer-1", { page: name, agoMs }));
  return { heard, asks, news: () => heard.splice(0) };
}

test("of a person's pages, the one on which the person acted last has the connection, whichever asks last", async () => {
  const { asks, news } = tabs("tabs");
  assert.ok(await asks("one", 60_000));
  assert.deepEqual(news(), ["one: taken one", "two: taken one"]);
  now += 1_000;
  assert.ok(await asks("two", 500));
  assert.deepEqual(news(), ["one: taken two", "two: taken two"]);
  now += 60_000;
  admitted.length = 0;
  // Page "one" requests the connection again, because it doesn't know that page "two" has it. For example, the laptop
  // slept, or the page was just connecting.
  assert.equal(await asks("one", 121_000), false);
  assert.deepEqual([admitted.length, news()], [0, []], "the page in use keeps its connection");
  assert.ok(await asks("two", 60_500), "it also may connect again");
  news();
  assert.ok(await asks("one", 0), "the person presses the button on the other page");
  assert.deepEqual(news(), ["one: taken one", "two: taken one"]);
  admitted.length = 0;
});

test("a page that loses the connection while it gets its ticket is told so", async () => {
  const { asks } = tabs("overtaken");
  assert.deepEqual(await Promise.all([asks("one", 1_000), asks("two", 0)]), [false, true]);
  assert.deepEqual(await Promise.all([asks("two", 0), asks("one", 1_000)]), [true, false]);
  admitted.length = 0;
});

test("of two tickets of a person, the one that was requested last works, even if the engine issues it first", async () => {
  const answers: ((ticket: string) => void)[] = [];
  const admit = () => new Promise((resolve) => answers.push((ticket: string) => resolve({ ticket, iceServers: [] })));
  const slow = { admit, listen: () => () => {}, signal: async () => [] } as unknown as MediaEngine;
  const own = new LiveRooms({ engine: slow, recordings: {} as Recordings, now: () => now });
  own.add("reordered", 1, new Date(now), ["signer-1"], { until: 0, since: performance.now() });
  const of = { session: "reordered", person: "signer-1" };
  const asks = () => own.connect(of.session, of.person, { page: "one", agoMs: 0 });
  const [earlier, later] = [asks(), asks()];
  answers[1]?.("later");
  await later;
  answers[0]?.("earlier");
  await earlier;
  await assert.rejects(own.signal("earlier", of, { kind: "join" }), { code: "not_found" });
  assert.deepEqual(await own.signal("later", of, { kind: "join" }), []);
  own.stop();
});

test("a failed join does not disconnect an earlier join of the same person, even one that the engine has not answered yet", async () => {
  const answers: PromiseWithResolvers<unknown>[] = [];
  const admit = () => {
    answers.push(Promise.withResolvers());
    return answers.at(-1)?.promise;
  };
  const slow = { admit, listen: () => () => {}, signal: async () => [] } as unknown as MediaEngine;
  const own = new LiveRooms({ engine: slow, recordings: {} as Recordings, now: () => now });
  own.add("failing", 1, new Date(now), ["signer-1"], { until: 0, since: performance.now() });
  const of = { session: "failing", person: "signer-1" };
  const asks = (page: string, agoMs: number) => own.connect(of.session, of.person, { page, agoMs });
  const works = async (ticket: string) => assert.deepEqual(await own.signal(ticket, of, { kind: "join" }), []);
  const [earlier, later] = [asks("one", 60_000), asks("one", 60_000)];
  answers[1]?.reject(new Error("busy"));
  await assert.rejects(later, /busy/);
  answers[0]?.resolve({ ticket: "earlier", iceServers: [] });
  await earlier;
  await works("earlier");
  const other = asks("two", 0);
  answers[2]?.reject(new Error("busy"));
  await assert.rejects(other, /busy/);
  await works("earlier");
  const again = asks("one", 60_000);
  answers[3]?.resolve({ ticket: "again", iceServers: [] });
  assert.ok("ticket" in (await again), "the page that failed is not the one that has the connection");
  await works("again");
  own.stop();
});

test("a person's other pages are told when the connected page is closed, and when it comes back", async () => {
  const { asks, news } = tabs("closed");
  const of = { session: "closed", person: "signer-1" };
  assert.ok(await asks("two", 0));
  news();
  emit({ kind: "left", cause: "replaced", ...of });
  assert.deepEqual(news(), [], "it connects again");
  emit({ kind: "left", cause: "closed", ...of });
  assert.deepEqual(news(), ["one: free", "two: free"]);
  emit({ kind: "joined", ...of });
  assert.deepEqual(news(), ["one: taken two", "two: taken two"]);
  emit({ kind: "left", cause: "failed", ...of });
  assert.deepEqual(news(), ["one: free", "two: free"]);
  admitted.length = 0;
});

test("a page without a name, and one that lies about its last act, break nothing", async () => {
  tabs("odd");
  assert.deepEqual(
    [
      askingPage({}),
      askingPage({ page: "" }),
      askingPage({ page: "a", ago: "-5" }),
      askingPage({ page: "a", ago: "7" }),
    ],
    [null, null, { page: "a", agoMs: 0 }, { page: "a", agoMs: 7 }],
  );
  assert.ok("ticket" in (await rooms.connect("odd", "signer-1", null)));
  admitted.length = 0;
});

test("a written message is passed on in the room, and not to the waiting room", () => {
  rooms.add("written", 1, new Date(now), ["notary"], { until: 0, since: performance.now() });
  const [inside, outside] = [page(), page()];
  rooms.listen("written", "notary", inside);
  rooms.listen("written", "signer-1", outside);
  rooms.pass("written", { n: 1, at: "2026-01-15T14:05:00.000Z", person: "notary", text: "Good morning" });
  assert.deepEqual([inside.got.news, outside.got.news], [1, 0]);
});

test("a browser that was removed gets no more messages, and its late end does not affect the browser that replaced it", async () => {
  rooms.add("streams", 1, new Date(now), ["signer-1"], { until: 0, since: performance.now() });
  const [old, next] = [page(), page()];
  const endOld = rooms.listen("streams", "signer-1", old);
  await rooms.disconnect("streams", "signer-1");
  assert.equal(old.got.ended, 1);
  const endNext = rooms.listen("streams", "signer-1", next);
  endOld();
  rooms.tell("streams", { kind: "changed" });
  assert.deepEqual([old.got.news, next.got.news], [0, 1]);
  endNext();
});

test("a person who connects repeatedly without sending counts as absent, and so does sound without a picture", () => {
  const room = rooms.add("presence", 1, new Date(now), ["signer-1"], { until: 0, since: performance.now() });
  const isHere = () => rooms.absent("presence", ["signer-1"]) === null;
  emit({ kind: "joined", session: "presence", person: "signer-1" });
  second("presence", null, false);
  chunk("presence");
  assert.deepEqual([isHere(), room.recorded.size], [false, 0]);
  second("presence", 20);
  chunk("presence");
  assert.deepEqual([isHere(), [...room.recorded]], [true, ["signer-1"]]);
  now += 3_000;
  emit({ kind: "joined", session: "presence", person: "signer-1" });
  second("presence", null, false);
  assert.equal(isHere(), false);
});

test("an observer may send nothing, delays no act, and reads written messages until excused", async () => {
  const room = rooms.add("observed", 1, new Date(now), ["notary"], { until: 0, since: performance.now() });
  await rooms.connect("observed", "third-1", null, true);
  assert.deepEqual(admitted, [{ session: "observed", person: "third-1", allowed: { audio: false, video: false } }]);
  assert.deepEqual([...rooms.silences(room).keys()], ["notary"]);
  const { got, hear, end } = page();
  rooms.listen("observed", "third-1", { hear, end });
  rooms.pass("observed", { n: 1, at: "", person: "notary", text: "Hello" });
  assert.equal(got.news, 1);
  assert.ok(rooms.hasIn("observed", "third-1"));
  await rooms.disconnect("observed", "third-1");
  assert.ok(!rooms.hasIn("observed", "third-1"));
  assert.equal(got.ended, 1);
});

test("a lease that is not renewed lapses after 7.5 seconds, and a renewed or removed one does not", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const lapsed: string[] = [];
  rooms.onLapse = ({ session }) => void lapsed.push(session);
  const lease = () => ({ until: 0, since: performance.now() });
  const renewed = rooms.add("renewed", 1, new Date(now), ["notary"], lease());
  for (const session of ["lapses", "removed"]) rooms.add(session, 1, new Date(now), ["notary"], lease());
  rooms.remove("removed");
  mock.timers.tick(7_000);
  assert.deepEqual(lapsed, []);
  rooms.setLease(renewed, lease());
  mock.timers.tick(500);
  assert.deepEqual(lapsed, ["lapses"]);
  mock.timers.tick(7_000);
  assert.deepEqual(lapsed, ["lapses", "renewed"]);
  for (const session of ["renewed", "lapses"]) rooms.remove(session);
  rooms.onLapse = () => {};
  mock.timers.reset();
});

test("pages of a session are ended where another node has it now", () => {
  const [heard, passed, still] = [page(), page(), page()];
  rooms.listen("moved", "signer-1", heard);
  const ended = rooms.passing("moved", { node: "old", end: passed.end });
  rooms.passing("moved", { node: "new", end: still.end });
  assert.ok(rooms.sessionsOfPages().includes("moved"));
  rooms.endPassed("moved", "new");
  rooms.endStreams("moved");
  assert.deepEqual([heard.got.ended, passed.got.ended, still.got.ended], [1, 1, 0]);
  ended();
  rooms.endPassed("moved", null);
  assert.deepEqual([passed.got.ended, still.got.ended], [1, 1]);
});

test("the act waits for a person who was admitted while the session was being opened, but never for an observer", async () => {
  const opened = Promise.withResolvers<void>();
  const opening = rooms.openOnce("late", async () => {
    await opened.promise;
    rooms.add("late", 1, new Date(now), ["notary"], { until: 0, since: performance.now() });
  });
  const expected = rooms.expect("late", "third-1");
  opened.resolve();
  await Promise.all([opening, expected]);
  assert.equal(rooms.absent("late", ["third-1"]), "third-1");
  assert.ok(rooms.hasIn("late", "third-1"));
  await rooms.connect("late", "third-2", null, true);
  assert.deepEqual([...(rooms.roomOf("late")?.people.keys() ?? [])], ["notary", "third-1"]);
});

test("a session is opened once, however many pages request it meanwhile, and again after a failure", async () => {
  let opened = 0;
  const open = () => rooms.openOnce("once", async () => void opened++);
  await Promise.all([open(), open()]);
  assert.equal(opened, 1);
  const fails = () => rooms.openOnce("once", () => Promise.reject(new Error("busy")));
  const failed = await Promise.allSettled([fails(), fails()]);
  assert.deepEqual(
    failed.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  await open();
  assert.equal(opened, 2);
});

test("a page that closes before its stream begins leaves no subscription", async () => {
  const app = fastify();
  await forTests({ stop: () => app.close() });
  let [asked, answered, subscribed] = [0, 0, 0];
  let goOn = () => {};
  const looked = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  app.register(async (scope) => {
    const stream = eventStreams(scope);
    scope.get("/events", async (_, reply) => {
      asked++;
      await looked;
      stream(reply, () => {
        subscribed++;
        return () => void subscribed--;
      });
      answered++;
      return reply;
    });
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as AddressInfo;
  const call = request({ port, path: "/events" }).on("error", () => {});
  const [socket] = await Promise.all([once(app.server, "connection").then(([own]) => own), call.end()]);
  await until(() => asked === 1);
  call.destroy();
  await until(() => socket.destroyed);
  goOn();
  await until(() => answered === 1);
  assert.equal(subscribed, 0);
});
