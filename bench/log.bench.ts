import { databaseOf } from "@signsealship/testing/database";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { atLeast, type Result } from "./result.ts";

const rounds = 7;
const roundMs = 2_000;
const callers = 4;
const document = makePdf({ bytes: 100_000 });

/** Seals per second over HTTP. */
async function rate({ baseUrl }: Service, headers: Record<string, string>): Promise<number> {
  const from = performance.now();
  let sealed = 0;
  const caller = async () => {
    while (performance.now() - from < roundMs) {
      const body = new FormData();
      body.append("file", new Blob([new Uint8Array(document)]), "deed.pdf");
      const answer = await fetch(`${baseUrl}/api/passport/seal`, { method: "POST", headers, body });
      if (answer.status !== 200) throw new Error(`a seal was refused: ${await answer.text()}`);
      await answer.arrayBuffer();
      sealed += 1;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return sealed / ((performance.now() - from) / 1_000);
}

/** Sealing with the transparency log, against a service whose database drops the lines, so that nothing is sequenced. */
export async function run(): Promise<Result[]> {
  const folders = [temporaryFolder(), temporaryFolder()] as const;
  const [ours, other] = await Promise.all(
    folders.map(({ path }) => startService({ DATA_DIR: path, RATE_LIMITS: "off", KEEP_SEALED: "off" })),
  );
  if (!ours || !other) throw new Error("a service did not start");
  const db = await databaseOf(other.dataDir);
  try {
    await db.transaction((tx) =>
      tx.script(`CREATE FUNCTION drop_line() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER drop_lines BEFORE INSERT ON log_entries FOR EACH ROW EXECUTE FUNCTION drop_line();`),
    );
    const [mine, theirs] = [await newPartner(ours), await newPartner(other)];
    const rates = { ours: [] as number[], other: [] as number[] };
    for (let round = 0; round < rounds; round++) {
      rates.ours.push(await rate(ours, mine.headers));
      rates.other.push(await rate(other, theirs.headers));
    }
    return [atLeast("seal with the log against without", rates.ours, rates.other, "seals/s", 0.97)];
  } finally {
    await db.close();
    await Promise.all([ours.stop(), other.stop()]);
    for (const folder of folders) folder.remove();
  }
}
