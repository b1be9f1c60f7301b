import { connectionTo } from "@signsealship/testing/database";
import { versionStatement, viewStatement } from "../service/src/rooms/view/store.ts";
import { atLeast, type Result } from "./result.ts";
import { portable, startBare } from "./support/bare.ts";
import { get, interleave, type Target } from "./support/http-load.ts";
import { openRoomsFixture } from "./support/rooms-fixture.ts";

const options = { rounds: 7, connections: 16, ms: 1000, expect: 200 };

/**
 * The view of a room with 50 orders and 100 activities. Unchanged: against one read of its version and the same ready text. Changed: read in turn
 * from more rooms than a node keeps the views of, against the one statement that makes the view.
 */
export async function run(): Promise<Result[]> {
  const fixture = await openRoomsFixture();
  const { service, roomCode } = fixture;
  const codes = await fixture.copies(2500);
  const ready = await (await fetch(`${service.baseUrl}/api/rooms/${roomCode}`)).text();
  const bare = await startBare({
    connection: connectionTo(service.dataDir),
    folder: service.dataDir,
    ready: { [`/api/rooms/${roomCode}`]: ready },
    reads: {
      [`/api/rooms/${roomCode}`]: [portable(versionStatement(roomCode))],
      "/api/rooms/:code": [portable(viewStatement("$CODE"))],
    },
  });
  const targets = (request: (n: number) => Buffer): [Target, Target] => [
    { port: Number(new URL(service.baseUrl).port), request },
    { port: bare.port, request },
  ];
  try {
    const unchanged = get(`/api/rooms/${roomCode}`);
    const kept = await interleave(...targets(() => unchanged), options);
    const requests = codes.map((code) => get(`/api/rooms/${code}`));
    let next = 0;
    const inTurn = () => requests[next++ % requests.length] ?? unchanged;
    const made = await interleave(...targets(inTurn), options);
    return [
      atLeast("room view, 50 orders, unchanged", kept.ours, kept.other, "req/s", 0.75),
      atLeast("room view, 50 orders, changed", made.ours, made.other, "req/s", 0.85),
    ];
  } finally {
    await bare.stop();
    await fixture.close();
  }
}
