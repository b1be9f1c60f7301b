// Your server asks for the address of the frame: the partner key never leaves it.
import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env["SIGNSEALSHIP_KEY"] });

/** Call it for the person who is signed in to your site, and only for their own place among the signers. */
export const frameFor = async (orderCode: string, n: number): Promise<string> =>
  (await client.orders.embedSigner(orderCode, n, "https://app.example.com")).url;
