import { mayUseLive, type Principal } from "../../../identity/identity.ts";
import type { Member } from "../../../members/members.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

const path = "/dashboard/team/members";

/** The people of the firm, and what the caller may change about each. */
export const memberTable = ({ principal, members }: { principal: Principal; members: readonly Member[] }): Html =>
  records(
    "Members of the firm",
    [{ label: "Email" }, { label: "Role" }, { label: "Works in" }, { label: "Since", utc: true }, { label: "Action" }],
    members.map((member) => [
      html`${member.email}${member.userId === principal.member?.userId && " (you)"}`,
      member.role === "owner" ? "Owner" : "Member",
      member.liveAccess && principal.liveEnabled ? "Live and test" : "Test",
      shortTime(member.linkedAt),
      html`<div class="row-actions">${actions(principal, member, members)}</div>`,
    ]),
  );

/** An owner of test alone decides over nobody who works in live; the only owner stays one, and stays while there are others. */
function actions(principal: Principal, member: Member, members: readonly Member[]): Html {
  const { userId, email, role, liveAccess } = member;
  const isOnlyOwner = role === "owner" && members.filter((each) => each.role === "owner").length === 1;
  const mayGo = !isOnlyOwner || members.length === 1;
  const isSelf = userId === principal.member?.userId;
  const isOwner = principal.member?.role === "owner";
  const decides = isOwner && (principal.member?.liveAccess || !liveAccess);
  const other = role === "owner" ? "member" : "owner";
  const about = `of ${email}`;
  const kind = "quiet-button";
  return html`${decides && !isOnlyOwner && buttonForm(`${path}/${userId}/role`, `Make ${other}`, { fields: { role: other }, kind, about })}${
    isOwner &&
    mayUseLive(principal) &&
    buttonForm(`${path}/${userId}/live`, liveAccess ? "End live access" : "Give live access", {
      fields: { live: liveAccess ? "off" : "on" },
      kind,
      about,
    })
  }${(decides || isSelf) && mayGo && askFirst({ ...(isSelf ? leaving : removing(email)), action: `${path}/${userId}/remove` })}`;
}

const leaving = {
  label: "Leave the firm",
  text: "You immediately lose access to everything of the firm’s. To come back, you need an invitation or one of its keys.",
  confirm: "Leave now",
};

const removing = (email: string) => ({
  label: "Remove",
  about: email,
  text: "They lose access immediately. Anyone who still has one of the firm’s keys could connect again, so rotate the keys that they know.",
  confirm: "Remove member",
});
