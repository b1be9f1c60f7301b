import assert from "node:assert/strict";
import { assertGoodLooks, type Look, type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { newMember } from "../../../firms/members/signed-in-member.ts";
import { signedIn } from "../signed-in-page.ts";

export type Firm = { partnerId: string; key: string; headers: { Authorization: string } };
type Page = OpenPage["page"];

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
export const said = (page: Page, text: string) => page.getByRole("status").getByText(text).waitFor();
export const part = (page: Page, name: string) => page.getByRole("region", { name, exact: true });
export const codeIn = (page: Page) => /\/dashboard\/orders\/([0-9a-f]{40})/.exec(page.url())?.[1] ?? "";
/** Leaves out the status of a rejected form. Also leaves out requests that the browser aborted when it left a page. */
const ownTroubles = ({ troubles }: OpenPage) => troubles.filter((line) => !/status of 400|^failed:/.test(line));

export async function assertGood(opened: OpenPage): Promise<void> {
  await assertGoodLooks(opened);
  assert.deepEqual(ownTroubles(opened), []);
}

/** A service with payments, and a browser. */
export async function openOrdersPages() {
  const folder = temporaryFolder();
  const stripe = await startStripe();
  const [service, browser] = await Promise.all([
    startService({
      DATA_DIR: folder.path,
      RATE_LIMITS: "off",
      ...stripe.settings("test"),
    }),
    startBrowser(),
  ]);
  const acme: Firm = await newPartner(service);
  let members = 0;
  const newAddress = () => {
    members += 1;
    return `member${members}@harbor-title.com`;
  };

  /** Opens a browser in which a member of a firm is signed in. */
  async function open(look: Partial<Look> & { firm?: Firm } = {}) {
    const { firm = acme, ...more } = look;
    const opened = await signedIn(service, browser, { key: firm.key, email: newAddress(), width: 1280, ...more });
    await opened.page.getByRole("heading", { level: 1, name: /^Welcome/ }).waitFor();
    return { opened, page: opened.page };
  }

  async function place(firm: Firm, fields: Record<string, string> = {}): Promise<string> {
    const body = orderForm({ ...minimal, ...fields });
    const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: firm.headers,
      body,
    });
    return ((await response.json()) as { orderCode: string }).orderCode;
  }

  async function apiList(firm: Firm): Promise<{ orderCode: string; status: string }[]> {
    const response = await fetch(`${service.baseUrl}/api/partner/orders?limit=100`, { headers: firm.headers });
    return ((await response.json()) as { orders: { orderCode: string; status: string }[] }).orders;
  }

  async function createRoom(firm: Firm, name: string): Promise<string> {
    const response = await fetch(`${service.baseUrl}/api/rooms`, {
      method: "POST",
      headers: { ...firm.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ name }),
    });
    return ((await response.json()) as { roomCode: string }).roomCode;
  }

  const attach = (firm: Firm, room: string, orderCode: string) =>
    fetch(`${service.baseUrl}/api/rooms/${room}/orders`, {
      method: "POST",
      headers: { ...firm.headers, "Content-Type": "application/json" },
      body: JSON.stringify({ orderCode }),
    }).then((response) => assert.equal(response.status, 200));

  const sandbox = (firm: Firm, code: string, action = "checkout") =>
    fetch(`${service.baseUrl}/api/partner/sandbox/orders/${code}/${action}`, { method: "POST", headers: firm.headers });

  /** A member without a browser, who can send any request. */
  async function caller(firm: Firm) {
    const { headers } = await newMember(service, newAddress(), firm.key);
    const send = async (path: string, body?: BodyInit, more: Record<string, string> = {}) => {
      const response = await fetch(service.baseUrl + path, {
        method: body === undefined ? "GET" : "POST",
        headers: { ...headers, Accept: "text/html", ...more },
        redirect: "manual",
        ...(body !== undefined && { body }),
      });
      return { status: response.status, location: response.headers.get("location") ?? "", text: await response.text() };
    };
    return { send, form: (path: string, fields: Record<string, string>) => send(path, new URLSearchParams(fields)) };
  }

  return {
    stripe,
    service,
    browser,
    /** A firm that tests share. A test that lists all orders of a firm must use another firm. */
    acme,
    go: (page: Page, path: string) => page.goto(service.baseUrl + path),
    open,
    place,
    apiList,
    createRoom,
    attach,
    sandbox,
    caller,
    async close() {
      await browser.close();
      await service.stop();
      await stripe.close();
      folder.remove();
    },
  };
}

export type OrdersPages = Awaited<ReturnType<typeof openOrdersPages>>;
