import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { type DatabaseWriteRules, readDatabaseWrites, unlistedWrites } from "@signsealship/testing/database-writes";
import { forTests } from "@signsealship/testing/for-tests";
import {
  breachesOf,
  callsOfDatabase,
  type Ownership,
  readSql,
  sourcesOf,
  tablesOf,
} from "../../../../testing/table-owners.ts";

const service = join(import.meta.dirname, "../../..");
const tables = tablesOf(join(service, "migrations"));
const owners: Ownership & DatabaseWriteRules = JSON.parse(
  readFileSync(join(service, "migrations/owners.json"), "utf8"),
);

test("tables are written by their owner, and read by the listed features", () => {
  const files = sourcesOf(join(service, "src")).map((file) => readSql(file, tables));
  assert.ok(files.reduce((sum, { templates }) => sum + templates, 0) > 1000, "the statements were found");
  assert.deepEqual(breachesOf(files, owners), []);
});

const db = await forTests(newDatabase());

test("triggers, functions and foreign keys write other owners' tables only as listed, each with its reason", async () => {
  const found = await readDatabaseWrites(db, tables);
  assert.ok(found.writes.length > 15, "the writes were found");
  assert.deepEqual(unlistedWrites(found, owners), []);
});

test("every table has an owner, and every owned table exists", () => {
  assert.deepEqual(Object.keys(owners.tables).sort(), [...tables].sort());
});

/** A small service: `orders/order` owns orders, and `closing/rooms` reads them. */
const owned: Ownership = {
  tables: { orders: { owner: "orders/order", readers: ["closing/rooms"] }, tasks: { owner: "kernel/tasks" } },
  readers: { "closing/rooms": "Rooms show orders." },
  anyTable: {},
};
const proper = {
  "orders/order/insert.ts": `sql\`INSERT INTO orders (code) VALUES (\${code})\``,
  "kernel/tasks/claim.ts": "sql`UPDATE tasks SET state = 'claimed'`",
  "closing/rooms/store.ts": "sql`SELECT code FROM orders`",
};

function check(planted: Record<string, string>, rules: Ownership = owned): string[] {
  const files = Object.entries({ ...proper, ...planted }).map(([file, source]) => ({ file, source }));
  return breachesOf(
    files.map((file) => readSql(file, new Set(["orders", "tasks"]))),
    rules,
  );
}

test("accepts a service in which every feature uses only its tables", () => {
  assert.deepEqual(check({}), []);
});

for (const [name, statement] of Object.entries({
  "an insert": `sql\`INSERT INTO orders (code) SELECT \${code}\``,
  "an update": "sql`\n  UPDATE orders o SET status = 'Paid'`",
  "an update of the table alone": "sql`UPDATE ONLY orders SET status = 'Paid'`",
  "a delete": "sql`DELETE FROM orders USING tasks`",
  "a merge": "sql`MERGE INTO orders USING given ON true`",
  "a truncation": "sql`TRUNCATE TABLE orders`",
  "a copy": "sql`COPY orders FROM STDIN`",
  "a write in a part of a statement": "sql`WITH gone AS (DELETE FROM orders RETURNING id) SELECT id FROM gone`",
  "a write in a template within a template": `sql\`SELECT \${hard ? sql\`1 FROM (\${sql\`DELETE FROM orders\`})\` : nothing}\``,
  "a write after a regular expression with a backtick": 'const tick = /[`"]/;\nsql`DELETE FROM orders`',
  "a write after a comment with a backtick": "// the ` of a template\nsql`DELETE FROM orders`",
}))
  test(`refuses ${name} by a feature that may only read the table`, () => {
    const breaches = check({ "closing/rooms/write.ts": statement });
    assert.ok(breaches.includes("closing/rooms/write.ts: writes orders, which orders/order owns"), breaches.join("\n"));
  });

for (const [name, statement] of Object.entries({
  "a select": "sql`SELECT FROM orders`",
  "a join": "sql`SELECT FROM partners p LEFT JOIN orders o ON o.partner_id = p.id`",
  "a list of tables": "sql`SELECT FROM partners p, LATERAL (SELECT 1) AS one, orders`",
  "the tables of a delete": "sql`DELETE FROM tasks USING orders`",
  "a part of a statement that begins with the table": `sql\`orders o WHERE o.id = \${id}\``,
  "the name of the table alone": "sql`orders`",
  "a subquery in a call": "sql`SELECT coalesce((SELECT 1 FROM orders), 0)`",
}))
  test(`refuses ${name} by a feature that is not a listed reader`, () => {
    const file = "signing/envelopes/read.ts";
    const breaches = check({ [file]: statement });
    assert.ok(
      breaches.includes(`${file}: reads orders, and signing/envelopes is not among its readers`),
      breaches.join("\n"),
    );
  });

test("does not mistake a column, lock, string or comment for a table", () => {
  const statement = `sql\`
    SELECT a.orders, count(*) AS orders, extract(epoch FROM b), 'FROM orders' -- FROM orders
    FROM webhooks a WHERE b IS DISTINCT FROM c FOR NO KEY UPDATE\``;
  assert.deepEqual(check({ "signing/envelopes/read.ts": `${statement} // sql\`DELETE FROM orders\`` }), []);
});

test("refuses SQL in pages and in verbs", () => {
  for (const file of ["pages/operator/routes.ts", "cli/verbs/order.ts"])
    assert.deepEqual(check({ [file]: "sql`SELECT 1`" }), [`${file}: pages and verbs have no SQL`]);
});

