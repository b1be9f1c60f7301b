import { newClient } from "@signsealship/testing/client";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { statementsOf } from "@signsealship/testing/statements";
import { newMember, postForm } from "../../service/test/firms/members/signed-in-member.ts";
import { atMost, type Result } from "../result.ts";
import { p95, timed, timesOf } from "./times.ts";

const mebibyte = 1024 * 1024;
const path = "/dashboard/closings/new";

/** Times placing five documents, the overview of a room with 50 orders, and the first byte of a closing's zip. */
export async function closingPages(): Promise<Result[]> {
  const harness = await openHarness({ LOG_LEVEL: "error" });
  const { service } = harness;
  const { key, headers: api } = await newPartner(service, { tier: "ClosingDesk" });
  const { headers } = await newMember(service, "dana@harbor-title.com", key);
  const { post } = newClient(service.baseUrl, key);
  const page = { ...headers, Accept: "text/html" };
  const at = (to: string) => service.baseUrl + to;

  async function upload(n: number): Promise<string> {
    const body = new FormData();
    const pdf = makePdf({ bytes: 2 * mebibyte, text: `Paper ${n}` });
    body.set("document", new File([new Uint8Array(pdf)], `paper-${n}.pdf`, { type: "application/pdf" }));
    const init = { method: "POST", headers: { ...headers, Accept: "application/json" }, body };
    return ((await (await fetch(at(`${path}/file`), init)).json()) as { file: string }).file;
  }

  let papers = 0;
  async function form() {
    const shown = await (await fetch(at(path), { headers })).text();
    const submission = /name="submission" value="([^"]*)"/.exec(shown)?.[1] ?? "";
    const client = { email: "ann@example.com", name: "Ann Roe", client_signs: "on", byod_confirmed: "on" };
    const fields: Record<string, string> = { submission, closing_name: `Closing ${papers}`, ...client };
    for (let n = 1; n <= 5; n++)
      Object.assign(fields, {
        [`doc${n}`]: await upload(++papers),
        [`doc${n}_name`]: `Paper ${n}`,
        [`doc${n}_sign`]: "on",
      });
    return fields;
  }

  const forms: Record<string, string>[] = [];
  for (let round = 0; round < 8; round++) forms.push(await form());
  const rooms: string[] = [];
  const placing = await timesOf(forms.length, async (round) => {
    const answer = await postForm(at(path), forms[round] ?? {}, page);
    if (answer.status !== 303) throw new Error(await answer.text());
    rooms.push(/rooms\/([0-9a-f]{40})/.exec(answer.headers.get("location") ?? "")?.[1] ?? "");
  });

  // Fills a room up to 50 orders: its own five, the orders of the other closings, and new small ones.
  const [zipRoom = "", big = ""] = rooms;
  const codes = async (room: string) =>
    ((await (await fetch(at(`/api/rooms/${room}`), { headers: api })).json()) as { orders: { orderCode: string }[] })
      .orders;
  const { orders } = (await (await fetch(at("/api/partner/orders?limit=100"), { headers: api })).json()) as {
    orders: { orderCode: string }[];
  };
  for (const { orderCode } of orders) await post(`/api/rooms/${big}/orders`, { orderCode });
  for (let n = orders.length; n < 50; n++) {
    const body = new FormData();
    const small = makePdf({ text: `Small ${n}` });
    const fields = { email: "ann@example.com", byod_confirmed: "true", svc_sign: "true" };
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    body.set("document", new File([new Uint8Array(small)], "small.pdf", { type: "application/pdf" }));
    const { orderCode } = await post<{ orderCode: string }>("/api/partner/orders", body);
    await post(`/api/rooms/${big}/orders`, { orderCode });
  }
  const overview = async () => {
    const answer = await fetch(at(`/dashboard/rooms/${big}`), { headers: page });
    if (answer.status !== 200) throw new Error(String(answer.status));
    await answer.text();
  };
  await overview();
  const looks = await timesOf(30, overview);
  const statements = await statementsOf(harness, overview);

  for (const { orderCode } of await codes(zipRoom))
    for (let status = ""; status !== "Completed"; )
      ({ status } = await post<{ status: string }>(`/api/partner/sandbox/orders/${orderCode}/advance`));
  const zip = async () => {
    const answer = await fetch(at(`/dashboard/rooms/${zipRoom}/zip`), { headers });
    if (answer.status !== 200) throw new Error(await answer.text());
    const reader = answer.body?.getReader();
    await reader?.read();
    return async () => {
      while (!(await reader?.read())?.done);
    };
  };
  await (await zip())();
  const firstBytes: number[] = [];
  for (let round = 0; round < 10; round++) {
    const [ms, rest] = await timed(zip);
    firstBytes.push(ms);
    await rest();
  }
  await harness.close();
  return [
    atMost("closing: place 5 documents of 2 MiB, 95th percentile", [p95(placing)], [3000], "ms", 1),
    atMost("closing: overview of 50 orders, 95th percentile", [p95(looks)], [100], "ms", 1),
    atMost("closing: overview of 50 orders, statements", [statements.length], [6], "", 1),
    atMost("closing: zip of 5 documents, first byte, 95th percentile", [p95(firstBytes)], [500], "ms", 1),
  ];
}
