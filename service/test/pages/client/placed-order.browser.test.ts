import assert from "node:assert/strict";
import { startBrowser, test } from "@signsealship/testing/browser";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

test("an order that was just placed can be viewed, in the running service, by anyone with its code", async () => {
  const folder = temporaryFolder();
  const [service, browser] = await Promise.all([startService({ DATA_DIR: folder.path }), startBrowser()]);
  try {
    const partner = await newPartner(service, { tier: "ProOffice" });
    const placed = await fetch(`${service.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: partner.headers,
      body: orderForm({ ...minimal, ...shipping, svc_sign: "true", external_reference: "<script>alert(1)</script>" }),
    });
    const order = (await placed.json()) as { orderUrl: string; totalCents: number };
    assert.equal(placed.status, 201, JSON.stringify(order));
    const opened = await browser.open(service.baseUrl + order.orderUrl, { width: 360 });
    const text = String(await opened.page.evaluate("document.querySelector('main').innerText"));
    const total = `$${(order.totalCents / 100).toFixed(2)}`;
    for (const said of ["Your quote is ready", "<script>alert(1)</script>", "s***@example.com", total]) {
      assert.ok(text.includes(said), `${said} is not in ${text}`);
    }
    assert.deepEqual(opened.troubles, []);
    assert.deepEqual(await opened.axe(), []);
    assert.equal(await opened.overflow(), 0);
  } finally {
    await browser.close();
    await service.stop();
    folder.remove();
  }
});
