/** The widths of the ASCII characters from the space on, in Helvetica (H) and Times (T), in 1/1000 of the font size. */
export const WIDTHS: Record<string, number[]> = {
  H: "278 278 355 556 556 889 667 191 333 333 389 584 278 333 278 278 556 556 556 556 556 556 556 556 556 556 278 278 584 584 584 556 1015 667 667 722 722 667 611 778 722 278 500 667 556 833 722 778 667 778 722 667 611 722 667 944 667 667 611 278 278 278 469 556 333 556 556 500 556 556 278 556 556 222 222 500 222 833 556 556 556 556 333 500 278 556 500 722 500 500 500 334 260 334 584"
    .split(" ")
    .map(Number),
  T: "250 333 408 500 500 833 778 180 333 333 500 564 250 333 250 278 500 500 500 500 500 500 500 500 500 500 278 278 564 564 564 444 921 722 667 667 722 611 556 722 722 333 389 722 611 889 722 722 556 722 667 556 611 722 722 944 722 722 611 333 278 333 469 500 333 444 500 444 500 444 333 500 500 278 278 500 278 778 500 500 500 500 333 389 278 500 500 722 500 500 444 480 200 480 541"
    .split(" ")
    .map(Number),
};

export const PROSE = {
  en: [
    "The parties have read this instrument in full and agree to each of its terms as they are set out above.",
    "No change of this agreement binds either side unless it is written and both sides have agreed to it.",
    "Notices go to the addresses given on the first page and count as received three days after posting.",
    "If a court finds one clause void, the remaining clauses keep their force.",
    "Payment is due within thirty days; a late charge of one and one half percent accrues each month after that.",
    "The property is conveyed with all easements, rights and appurtenances that belong to it, subject to taxes of the current year.",
    "Any signature date that differs from the effective date has no influence on the term.",
    "The law of the state in which the property is located governs, without regard to rules of conflict.",
  ],
  es: [
    "Las partes han leído este documento y aceptan cada una de sus condiciones.",
    "Ningún cambio obliga a las partes si no consta por escrito y con el acuerdo de ambas.",
    "Los avisos se envían a las direcciones de la primera página y se consideran recibidos a los tres días.",
    "El pago vence a los treinta días; la mora genera un interés mensual del uno por ciento.",
    "La propiedad se transmite con todos sus derechos y cargas, según consta en el registro público.",
  ],
};
