import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
for await (const order of client.orders.all({ status: "QuoteReady" })) console.log(order.orderCode, order.totalCents);
