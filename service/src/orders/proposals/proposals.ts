/** Finds the places of a document that ask to be signed or filled in. */
export { proposalRoutes } from "./routes.ts";
