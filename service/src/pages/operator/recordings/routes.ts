import type { FastifyInstance, FastifyRequest } from "fastify";
import { may, type Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import {
  checkRecording,
  type EverythingDeps,
  exportEverything,
  exportOf,
  exportRecording,
  findNotary,
  holdRecording,
  isOpened,
  type KeepDeps,
  listExports,
  listRecordings,
  notaryOf,
  notaryOfOperator,
  openExport,
  openRecording,
  playTake,
  recordingById,
  shownRecording,
  type Viewer,
} from "../../../signing/notaries/notaries.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { formHeaders } from "../../ui/page/headers.ts";
import { playerPolicy } from "../../ui/page/policy.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute } from "../frame/console.ts";
import { type CheckOutcome, exportPath, recordingBody, recordingPath, recordingsBody, recordingsPath } from "./page.ts";

export type RecordingPagesDeps = { frame: ConsoleFrame; recordings: EverythingDeps };

/**
 * The permissions to see recordings; one of them is sufficient. Notaries see only their own recordings; operators whose
 * roles include all records see all recordings.
 */
const viewing = ["notary.work", "records.read"] as const;
/**
 * The permissions to set and end holds, which keep a recording from being deleted. One of the permissions is
 * sufficient. Notaries and administrators have them.
 */
const holding = ["notary.work", "notaries.manage"] as const;

const headers = { ...formHeaders, "Content-Security-Policy": playerPolicy };

/**
 * Adds the recordings of sessions: the list, playback for operators who state a reason, export, and the holds that
 * prevent deletion.
 */
export function recordingRoutes(scope: FastifyInstance, deps: RecordingPagesDeps): void {
  const { frame, recordings } = deps;
  const { required, requireRight, shown } = readerOf(deps);
  listRoutes(scope, deps);
  consoleRoute(scope, frame, {
    url: "/operator/notary/recordings/:id",
    permission: viewing,
    headers,
    handle: ({ request, operator, params: { id } }) => shown(request, operator, id),
  });
  consoleRoute(scope, frame, {
    url: "/operator/notary/recordings/:id/takes/:take",
    permission: viewing,
    async handle({ request, operator, params: { id, take } }) {
      const { actor } = await required(operator, id);
      const [, number] = /^(\d{1,15})\.webm$/.exec(take) ?? [];
      if (number === undefined) throw new ServiceError("not_found", "The recording has no such take.");
      const range = request.headers.range ?? null;
      return { played: await playTake(recordings, id, Number(number), { actor, range }), type: "video/webm" };
    },
  });
  consoleRoute(scope, frame, {
    url: `${recordingsPath}/exports/:export`,
    permission: viewing,
    async handle({ request, operator, params: { export: id } }) {
      const record = await exportOf(recordings, id, operator.actor);
      if (record.recordingId === null) await requireRight(operator, record);
      else await required(operator, record.recordingId);
      const { file, etag, name } = await openExport(recordings, record, request.headers.range ?? null);
      return { download: file, etag, name, type: "application/zip" };
    },
  });
  changeRoutes(scope, deps);
}

/** Adds the list, and the form that exports a notary's recordings with a copy of the journal. */
function listRoutes(scope: FastifyInstance, { frame, recordings }: RecordingPagesDeps): void {
  const { db, clock } = recordings;

  /**
   * The notary whose recordings are shown. An operator who may not see all recordings sees only their own. Other
   * operators see those of the `wanted` notary, or of all notaries (null).
   */
  async function shownNotary(operator: Operator, wanted: string | undefined) {
    if (!may(operator, "records.read")) return notaryOf(db, operator);
    if (!wanted) return null;
    const notary = isUuid(wanted) ? await findNotary(db, wanted) : undefined;
    if (!notary) throw new ServiceError("not_found", "Notary not found.");
    return notary;
  }

  async function list(request: FastifyRequest, operator: Operator, typed: FormValues, problem?: string) {
    const { environment, actor } = operator;
    const notary = await shownNotary(operator, typed["notary"]);
    const orderCode = typed["order"] || null;
    const rows = await listRecordings(db, { environment, notaryId: notary?.id ?? null, orderCode });
    const exports = await listExports(db, { actor, environment, now: clock() });
    const body = recordingsBody(rows, { notary, exports, isOwn: !may(operator, "records.read"), typed, problem });
    return consolePage(frame, request, { title: "Recordings", section: "recordings", body });
  }

  consoleRoute(scope, frame, {
    url: recordingsPath,
    permission: viewing,
    handle: ({ request, operator, query }) => list(request, operator, query),
  });
  consoleRoute(scope, frame, {
    method: "POST",
    url: `${recordingsPath}/export`,
    permission: viewing,
    async handle({ operator, form }) {
      const notary = await shownNotary(operator, form["notary"]);
      if (!notary) throw invalid("notary must be the notary whose records are exported.");
      const which = { notary, environment: operator.environment };
      return { redirect: exportPath(await exportEverything(recordings, which, form, operator.actor)) };
    },
    refused: ({ request, operator, form }, problem) => list(request, operator, form, problem),
  });
}

/** Adds the forms that verify a recording, open it for viewing, set or end a hold, and export it. */
function changeRoutes(scope: FastifyInstance, deps: RecordingPagesDeps): void {
  const { frame, recordings } = deps;
  const { required, shown } = readerOf(deps);
  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/recordings/:id/check",
    permission: viewing,
    headers,
    async handle({ request, operator, params: { id } }) {
      const { recording } = await required(operator, id);
      return shown(request, operator, id, { checked: await checkRecording(recordings, recording) });
    },
  });
  const verbs = [
    ["open", "recording-opened", viewing, openRecording],
    ["hold", "recording-held", holding, (id: KeepDeps, own: string, by: Viewer) => holdRecording(id, own, true, by)],
    [
      "release",
      "recording-released",
      holding,
      (id: KeepDeps, own: string, by: Viewer) => holdRecording(id, own, false, by),
    ],
  ] as const;
  for (const [verb, message, permission, act] of verbs)
    consoleRoute(scope, frame, {
      method: "POST",
      url: `/operator/notary/recordings/:id/${verb}`,
      permission,
      headers,
      async handle({ operator, params: { id }, form }) {
        const { actor } = await required(operator, id);
        await act(recordings, id, { actor, reason: form["reason"] ?? "" });
        return done(recordingPath(id), message);
      },
      refused: ({ request, operator, params: { id } }, problem) => shown(request, operator, id, { problem }),
    });
  consoleRoute(scope, frame, {
    method: "POST",
    url: "/operator/notary/recordings/:id/export",
    permission: viewing,
    headers,
    async handle({ operator, params: { id }, form }) {
      const { actor } = await required(operator, id);
      return { redirect: exportPath(await exportRecording(recordings, id, { actor, reason: form["reason"] ?? "" })) };
    },
    refused: ({ request, operator, params: { id } }, problem) => shown(request, operator, id, { problem }),
  });
}

