/** The page of an invitation, opened after signing in. */
export const invitationPath = "/dashboard/invitation";
