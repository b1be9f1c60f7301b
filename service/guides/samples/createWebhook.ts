import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const { id, secret } = await client.webhooks.create({
  url: "https://hooks.example.com/node",
  topics: ["order.created", "payment.cleared"],
});
console.log(id, secret);
