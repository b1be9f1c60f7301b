import type { DocumentNotice } from "../../../kernel/pdf/unseen/notice.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { PlannedField } from "../pdf/fields.ts";
import { examineText } from "./examine-text.ts";

export const run = (bytes: Buffer, planned: readonly PlannedField[]): Promise<DocumentNotice[]> =>
  examineText(lookUpPdf(bytes), planned);
