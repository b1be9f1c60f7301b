/** Finds the places in a document where people should sign or fill in something. */
export { proposalRoutes } from "./routes.ts";
