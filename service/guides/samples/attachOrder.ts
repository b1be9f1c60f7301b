import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const orderCode = process.env.ORDER_CODE ?? "";
await client.rooms.attach(process.env.ROOM_CODE ?? "", { orderCode, label: "Warranty deed" });
