import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { assertGoodLooks, maxStepMs, type OpenPage, startBrowser, test } from "@signsealship/testing/browser";
import { newClient } from "@signsealship/testing/client";
import { makeAuthority, startCatcher } from "@signsealship/testing/doubles/webhook-catcher";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { slowDevices } from "@signsealship/testing/media";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import type { Locator, Page } from "playwright-core";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { liveWords } from "../../../src/pages/ui/live/words/languages.ts";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { certificateFiles, password } from "../../signing/notaries/certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../../signing/notaries/orders-to-notarize.ts";
import { liveSettings } from "../../signing/notaries/sessions/live-rules.ts";

/**
 * Checks that the signer's page follows the notary's page until the signer scrolls. The signer then returns to the
 * notary's page with the keyboard, by the box "Follow the notary's page".
 */
async function followsAndLeaves(notary: Page, signer: Page, name: string, card: "#turn" | "#document"): Promise<void> {
  const frame = signer.frameLocator(`${card} iframe`);
  const place = frame.locator(".viewer-place");
  const reads = (page: number, where: string) =>
    notary.getByText(new RegExp(`${name} reads page ${page} of \\d, ${where}\\.`)).waitFor();
  const box = signer.getByLabel("Follow the notary’s page");
  await notary.getByLabel("Page for the signers").fill("3");
  await notary.keyboard.press("Enter");
  await notary.getByText("You asked the signers to go to page 3.").waitFor();
  await signer.getByRole("status").filter({ hasText: "The notary shows page 3." }).waitFor();
  await place.filter({ hasText: /\b3\b.*\b\d\b/ }).waitFor();
  await reads(3, "on your page");
  assert.equal(await box.isChecked(), true);
  await frame.locator("body").evaluate("scrollTo(0, 0)");
  await signer.getByText("You have left the notary’s page.").waitFor();
  assert.equal(await box.isChecked(), false);
  await reads(1, "not on your page");
  await notary.getByRole("button", { name: "Next page" }).click();
  await notary.getByText("You asked the signers to go to page 4.").waitFor();
  await notary.getByRole("button", { name: "Page before" }).click();
  await notary.getByText("You asked the signers to go to page 3.").waitFor();
  assert.match((await place.textContent()) ?? "", /\b1\b/, "who has left stays where they are");
  await box.focus();
  await signer.keyboard.press("Space");
  await reads(3, "on your page");
}

/**
 * The notary and the signers read the signed document: all browsers show the same bytes, and scroll to the notary's
 * page.
 */
async function readTogether(notary: Page, rooms: readonly OpenPage[]): Promise<void> {
  const [first, second] = rooms;
  assert.ok(first && second);
  for (const { page } of rooms) {
    const frame = page.frameLocator("#document iframe");
    await frame.locator(".viewer-place").filter({ hasText: "Page 1 of" }).waitFor();
    await frame.locator(".viewer-text").getByText("Deed").first().waitFor();
    assert.equal(await frame.locator("input, textarea, form").count(), 0, "the document can only be read");
    for (const name of ["Smaller", "Larger"]) {
      const { left, width, height } = await frame
        .getByRole("button", { name })
        .evaluate((button) => button.getBoundingClientRect().toJSON() as DOMRect);
      assert.ok(left >= 0 && width >= 44 && height >= 44, `${name}: ${left}, ${width} by ${height}`);
    }
  }
  await notary.getByRole("button", { name: "Get the document" }).click();
  await notary.getByText("It is the document of this session.").waitFor();
  await until(async () => (await notary.getByText("their browser shows the current one").count()) === rooms.length);
  await followsAndLeaves(notary, first.page, "Ann Lee", "#document");
  await notary.getByText(/Ben Cole reads page 3 of \d, on your page\./).waitFor();
  await assertGoodLooks(first);
}

/**
 * Checks that a page of a session and its frames send requests only to the service. Their content security policies
 * must allow nothing else. Only the room's own page may use the camera.
 */
async function asksOnlyTheService({ page, troubles }: OpenPage): Promise<void> {
  assert.deepEqual(
    troubles.filter((trouble) => trouble.startsWith("foreign:")),
    [],
  );
  for (const frame of page.frames()) {
    const read = `fetch(location.href, { headers: { Accept: "text/html" } }).then(({ headers }) => Object.fromEntries(headers))`;
    const headers = (await frame.evaluate(read)) as Record<string, string>;
    const policy = new Map(
      (headers["content-security-policy"] ?? "").split(";").map((part) => {
        const [name = "", ...sources] = part.trim().split(" ");
        return [name, sources] as const;
      }),
    );
    const where = `${frame.url()}: ${headers["content-security-policy"]}`;
    assert.deepEqual(policy.get("default-src"), ["'none'"], where);
    for (const [name, sources] of policy)
      for (const source of sources)
        assert.match(source, /^(?:'self'|'none'|data:|blob:|'sha256-.*')$/, `${name} ${where}`);
    const isRoom = frame === page.mainFrame();
    assert.match(headers["permissions-policy"] ?? "", isRoom ? /camera=\(self\)/ : /camera=\(\)/, where);
  }
}