test("pages and verbs run no SQL: they call features, which do", () => {
  const running = sourcesOf(join(service, "src"))
    .filter(({ file }) => /^(?:pages|cli)\//.test(file) && !file.includes("/browser/"))
    .flatMap(({ file, source }) => callsOfDatabase(source).map((call) => `${file}: ${call}`));
  assert.deepEqual(running, []);
});

test("finds a call that runs SQL, and not the query of a request", () => {
  for (const source of [
    "deps.db.query(line)",
    "db.query<{ id: number }>(line)",
    "await db.transaction(async (tx) => {",
  ])
    assert.equal(callsOfDatabase(source).length, 1, source);
  assert.deepEqual(callsOfDatabase('request.query["page"]; asked.query(); // db.query(line)'), []);
});

test("refuses a statement that is not an sql template", () => {
  const expected = ['orders/order/text.ts: "FROM orders" is not in an sql template'];
  for (const source of ['db.script("DELETE FROM orders")', `db.script(\`DELETE FROM orders WHERE id = \${id}\`)`])
    assert.deepEqual(check({ "orders/order/text.ts": source }), expected);
});

test("refuses a table without an owner", () => {
  const { orders } = owned.tables;
  assert.ok(orders);
  assert.ok(
    check({}, { ...owned, tables: { orders } }).includes("kernel/tasks/claim.ts: the table tasks has no owner"),
  );
});

test("refuses a write of a table that an expression names, unless the file is listed", () => {
  const planted = { "upkeep/all.ts": `sql\`UPDATE \${table} SET mac = NULL\`` };
  assert.deepEqual(check(planted), ["upkeep/all.ts: writes a table that an expression names"]);
  assert.deepEqual(check(planted, { ...owned, anyTable: { "upkeep/all.ts": "MACs of all tables." } }), []);
});

test("refuses entries that are no longer needed", () => {
  const stale: Ownership = {
    tables: {
      orders: {
        owner: "orders/order",
        readers: ["closing/rooms", "delivery/paper"],
      },
      tasks: { owner: "upkeep/console", readers: ["kernel/tasks"] },
    },
    readers: { ...owned.readers, "kernel/tasks": "Queues.", "orders/search": "Gone." },
    anyTable: { "upkeep/all.ts": "Gone." },
  };
  assert.deepEqual(check({}, stale), [
    "kernel/tasks/claim.ts: writes tasks, which upkeep/console owns",
    "orders: delivery/paper no longer reads it",
    "delivery/paper: no reason why it reads others' tables",
    "tasks: its owner upkeep/console has no SQL for it",
    "tasks: kernel/tasks no longer reads it",
    "orders/search: has a reason, but reads no table of others",
    "upkeep/all.ts: writes no table that its callers name",
  ]);
});

/**
 * Runs a script in the database. Reads which tables the database's triggers and functions then write, and rolls the
 * script back.
 * @returns the writes that the list of owners does not allow
 */
async function breachesAfter(script: string): Promise<string[]> {
  let breaches: string[] = [];
  const rollback = new Error("rollback");
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.script(script);
      breaches = unlistedWrites(await readDatabaseWrites(tx, tables), owners);
      throw rollback;
    }),
    rollback,
  );
  return breaches;
}

const triggerOf = (body: string): string => `
  CREATE FUNCTION planted() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
  CREATE TRIGGER planted AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION planted();`;

test("refuses a trigger that writes a table of another owner, however it writes it", async () => {
  for (const body of [
    "UPDATE tasks SET state = 'dropped' WHERE order_id = NEW.id",
    "EXECUTE format('DELETE FROM %I.tasks WHERE order_id = $1', TG_TABLE_SCHEMA) USING NEW.id",
    "PERFORM close_tasks()",
  ])
    assert.deepEqual(
      await breachesAfter(`
        CREATE FUNCTION close_tasks() RETURNS void LANGUAGE sql AS $$ DELETE FROM tasks $$;${triggerOf(body)}`),
      [
        "planted: a change of orders writes tasks",
        ...(body.startsWith("PERFORM") ? [] : ["close_tasks: writes for its callers"]),
      ],
    );
});

test("refuses a trigger that writes a table that an expression names", async () => {
  for (const body of ["EXECUTE TG_ARGV[0]", "EXECUTE format('TRUNCATE %I', TG_ARGV[0])"])
    assert.deepEqual(await breachesAfter(triggerOf(body)), [
      "planted: a change of orders writes a table that an expression names",
    ]);
});

test("refuses a foreign key that deletes rows of another owner", async () => {
  const script = `
    ALTER TABLE tasks ADD CONSTRAINT planted FOREIGN KEY (order_id) REFERENCES orders (id) ON DELETE CASCADE`;
  assert.deepEqual(await breachesAfter(script), ["planted: a change of orders writes tasks"]);
});

test("accepts a trigger that reads other owners' tables, and one that writes its owner's", async () => {
  assert.deepEqual(await breachesAfter(triggerOf("PERFORM FROM tasks WHERE order_id = NEW.id FOR UPDATE")), []);
  assert.deepEqual(await breachesAfter(triggerOf("INSERT INTO workflow_events SELECT FROM orders WHERE false")), []);
});

test("refuses entries of triggers and functions that are no longer needed", async () => {
  const found = await readDatabaseWrites(db, tables);
  const stale = {
    ...owners,
    triggers: { ...owners.triggers, orders: { ...owners.triggers["orders"], tasks: "Gone." } },
    functions: { ...owners.functions, dequeue_job: "Gone." },
  };
  assert.deepEqual(unlistedWrites(found, stale), [
    "orders: its changes do not write tasks",
    "dequeue_job: does not write for its callers",
  ]);
});
