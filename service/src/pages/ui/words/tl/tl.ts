import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const tl: Words = {
  language: "tl",
  nav: { label: "Pangunahin", verify: "Suriin", language: "Wika" },
  preparedBy: "Inihanda ng",
  aboutUs: (firm) => `Ipinapapirma, ipinanonotaryo, at ipinahahatid ng ${firm} ang mga dokumento sa SignSealShip.`,
  updates: "Nag-a-update ang pahinang ito tuwing 15 segundo.",
  reload: "I-reload ang pahinang ito para sa pinakabago.",
  components: {
    steps: {
      done: "Tapos na",
      current: "Ginagawa",
      attention: "Kailangang asikasuhin",
      stopped: "Itinigil",
      upcoming: "Mamaya",
    },
    money: {
      item: "Bagay",
      amount: "Halaga",
      subtotal: "Bahagyang kabuuan",
      discount: "Diskuwento ng kompanya",
      total: "Kabuuan",
    },
    copy: { go: "Kopyahin", done: "Nakopya", what: (what) => `Kopyahin ang ${what}` },
    paper: {
      page: "Ang pahinang ito, kasama ang lahat ng maaaring suriin",
      qr: "QR code ng address ng pahinang ito",
      printed: "Inilimbag noong",
    },
  },
  retention: {
    orderDeleted: (at) =>
      html`Binura ang dokumento ng order na ito noong ${at}, ayon sa plano ng pag-iingat. Nananatiling nakatala ang hash nito.`,
    ofTestOrder: (days) =>
      `Binubura ang mga dokumentong pansubok ${days} araw pagkatapos ng huling pagbabago. Nananatiling nakatala ang mga hash nila.`,
    ofTestRoom: (days) =>
      `Binubura ang mga dokumentong pansubok, at ang mga pansubok na katibayan ng closing, ${days} araw pagkatapos ng huling pagbabago. Nananatiling nakatala ang mga hash nila.`,
  },
  orders,
  test: {
    title: "Ito ay pagsubok",
    text: "Walang totoo rito: walang perang gumagalaw, walang ipinapadala o ifina-fax, at walang sinumang mapapanagot sa pirma o notaryo.",
    pay: "Hindi mababayaran dito ang order na pansubok: ginagaya ng kompanyang naglagay ng order ang pagbabayad sa sandbox nito.",
  },
  orderPage: {
    next: "Ang susunod",
    begin: "Simulan ang order: walang babayaran",
    pay: (amount) => `Magbayad ng ${amount}`,
    payAll: (count, amount) => `Bayaran nang sabay ang ${count} dokumento: ${amount}`,
    payThis: (amount) => `Bayaran ang dokumentong ito lamang: ${amount}`,
    payWithheld: (count) =>
      `May ${count} pang dokumento ng closing na ito na hindi mababayaran sa ngayon, kaya hindi ito kasama. Tinitingnan ito ng inyong kompanya.`,
    firmsTurn: "Naitala na ang inyong order",
    nothingToPay:
      "Wala kayong kailangang bayaran. Magsisimula ang trabaho kapag nabayaran na ng kumpanyang naglagay ng order.",
    firmPays: "Magbabago ang pahinang ito kapag nagsimula na ang trabaho.",
    bankPayment: [
      "Pinoproseso ang inyong bayad sa bangko. Wala na kayong kailangang gawin.",
      "Inaabot ng hanggang apat na araw na may pasok ang ilang bangko. Magbabago ang pahinang ito kapag sumagot na ang bangko.",
    ],
    payAgain: (amount) =>
      `Binawi ng inyong bangko ang bayad para sa order na ito. May ${amount} pang dapat bayaran, at maaari ninyo itong bayaran muli rito.`,
    supplement: (amount) =>
      `Ang parsela ay ipapadala sa itinamang address at mas mahal ang padala. Maghihintay ito hanggang mabayaran ang dagdag na ${amount}.`,
    payHint:
      "Magbabayad kayo sa ligtas na pahina ng aming tagaproseso ng bayad. Walang sisingilin bago kayo magkumpirma roon.",
    toQuote: "Tingnan kung para saan ang halaga",
    progress: "Takbo ng order",
    signers: "Mga pipirma",
    signingLink:
      "Kung isa kayo sa kanila, buksan ang link sa pagpirma na ipinadala sa inyong email. Para sa inyo lamang ito.",
    retention: "Gaano katagal itinatago ang mga dokumento",
    quote: "Presyo",
    quoteCaption: "Lahat ng halaga ay sa dolyar ng US",
    unpriced: "Presyo sa ngayon",
    unpricedCaption: "Ang may presyo na sa ngayon, sa dolyar ng US",
    totalSoFar: "Kabuuan sa ngayon",
    details: "Mga detalye",
    receipts: "Mga resibo",
    receiptsAltered:
      "Hindi maipapakita ang ilang resibo: nabago ang tala ng isang bayad. Kailangan itong suriin ng nagpapatakbo ng serbisyong ito.",
    receipt: "Resibo",
    creditNote: "Credit note para sa refund",
    creditReversal: "Binawi ang credit note",
    loss: "Bayad na ibinalik ng iyong bangko",
    lossReversal: "Binawi ang pagbabalik ng iyong bangko",
    documents: "Mga dokumento",
    paper: "Ang pahina ng order na ito",
    facts: {
      document: "Dokumento",
      reference: "Numero ng sanggunian",
      firm: "Inilagay ng",
      questions: "Mga tanong",
      placed: "Petsa ng order",
      client: "Kliyente",
      code: "Code ng order",
      copyCode: "code ng order",
      carrier: "Tagahatid",
      tracking: "Numero ng pagsubaybay",
    },
    share: "Makikita ito ng sinumang may link na ito, kaya ingatan ang pagbabahagi.",
    shareDocuments: "Mada-download ng sinumang may link na ito ang mga dokumento, kaya ingatan ang pagbabahagi.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Hindi makita ang pahina",
      text: "Walang laman ang address na ito. Kung sinundan ninyo ang link mula sa mensahe, tiyaking nakopya ang kabuuan nito, pati ang mahabang code sa dulo, at walang sobra.",
    },
    wrongMethod: {
      title: "Hindi tumatanggap ng ganoong kahilingan ang address na ito",
      text: "May form na ipinadala sa address na hindi tumatanggap nito, o may binuksang hindi pahina. Bumalik at subukan muli.",
    },
    unavailable: {
      title: "Hindi magagamit sa ngayon",
      text: "Hindi magagamit sa ngayon ang bahagi ng serbisyong ito. Walang nawala: subukan muli pagkaraan ng ilang minuto.",
    },
    altered: {
      title: "Nabago ang nakatagong dokumento",
      text: "Hindi na ito tugma sa hash na itinala, kaya hindi ito ibinibigay sa inyo. Kailangan itong suriin ng nagpapatakbo ng serbisyong ito.",
    },
    unreadable: { title: "Hindi iyon gumana", text: "Hindi mabasa ang form." },
    broken: {
      title: "May nangyaring mali",
      text: "Kami ang may pagkakamali, hindi kayo. Paki-reload ang pahina maya-maya.",
    },
    busy: {
      title: "Sandali lang po",
      text: (minutes) =>
        `Masyadong maraming kahilingan sa maikling panahon. Maghintay ng ${minutes > 1 ? `${minutes} minuto` : "isang minuto"} at subukan muli.`,
    },
    home: "Pumunta sa unang pahina",
  },
  unknownCode: {
    page: "Hindi kilalang code",
    verdict: {
      title: "Hindi namin kilala ang code na ito",
      text: "Tiyaking nakopya ninyo ang buong link, pati ang mahabang code sa dulo.",
    },
    have: { document: "Nasa inyo ba ang dokumento?", certificate: "Nasa inyo ba ang katibayan?" },
    noCode: "Kung ganoon, hindi ninyo kailangan ng code:",
    check: "suriin ang mismong file",
  },
  documentsMail: {
    button: "Kunin ang inyong mga dokumento",
    hint: (email) => `Magpapadala kami ng link sa ${email}, ang address na nasa order.`,
    sent: {
      title: "Ipinapadala ang email",
      text: "Ipinapadala namin ang link ng mga dokumento sa address ng kliyente. Kung wala pa ito pagkaraan ng ilang minuto, tingnan ang spam folder.",
    },
    test: {
      title: "Walang ipinapadalang email sa pagsubok",
      text: "Pagsubok ang order na ito, kaya iniimbak lamang ng serbisyong ito ang email na may link at hindi ito ipinapadala kaninuman.",
    },
    unsent: {
      title: "Walang ipinadalang email",
      text: "Ilang beses nang naipadala ang link sa nakaraang 24 na oras, o walang dokumentong maipapadala. Hanapin ang naunang email, pati sa spam folder, o magtanong sa kompanyang naglagay ng order.",
    },
  },
  delivery: {
    title: "Mga dokumento para sa inyo",
    lead: (firm) => `Nagpadala sa inyo ang ${firm} ng mga dokumento.`,
    all: "I-download lahat (zip)",
    documents: "Mga dokumento",
    download: "I-download",
    about: "Tungkol sa padalang ito",
    closing: "Closing",
    reference: "Numero ng file",
    recipient: "Para kay",
    until: "Gumagana ang link hanggang",
    check:
      "Masusuri ang bawat file nang wala kami. May pahina ang zip para dito na hindi nangangailangan ng network, at mayroon din ang site na ito:",
    listed: "Nakikita ng nagpadala ang bawat pag-download.",
    code: {
      title: "I-type ang inyong code",
      intro: (email) => `Nagpapadala kami ng code sa ${email} para walang ibang makabukas ng mga dokumento.`,
      send: "Ipadala ang code",
      again: "Magpadala ng ibang code",
      label: "Code",
      hint: "Anim na numero. Gumagana ito nang 10 minuto.",
      enter: "Buksan ang mga dokumento",
      wrong: "Mali o lipas na ang code na ito.",
      ended: "Walang gumaganang code sa ngayon. Humingi ng bago.",
      sent: "Ipinapadala ang code. Hanapin din ito sa spam folder.",
      wait: "Kapapadala lang ng code, o napakarami na. Hanapin ang pinakabago, pati sa spam folder.",
      locked: "Limang beses nang nagkamali ng code, kaya naka-lock ang link. Humingi ng iba sa nagpadala.",
    },
  },
  payment: {
    leaving: {
      title: "Binubuksan ang pahina ng bayad",
      text: "Dinadala kayo sa aming tagaproseso ng bayad. Kung walang mangyari, gamitin ang link sa ibaba.",
      link: "Pumunta sa pahina ng bayad",
    },
    returned: {
      title: "Salamat",
      text: "Kinukumpirma ang inyong bayad. Magpapatuloy ang inyong order kapag sinabi ng aming tagaproseso ng bayad na pumasok na ang pera, na karaniwang wala pang isang minuto. Maaari na ninyong isara ang pahinang ito.",
    },
    cancelled: {
      title: "Walang nabayaran",
      text: "Umalis kayo sa pahina ng bayad. Hindi nagbago ang inyong order, at maaari ninyo itong bayaran mamaya.",
    },
    unavailable: {
      title: "Hindi makakabayad sa ngayon",
      text: "Hindi mabuksan ang pahina ng bayad, at walang nabayaran. Subukan muli pagkaraan ng ilang minuto.",
    },
    back: "Tingnan ang order",
  },
};
