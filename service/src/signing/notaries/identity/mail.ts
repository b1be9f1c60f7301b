import { readAnsweringFirm } from "../../../firms/members/members.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { isLanguage, type Language } from "../../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import { peopleOf } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { findCheck, linkTokenOf, tokenSha256Of } from "./store.ts";

type Words = {
  subject: string;
  hello: (name: string | null) => string;
  line: (notary: string | null) => string;
  have: string;
  link: string;
  caution: string;
};

const words: Readonly<Record<Language, Words>> = {
  en: {
    subject: "Prove your identity to the notary",
    hello: (name) => (name ? `Hello ${name},` : "Hello,"),
    line: (notary) =>
      `${notary ? `The notary ${notary}` : "The notary"} asks you to prove your identity before the act.`,
    have: "Have your identity document at hand. The link works for 7 days.",
    link: "Prove your identity",
    caution: "If you expect no notarization, do not open the link.",
  },
  es: {
    subject: "Compruebe su identidad ante el notario",
    hello: (name) => (name ? `Hola, ${name}:` : "Hola:"),
    line: (notary) =>
      `${notary ? `El notario ${notary}` : "El notario"} le pide que compruebe su identidad antes del acto.`,
    have: "Tenga a mano su documento de identidad. El enlace funciona durante 7 días.",
    link: "Comprobar mi identidad",
    caution: "Si no espera ninguna notarización, no abra el enlace.",
  },
  fr: {
    subject: "Prouvez votre identité au notaire",
    hello: (name) => (name ? `Bonjour ${name},` : "Bonjour,"),
    line: (notary) =>
      `${notary ? `Le notaire ${notary}` : "Le notaire"} vous demande de prouver votre identité avant l’acte.`,
    have: "Ayez votre pièce d’identité à portée de main. Le lien est valable 7 jours.",
    link: "Prouver mon identité",
    caution: "Si vous n’attendez aucun acte notarié, n’ouvrez pas le lien.",
  },
  pt: {
    subject: "Comprove sua identidade ao tabelião",
    hello: (name) => (name ? `Olá, ${name},` : "Olá,"),
    line: (notary) =>
      `${notary ? `O tabelião ${notary}` : "O tabelião"} pede que você comprove sua identidade antes do ato.`,
    have: "Tenha seu documento de identidade à mão. O link funciona por 7 dias.",
    link: "Comprovar minha identidade",
    caution: "Se você não espera nenhum ato notarial, não abra o link.",
  },
  zh: {
    subject: "请向公证人证明您的身份",
    hello: (name) => (name ? `${name}，您好：` : "您好："),
    line: (notary) => `${notary ? `公证人 ${notary} ` : "公证人"}请您在公证之前证明您的身份。`,
    have: "请准备好您的身份证件。链接 7 天内有效。",
    link: "证明我的身份",
    caution: "如果您没有等待公证，请不要打开此链接。",
  },
  vi: {
    subject: "Hãy chứng minh danh tính của quý vị với công chứng viên",
    hello: (name) => (name ? `Xin chào ${name},` : "Xin chào,"),
    line: (notary) =>
      `${notary ? `Công chứng viên ${notary}` : "Công chứng viên"} đề nghị quý vị chứng minh danh tính trước khi công chứng.`,
    have: "Hãy chuẩn bị sẵn giấy tờ tùy thân. Liên kết có hiệu lực trong 7 ngày.",
    link: "Chứng minh danh tính",
    caution: "Nếu quý vị không chờ việc công chứng nào, đừng mở liên kết.",
  },
  ko: {
    subject: "공증인에게 신원을 증명해 주세요",
    hello: (name) => (name ? `${name} 님, 안녕하세요.` : "안녕하세요."),
    line: (notary) => `${notary ? `공증인 ${notary} 님이` : "공증인이"} 공증 전에 신원을 증명해 달라고 요청합니다.`,
    have: "신분증을 준비해 주세요. 링크는 7일 동안 유효합니다.",
    link: "신원 증명하기",
    caution: "예정된 공증이 없다면 링크를 열지 마세요.",
  },
  tl: {
    subject: "Patunayan ang inyong pagkakakilanlan sa notaryo",
    hello: (name) => (name ? `Kumusta ${name},` : "Kumusta,"),
    line: (notary) =>
      `Hinihiling ng ${notary ? `notaryong si ${notary}` : "notaryo"} na patunayan ninyo ang inyong pagkakakilanlan bago ang akto.`,
    have: "Ihanda ang inyong ID. Gumagana ang link nang 7 araw.",
    link: "Patunayan ang pagkakakilanlan",
    caution: "Kung wala kayong inaasahang notaryo, huwag buksan ang link.",
  },
};

type Loaded = { to: string; name: string; language: Language; notary: string; token: string; environment: Environment };

/**
 * The mail with the link for proving a person's identity. When it is sent, it goes to the person's current address,
 * including corrections.
 */
export const identityMail = defineMail({
  queue: "identity-mail",
  async load({ checkId }: { checkId: string }, deps: MailDeps) {
    const { db, rowMac, secrets, clock } = deps;
    const check = await findCheck(db, checkId);
    if (check?.state !== "asked" || check.expiresAt <= clock()) return null;
    const [order, notary, sha256] = await Promise.all([
      peopleOf({ db, rowMac }, check.orderId),
      findNotary(db, check.notaryId),
      tokenSha256Of(db, checkId),
    ]);
    const person = order?.signers[check.person - 1];
    const token = sha256 && linkTokenOf(secrets, checkId, sha256);
    if (order?.status !== "NotarizationPending" || !person || !notary || !token) return null;
    const language = isLanguage(person.language) ? person.language : "en";
    const { name, email: to } = person;
    const { environment } = order;
    const about: Loaded = { to, name, language, notary: notary.commissionName, token, environment };
    return { ...about, firm: await readAnsweringFirm(deps, order) };
  },
  write({ to, name, language, notary, token, environment, firm }, { checkId }, { baseUrl }) {
    const { subject, hello, line, have, link, caution } = words[language];
    return {
      id: `identity:${checkId}`,
      to,
      environment,
      subject,
      language,
      caution,
      firm,
      greeting: hello(isPlainName(name) ? name : null),
      lines: [line(isPlainName(notary) ? notary : null), have],
      link: { label: link, url: `${baseUrl}/identity/${token}?lang=${language}` },
    };
  },
});
