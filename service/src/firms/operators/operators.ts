export { mailAdmins, mailOperator, operatorMail } from "./mail.ts";
export {
  addOperator,
  changeOperator,
  dropOperatorPasskeys,
  endOperatorSession,
  type ListedOperator,
  listOperators,
  type PeopleDeps,
  removeOperator,
  requireOperator,
} from "./people.ts";
export {
  needsPasskey,
  type OperatorRole,
  operatorRoles,
  type Permission,
  passkeyPermissions,
  passkeySubjects,
} from "./roles.ts";
export {
  type Approval,
  requireDecidesNow,
  requirePerson,
  requireRefusedByAnother,
  requireSecondPerson,
  requireText,
  soloWaitMinutes,
} from "./second-person.ts";
export {
  byCommandLine,
  chooseConsoleEnvironment,
  may,
  mayNow,
  mustAddPasskey,
  type Operator,
  operatorSessions,
  type ResolveOperator,
  requirePasskeyOf,
  requirePermission,
} from "./sessions.ts";
export {
  operatorName,
  protectedTables,
  selectActive as activeOperators,
  selectNamesOfActors as namesOfActors,
} from "./store.ts";
export {
  kindsShownTo,
  kindsToDo,
  mayDoTask,
  needsPasskeyFirst,
  requireTaskEnd,
  requireTaskPermission,
} from "./task-permissions.ts";
