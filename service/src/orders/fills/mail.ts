import { readAnsweringFirm } from "../../firms/members/members.ts";
import { type Language, zonedText } from "../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, plainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { nameIn } from "../../kernel/platform/mail/template.ts";
import { zoneOrDefault } from "../payments/payments.ts";
import { fillCiphers, findFill } from "./store.ts";
import { linkToken } from "./tokens.ts";

type Words = {
  greeting: (name: string) => string;
  document: string;
  firm: string;
  subject: (title: string) => string;
  asks: (firm: string, title: string) => string;
  until: (date: string) => string;
  label: string;
  caution: string;
  why: (firm: string) => string;
};

const words: Readonly<Record<Language, Words>> = {
  en: {
    greeting: (name) => `Hello${name},`,
    document: "a document",
    firm: "A firm",
    subject: (title) => `${title}: please fill it in`,
    asks: (firm, title) =>
      `${firm} asks you to fill in ${title} online. You can stop at any time and continue later with the same link.`,
    until: (date) => `The link works until ${date}.`,
    label: "Fill it in",
    caution: "This link is only for you: anyone who has it can see and change what you typed. Do not pass it on.",
    why: (firm) => `You receive this email because ${firm} named your address.`,
  },
  es: {
    greeting: (name) => `Hola${name}:`,
    document: "un documento",
    firm: "Una empresa",
    subject: (title) => `${title}: por favor, complételo`,
    asks: (firm, title) =>
      `${firm} le pide que complete ${title} en línea. Puede parar en cualquier momento y seguir después con el mismo enlace.`,
    until: (date) => `El enlace funciona hasta el ${date}.`,
    label: "Completarlo",
    caution: "Este enlace es solo suyo: quien lo tenga puede ver y cambiar lo que escribió. No lo reenvíe.",
    why: (firm) => `Recibe este correo porque ${firm} dio su dirección.`,
  },
  fr: {
    greeting: (name) => `Bonjour${name},`,
    document: "un document",
    firm: "Une société",
    subject: (title) => `${title} : merci de le remplir`,
    asks: (firm, title) =>
      `${firm} vous demande de remplir ${title} en ligne. Vous pouvez vous arrêter à tout moment et reprendre plus tard avec le même lien.`,
    until: (date) => `Le lien fonctionne jusqu’au ${date}.`,
    label: "Le remplir",
    caution:
      "Ce lien est à vous seul : toute personne qui l’a peut voir et modifier ce que vous avez saisi. Ne le transmettez pas.",
    why: (firm) => `Vous recevez cet e-mail parce que ${firm} a indiqué votre adresse.`,
  },
  pt: {
    greeting: (name) => `Olá${name},`,
    document: "um documento",
    firm: "Uma empresa",
    subject: (title) => `${title}: por favor, preencha`,
    asks: (firm, title) =>
      `${firm} pede que você preencha ${title} on-line. Você pode parar a qualquer momento e continuar depois pelo mesmo link.`,
    until: (date) => `O link funciona até ${date}.`,
    label: "Preencher",
    caution: "Este link é só seu: quem o tiver pode ver e mudar o que você digitou. Não o repasse.",
    why: (firm) => `Você recebe este e-mail porque ${firm} informou seu endereço.`,
  },
  zh: {
    greeting: (name) => `您好${name}：`,
    document: "一份文件",
    firm: "一家公司",
    subject: (title) => `${title}：请填写`,
    asks: (firm, title) => `${firm}请您在线填写${title}。您可以随时停下，之后用同一链接继续。`,
    until: (date) => `链接有效期至${date}。`,
    label: "填写",
    caution: "此链接仅供您本人使用：任何拥有它的人都能查看和更改您填写的内容。请勿转发。",
    why: (firm) => `您收到此邮件是因为${firm}提供了您的地址。`,
  },
  vi: {
    greeting: (name) => `Xin chào${name},`,
    document: "một tài liệu",
    firm: "Một công ty",
    subject: (title) => `${title}: vui lòng điền`,
    asks: (firm, title) =>
      `${firm} đề nghị bạn điền ${title} trực tuyến. Bạn có thể dừng bất cứ lúc nào và tiếp tục sau bằng cùng liên kết.`,
    until: (date) => `Liên kết có hiệu lực đến ${date}.`,
    label: "Điền",
    caution: "Liên kết này chỉ dành cho bạn: ai có nó đều xem và sửa được những gì bạn đã nhập. Đừng chuyển tiếp.",
    why: (firm) => `Bạn nhận email này vì ${firm} đã cung cấp địa chỉ của bạn.`,
  },
  ko: {
    greeting: (name) => `안녕하세요${name},`,
    document: "문서",
    firm: "한 회사",
    subject: (title) => `${title}: 작성해 주십시오`,
    asks: (firm, title) =>
      `${firm}에서 ${title}을(를) 온라인으로 작성해 달라고 요청합니다. 언제든지 멈추고 나중에 같은 링크로 계속할 수 있습니다.`,
    until: (date) => `링크는 ${date}까지 유효합니다.`,
    label: "작성하기",
    caution: "이 링크는 본인 전용입니다. 링크가 있으면 누구나 입력한 내용을 보고 바꿀 수 있습니다. 전달하지 마십시오.",
    why: (firm) => `${firm}에서 귀하의 주소를 지정하여 이 메일을 보냅니다.`,
  },
  tl: {
    greeting: (name) => `Kumusta${name},`,
    document: "isang dokumento",
    firm: "Isang kompanya",
    subject: (title) => `${title}: pakisagutan`,
    asks: (firm, title) =>
      `Hinihiling ng ${firm} na sagutan mo online ang ${title}. Maaari kang tumigil anumang oras at magpatuloy mamaya gamit ang parehong link.`,
    until: (date) => `Gumagana ang link hanggang ${date}.`,
    label: "Sagutan",
    caution:
      "Sa iyo lamang ang link na ito: makikita at mababago ng sinumang mayroon nito ang isinulat mo. Huwag itong ipasa.",
    why: (firm) => `Natanggap mo ang email na ito dahil ibinigay ng ${firm} ang address mo.`,
  },
};

type FillMail = { fillId: string; at: number };

/** The mail that asks a person to fill in a form. It is not sent when the fill has ended. */
export const fillMail = defineMail({
  queue: "fill-mail",
  async load({ fillId }: FillMail, deps: MailDeps) {
    const { db, secrets, clock } = deps;
    const fill = await findFill({ db, ciphers: fillCiphers(secrets) }, fillId, null);
    if (fill?.state !== "open" || fill.expiresAt <= clock() || fill.person.email === null) return null;
    const { partnerId } = fill.owner;
    const zone = await zoneOrDefault(db, partnerId);
    return { fill, to: fill.person.email, firm: await readAnsweringFirm(deps, fill.owner), zone };
  },
  write({ fill, to, firm, zone }, { fillId, at }, { secrets, baseUrl }) {
    const { language, name } = fill.person;
    const texts = words[language];
    const title = plainTitle(fill.title, texts.document);
    const firmName = nameIn(firm, texts.firm);
    const until = zonedText(fill.expiresAt, zone, language);
    return {
      id: `fill:${fillId}:${at}`,
      to,
      environment: fill.owner.environment,
      subject: texts.subject(title),
      greeting: texts.greeting(name !== null && isPlainName(name) ? ` ${name}` : ""),
      lines: [texts.asks(firmName, title), texts.until(until)],
      link: { label: texts.label, url: `${baseUrl}/fill/${fillId}/${linkToken(secrets, fillId)}?lang=${language}` },
      caution: texts.caution,
      why: texts.why(firmName),
      language,
      firm,
    };
  },
});
