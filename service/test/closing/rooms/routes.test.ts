import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { startService } from "@signsealship/testing/service";
import { type Client, oddCodes, openRoomsService, unknownCode } from "./rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");
const other = await running.partner("ClosingDesk", "Other Title");

const actions = async (roomCode: string) => (await running.audit(roomCode)).map(({ action }) => action);

describe("creating a room", () => {
  test("answers with the contract's fields, the name trimmed", async () => {
    const room = await acme.ok("POST", "/api/rooms", { name: "  12 Elm Street ", reference: " FILE-1 ", surplus: [1] });
    const { roomCode, createdAt, ...rest } = room as { roomCode: string; createdAt: string };
    assert.match(roomCode, /^[0-9a-f]{40}$/);
    assert.equal(new Date(createdAt).toISOString(), createdAt);
    assert.deepEqual(rest, {
      roomUrl: `/rooms/${roomCode}`,
      name: "12 Elm Street",
      reference: "FILE-1",
      status: "open",
    });
    const [line, ...more] = await running.audit(roomCode);
    assert.deepEqual([line?.action, line?.actor, more.length], ["room.created", `key:${acme.keyId}`, 0]);
  });

  test("accepts names of 1 and of 200 characters in any script, and no reference", async () => {
    for (const name of ["a", "é".repeat(200), "契約 🏠 ".repeat(30).trim(), "<script>alert(1)</script>"]) {
      const room = await acme.ok<{ name: string; reference: null }>("POST", "/api/rooms", { name, reference: null });
      assert.deepEqual([room.name, room.reference], [name, null]);
    }
  });

  test("refuses a name that is missing, empty, too long or not a text, with the contract's message", async () => {
    for (const body of [
      undefined,
      {},
      { name: "" },
      { name: " \t " },
      { name: "\u200b" },
      { name: "\u2060\u00ad \u3164\ufe0f" },
      { name: "x".repeat(201) },
      { name: 7 },
      { name: null },
      { name: ["a"] },
      [],
      "null",
      "7",
    ])
      assert.equal(await acme.refused(400, "POST", "/api/rooms", body), "A room name (1-200 chars) is required.");
  });

  test("refuses text that is not UTF-8 and control characters, naming the field", async () => {
    for (const text of ["a\u0000b", "a\ud800b", "\u001b[31m", "a\nb", "\udc00"]) {
      assert.match(await acme.refused(400, "POST", "/api/rooms", { name: text }), /^name must be UTF-8 text/);
      assert.match(
        await acme.refused(400, "POST", "/api/rooms", { name: "x", reference: text }),
        /^reference must be UTF-8/,
      );
    }
  });

  test("refuses a reference over 200 characters or of another type", async () => {
    for (const reference of ["x".repeat(201), 7, {}, false])
      assert.equal(
        await acme.refused(400, "POST", "/api/rooms", { name: "x", reference }),
        "reference must be text of at most 200 characters.",
      );
  });

  test("refuses malformed JSON and other media types", async () => {
    assert.equal(await acme.refused(400, "POST", "/api/rooms", "{"), "The body is not valid JSON.");
    await acme.refused(415, "POST", "/api/rooms", new URLSearchParams({ name: "x" }));
  });

  test("needs a key", async () => {
    const response = await fetch(`${running.service.baseUrl}/api/rooms`, { method: "POST" });
    assert.equal(response.status, 401);
    assert.deepEqual(await response.json(), { error: "A valid partner API key is required." });
  });
});

