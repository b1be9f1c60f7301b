import assert from "node:assert/strict";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import { type newPartner, type Service, startService } from "@signsealship/testing/service";
import { openSecretsKey } from "../../../src/kernel/platform/secrets.ts";
import { callbackPath, createCallbacks, listExecutions } from "../../../src/orders/playbooks/playbooks.ts";

export const listPath = "/api/partner/playbooks";
export const runPath = "/api/partner/playbooks/approval_gate/run";
export const subject = { kind: "closing", subjectId: "FILE-2207" };

export type Execution = {
  executionName: string;
  partnerId: string;
  state: "Waiting" | "Completed";
  outcome: string | null;
  kind: string;
  subjectId: string;
  startedAt: string;
  expiresAt: string;
  callbackUrl: string;
};

/** A service that may be stopped and started with other settings, and direct access to its database. */
export async function openPlaybooksService(more: Record<string, string> = {}) {
  const env = { RATE_LIMITS: "off", PLAYBOOKS: "on", ...more };
  const harness = await openHarness(env);
  const { db } = harness;
  const { dataDir } = harness.service;
  return Object.assign(harness, {
    /** Another node, on a port of its own. */
    second: async (other: Record<string, string> = {}) =>
      startService({ DATA_DIR: dataDir, ...env, ...other, PORT: String(await freePort()) }),
    /** The execution with this name, as the operator's command line shows it. */
    async find(executionName: string): Promise<Execution | undefined> {
      const { tokenOf } = createCallbacks(await openSecretsKey(`file:${dataDir}/keys/secrets`));
      const all = await listExecutions(db, { all: true, limit: 20_000 });
      const found = all.find((each) => each.executionName === executionName);
      if (!found) return undefined;
      const callbackUrl = harness.service.baseUrl + callbackPath(tokenOf(executionName.slice("executions/".length)));
      return JSON.parse(JSON.stringify({ ...found, callbackUrl })) as Execution;
    },
  });
}

export type PlaybooksService = Awaited<ReturnType<typeof openPlaybooksService>>;
export type Partner = Awaited<ReturnType<typeof newPartner>>;

export async function run(
  service: Service,
  headers: Record<string, string>,
  body: BodyInit | null,
  path = runPath,
): Promise<{ status: number; body: Record<string, string> }> {
  const response = await fetch(service.baseUrl + path, { method: "POST", headers, body });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

/** Starts an execution. @returns the execution as the operator sees it */
export async function start(
  running: PlaybooksService,
  headers: Record<string, string>,
  values: Record<string, string> = subject,
): Promise<Execution> {
  const { status, body } = await run(running.service, headers, new URLSearchParams(values));
  assert.equal(status, 200, JSON.stringify(body));
  const found = await running.find(body["executionName"] ?? "");
  assert.ok(found);
  return found;
}

/** Sends a callback to the given service, whatever host the callback's URL names. */
export async function callback(
  service: Service,
  { callbackUrl }: Execution,
  body?: unknown,
  type = "application/json",
) {
  const init: RequestInit = { method: "POST" };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { "Content-Type": type };
  }
  const response = await fetch(service.baseUrl + new URL(callbackUrl).pathname, init);
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}
