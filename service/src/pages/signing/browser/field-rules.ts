import { applyRules, textsIn } from "../../../orders/order/form/field-rules.ts";
import { readFieldValue } from "../../../orders/order/form/field-values.ts";

// A separate script, because most documents have neither conditions nor numbers.
Object.assign(window, { fieldRules: { applyRules, textsIn, readFieldValue } });
