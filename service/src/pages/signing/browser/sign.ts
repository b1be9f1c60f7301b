import { forgetOthersSignature, forgetSignature } from "./kept-signature.ts";
import { startViewer } from "./viewer.ts";

const config = document.getElementById("signing-config");
if (config) {
  forgetOthersSignature();
  void startViewer(JSON.parse(config.textContent ?? ""));
} else forgetSignature();
