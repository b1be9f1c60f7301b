/** The path of the page with an invitation, which is opened after signing in. */
export const invitationPath = "/dashboard/invitation";
