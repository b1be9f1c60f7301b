import { forgetSignature } from "./kept-signature.ts";
import { startViewer } from "./viewer.ts";

const config = document.getElementById("signing-config");
if (config) void startViewer(JSON.parse(config.textContent ?? ""));
else forgetSignature();
