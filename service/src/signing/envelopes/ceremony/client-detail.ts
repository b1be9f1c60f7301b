import { toPlainText } from "../../../kernel/platform/text.ts";
import type { Client } from "./view.ts";

/** The data about the requesting browser, as the trail records it. */
export const clientDetail = ({ ip, userAgent }: Client) => ({
  ip,
  userAgent: toPlainText(userAgent.slice(0, 300)).toWellFormed(),
});
