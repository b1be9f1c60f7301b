import { kindsToDo, listOperators, mailOperator } from "../operators/operators.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { businessMorning, type QueueCount, queueCounts, taskKinds } from "../tasks/tasks.ts";

/**
 * Has every operator mailed what waits for them in live, once on each business day after the opening. Nobody is mailed for whom
 * nothing waits.
 * @returns how many are mailed
 */
export async function sendMorningMails({ db, clock }: { db: Database; clock: Clock }): Promise<number> {
  const now = clock();
  const day = businessMorning(now);
  if (day === null) return 0;
  const operators = (await listOperators({ db })).filter(({ active }) => active);
  return db.transaction(async (tx) => {
    const first = await tx.query(
      sql`INSERT INTO task_mornings (day) VALUES (${day}) ON CONFLICT DO NOTHING RETURNING day`,
    );
    if (first.length === 0) return 0;
    let mailed = 0;
    for (const operator of operators) {
      const counts = await queueCounts(tx, "live", kindsToDo(operator), now);
      if (counts.length === 0) continue;
      await mailOperator(tx, { userId: operator.id, at: day, mail: textsOf(counts) });
      mailed++;
    }
    return mailed;
  });
}

function textsOf(counts: readonly QueueCount[]) {
  const overdue = counts.reduce((sum, each) => sum + each.overdue, 0);
  const open = counts.reduce((sum, each) => sum + each.open, 0);
  return {
    subject: overdue > 0 ? `${overdue} overdue, ${open} open` : `${open} open`,
    lines: counts.map(({ kind, open: all, overdue: late }) => `${taskKinds[kind]}: ${all} open, ${late} overdue`),
  };
}
