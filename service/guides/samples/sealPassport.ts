import { readFile } from "node:fs/promises";
import { createClient } from "@signsealship/sdk";

const client = createClient({ baseUrl: "https://sign.example.com", key: process.env.SIGNSEALSHIP_KEY });
const passport = await client.passports.seal(await readFile("deed.pdf"));
console.log(passport.verifyUrl);
