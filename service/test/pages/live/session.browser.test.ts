import { walkThroughSessions } from "./session-walk.ts";

await walkThroughSessions();
