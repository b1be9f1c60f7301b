import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const room = await client.rooms.create({ name: "12 Elm Street", reference: "FILE-2207" });
console.log(room.roomCode);
