import type { Sealing } from "../evidence/seals/seals.ts";
import type { TransparencyLog } from "../evidence/transparency-log/transparency-log.ts";
import type { RequireStorage } from "../firms/partners/partners.ts";
import { hourMs, minuteMs, secondMs } from "../kernel/platform/clock.ts";
import type { PeriodicTask } from "../kernel/platform/work/periodic.ts";
import type { Workers } from "../kernel/platform/workers/task.ts";
import type { Resources } from "../kernel/resources.ts";
import type { Wing } from "../kernel/wing.ts";
import type { TitleOf } from "../orders/order/order.ts";
import type { OrderPorts, Orders } from "../orders/wing.ts";
import { closingRoutes, closingSealJobs, openClosings } from "./closing-passports/closing-passports.ts";
import { deliveryCodeMail, deliveryMail, downloadMail, moveInRooms, sendToReceivers } from "./deliveries/deliveries.ts";
import { openDrafts, sweepDrafts } from "./drafts/drafts.ts";
import {
  certificateStates,
  closesToday,
  closingsMail,
  closingsOf,
  queueSeals,
  reportSealFailures,
  roomMail,
  roomRoutes,
  sendClosings,
} from "./rooms/rooms.ts";

type Parts = {
  workers: Workers;
  sealing: Sealing;
  titleOf: TitleOf;
  requireStorage: RequireStorage;
  transparencyLog: TransparencyLog;
  orders: Pick<Orders, "checkout" | "work">;
};

/** The functions of closings that orders use. */
export const closingPorts: OrderPorts["closing"] = { closingsOf, moveInRooms, closesToday, certificateStates };

const mails = [roomMail, closingsMail, deliveryMail, deliveryCodeMail, downloadMail];

/** Opens rooms, closings and their certificates. */
export function openClosingWing(resources: Resources, parts: Parts) {
  const { config, log, rowMac } = resources;
  const { titleOf, orders, transparencyLog, ...shared } = parts;
  const { newestSeen: newestCheckpoint, waits: logWaits } = transparencyLog;
  const closings = openClosings(resources, { ...shared, titleOf, newestCheckpoint });
  const wing: Wing = {
    routes(app, { frame }) {
      const { sandbox, corrections } = orders.work;
      const room = { ...frame, ...orders.checkout, sandbox, baseUrl: config.baseUrl };
      roomRoutes(app, room, rowMac, corrections);
      closingRoutes(app, { frame, closings, logWaits });
    },
    jobs(jobs, mailDeps) {
      closingSealJobs(jobs, { ...closings, log });
      for (const mail of mails) mail.work(jobs, { ...mailDeps, titleOf });
    },
    tasks: tasksOf(resources),
  };
  return { closings, drafts: openDrafts(resources), wing };
}

export type Closing = ReturnType<typeof openClosingWing>;

const tasksOf = (resources: Resources): PeriodicTask[] => [
  {
    name: "drafts of closings that have expired",
    everyMs: hourMs,
    work: () => sweepDrafts(resources.db, resources.clock()),
  },
  {
    name: "documents for people who receive them",
    everyMs: 30 * secondMs,
    work: (stopping) => sendToReceivers(resources, stopping),
  },
  { name: "certificates of closings that are done", everyMs: 15 * secondMs, work: () => queueSeals(resources) },
  {
    name: "tasks about closings that could not be sealed",
    everyMs: 5 * minuteMs,
    work: () => reportSealFailures(resources),
  },
  { name: "lists of closings in the morning", everyMs: 5 * minuteMs, work: () => sendClosings(resources) },
];
