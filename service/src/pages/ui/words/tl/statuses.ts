import type { Words } from "../en/en.ts";

const askFirm = "May tanong? Magtanong sa kompanyang naglagay ng order. Nakikita nila ang lahat ng nasa pahinang ito.";
const allPaused = "Walang nawala: itinatago ang mga dokumento at ang mga nagawa na.";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "Nasa amin na ang inyong order",
    summary: "Nasa amin na ang dokumento at kinukuwenta namin ang presyo.",
    next: ["Lalabas ang presyo sa pahinang ito, karaniwan sa ilang sandali lang."],
  },
  QuoteReady: {
    headline: "Handa na ang presyo",
    summary: "Nasa amin na ang dokumento, at may presyo na ang lahat. Magsisimula kami kapag pumasok na ang bayad.",
    next: [
      "Suriin sa presyo ang mga inorder, at bayaran ang kabuuan.",
      "Magsisimula kami sa sandaling pumasok ang bayad.",
    ],
  },
  AwaitingPayment: {
    headline: "Naghihintay ng bayad",
    summary: "Hindi pa pumapasok ang bayad. Inaabot ng ilang araw na may pasok ang ilang bangko.",
    next: [
      "Kung nakabayad na kayo, wala na kayong kailangang gawin. Magbabago ang pahinang ito kapag dumating ang pera.",
      "Kung isinara ninyo ang pahina ng bayad o lumipas ito, walang siningil. Maaari ninyo itong buksan muli.",
    ],
  },
  Paid: {
    headline: "Bayad nang buo, salamat",
    summary: "Pumasok na ang bayad, at sinisimulan na namin ang dokumento.",
    next: ["Kusang magsisimula ang unang hakbang sa ibaba."],
  },
  EsignPending: {
    headline: "Pinapapirmahan ang dokumento",
    summary: "Hinihilingan ang bawat isa na pumirma online kapag turno na niya.",
    next: [
      "Babasahin at pipirmahan ng bawat isa ang dokumento.",
      "Magsisimula ang susunod na hakbang kapag nakapirma na ang lahat.",
    ],
  },
  EsignComplete: {
    headline: "Naselyuhan ang napirmahang dokumento",
    summary: "Tapos na ang pagpirma. Naselyuhan ang dokumento, kaya makikita ang anumang pagbabago.",
    next: ["Kusang magsisimula ang susunod na hakbang."],
  },
  NotarizationPending: {
    headline: "Nasa notaryo ang dokumento",
    summary: "Sinusuri ng notaryo ang pagkakakilanlan ng pipirma at ninonotaryo ang dokumento.",
    next: [
      "Sa pipirma: kung may appointment, sumipot sa takdang oras, at ihanda ang ID na may larawan na bigay ng gobyerno.",
      "Magsisimula ang susunod na hakbang kapag nasa amin na ang nanotaryong dokumento.",
    ],
  },
  NotarizationComplete: {
    headline: "Nanotaryo na ang dokumento",
    summary: "Sinelyuhan ng notaryo ang dokumento, at itinago namin ito.",
    next: ["Kusang magsisimula ang susunod na hakbang."],
  },
  ShippingPending: {
    headline: "Inihahanda ang inyong padala",
    summary: "Dinadala namin ang tapos na dokumento sa tagahatid.",
    next: ["Magbabago ang pahinang ito kapag nasa tagahatid na ito."],
  },
  Shipped: {
    headline: "Papunta na ang dokumento",
    summary: "Nasa tagahatid na ang dokumento.",
    next: ["Magbabago ang pahinang ito kapag naitala ang paghahatid."],
  },
  Delivered: {
    headline: "Naitala bilang naihatid",
    summary: "Nakatala ang paghahatid.",
    next: ["Nakalista sa ibaba ang mga natitirang hakbang. Wala kayong kailangang gawin."],
  },
  FaxPending: {
    headline: "Ipinapadala ang fax",
    summary: "Nakapila sa linya ng fax ang tapos na dokumento.",
    next: ["Magbabago ang pahinang ito kapag naitala na ang resulta ng fax."],
  },
  FaxSent: {
    headline: "Naipadala na ang fax",
    summary: "Hindi pa naitatala ang resulta nito.",
    next: ["Magbabago ang pahinang ito kapag naitala na ang resulta ng fax."],
  },
  FaxDelivered: {
    headline: "Naitala bilang naipadala ang fax",
    summary: "Nakatala ang paghahatid ng fax.",
    next: ["Nakalista sa ibaba ang mga natitirang hakbang. Wala kayong kailangang gawin."],
  },
  Completed: {
    headline: "Tapos na ang lahat",
    summary: "Tapos na ang lahat ng inorder.",
    next: [
      "Wala nang natitirang gagawin.",
      "Ipinapadala namin sa email ang link ng mga dokumento. Maaari kayong bumalik sa pahinang ito anumang oras.",
    ],
  },
  PaymentFailed: {
    headline: "Hindi natuloy ang bayad",
    summary: "Hindi pa bayad ang order. Nangyayari ito, at madaling ayusin.",
    next: ["Subukang magbayad muli, o gumamit ng ibang card o account.", askFirm],
  },
  EsignDeclined: {
    headline: "Huminto ang pagpirma",
    summary:
      "May hindi pumirma online, kaya huminto ang pagpirma para sa lahat. Wala muna kaming ibang gagawin sa dokumento sa ngayon.",
    next: [
      "Makipag-usap sa kaniya tungkol sa kailangan niya.",
      "Kapag naayos na, maaaring hilingin sa amin ng kompanyang naglagay ng order na ipadala muli ang dokumento para pirmahan, o ipapirma ito sa papel.",
    ],
  },
  EsignExpired: {
    headline: "Lumipas na ang panahon para pumirma",
    summary: "Hindi lahat ay nakapirma sa oras, kaya sarado na ang pagpirma.",
    next: ["Hilingin sa kompanyang naglagay ng order na ipadala muli ang dokumento para pirmahan.", allPaused],
  },
  NotarizationFailed: {
    headline: "Hindi natapos ang pagnonotaryo",
    summary:
      "Hindi natapos ng notaryo ang sesyon. Karaniwang dahilan ang mahinang koneksiyon, problema sa ID, o may hindi dumalo.",
    next: ["Maaaring humiling ng bagong sesyon ang kompanyang naglagay ng order.", allPaused],
  },
  IdentityLocked: {
    headline: "Hindi nakumpirma ang pagkakakilanlan ng pipirma",
    summary:
      "Sinubukan na ang pagsuri ng pagkakakilanlan nang kasindami ng pinapayagan ng mga tuntunin. Pinoprotektahan nito ang mga pipirma laban sa mga nagpapanggap.",
    next: [
      "Sinusuri namin ito. Maaaring hilingin sa amin ng kompanyang naglagay ng order na buksan muli ang pagsuri.",
      "Ihanda ang balidong ID na may larawan na bigay ng gobyerno para sa susunod na subok.",
    ],
  },
  ManualQuoteRequired: {
    headline: "Kinukuwenta namin ang presyo ng order na ito",
    summary:
      "May bahagi, karaniwan ang selyo sa koreo, na hindi kusang napresyuhan. Ipinapakita ng presyo ang alam na namin sa ngayon.",
    next: [
      "May tauhan kaming kukumpleto ng presyo, at lalabas ito sa pahinang ito.",
      "Wala pang babayaran hanggang doon.",
    ],
  },
  OnHold: {
    headline: "Nakahinto ang order na ito",
    summary: "May tinitingnan kaming tanong tungkol dito, at nakahinto ang trabaho hanggang masagot ito.",
    next: [
      "Wala kayong kailangang gawin maliban kung hilingin namin. Magpapatuloy ang trabaho kung saan ito huminto.",
      askFirm,
    ],
  },
  ShippingFailed: {
    headline: "Hindi dumating ang padala",
    summary: "Hindi ito matanggap o maihatid ng tagahatid. Ligtas ang tapos na dokumento.",
    next: ["Susuriin namin ang address kasama ang kompanyang naglagay ng order at susubukan muli.", askFirm],
  },
  RefundPending: {
    headline: "Isinasauli ang bayad",
    summary: "Ibinabalik namin ito sa pamamagitan ng tagaproseso ng bayad. Huminto na ang trabaho sa order na ito.",
    next: ["Karaniwang inaabot ng 5 hanggang 10 araw na may pasok bago ito ipakita ng mga bangko."],
  },
  Refunded: {
    headline: "Na-refund ang order na ito",
    summary: "Bumalik ang bayad sa pinanggalingan nito, at sarado na ang order.",
    next: ["Wala nang natitirang gagawin. Para magsimula muli, maaaring maglagay ng bagong order."],
  },
  Cancelled: {
    headline: "Kinansela ang order na ito",
    summary: "Kinansela ito, at walang kailangang bayaran.",
    next: [
      "Kung may bayad na noon ay naipadala na, ibinabalik ito.",
      "Wala nang natitirang gagawin. Para magsimula muli, maaaring maglagay ng bagong order.",
    ],
  },
  FaxFailed: {
    headline: "Hindi natuloy ang fax",
    summary: "Hindi ito tinanggap ng linya: maaaring abala, walang papel, o hindi linya ng fax. Ligtas ang dokumento.",
    next: ["Maaaring itama ng kompanyang naglagay ng order ang numero at ipadala itong muli.", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "Ginagawa ang order na ito",
  summary: `Ang katayuan nito ay ${status}.`,
  next: ["Wala kayong kailangang gawin maliban kung hilingin namin.", askFirm],
});
