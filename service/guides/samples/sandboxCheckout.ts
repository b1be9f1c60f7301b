import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const paid = await client.sandbox.checkout(process.env.ORDER_CODE ?? "", "success");
console.log(paid.status, paid.firedEvents);
