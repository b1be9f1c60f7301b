import { readFile } from "node:fs/promises";
import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const order = await client.orders.create(
  { email: "signer@example.com", name: "Jane Doe", svcSign: true, byodConfirmed: true, externalReference: "FILE-2207" },
  { pdf: await readFile("deed.pdf"), fileName: "deed.pdf" },
);
console.log(order.orderCode, order.totalCents);
