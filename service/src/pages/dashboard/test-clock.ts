import type { FastifyInstance } from "fastify";
import { principalOf } from "../../kernel/http/authentication.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import {
  advanceTestClock,
  resetTestClock,
  type TestClock,
  type TestClockDeps,
} from "../../kernel/test-clock/test-clock.ts";
import { card } from "../ui/components.ts";
import { plainTime } from "../ui/format.ts";
import { buttonForm, hiddenFields } from "../ui/forms/button-form.ts";
import { errorSummary, select } from "../ui/forms/fields.ts";
import { type PageCall, pageRoute } from "../ui/page/route.ts";
import { type Html, html } from "../ui/render.ts";
import { done } from "./flash-messages.ts";
import { doOnce } from "./submit-once.ts";

export type TestClockPageDeps = TestClockDeps & { limits: RateLimits };

const [hour, day] = [3_600, 86_400];
const steps = [
  { value: `${hour}`, label: "1 hour" },
  { value: `${day}`, label: "1 day" },
  { value: `${3 * day}`, label: "3 days" },
  { value: `${7 * day}`, label: "7 days" },
  { value: `${31 * day}`, label: "31 days" },
];
/** The note next to the dates of test orders' receipts and statements. Only these dates follow the test clock. */
export const testClockDates = html`<p class="quiet">These dates follow the test clock.</p>`;

const path = "/dashboard/test-clock";
const back = "/dashboard#test-clock";

/** The time of the test clock, and the form that advances it. */
export function testClockCard(clock: TestClock, submission: string, error: string | null = null): Html {
  const ahead = clock.advancedSeconds > 0;
  return card(
    "test-clock",
    "Test clock",
    html`${errorSummary(error)}<p>${plainTime(new Date(clock.testTime))}${!ahead && " (real time)"}</p>
<p>Advance it, and what comes due of your test orders happens now: reminders, expiries, deletions; months of your statements close, bank debits of the sandbox settle or fail, disputes end. Seals and events keep real time. A payment on a page of the payment processor follows the processor.</p>
${clock.status === "advancing" && html`<p role="status">What came due is happening. Reload this page to see it done.</p>`}
<form class="form" method="post" action="${path}/advance">
${hiddenFields({ submission })}${select({ name: "seconds", label: "Advance by", required: true, form: "test-clock", value: `${day}`, options: steps })}
<div class="form-actions"><button type="submit">Advance</button></div>
</form>
${ahead && buttonForm(`${path}/reset`, "Back to real time", { kind: "secondary" })}`,
  );
}

/**
 * Registers the routes of the test clock's forms: advance, and back to real time.
 * @param refused renders the page with the test clock's card and the error
 */
export function testClockForms(
  forms: FastifyInstance,
  deps: TestClockPageDeps,
  refused: (call: PageCall, error: string) => Promise<string>,
): void {
  pageRoute(forms, deps, {
    method: "POST",
    policy: "partner-write",
    url: `${path}/advance`,
    handle: doOnce(deps, async ({ form: { seconds }, request }) => {
      const step = steps.find(({ value }) => value === seconds) ?? { value: `${day}` };
      await advanceTestClock(deps, principalOf(request), { seconds: Number(step.value) });
      return done(back, "test-clock-advanced");
    }),
    refused,
  });
  pageRoute(forms, deps, {
    method: "POST",
    policy: "partner-write",
    url: `${path}/reset`,
    handle: async ({ request }) => {
      await resetTestClock(deps, principalOf(request));
      return done(back, "test-clock-reset");
    },
    refused,
  });
}
