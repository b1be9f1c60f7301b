import { connectionTo } from "@signsealship/testing/database";
import { versionStatement, viewStatement } from "../service/src/closing/rooms/view/store.ts";
import { atLeast, type Result } from "./result.ts";
import { codeOfPath, portableFor, sealedTextsOf, startBare } from "./support/bare.ts";
import { get, interleave, type Target } from "./support/http-load.ts";
import { openRoomsFixture } from "./support/rooms-fixture.ts";

const options = { rounds: 7, connections: 16, ms: 1000, expect: 200 };

/**
 * Measures how fast the service returns the view of a room with 50 orders and 100 activities, in two cases.
 *
 * "unchanged": the service has the view in its cache. The rival reads only the room's version and sends a ready text.
 *
 * "changed": the service must build the view, because the requests go in turn to more rooms than its cache holds. The
 * rival runs the SQL statement that builds the view.
 */
export async function run(): Promise<Result[]> {
  const fixture = await openRoomsFixture();
  const { service, roomCode } = fixture;
  const codes = await fixture.copies(2500);
  const ready = await (await fetch(`${service.baseUrl}/api/rooms/${roomCode}`)).text();
  const portable = await portableFor(service.dataDir);
  const bare = await startBare({
    connection: connectionTo(service.dataDir),
    folder: service.dataDir,
    ready: { [`/api/rooms/${roomCode}`]: ready },
    reads: {
      [`/api/rooms/${roomCode}`]: [portable(versionStatement(roomCode))],
      "/api/rooms/:code": [portable(viewStatement(codeOfPath))],
    },
  });
  const targets = (ours: () => Buffer, other: () => Buffer): [Target, Target] => [
    { port: Number(new URL(service.baseUrl).port), request: ours },
    { port: bare.port, request: other },
  ];
  try {
    const unchanged = get(`/api/rooms/${roomCode}`);
    const kept = await interleave(
      ...targets(
        () => unchanged,
        () => unchanged,
      ),
      options,
    );
    // The bare server has no keys, so its paths contain the encrypted codes, as the table stores them.
    const texts = await sealedTextsOf(service.dataDir);
    const inTurn = (names: readonly string[]) => {
      const requests = names.map((name) => get(`/api/rooms/${encodeURIComponent(name)}`));
      let next = 0;
      return () => requests[next++ % requests.length] ?? unchanged;
    };
    const sealed = codes.map((code) => texts.seal("room", code));
    const made = await interleave(...targets(inTurn(codes), inTurn(sealed)), options);
    return [
      atLeast("room view, 50 orders, unchanged", kept.ours, kept.other, "req/s", 0.75),
      atLeast("room view, 50 orders, changed", made.ours, made.other, "req/s", 0.85),
    ];
  } finally {
    await bare.stop();
    await fixture.close();
  }
}
