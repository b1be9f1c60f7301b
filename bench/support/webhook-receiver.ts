// An HTTPS receiver that answers 200 to everything. The bench starts it as its own process.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const [port, cert, key] = process.argv.slice(2);
const options = { cert: readFileSync(cert ?? ""), key: readFileSync(key ?? "") };
const server = createServer(options, (request, response) => {
  request.resume().on("end", () => response.end("ok"));
});
server.listen(Number(port), "127.0.0.1", () => console.log("listens on"));
