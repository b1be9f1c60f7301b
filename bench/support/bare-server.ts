// The fastest server that the benches compare the service with: bare Fastify, the same driver, the same statements, no
// checks. The benches start it as its own process.
import { open } from "node:fs/promises";
import { join } from "node:path";
import fastify from "fastify";
import pg from "pg";

type Settings = {
  port: number;
  connection: pg.PoolConfig;
  folder: string;
  /**
   * The statements of each GET route, with their values. The value `$CODE` stands for the path's `:code`. The response
   * contains the rows of the last statement as JSON.
   */
  reads: Record<string, { text: string; values: unknown[] }[]>;
  /** A fixed JSON response for each of these GET routes. The route still runs its `reads`, but discards the rows. */
  ready?: Record<string, string>;
  /**
   * The POST route runs `authenticate` and then this statement. Each request replaces the last eight characters of the
   * values at the positions `unique` by its own number.
   */
  write?: { authenticate: { text: string; values: unknown[] }; text: string; values: unknown[]; unique: number[] };
};

const settings = JSON.parse(process.argv[2] ?? "{}") as Settings;
const pool = new pg.Pool({ max: 20, ...settings.connection });
// An encrypted code is longer than Fastify's default limit for parameters.
const app = fastify({ logger: false, bodyLimit: 64 << 20, routerOptions: { maxParamLength: 1000 } });
app.addContentTypeParser(/^multipart/, { parseAs: "buffer" }, (_request, body, done) => done(null, body));

for (const [path, statements] of Object.entries(settings.reads))
  app.get<{ Params: { code?: string } }>(path, async (request, reply) => {
    let rows: unknown[] = [];
    for (const [n, { text, values: given }] of statements.entries()) {
      const { code } = request.params;
      const values = given.map((value) => {
        if (Array.isArray(value)) return value.map((each) => (each === "$CODE" ? code : each));
        return value === "$CODE" ? code : value;
      });
      ({ rows } = await pool.query({ name: `${path}${n}`, text, values }));
    }
    const ready = settings.ready?.[path];
    return ready === undefined ? { rows } : reply.type("application/json; charset=utf-8").send(ready);
  });

let made = 0;
const { write } = settings;
if (write)
  app.post("/api/partner/orders", async (request, reply) => {
    await pool.query({ name: "authenticate", ...write.authenticate });
    const number = (++made).toString(16).padStart(8, "0");
    const file = await open(join(settings.folder, `bare-${process.pid}-${number}`), "wx");
    await file.writeFile(request.body as Buffer);
    await file.datasync();
    await file.close();
    const values = write.values.map((value, n) =>
      write.unique.includes(n) ? String(value).slice(0, -8) + number : value,
    );
    await pool.query({ name: "write", text: write.text, values });
    reply.code(201);
    return { orderCode: values[0] };
  });

await app.listen({ port: settings.port, host: "127.0.0.1" });
console.log("listens on");