describe("listing rooms", () => {
  test("shows the partner's own, newest first, with the count of their orders", async () => {
    const partner = await running.partner("ProOffice");
    const codes = [await partner.room("first"), await partner.room("second"), await partner.room("third")];
    await partner.ok("POST", `/api/rooms/${codes[1]}/orders`, { orderCode: await partner.order() });
    const { rooms, nextCursor } = await partner.ok<{ rooms: Record<string, unknown>[]; nextCursor: null }>(
      "GET",
      "/api/rooms",
    );
    assert.deepEqual(
      rooms.map(({ roomCode, orderCount }) => [roomCode, orderCount]),
      [
        [codes[2], 0],
        [codes[1], 1],
        [codes[0], 0],
      ],
    );
    assert.deepEqual(Object.keys(rooms[0] ?? {}), [
      "roomCode",
      "name",
      "reference",
      "status",
      "orderCount",
      "createdAt",
      "updatedAt",
    ]);
    assert.equal(nextCursor, null);
  });

  test("has the id of its request, as the list of participants does", async () => {
    const room = await acme.room();
    for (const path of ["/api/rooms", `/api/rooms/${room}/participants`]) {
      const { body, headers } = await acme.call("GET", path);
      assert.ok(body["requestId"]);
      assert.equal(body["requestId"], headers.get("request-id"));
    }
  });

  test("pages by cursor, each room once, even when a room is rotated in between", async () => {
    const partner = await running.partner("ProOffice");
    for (let n = 0; n < 7; n++) await partner.room(`room ${n}`);
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const page: { rooms: { name: string; roomCode: string }[]; nextCursor: string | null } = await partner.ok(
        "GET",
        `/api/rooms?limit=3&cursor=${cursor}`,
      );
      seen.push(...page.rooms.map(({ name }) => name));
      await partner.ok("POST", `/api/rooms/${page.rooms.at(-1)?.roomCode}/rotate`);
      cursor = page.nextCursor;
    }
    assert.deepEqual(
      seen,
      [6, 5, 4, 3, 2, 1, 0].map((n) => `room ${n}`),
    );
  });

  test("clamps the limit, and refuses one that is not a number and another firm's cursor", async () => {
    await acme.room();
    await acme.room();
    const { rooms, nextCursor } = await acme.ok<{ rooms: unknown[]; nextCursor: string }>("GET", "/api/rooms?limit=0");
    assert.equal(rooms.length, 1);
    await acme.ok("GET", "/api/rooms?limit=99999999");
    await acme.refused(400, "GET", "/api/rooms?limit=ten");
    await acme.refused(400, "GET", "/api/rooms?limit=1&limit=2");
    await acme.refused(400, "GET", "/api/rooms?cursor=x");
    await other.refused(400, "GET", `/api/rooms?cursor=${nextCursor}`);
  });
});

describe("rotating, closing and reopening", () => {
  test("a rotated room has the new code everywhere and the old one nowhere", async () => {
    const room = await acme.room("Rotated");
    const { roomCode, roomUrl } = await acme.ok<{ roomCode: string; roomUrl: string }>(
      "POST",
      `/api/rooms/${room}/rotate`,
    );
    assert.match(roomCode, /^[0-9a-f]{40}$/);
    assert.notEqual(roomCode, room);
    assert.equal(roomUrl, `/rooms/${roomCode}`);
    assert.equal((await running.view(roomCode)).name, "Rotated");
    assert.equal((await running.view(roomCode)).roomCode, roomCode);
    assert.equal((await fetch(`${running.service.baseUrl}/api/rooms/${room}`)).status, 404);
    assert.equal(await acme.refused(404, "POST", `/api/rooms/${room}/rotate`), "Room not found.");
    assert.deepEqual(await actions(roomCode), ["room.created", "room.rotated"]);
    assert.ok((await running.view(roomCode)).updatedAt > (await running.view(roomCode)).createdAt);
  });

  test("a closed room keeps its view and its orders and accepts no new ones until it is open again", async () => {
    const room = await acme.room();
    const [inside, outside] = [await acme.order(), await acme.order()];
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: inside });
    for (let n = 0; n < 2; n++)
      assert.deepEqual(await acme.ok("POST", `/api/rooms/${room}/close`), { ok: true, status: "closed" });
    assert.equal((await running.view(room)).status, "closed");
    assert.equal(
      await acme.refused(400, "POST", `/api/rooms/${room}/orders`, { orderCode: outside }),
      "This room is closed.",
    );
    assert.deepEqual(await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: inside }), {
      ok: true,
      alreadyAttached: true,
    });
    for (let n = 0; n < 2; n++)
      assert.deepEqual(await acme.ok("POST", `/api/rooms/${room}/reopen`), { ok: true, status: "open" });
    await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: outside });
    const lines = (await running.audit(room)).map(({ action, from, to }) => [action, from, to]);
    assert.deepEqual(lines.slice(2, 4), [
      ["room.closed", "open", "closed"],
      ["room.reopened", "closed", "open"],
    ]);
    assert.equal(lines.length, 5);
  });

  test("routes without a body ignore any body", async () => {
    const room = await acme.room();
    await acme.ok("POST", `/api/rooms/${room}/close`, "");
    await acme.ok("POST", `/api/rooms/${room}/reopen`, "{not json");
    await acme.ok("POST", `/api/rooms/${room}/rotate`, { roomCode: "mine" });
  });
});

