import type { Invitation, Member } from "../../../firms/members/members.ts";
import { mayUseLive, type Principal } from "../../../kernel/identity/identity.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { day, shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export type TeamView = {
  principal: Principal;
  members: readonly Member[];
  invitations: readonly Invitation[];
  now: Date;
  error?: string;
  /** Values of the rejected form. */
  typed?: FormValues;
};

const path = "/dashboard/team";

/** The members of the firm and, for owners, its invitations. */
export function teamBody(view: TeamView): Html {
  const { principal, invitations, error } = view;
  const isOwner = principal.member?.role === "owner";
  return html`${pageHead("Team", "The people of your firm who sign in here.")}
${errorSummary(error)}
<div class="panels">
${card("members", "Members", memberTable(view))}
${isOwner && card("invitations", "Invitations", invitations.length === 0 ? emptyState("Nobody is invited", "Invite a colleague below.") : invitationTable(view))}
${card("invite", "Invite a colleague", isOwner ? inviteForm(view) : html`<p>Only owners of the firm invite others, and change what they may do.</p>`)}
</div>`;
}

const invitationTable = ({ invitations, principal, now }: TeamView): Html =>
  records(
    "Invitations that wait",
    [{ label: "Email" }, { label: "Invited as" }, { label: "State" }, { label: "Action" }],
    invitations.map((invitation) => {
      const { invitationId, email, role, liveAccess, invitedBy } = invitation;
      const about = `the invitation of ${email}`;
      const mayChange = !liveAccess || mayUseLive(principal);
      return [
        email,
        html`${role === "owner" ? "Owner" : "Member"}${liveAccess && ", live and test"}, by <span class="breakable">${invitedBy}</span>`,
        stateOf(invitation, now),
        mayChange ? invitationActions(invitationId, about) : "",
      ];
    }),
  );

const invitationActions = (invitationId: string, about: string): Html => {
  const at = `${path}/invitations/${invitationId}`;
  const withdraw = {
    label: "Withdraw",
    about,
    text: "The link in the email stops working immediately.",
    confirm: "Withdraw now",
    action: `${at}/withdraw`,
  };
  return html`<div class="row-actions">${buttonForm(`${at}/resend`, "Send again", { kind: "quiet-button", about })}${askFirst(withdraw)}</div>`;
};

function stateOf({ expiresAt, stands }: Invitation, now: Date): string {
  if (!stands) return "Not valid: the person who sent it may no longer give this access. Send it again yourself.";
  if (expiresAt <= now) return `Expired ${day(expiresAt)}`;
  return `Valid until ${day(expiresAt)}`;
}

function inviteForm({ principal, typed = {} }: TeamView): Html {
  return html`<p>We email a link that works once, within 7 days, only for that address. No key is needed.</p>
<form class="form" method="post" action="${path}/invitations">
${field({ name: "email", label: "Email", type: "email", value: typed["email"] ?? "", required: true, maxLength: 254, autocomplete: "off" })}
${select({ name: "role", label: "Role", value: typed["role"] ?? "member", options: roles, required: true, hint: "Members work with orders, rooms and sealed PDFs. Owners also manage the team, keys and branding." })}
${mayUseLive(principal) && checkbox({ name: "live", label: "Live access", hint: "Sees and changes live orders. Without it, they work only in test.", checked: typed["live"] === "on" })}
<div class="form-actions"><button type="submit">Send invitation</button></div>
</form>`;
}

const roles = [
  { value: "member", label: "Member" },
  { value: "owner", label: "Owner" },
];

/** The table of members, with the actions that the signed-in member may take on each. */
const memberTable = ({ principal, members }: { principal: Principal; members: readonly Member[] }): Html =>
  records(
    "Members of the firm",
    [
      { label: "Email" },
      { label: "Role" },
      { label: "Works in" },
      { label: "Sees billing" },
      { label: "Since", utc: true },
      { label: "Action" },
    ],
    members.map((member) => [
      html`${member.email}${member.userId === principal.member?.userId && " (you)"}`,
      member.role === "owner" ? "Owner" : "Member",
      member.liveAccess && principal.liveEnabled ? "Live and test" : "Test",
      member.role === "owner" || member.seesBilling ? "Yes" : "No",
      shortTime(member.linkedAt),
      html`<div class="row-actions">${actions(principal, member, members)}</div>`,
    ]),
  );

/**
 * The buttons for a member. An owner without live access can't manage members with live access. The only owner
 * can't give up the role, and can leave only as the last member.
 */
function actions(principal: Principal, member: Member, members: readonly Member[]): Html {
  const { userId, email, role, liveAccess, seesBilling } = member;
  const isOnlyOwner = role === "owner" && members.filter((each) => each.role === "owner").length === 1;
  const mayGo = !isOnlyOwner || members.length === 1;
  const isSelf = userId === principal.member?.userId;
  const isOwner = principal.member?.role === "owner";
  const decides = isOwner && (principal.member?.liveAccess || !liveAccess);
  const other = role === "owner" ? "member" : "owner";
  const about = `of ${email}`;
  const kind = "quiet-button";
  return html`${decides && !isOnlyOwner && buttonForm(`${path}/members/${userId}/role`, `Make ${other}`, { fields: { role: other }, kind, about })}${
    isOwner &&
    mayUseLive(principal) &&
    buttonForm(`${path}/members/${userId}/live`, liveAccess ? "End live access" : "Give live access", {
      fields: { live: liveAccess ? "off" : "on" },
      kind,
      about,
    })
  }${
    decides &&
    role === "member" &&
    buttonForm(`${path}/members/${userId}/billing`, seesBilling ? "Hide billing" : "Show billing", {
      fields: { billing: seesBilling ? "off" : "on" },
      kind,
      about,
    })
  }${(decides || isSelf) && mayGo && askFirst({ ...(isSelf ? leaving : removing(email)), action: `${path}/members/${userId}/remove` })}`;
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
