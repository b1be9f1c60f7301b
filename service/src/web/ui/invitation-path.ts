/** Where the link of an invitation leads, by way of signing in. */
export const invitationPath = "/dashboard/invitation";
