/** The page of an invitation, after signing in. */
export const invitationPath = "/dashboard/invitation";
