import type { FastifyInstance } from "fastify";
import type { RouteDeps } from "./http/route.ts";
import type { UploadPlaces } from "./http/uploads/upload-places.ts";
import type { Jobs } from "./platform/jobs/jobs.ts";
import type { MailDeps } from "./platform/mail/mail-jobs.ts";
import type { PeriodicTask } from "./platform/work/periodic.ts";

/** The parts that the routes of all wings share. */
export type HttpDeps = { frame: RouteDeps; uploadPlaces: UploadPlaces };

/** The work of an opened wing on each node. The wing's `wing.ts` lists it; the files directly in `src` run it. */
export type Wing = {
  /** Adds the routes of the API. */
  routes?: (app: FastifyInstance, http: HttpDeps) => void | Promise<void>;
  /** Registers the workers of jobs and mails. Called before any job runs. */
  jobs?: (jobs: Jobs, mailDeps: MailDeps) => void;
  tasks?: readonly PeriodicTask[];
};
