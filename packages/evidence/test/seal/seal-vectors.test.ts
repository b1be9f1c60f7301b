import { createWebCrypto } from "../../src/webcrypto.ts";
import { testEach } from "../vector-cases.ts";
import { sealChecks } from "./seal-vectors.ts";

testEach(sealChecks(createWebCrypto(globalThis.crypto.subtle)));