/** A zoom of 400 percent leaves 320 of a window's 1280 pixels: WCAG 2.2, section 1.4.10. */
async function fitsAtFourTimes({ page, overflow }: OpenPage): Promise<void> {
  const before = page.viewportSize();
  await page.setViewportSize({ width: 320, height: 256 });
  assert.equal(await overflow(), 0, page.url());
  if (before) await page.setViewportSize(before);
}

/** Reaches an element by the Tab key alone, and presses a key there. */
async function pressAt(element: Locator, key = "Enter"): Promise<void> {
  const page = element.page();
  await until(() => element.isEnabled());
  const isFocused = () =>
    element.evaluate((each) => each.ownerDocument.hasFocus() && each === each.ownerDocument.activeElement);
  for (let tabs = 0; !(await isFocused()); tabs++) {
    assert.ok(tabs < 200, `the Tab key does not reach ${element}`);
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press(key);
}

/** Counts the locks that keep a page's screen on. Simulates them, because headless Chromium provides none. */
const countsLocks = (page: Page) =>
  page.addInitScript(`{
    globalThis.locks = 0;
    WakeLock.prototype.request = async () => {
      globalThis.locks++;
      const lock = { released: false, async release() { if (!lock.released) globalThis.locks--; lock.released = true; } };
      return lock;
    };
  }`);

/** Stores the connections that a page makes, so that `losesLine` finds them. */
const storesLines = (page: Page) =>
  page.addInitScript(`{
    const Line = RTCPeerConnection;
    globalThis.lines = [];
    globalThis.RTCPeerConnection = class extends Line {
      constructor(options) {
        super(options);
        globalThis.lines.push(this);
      }
    };
  }`);

/** Reports to the page that its connections have failed, as a browser does some time after the line is lost. */
const losesLine = (page: Page) =>
  page.evaluate(`for (const line of globalThis.lines.splice(0)) {
    Object.defineProperty(line, "connectionState", { value: "failed" });
    line.onconnectionstatechange?.();
  }`);

const hasLine = (page: Page) =>
  until(() => page.evaluate(`globalThis.lines.some(({ connectionState }) => connectionState === "connected")`));

const hasLocks = (page: Page, count: number) => until(async () => (await page.evaluate("globalThis.locks")) === count);

/** Makes the browser deny access to its devices with this error. */
const refuses = (page: Page, name: string) =>
  page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", ${JSON.stringify(name)}))`,
  );

/** The time limits, on a busy machine, for one state of a page and for a whole walk. */
const patienceMs = 5 * 60_000;
const limitMs = 9 * 60_000;

/** The time limit for one action of an attempt. */
const actionMs = 15_000;

/**
 * While `ready` is shown, repeats an action until the page shows `state`. On a busy machine, the service rejects an
 * action while a person is absent.
 *
 * Each attempt ends before the next one, and before this function returns. A late attempt could press the button of the
 * second signer's step too early: that button has the same name.
 */
async function tries(state: Locator, ready: Locator, act: () => Promise<void>): Promise<void> {
  const page = ready.page();
  page.setDefaultTimeout(actionMs);
  let isReached = false;
  const reached = state.waitFor({ timeout: patienceMs }).then(() => {
    isReached = true;
  });
  const attempt = async () => {
    await Promise.race([reached, ready.waitFor()]);
    if (!isReached) await act();
  };
  // After an action, the page needs a moment to show the state.
  while (!isReached) {
    await attempt().catch(() => {});
    await Promise.race([reached, page.waitForTimeout(200)]);
  }
  page.setDefaultTimeout(maxStepMs);
}

type Recorded = { manifest: string; manifestSha256: string; lines: string };

