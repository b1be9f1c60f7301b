import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const passport = await client.rooms.seal(process.env.ROOM_CODE ?? "");
console.log(passport.version, passport.verifyCode);
