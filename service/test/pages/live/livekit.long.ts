import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { startLivekit } from "@signsealship/testing/tools/livekit";
import { needs } from "@signsealship/testing/tools/tools";
import { walkThroughSessions } from "./session-walk.ts";

const needed = needs("livekit", "chromium");
if (needed.skip === false) {
  const { url, key, secret } = (await forTests(startLivekit())).settings;
  await walkThroughSessions({
    MEDIA: "livekit",
    LIVEKIT_URL: url,
    LIVEKIT_API_KEY: key,
    LIVEKIT_API_SECRET: secret,
  });
} else test("notary and signers meet by a LiveKit server", needed, () => {});