describe("rooms of other firms, and unknown rooms", () => {
  const routesOf = (room: string): [string, string, unknown?][] => [
    ["POST", `/api/rooms/${room}/orders`, { orderCode: unknownCode }],
    ["DELETE", `/api/rooms/${room}/orders/${unknownCode}`],
    ["POST", `/api/rooms/${room}/rotate`],
    ["POST", `/api/rooms/${room}/close`],
    ["POST", `/api/rooms/${room}/reopen`],
    ["GET", `/api/rooms/${room}/participants`],
    ["POST", `/api/rooms/${room}/participants`, { name: "J", email: "j@example.com" }],
    ["DELETE", `/api/rooms/${room}/participants/00000000-0000-4000-8000-000000000000`],
  ];

  test("is `Room not found.` on every route, for another firm's, unknown and invalid codes alike", async () => {
    for (const room of [await other.room(), unknownCode, ...oddCodes])
      for (const [method, path, body] of routesOf(room))
        assert.equal(await acme.refused(404, method, path, body), "Room not found.", `${method} ${path}`);
  });

  test("needs a key on every route", async () => {
    for (const [method, path] of routesOf(await acme.room())) {
      const response = await fetch(running.service.baseUrl + path, {
        method,
        headers: { Authorization: "Bearer svc_pk_nope" },
      });
      assert.equal(response.status, 401, path);
      assert.deepEqual(await response.json(), { error: "A valid partner API key is required." });
    }
  });

  test("test and live keys of one partner see only their own rooms and attach only their own orders", async () => {
    const testKey = await running.partner("ProOffice");
    const liveKey = await testKey.withKey("live");
    const rooms = { test: await testKey.room(), live: await liveKey.room() };
    const orders = { test: await testKey.order(), live: await liveKey.order() };
    for (const [method, path, body] of routesOf(rooms.live))
      assert.equal(await testKey.refused(404, method, path, body), "Room not found.");
    const listed = async (key: Client) =>
      (await key.ok<{ rooms: { roomCode: string }[] }>("GET", "/api/rooms")).rooms.map(({ roomCode }) => roomCode);
    assert.deepEqual([await listed(testKey), await listed(liveKey)], [[rooms.test], [rooms.live]]);
    assert.equal(
      await testKey.refused(404, "POST", `/api/rooms/${rooms.test}/orders`, { orderCode: orders.live }),
      "Order not found.",
    );
    assert.equal(
      await liveKey.refused(404, "POST", `/api/rooms/${rooms.live}/orders`, { orderCode: orders.test }),
      "Order not found.",
    );
    assert.equal(
      await liveKey.refused(404, "DELETE", `/api/rooms/${rooms.live}/orders/${orders.test}`),
      "Order not found.",
    );
    await liveKey.ok("POST", `/api/rooms/${rooms.live}/orders`, { orderCode: orders.live });
  });
});

describe("access to the public view", () => {
  test("responds to an unknown or invalid code with an empty 404 that is not cached", async () => {
    for (const code of [unknownCode, "0".repeat(23), "0".repeat(24), "0".repeat(64), "0".repeat(65), ...oddCodes]) {
      const response = await fetch(`${running.service.baseUrl}/api/rooms/${code}`, {
        headers: { Accept: "application/problem+json" },
      });
      assert.equal(response.status, 404, code);
      assert.equal(await response.text(), "");
      assert.equal(response.headers.get("cache-control"), "no-store");
    }
  });

  test("counts public requests by address and the partner's routes by key, and reports it", async () => {
    const limited = await startService({ DATA_DIR: running.service.dataDir, RATE_LIMITS: "on" });
    try {
      const room = await acme.room();
      const first = await fetch(`${limited.baseUrl}/api/rooms/${room}`);
      assert.equal(first.headers.get("ratelimit-policy"), '"public-read";q=30;w=60');
      assert.equal(first.headers.get("cache-control"), "no-store");
      for (let n = 0; n < 29; n++) await (await fetch(`${limited.baseUrl}/api/rooms/${room}`)).arrayBuffer();
      const last = await fetch(`${limited.baseUrl}/api/rooms/${room}`);
      assert.equal(last.status, 429);
      assert.equal(last.headers.get("cache-control"), "no-store");
      const { headers } = await acme.at(limited).call("POST", `/api/rooms/${room}/close`);
      assert.equal(headers.get("ratelimit-policy"), '"partner-write";q=60;w=60');
    } finally {
      await limited.stop();
    }
  });
});
