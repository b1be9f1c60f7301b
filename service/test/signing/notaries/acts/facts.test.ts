import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { type Principal, readAct, readIdentity, typedPrincipal } from "../../../../src/signing/notaries/acts/act.ts";
import { factRules } from "../../../../src/signing/notaries/acts/facts.ts";
import { ruleFaults } from "../../../../src/signing/notaries/desk/act-checks.ts";
import { certificateOf, wordingFault } from "../../../../src/signing/notaries/eligibility/certificates.ts";
import { loadNotaryRules } from "../../../../src/signing/notaries/eligibility/rules.ts";

const shipped = loadNotaryRules(join(import.meta.dirname, "../../../../data/notarization-rules.yaml"));
const [ohio, nevada, texas] = ["OH", "NV", "TX"].map((state) => factRules(shipped.of(state)));
assert.ok(ohio && nevada && texas);

const jane = {
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
};
const where = { principal_1_city: "Columbus", principal_1_region: "Ohio", principal_1_country: "US" };
const how = { principal_1_knows: "A colleague for nine years" };

const faultsOf = (read: ReturnType<typeof readIdentity>) => (read.ok ? {} : read.faults);
const principalIn = (read: ReturnType<typeof readIdentity>) => {
  assert.ok(read.ok, JSON.stringify(faultsOf(read)));
  return read.value;
};

test("asks where a principal was only in a state whose rules say so, and only for an act by audio and video", () => {
  assert.deepEqual(faultsOf(readIdentity(jane, 1, true, ohio)), {
    principal_1_city: "is required",
    principal_1_country: "is required",
  });
  assert.deepEqual(faultsOf(readIdentity({ ...jane, ...where, principal_1_region: "" }, 1, true, ohio)), {
    principal_1_region: "is required",
  });
  const placed = principalIn(readIdentity({ ...jane, ...where, ...how }, 1, true, ohio));
  assert.deepEqual(placed.place, { city: "Columbus", region: "Ohio", country: "US" });
  assert.equal(placed.knows, undefined);
  for (const read of [
    readIdentity({ ...jane, ...where }, 1, false, ohio),
    readIdentity({ ...jane, ...where }, 1, true, texas),
  ])
    assert.deepEqual(principalIn(read), {
      name: "Jane Doe",
      address: "1 Main Street",
      basis: "personal_knowledge",
      credential: null,
      witness: null,
    });
});

test("refuses a place abroad unless the state is known to allow it, and a country that does not exist", () => {
  const paris = { ...jane, principal_1_city: "Paris", principal_1_country: "FR" };
  assert.match(
    faultsOf(readIdentity(paris, 1, true, ohio))["principal_1_country"] ?? "",
    /must be in the United States/,
  );
  const abroad = principalIn(readIdentity(paris, 1, true, { ...ohio, abroad: true }));
  assert.deepEqual(abroad.place, { city: "Paris", region: "", country: "FR" });
  const guam = { ...jane, ...where, principal_1_country: "GU" };
  assert.equal(principalIn(readIdentity(guam, 1, true, ohio)).place?.country, "GU");
  assert.match(
    faultsOf(readIdentity({ ...paris, principal_1_country: "XX" }, 1, true, ohio))["principal_1_country"] ?? "",
    /two letters/,
  );
});

test("asks how and for how long the notary knows a principal only with personal knowledge, where the rules say so", () => {
  assert.deepEqual(faultsOf(readIdentity(jane, 1, true, nevada)), { principal_1_knows: "is required" });
  assert.equal(principalIn(readIdentity({ ...jane, ...how }, 1, true, nevada)).knows, "A colleague for nine years");
  const credential = {
    principal_1_type: "Passport",
    principal_1_issuer: "US",
    principal_1_issued: "2020-01-01",
    principal_1_expires: "2030-01-01",
    principal_1_result: "R",
  };
  const shown = { ...jane, ...how, ...credential, principal_1_basis: "credential" };
  assert.equal(principalIn(readIdentity(shown, 1, true, nevada)).knows, undefined);
});

test("the facts of a principal fill the form again, and a list alone makes no principal", () => {
  const principal = principalIn(readIdentity({ ...jane, ...where, ...how }, 1, true, { ...ohio, knows: true }));
  const { principal_1_city, principal_1_country, principal_1_knows } = typedPrincipal(principal, 1);
  assert.deepEqual(
    [principal_1_city, principal_1_country, principal_1_knows],
    ["Columbus", "US", how.principal_1_knows],
  );
  const act = readAct({ ...jane, mode: "ron", principal_2_basis: "credential", principal_2_country: "US" }, new Date());
  assert.ok(!act.ok && Object.keys(act.faults).every((name) => !name.startsWith("principal_2")));
});

test("an act that was noted before a rule asked for a fact can't be completed", () => {
  const principals: Principal[] = [principalIn(readIdentity(jane, 1, true, texas))];
  const act = { mode: "ron", feeCents: 0, principals } as const;
  assert.deepEqual(ruleFaults(act, shipped.of("OH")), { principal_1_city: "is required" });
  assert.deepEqual(ruleFaults(act, shipped.of("NV")), { principal_1_knows: "is required" });
  assert.deepEqual(ruleFaults({ ...act, mode: "ipen" }, shipped.of("OH")), {});
});

test("the facts are in a certificate whose wording names them, and such a wording asks for them", () => {
  const words = "On {date} by {names}, who was in {places} and is known to me: {knowledge}.";
  assert.equal(wordingFault(words, "ron"), null);
  assert.match(wordingFault(words, "ipen") ?? "", /must not have \{places\}/);
  const certificates = { jurat: { value: { ron: words } } };
  assert.deepEqual(factRules({ online: {}, certificates }), { place: true, knows: true, abroad: false });
  const principal = principalIn(readIdentity({ ...jane, ...where, ...how }, 1, true, { ...ohio, knows: true }));
  assert.equal(
    certificateOf(words, { startedAt: "2026-11-27T02:30:00Z", principals: [principal], zone: "America/New_York" }),
    "On November 26, 2026 by Jane Doe, who was in Columbus, Ohio, United States and is known to me: A colleague for nine years.",
  );
});