/** Sessions from the appointment to the sealed document, in browsers. @param media settings of the media engine */
export async function walkThroughSessions(media: Record<string, string> = {}): Promise<void> {
  const folder = await forTests(temporaryFolder());
  const made = certificateFiles(folder.path)("Nora Ames", { key: "p256" });
  const port = String(await freePort());
  const baseUrl = `http://127.0.0.1:${port}`;
  const authority = makeAuthority(folder.path);
  const hooks = await forTests(startCatcher(authority));
  const running = await forTests(
    openHarness({
      PORT: port,
      BASE_URL: baseUrl,
      WEBHOOK_CA: authority.caFile,
      WEBHOOK_ALLOW: "127.0.0.0/8",
      ...liveSettings(folder.path, { observers: "true" }),
      ...media,
    }),
  );
  const browser = await forTests(startBrowser(slowDevices));
  const partner = await newPartner(running.service);
  const topics = [
    "order.created",
    "payment.cleared",
    "signature.completed",
    "recording.started",
    "recording.completed",
  ];
  await newClient(baseUrl, partner.key).ok("POST", "/api/partner/webhooks", { url: `${hooks.url}/hook`, topics });
  const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  await addNotary(
    { db: running.db, clock: () => new Date() },
    nora.id,
    { ...ohioCommission, certificate: made.pem },
    "operator",
  );

  const at = (path: string) => running.service.baseUrl + path;
  const headers = { cookie: nora.cookie, Origin: running.service.baseUrl };

  const { place, claim, statusOf, signsAtHome, reachesNotary } = ordersToNotarize(running, partner);

  /** Checks that the page reports missing camera access, before a mailed code binds the session to that browser. */
  async function saysWhenNoCamera(page: Page): Promise<void> {
    const notice = (shown: Page) => shown.getByText("This browser does not allow the camera here. Open the link in");
    assert.deepEqual([await notice(page).count(), await notice(page).isVisible()], [1, false]);
    const other = await page.context().newPage();
    await other.addInitScript(() => Object.defineProperty(navigator, "mediaDevices", { value: undefined }));
    await other.goto(page.url());
    assert.equal(await notice(other).isVisible(), true);
    await other.close();
  }

  /** Reaches the waiting room with only the keyboard. */
  async function comesIn(email: string, tries: "the device" | "nothing"): Promise<OpenPage> {
    const link = await until(
      () => mailsTo(running.service, email).flatMap((mail) => /\/notary-room\/[0-9a-f]{40}/.exec(mail)?.[0] ?? [])[0],
    );
    const opened = await browser.open(at(link), { width: 375 });
    const { page } = opened;
    await countsLocks(page);
    await storesLines(page);
    if (tries === "the device") await saysWhenNoCamera(page);
    await pressAt(page.getByRole("button", { name: "Email me the code" }));
    await page.getByText("The code is on its way").waitFor();
    await assertGoodLooks(opened);
    const code = await until(
      () => mailsTo(running.service, email).flatMap((mail) => /Your code is (\d{6})\./.exec(mail)?.[1] ?? [])[0],
    );
    await pressAt(page.getByLabel("Code"), code.charAt(0));
    await page.keyboard.type(code.slice(1));
    await pressAt(page.getByRole("button", { name: "Go on" }));
    await page.getByRole("heading", { name: "The recording" }).waitFor();
    if (tries === "the device") {
      await pressAt(page.getByRole("button", { name: "Check this device" }));
      await page
        .locator("#device-said")
        .filter({ hasText: /line work|loses packets/ })
        .waitFor();
    }
    await assertGoodLooks(opened);
    await pressAt(page.getByLabel("City where you are"), "C");
    await page.keyboard.type("olumbus");
    await pressAt(page.getByLabel("State or province where you are"), "O");
    await page.keyboard.type("hio");
    await pressAt(page.getByLabel("Nobody makes me do this."), "Space");
    await pressAt(page.getByRole("button", { name: "I agree to the recording" }));
    await page.getByRole("heading", { name: "Waiting room" }).waitFor();
    await hasLocks(page, 1);
    return opened;
  }

  const isMoving = (page: Page, person: string) =>
    until(() => page.evaluate(`(document.getElementById("picture-${person}")?.currentTime ?? 0) > 0.2`));

  /** The email address of an observer, who sends no media. */
  const observer = "otto@example.com";

  /**
   * Opens a session as the notary, and admits the people once they wait. @param invite invites people other than
   * signers
   */
  async function session(code: string, act: string, signers: readonly string[], invite = async (_: Page) => {}) {
    const opened = await browser.open(at(`/operator/notary/orders/${code}`), { width: 1280, cookie: nora.cookie });
    const { page } = opened;
    await page.locator("#session").getByLabel("Act").selectOption(act);
    await page.getByRole("button", { name: "Open the session" }).click();
    await page.getByRole("heading", { name: "Now", exact: true }).waitFor();
    await invite(page);
    const rooms: OpenPage[] = [];
    for (const [index, email] of signers.entries())
      rooms.push(await comesIn(email, index === 0 ? "the device" : "nothing"));
    await pressAt(page.getByRole("button", { name: "Begin the session and the recording" }));
    const doors = page.getByRole("button", { name: /^Let in/ });
    for (let left = signers.length; left > 0; left--) {
      await until(async () => (await doors.count()) === left);
      await pressAt(doors.first());
    }
    for (const [index, room] of rooms.entries()) {
      if (signers[index] !== observer) await isMoving(page, `signer-${index + 1}`);
      await isMoving(room.page, "notary");
    }
    const larger = page.getByRole("button", { name: /^Larger: / }).last();
    const widthOf = async () => (await page.locator("figure").last().boundingBox())?.width ?? 0;
    const before = await widthOf();
    await pressAt(larger);
    assert.equal(await larger.getAttribute("aria-pressed"), "true");
    assert.ok((await widthOf()) > 1.5 * before, "large enough to compare a face with a document");
    await pressAt(larger);
    assert.deepEqual([await larger.getAttribute("aria-pressed"), await widthOf()], ["false", before]);
    await assertGoodLooks(opened);
    for (const each of [opened, ...rooms]) await fitsAtFourTimes(each);
    return { opened, page, rooms };
  }

  /** The notary opens the session in another tab, closes that tab, and continues in the first. */
  async function goesOnInAnotherTab(page: Page): Promise<void> {
    let connects = 0;
    page.on("request", (request) => {
      if (request.url().endsWith("/session/media")) connects++;
    });
    const second = await page.context().newPage();
    await second.goto(page.url());
    await page.getByText("This room is open in another tab").waitFor();
    await isMoving(second, "signer-1");
    assert.equal(await page.locator("video").count(), 0);
    await page.getByText("This page shows no moving picture of Carla Diaz").waitFor();
    assert.equal(connects, 0, "the first tab does not take the connection back by itself");
    await second.close();
    await page.getByText("Your other page is no longer connected").waitFor();
    await page.getByRole("button", { name: "Turn on camera and sound" }).click();
    await isMoving(page, "signer-1");
  }

  const heading = (page: Page, name: RegExp) => page.getByRole("heading", { name, level: 3 });

  /** Marks the open step as soon as its conditions are met. */
  async function marks(page: Page, step: RegExp, next: RegExp, fill = async () => {}): Promise<void> {
    const open = page.locator("#open-step").filter({ has: heading(page, step) });
    await open.or(heading(page, next)).first().waitFor({ timeout: patienceMs });
    await tries(heading(page, next), open.locator("button:enabled", { hasText: "Mark as done" }), async () => {
      await fill();
      await open.getByRole("button", { name: "Mark as done" }).click();
    });
  }

  const identifies = (page: Page, n: number, next: RegExp) =>
    marks(page, /^Identity/, next, async () => {
      await page.getByLabel(`Principal ${n}: Full address`).fill("1 Main Street");
      await page.getByLabel(`Principal ${n}: How you know who it is`).selectOption("personal_knowledge");
    });

  const isAlone = (page: Page) =>
    marks(
      page,
      /^Alone/,
      /^Aware and willing/,
      async () => void (await page.locator("[name=choice]").selectOption("alone")),
    );

  /** Opens the document for the signer as soon as everybody is present. */
  function gives(page: Page, room: Page): Promise<void> {
    const give = page.locator("button:enabled", { hasText: /^Give / });
    return tries(room.locator("#turn iframe"), give, () => give.click());
  }

  /**
   * Notes the act and signs the document as the notary, in the tab that the link in the session opens. The document is
   * sealed then.
   */
  async function notarySigns(page: Page, code: string): Promise<void> {
    const [desk] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("link", { name: "Note the act and sign" }).click(),
    ]);
    await desk.waitForLoadState("load");
    const form = desk.locator("#act");
    assert.equal(await form.locator("[name=mode]").inputValue(), "ron");
    assert.match(await form.locator("[name=tool]").inputValue(), /^SignSealShip /);
    // An Ohio notary's journal contains the city and country that the signer stated.
    assert.equal(await form.locator("[name=principal_1_city]").inputValue(), "Columbus");
    assert.equal(await form.locator("[name=principal_1_country]").inputValue(), "US");
    await form.getByLabel("Kind of document").fill("Deed");
    await form.getByLabel("Fee in dollars").fill("5");
    await form.getByRole("button", { name: "Note the act" }).click();
    const file = join(folder.path, "nora.p12");
    writeFileSync(file, made.p12);
    await desk.getByLabel("Certificate file").setInputFiles(file);
    const report = desk.getByRole("heading", { name: /What you signed/ });
    const [open, sign] = ["Open the certificate", "Sign the document"].map((name) =>
      desk.getByRole("button", { name }),
    );
    assert.ok(open && sign);
    await tries(report, open, async () => {
      if (await sign.isHidden()) {
        await desk.getByLabel("Password of the file").fill(password);
        await open.click();
        await sign.waitFor();
      }
      if (await sign.isEnabled()) await sign.click();
    });
    let leadsBack = false;
    // The service rejects the act while a person is absent, and shows the report again.
    await tries(desk.getByRole("heading", { name: "Notary’s desk" }), desk.locator("body"), async () => {
      if (await report.isVisible()) {
        leadsBack ||= await desk.getByRole("link", { name: "Back to the session" }).isVisible();
        for (const box of await desk.getByRole("checkbox").all()) await box.check();
        await desk.getByRole("button", { name: "Enter the act and seal the document" }).click();
      } else await report.waitFor({ timeout: 10_000 }).catch(() => desk.goto(desk.url()));
    });
    assert.ok(leadsBack, "a session that is on hold goes on there");
    assert.equal(await statusOf(code), "NotarizationComplete");
  }

  /** The recording of an order after its session has ended, and the lines of its chain. */
  const recordingOf = (code: string): Promise<Recorded> =>
    until(async () => {
      const [row] = await running.db.query<Recorded>(sql`
      SELECT r.manifest, r.manifest_sha256 AS "manifestSha256",
        (SELECT string_agg(p.lines, '' ORDER BY p.first_seq) FROM recording_parts p WHERE p.recording_id = r.id) AS lines
      FROM recordings r JOIN orders o ON o.id = r.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND r.ended_at IS NOT NULL`);
      return row;
    });

  test("two signers who signed at home acknowledge their signatures before a notary, from the order to the sealed document", {
    timeout: limitMs,
  }, async () => {
    const people = ["ann@example.com", "ben@example.com"];
    const signers = JSON.stringify([
      { name: "Ann Lee", email: people[0] },
      { name: "Ben Cole", email: people[1] },
    ]);
    const code = await place({ svc_sign: "true", signers }, makePdf({ text: "Deed", pages: 4 }));
    for (const email of people) await signsAtHome(email);
    await reachesNotary(code);
    await claim(code, nora.cookie);
    const { page, rooms, opened } = await session(code, "acknowledgment", people);
    await marks(page, /^Opening/, /^Appearance by audio and video \(Ann Lee\)/);
    for (const [index, name] of ["Ann Lee", "Ben Cole"].entries()) {
      await marks(page, new RegExp(`^Appearance by audio and video \\(${name}`), new RegExp(`^Identity \\(${name}`));
      await identifies(page, index + 1, /^Credential/);
      await marks(page, /^Credential/, /^Alone/);
      await isAlone(page);
      await marks(page, /^Aware and willing/, /^Own signature/);
      if (index === 0) await readTogether(page, rooms);
      if (index === 0) for (const each of [opened, ...rooms]) await asksOnlyTheService(each);
      await marks(page, /^Own signature/, /^Acknowledgment/);
      await marks(page, /^Acknowledgment/, index === 0 ? /^Appearance by audio and video \(Ben/ : /^Closing/);
    }
    await marks(page, /^Closing/, /^Notary’s signature/);
    await notarySigns(page, code);
    for (const room of rooms) await room.page.getByText("The act is done.").waitFor();
    await page.getByRole("heading", { name: "The session has ended" }).waitFor();

    const moves = await running.db.query<{ to: string }>(sql`
    SELECT a.to_status AS to FROM audit_log a JOIN orders o ON o.id = a.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND a.to_status IS NOT NULL ORDER BY a.id`);
    const way = ["EsignPending", "EsignComplete", "NotarizationPending", "NotarizationComplete"];
    assert.deepEqual(moves.map(({ to }) => to).slice(-4), way);
    const heard = () =>
      hooks.caught.flatMap(({ body }) => {
        const { id } = JSON.parse(body.toString()) as { id: string };
        return id.split(":")[1] === code ? [id.slice(0, id.indexOf(":"))] : [];
      });
    await until(() => heard().length >= topics.length);
    assert.deepEqual(heard(), topics, "webhooks in the order of the order's way");
    const { manifest, manifestSha256, lines } = await recordingOf(code);
    assert.equal(hash("sha256", manifest), manifestSha256);
    const read = JSON.parse(manifest) as { takes: { person: string }[]; marks: { kind: string }[] };
    assert.deepEqual([...new Set(read.takes.map(({ person }) => person))].toSorted(), [
      "notary",
      "signer-1",
      "signer-2",
    ]);
    assert.ok(read.marks.some(({ kind }) => kind === "step acknowledge, run 1"));
    // The notary's signature contains the act's hash, and the act contains the head of the recording's chain.
    const [entry] = await running.db.query<{ record: string }>(
      sql`SELECT record FROM notary_journal ORDER BY position DESC LIMIT 1`,
    );
    const { act } = JSON.parse(entry?.record ?? "") as {
      act: { recording: { sha256: string; head: { seq: number } } };
    };
    const line = lines.split("\n")[act.recording.head.seq - 1] ?? "";
    assert.equal(hash("sha256", line), act.recording.sha256);
    for (const each of [opened, ...rooms]) {
      assert.deepEqual(
        each.troubles.filter((trouble) => trouble.startsWith("foreign:")),
        [],
      );
      assert.deepEqual(
        each.troubles.filter((trouble) => !/40[0149]|ERR_/.test(trouble)),
        [],
      );
      await each.close();
    }
  });

  test("a signer reads, swears and signs in the room; before the oath, and while somebody is away, nobody can sign", {
    timeout: limitMs,
  }, async () => {
    const email = "carla@example.com";
    const code = await place({ name: "Carla Diaz", email }, makePdf({ text: "Affidavit", pages: 4 }));
    await claim(code, nora.cookie);
    const { page, rooms, opened } = await session(code, "jurat", [email]);
    const [room] = rooms;
    assert.ok(room);
    await page.getByLabel("Your message").fill("Can you hear me?");
    await page.getByRole("button", { name: "Send" }).click();
    await room.page.getByRole("log", { name: "Written messages" }).getByText("Can you hear me?").waitFor();
    await room.page.getByLabel("Your message").fill("<b>No</b>: please write");
    await room.page.keyboard.press("Enter");
    await page.getByRole("log").getByText("<b>No</b>: please write").waitFor();
    assert.equal(await room.page.getByLabel("Your message").inputValue(), "");
    await marks(page, /^Opening/, /^Appearance/);
    // The service receives the signer's picture, but the notary's page does not play it.
    const picture = `document.getElementById("picture-signer-1")`;
    const mark = page.locator("#open-step").getByRole("button", { name: "Mark as done" });
    await page.evaluate(`${picture}.pause()`);
    await page.getByText("This page shows no moving picture of Carla Diaz").waitFor();
    assert.equal(await mark.isDisabled(), true);
    const unseen = { step: "appear_online", signer: "1", shows: "" };
    assert.equal((await postForm(at(`/operator/notary/orders/${code}/session/mark`), unseen, headers)).status, 409);
    await page.evaluate(`void ${picture}.play()`);
    await until(() => mark.isEnabled());
    await goesOnInAnotherTab(page);
    await marks(page, /^Appearance/, /^Identity/);
    await identifies(page, 1, /^Credential/);
    await marks(page, /^Credential/, /^Alone/);
    await isAlone(page);
    await marks(page, /^Aware and willing/, /^Reading/);
    await gives(page, room.page);
    const signing = room.page.frameLocator("#turn iframe");
    await pressAt(signing.getByLabel(/able to read it/), "Space");
    const token = (await room.page.locator("#turn iframe").getAttribute("src")) ?? "";
    await pressAt(signing.getByRole("button", { name: /agree/i }));
    await heading(page, /^Oath/).waitFor();
    // The signer's turn is over, so the signing pages are not found. The step of signing can't be marked before the
    // oath.
    assert.equal((await postForm(at(`${token}/sign`), { revision: "1", name: "Carla Diaz" }, {})).status, 404);
    const early = { step: "sign", signer: "1" };
    assert.equal((await postForm(at(`/operator/notary/orders/${code}/session/mark`), early, headers)).status, 409);
    await marks(
      page,
      /^Oath/,
      /^Signature/,
      async () => void (await page.locator("[name=choice]").selectOption("oath")),
    );
    await gives(page, room.page);
    await signing.locator("#sign-button").waitFor();
    // Both browsers show the same bytes, and the notary's page confirms this.
    await page.getByRole("button", { name: "Get the document" }).click();
    await page.getByText("It is the document of this session.").waitFor();
    await page.locator("#people").getByText("their browser shows the current one").waitFor();
    await followsAndLeaves(page, room.page, "Carla Diaz", "#turn");
    const open = (await room.page.locator("#turn iframe").getAttribute("src")) ?? "";
    // The notary is absent for some seconds. Signing is blocked, and allowed again automatically.
    await page.goto("about:blank");
    await room.page.getByText("On hold:").waitFor();
    assert.equal((await postForm(at(`${open}/sign`), { revision: "1", name: "Carla Diaz" }, {})).status, 409);
    // The notary's page joins before its event stream is open. So it misses the server's first offer, which is sent by
    // that stream.
    await page.route("**/session/events", (route) => route.fulfill({ status: 503 }), { times: 1 });
    await page.goBack();
    await isMoving(room.page, "notary");
    await isMoving(page, "signer-1");
    await until(async () => !(await room.page.getByText("On hold:").isVisible()));
    await heading(page, /^Signature/).waitFor();
    await tries(heading(page, /^Closing/), signing.locator("#sign-button:enabled"), () =>
      pressAt(signing.locator("#sign-button")),
    );
    await marks(page, /^Closing/, /^Notary’s signature/);
    await notarySigns(page, code);
    await room.page.getByText("The act is done.").waitFor();
    const { lines } = await recordingOf(code);
    const recorded = lines
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { person: string }).person);
    assert.deepEqual([...new Set(recorded)].toSorted(), ["notary", "signer-1"]);
    for (const each of [opened, room]) await each.close();
  });

  test("two signers who had signed at home sign again in turn, in a jurat: each after their own oath, and only while both are there", {
    timeout: limitMs,
  }, async () => {
    const people = ["amy@example.com", "bob@example.com"];
    const names = ["Amy Lee", "Bob Cole"];
    const signers = JSON.stringify(people.map((email, index) => ({ name: names[index], email })));
    const code = await place({ svc_sign: "true", signers }, makePdf({ text: "Affidavit", pages: 4 }));
    for (const email of people) await signsAtHome(email);
    await reachesNotary(code);
    await claim(code, nora.cookie);
    // The notary tests the notary's own device before the signers come.
    const { page, rooms, opened } = await session(code, "jurat", people, async (notary) => {
      await pressAt(notary.getByRole("button", { name: "Check this device" }));
      await notary
        .locator("#device-said")
        .filter({ hasText: /line work|loses packets/ })
        .waitFor();
    });
    for (const room of rooms) {
      await room.page.getByText(liveWords.en.room.again).waitFor();
      await hasLocks(room.page, 1);
    }
    await marks(page, /^Opening/, /^Appearance by audio and video \(Amy Lee/);
    for (const [index, name] of names.entries()) {
      const [own, other] = index === 0 ? rooms : rooms.toReversed();
      assert.ok(own && other);
      await marks(page, new RegExp(`^Appearance by audio and video \\(${name}`), new RegExp(`^Identity \\(${name}`));
      await identifies(page, index + 1, /^Credential/);
      await marks(page, /^Credential/, /^Alone/);
      await isAlone(page);
      await marks(page, /^Aware and willing/, /^Reading/);
      await gives(page, own.page);
      assert.equal(await other.page.locator("#turn iframe").count(), 0, "one signer at a time has the signing pages");
      const signing = own.page.frameLocator("#turn iframe");
      await pressAt(signing.getByLabel(/able to read it/), "Space");
      await pressAt(signing.getByRole("button", { name: /agree/i }));
      // The signing pages close, and open again for the signature.
      await own.page.locator("#turn").waitFor({ state: "detached" });
      await marks(
        page,
        /^Oath/,
        /^Signature/,
        async () => void (await page.locator("[name=choice]").selectOption("oath")),
      );
      await gives(page, own.page);
      await signing.locator("#sign-button").waitFor();
      await assertGoodLooks(own);
      if (index === 0) {
        // The other signer's page is closed for some seconds, in which nobody can sign.
        const path = (await own.page.locator("#turn iframe").getAttribute("src")) ?? "";
        await other.page.goto("about:blank");
        await own.page.getByText("On hold:").waitFor();
        assert.equal((await postForm(at(`${path}/sign`), { revision: "1", name }, {})).status, 409);
        await other.page.goBack();
        await isMoving(other.page, "notary");
        for (const each of [page, own.page]) await isMoving(each, "signer-2");
        await until(async () => !(await own.page.getByText("On hold:").isVisible()));
        await signing.locator("#sign-button").waitFor();
        // The notary puts the session on hold. A signer who presses the button gets the form again when the session
        // continues.
        const holds = (hold: "yes" | "no") =>
          postForm(at(`/operator/notary/orders/${code}/session/hold`), { hold }, headers);
        assert.equal((await holds("yes")).status, 303);
        const button = signing.locator("#sign-button:enabled");
        const later = signing.getByRole("heading", { name: "The notary’s step comes next" });
        await tries(later, button, () => pressAt(button));
        assert.equal((await holds("no")).status, 303);
        await button.waitFor();
      }
      const next = heading(page, index === 0 ? /^Appearance by audio and video \(Bob/ : /^Closing/);
      await tries(next, signing.locator("#sign-button:enabled"), () => pressAt(signing.locator("#sign-button")));
      // The other signer reads the document with the new signature.
      await other.page
        .frameLocator("#document iframe")
        .locator(".viewer-place")
        .filter({ hasText: "Page 1 of" })
        .waitFor();
    }
    await marks(page, /^Closing/, /^Notary’s signature/);
    await notarySigns(page, code);
    for (const room of rooms) await room.page.getByText("The act is done.").waitFor();
    for (const room of rooms) await hasLocks(room.page, 0);
    const [entry] = await running.db.query<{ record: string }>(
      sql`SELECT record FROM notary_journal ORDER BY position DESC LIMIT 1`,
    );
    const { act } = JSON.parse(entry?.record ?? "") as {
      act: { act: string; notes: string; signedBefore?: { sha256: string }; principals: { name: string }[] };
    };
    assert.deepEqual([act.act, act.principals.map(({ name }) => name)], ["jurat", names]);
    assert.match(act.notes, /^Amy Lee: oath\nBob Cole: oath\nSigned again before me\./);
    assert.match(act.signedBefore?.sha256 ?? "", /^[0-9a-f]{64}$/);
    for (const each of [opened, ...rooms]) await each.close();
  });

  test("an observer sees and hears a session, shows and sends nothing, and is excused", {
    timeout: limitMs,
  }, async () => {
    const email = "erin@example.com";
    const code = await place({ name: "Erin Diaz", email });
    await claim(code, nora.cookie);
    const { page, rooms, opened } = await session(code, "acknowledgment", [email, observer], async (notary) => {
      await notary.getByLabel("Role").selectOption("observer");
      await notary.getByLabel("Full name").fill("Otto Okafor");
      await notary.getByLabel("Email").fill(observer);
      await notary.getByRole("button", { name: "Mail them a link" }).click();
      await notary.getByRole("heading", { name: "Otto Okafor" }).waitFor();
    });
    const [signer, watching] = rooms;
    assert.ok(signer && watching);
    await page.locator("#people").getByText("May see and hear").waitFor();
    const sees = async () => {
      await isMoving(watching.page, "notary");
      await isMoving(watching.page, "signer-1");
    };
    await sees();
    const heard = (person: string) =>
      until(() =>
        watching.page.evaluate(
          `document.getElementById("picture-${person}")?.srcObject?.getAudioTracks().some(({ muted, readyState }) => !muted && readyState === "live") ?? false`,
        ),
      );
    for (const person of ["notary", "signer-1"]) await heard(person);
    await watching.page.getByText("Nobody sees or hears you").first().waitFor();
    assert.equal(await watching.page.locator("#turn, #document, [name=text]:visible").count(), 0);
    await assertGoodLooks(watching);
    // Nobody sees a picture of the observer, who sends none. After a reload, the observer is in the session again.
    for (const each of [page, signer.page]) assert.equal(await each.locator("#picture-third-1").count(), 0);
    await watching.page.reload();
    await sees();
    // A page whose connection has failed connects again without the person.
    await losesLine(signer.page);
    await hasLine(signer.page);
    await isMoving(signer.page, "notary");
    await sees();
    await page.getByRole("button", { name: "Go on without this observer" }).click();
    await watching.page.getByRole("heading", { name: "In session" }).waitFor({ state: "detached" });
    await until(async () => (await watching.page.locator("#picture-notary").count()) === 0);
    await isMoving(signer.page, "notary");
    const desk = `/operator/notary/orders/${code}/session`;
    assert.equal((await postForm(at(`${desk}/end`), { outcome: "abandoned" }, headers)).status, 303);
    const read = JSON.parse((await recordingOf(code)).manifest) as {
      takes: { person: string }[];
      marks: { kind: string; person: string | null }[];
    };
    assert.deepEqual([...new Set(read.takes.map(({ person }) => person))].toSorted(), ["notary", "signer-1"]);
    const moves = read.marks.flatMap(({ kind, person }) => (person === "third-1" ? [kind] : []));
    for (const move of ["joined", "excused"]) assert.ok(moves.includes(move), `${move}: ${JSON.stringify(read.marks)}`);
    for (const each of [opened, signer, watching]) await each.close();
  });

  test("the check of the device names the cure in the person's language: no permission, no camera, no sound, and no line", {
    timeout: limitMs,
  }, async () => {
    const email = "dora@example.com";
    const code = await place({ name: "Dora Diaz", email });
    await claim(code, nora.cookie);
    const desk = `/operator/notary/orders/${code}/session`;
    assert.equal((await postForm(at(desk), { act: "acknowledgment" }, headers)).status, 303);
    const mailed = (pattern: RegExp) =>
      until(() => mailsTo(running.service, email).flatMap((mail) => pattern.exec(mail)?.[1] ?? [])[0]);
    const link = await mailed(/(\/notary-room\/[0-9a-f]{40})/);
    const room = await browser.open(at(`${link}?lang=es`), { width: 375 });
    const { page } = room;
    const { device, code: words, consent } = liveWords.es;
    await page.getByRole("button", { name: words.send }).click();
    await page.getByText(words.sent).waitFor();
    await page.getByLabel(words.label).fill(await mailed(/Your code is (\d{6})\./));
    await page.getByRole("button", { name: words.go }).click();
    await page.getByRole("heading", { name: consent.title }).waitFor();
    const tries = async (said: string) => {
      await page.getByRole("button", { name: device.start }).click();
      await page.locator("#device-said").filter({ hasText: said }).waitFor();
    };
    await page.evaluate("globalThis.devices = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices)");
    await refuses(page, "NotAllowedError");
    await tries(device.denied);
    await refuses(page, "NotFoundError");
    await tries(device.missing);
    await assertGoodLooks(room);
    await page.evaluate(`navigator.mediaDevices.getUserMedia = async (wanted) => {
      const stream = await globalThis.devices(wanted);
      for (const track of stream.getAudioTracks()) track.enabled = false;
      return stream;
    }`);
    await tries(device.silent);
    await page.evaluate("navigator.mediaDevices.getUserMedia = globalThis.devices");
    // Allows only connections over a relay, and there is none. This simulates a network that blocks all media.
    await page.evaluate(`{
      const Line = RTCPeerConnection;
      globalThis.RTCPeerConnection = class extends Line {
        constructor(options) { super({ ...options, iceTransportPolicy: "relay" }); }
      };
    }`);
    await tries(device.noLine);
    await room.close();
    assert.equal((await postForm(at(`${desk}/end`), { outcome: "abandoned" }, headers)).status, 303);
  });
}
