// Your server requests the address of the frame, so that the partner key never leaves your server.
import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env["SIGNSEALSHIP_KEY"] });

/**
 * Call this function only for the person who is signed in to your site.
 * @param n the position of this person among the signers
 */
export const frameFor = async (orderCode: string, n: number): Promise<string> =>
  (await client.orders.embedSigner(orderCode, n, "https://app.example.com")).url;