function readerOf({ frame, recordings }: RecordingPagesDeps) {
  return { required, requireRight, shown };

  /** @throws ServiceError `not_found` for an unknown recording; otherwise like `requireRight` */
  async function required(operator: Operator, id: string) {
    const recording = await recordingById(recordings.db, id);
    await requireRight(operator, recording, may(operator, "notaries.manage"));
    return { recording, actor: operator.actor };
  }

  /**
   * Requires the right to see one notary's records.
   * @param isManager true if the operator's role includes the records of every notary
   * @throws ServiceError `not_found` if the operator has no right to see them
   */
  async function requireRight(
    operator: Operator,
    of: Pick<Recording, "notaryId" | "environment">,
    isManager = false,
  ): Promise<void> {
    const isOwn = async () =>
      may(operator, "notary.work") &&
      operator.id !== null &&
      (await notaryOfOperator(recordings.db, operator.id))?.id === of.notaryId;
    const isOpen = isManager || may(operator, "records.read") || (await isOwn());
    if (!isOpen || of.environment !== operator.environment) throw new ServiceError("not_found", "Recording not found.");
  }

  async function shown(
    request: FastifyRequest,
    operator: Operator,
    id: string,
    outcome: CheckOutcome = {},
  ): Promise<string> {
    const { recording, actor } = await required(operator, id);
    const isPlayable = recording.endedAt !== null && recording.deletedAt === null;
    const opened = isPlayable && (await isOpened(recordings, id, actor));
    const view = {
      recording,
      shown: opened ? await shownRecording(recordings, recording) : null,
      mayHold: holding.some((each) => may(operator, each)),
    };
    return consolePage(frame, request, {
      title: "Recording",
      section: "recordings",
      body: recordingBody(view, outcome),
      scripts: ["copy.js", "recording.js"],
    });
  }
}

type Recording = Awaited<ReturnType<typeof recordingById>>;
