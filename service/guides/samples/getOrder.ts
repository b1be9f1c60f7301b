import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const order = await client.orders.get(process.env.ORDER_CODE ?? "");
console.log(order.status);
