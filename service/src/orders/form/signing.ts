import { invalid } from "../../platform/errors.ts";
import type { OrderFormField } from "../schemas.ts";
import type { Fields } from "./fields.ts";
import { parseRequestedFields, type RequestedField } from "./requested-fields.ts";
import { clientAsSigner, type NamedSigner, parseSignerAuth, parseSigners, type SignerAuth } from "./signers.ts";

/** What the form says of the signing: null where it leaves that to us. */
export type SigningForm = {
  /** Null: the client signs. */
  readonly signers: readonly NamedSigner[] | null;
  /** Null: the document's own fields and tags, else a page that is added. */
  readonly signatureFields: readonly RequestedField[] | null;
};

const nothing: SigningForm = { signers: null, signatureFields: null };
const names = ["signers", "fields", "signer_auth"] as const satisfies readonly OrderFormField[];

/**
 * @param values the form as it was sent
 * @param client who signs when the form names no signers
 * @throws ServiceError naming the field and the rule
 */
export function parseSigning(
  values: ReadonlyMap<string, string>,
  fields: Fields,
  { client, sign }: { client: { name: string | null; email: string }; sign: boolean },
): SigningForm {
  const [signersText, fieldsText] = [textOf(values, "signers"), textOf(values, "fields")];
  const auth = parseSignerAuth(fields.optional("signer_auth", 20));
  const given = names.find((name) => textOf(values, name) !== null);
  if (given === undefined) return nothing;
  if (!sign) throw invalid(`${given} must be left out unless signing is bought.`);
  const signers = signersText === null ? clientAlone(client, auth) : parseSigners(signersText, auth ?? "link");
  const requested = fieldsText === null ? null : parseRequestedFields(fieldsText, signers?.length ?? 1);
  return { signers, signatureFields: requested };
}

function textOf(values: ReadonlyMap<string, string>, name: OrderFormField): string | null {
  const text = values.get(name) ?? "";
  return text.trim() === "" ? null : text;
}

/** Null where the form says no more about the client than every form does. */
function clientAlone(client: { name: string | null; email: string }, auth: SignerAuth | null): NamedSigner[] | null {
  if (auth === null) return null;
  if (auth === "access_code" || auth === "text_code") throw invalid(`signers is required when signer_auth is ${auth}.`);
  return [{ ...clientAsSigner(client, auth), accessCode: null }];
}
