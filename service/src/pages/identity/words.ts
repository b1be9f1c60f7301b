import type { Language } from "../../kernel/platform/languages.ts";

const en = {
  title: "Prove your identity",
  lead: (name: string, notary: string) =>
    `${name}: the notary ${notary} asks you to prove your identity before the act.`,
  test: "This is a test. No document is notarized.",
  other: (notary: string) =>
    `You may also say no. Then tell the notary ${notary} that you want another way, such as meeting in person.`,
  back: "Stripe is looking at what you showed. Open the link in the notary’s mail again to see the result.",
  credential: {
    title: "Your identity document",
    text: "You photograph your driver’s license, identity card or passport on the page of Stripe, our provider. We keep its type, its issuer, its dates and the name on it for 30 days after the act. We keep no picture and no number.",
    faces:
      "Stripe also compares your face with the picture. Stripe keeps the pictures until we have them deleted, and we never get them.",
    begin: "Begin",
    ready: "Stripe’s page is ready.",
    goOn: "Go on to Stripe",
    looking:
      "If you have shown your document, Stripe is looking at it. This takes about a minute. Then load this page again.",
    again: "That did not work. You can try again, with better light or another document.",
    passed: "Done: your identity document was accepted.",
  },
  questions: {
    title: "Questions that you alone can answer",
    text: (count: number, seconds: number) =>
      `A provider asks ${count} questions about you, such as where you lived. You have ${seconds} seconds for all of them. We use what you type here only to find your questions. We keep neither that nor your answers.`,
    address: "Your home address",
    birth: "Your date of birth",
    begin: "Begin: the time starts",
    running: (seconds: number) => `You have ${seconds} seconds. Do not load the page again.`,
    send: "Send the answers",
    failed: "The answers were wrong or came too late. Each state allows only a few tries.",
    passed: "Done: the questions were answered.",
  },
  passed: { title: "Thank you", text: "You have done everything. The notary sees the result." },
  closed: { title: "This check is closed", text: "Ask the notary what happens next." },
  errors: {
    title: "That did not work",
    input: "Please fill in each field, and choose one answer to each question.",
    away: "The provider can’t be reached now. Try again in a few minutes.",
    closed: "That is not possible now: it is done, is open in another window, or was tried too often. Ask the notary.",
  },
};

export type IdentityWords = typeof en;

const es: IdentityWords = {
  title: "Compruebe su identidad",
  lead: (name, notary) => `${name}: el notario ${notary} le pide que compruebe su identidad antes del acto.`,
  test: "Esto es una prueba. No se notariza ningún documento.",
  other: (notary) =>
    `También puede decir que no. Dígale al notario ${notary} que desea otra forma, como verse en persona.`,
  back: "Stripe está revisando lo que mostró. Vuelva a abrir el enlace del correo del notario para ver el resultado.",
  credential: {
    title: "Su documento de identidad",
    text: "Usted fotografía su licencia de conducir, tarjeta de identidad o pasaporte en la página de Stripe, nuestro proveedor. Guardamos su tipo, su emisor, sus fechas y el nombre que figura en él durante 30 días después del acto; ninguna foto y ningún número.",
    faces:
      "Stripe también compara su rostro con la foto. Stripe guarda las imágenes hasta que las hacemos borrar, y nosotros nunca las recibimos.",
    begin: "Comenzar",
    ready: "La página de Stripe está lista.",
    goOn: "Continuar en Stripe",
    looking:
      "Si ya mostró su documento, Stripe lo está revisando. Tarda cerca de un minuto. Después, vuelva a cargar esta página.",
    again: "No funcionó. Puede intentarlo de nuevo con mejor luz o con otro documento.",
    passed: "Listo: se aceptó su documento de identidad.",
  },
  questions: {
    title: "Preguntas que solo usted puede responder",
    text: (count, seconds) =>
      `Un proveedor hace ${count} preguntas sobre usted, por ejemplo dónde vivió. Tiene ${seconds} segundos para todas. Lo que escribe aquí sirve para encontrar sus preguntas y no lo guardamos, ni tampoco sus respuestas.`,
    address: "Su domicilio",
    birth: "Su fecha de nacimiento",
    begin: "Comenzar: empieza el tiempo",
    running: (seconds) => `Tiene ${seconds} segundos. No vuelva a cargar la página.`,
    send: "Enviar las respuestas",
    failed: "Las respuestas no fueron correctas o llegaron tarde. Cada estado permite pocos intentos.",
    passed: "Listo: respondió las preguntas.",
  },
  passed: { title: "Gracias", text: "Ya hizo todo. El notario ve el resultado." },
  closed: { title: "Esta comprobación está cerrada", text: "Pregunte al notario cómo continuar." },
  errors: {
    title: "No funcionó",
    input: "Llene cada campo y elija una respuesta para cada pregunta.",
    away: "El proveedor no responde ahora. Inténtelo de nuevo en unos minutos.",
    closed:
      "No es posible ahora: ya está hecho, está abierto en otra ventana o se intentó demasiadas veces. Pregunte al notario.",
  },
};

const fr: IdentityWords = {
  title: "Prouvez votre identité",
  lead: (name, notary) => `${name} : le notaire ${notary} vous demande de prouver votre identité avant l’acte.`,
  test: "Ceci est un essai. Aucun document n’est notarié.",
  other: (notary) =>
    `Vous pouvez aussi refuser. Dites alors au notaire ${notary} que vous voulez un autre moyen, par exemple en personne.`,
  back: "Stripe examine ce que vous avez montré. Rouvrez le lien du courriel du notaire pour voir le résultat.",
  credential: {
    title: "Votre pièce d’identité",
    text: "Vous photographiez votre permis de conduire, carte d’identité ou passeport sur la page de Stripe, notre prestataire. Nous gardons son type, son émetteur, ses dates et le nom qui y figure pendant 30 jours après l’acte, aucune image et aucun numéro.",
    faces:
      "Stripe compare aussi votre visage à la photo. Stripe garde les images jusqu’à ce que nous les fassions supprimer ; nous ne les recevons jamais.",
    begin: "Commencer",
    ready: "La page de Stripe est prête.",
    goOn: "Continuer chez Stripe",
    looking:
      "Si vous avez montré votre pièce, Stripe l’examine. Cela prend environ une minute. Rechargez ensuite cette page.",
    again: "Cela n’a pas marché. Réessayez avec un meilleur éclairage ou une autre pièce.",
    passed: "C’est fait : votre pièce d’identité a été acceptée.",
  },
  questions: {
    title: "Des questions auxquelles vous seul pouvez répondre",
    text: (count, seconds) =>
      `Un prestataire pose ${count} questions sur vous, par exemple où vous avez habité. Vous avez ${seconds} secondes pour toutes. Ce que vous tapez ici sert à trouver vos questions et n’est pas gardé, ni vos réponses.`,
    address: "Votre adresse",
    birth: "Votre date de naissance",
    begin: "Commencer : le temps démarre",
    running: (seconds) => `Vous avez ${seconds} secondes. Ne rechargez pas la page.`,
    send: "Envoyer les réponses",
    failed: "Les réponses n’étaient pas justes, ou trop tardives. Chaque État permet peu d’essais.",
    passed: "C’est fait : vous avez répondu aux questions.",
  },
  passed: { title: "Merci", text: "Tout est fait. Le notaire voit le résultat." },
  closed: { title: "Cette vérification est close", text: "Demandez au notaire comment continuer." },
  errors: {
    title: "Cela n’a pas marché",
    input: "Remplissez chaque champ et choisissez une réponse à chaque question.",
    away: "Le prestataire ne répond pas. Réessayez dans quelques minutes.",
    closed:
      "Impossible pour l’instant : c’est fait, ouvert dans une autre fenêtre, ou essayé trop souvent. Demandez au notaire.",
  },
};

const pt: IdentityWords = {
  title: "Comprove sua identidade",
  lead: (name, notary) => `${name}: o tabelião ${notary} pede que você comprove sua identidade antes do ato.`,
  test: "Isto é um teste. Nenhum documento é notarizado.",
  other: (notary) =>
    `Você também pode recusar. Diga ao tabelião ${notary} que prefere outra forma, como um encontro presencial.`,
  back: "A Stripe está examinando o que você mostrou. Abra de novo o link do e-mail do tabelião para ver o resultado.",
  credential: {
    title: "Seu documento de identidade",
    text: "Você fotografa sua carteira de motorista, carteira de identidade ou passaporte na página da Stripe, nossa fornecedora. Guardamos o tipo, o emissor, as datas e o nome que consta nele por 30 dias após o ato; nenhuma imagem e nenhum número.",
    faces:
      "A Stripe também compara seu rosto com a foto. Ela guarda as imagens até que mandemos apagá-las, e nós nunca as recebemos.",
    begin: "Começar",
    ready: "A página da Stripe está pronta.",
    goOn: "Continuar na Stripe",
    looking:
      "Se você já mostrou seu documento, a Stripe o está examinando. Leva cerca de um minuto. Depois, recarregue esta página.",
    again: "Não funcionou. Tente de novo com mais luz ou com outro documento.",
    passed: "Pronto: seu documento foi aceito.",
  },
  questions: {
    title: "Perguntas que só você sabe responder",
    text: (count, seconds) =>
      `Um fornecedor faz ${count} perguntas sobre você, por exemplo onde morou. Você tem ${seconds} segundos para todas. O que você digita aqui serve para achar suas perguntas e não é guardado por nós, nem suas respostas.`,
    address: "Seu endereço",
    birth: "Sua data de nascimento",
    begin: "Começar: o tempo corre",
    running: (seconds) => `Você tem ${seconds} segundos. Não recarregue a página.`,
    send: "Enviar as respostas",
    failed: "As respostas não estavam certas ou chegaram tarde. Cada estado permite poucas tentativas.",
    passed: "Pronto: as perguntas foram respondidas.",
  },
  passed: { title: "Obrigado", text: "Você já fez tudo. O tabelião vê o resultado." },
  closed: { title: "Esta verificação está encerrada", text: "Pergunte ao tabelião como continuar." },
  errors: {
    title: "Não funcionou",
    input: "Preencha cada campo e escolha uma resposta para cada pergunta.",
    away: "O fornecedor não responde agora. Tente de novo em alguns minutos.",
    closed:
      "Não é possível agora: já foi feito, está aberto em outra janela ou foi tentado demais. Pergunte ao tabelião.",
  },
};

const zh: IdentityWords = {
  title: "证明您的身份",
  lead: (name, notary) => `${name}：公证人 ${notary} 请您在公证之前证明您的身份。`,
  test: "这是测试。不会公证任何文件。",
  other: (notary) => `您也可以拒绝。请告诉公证人 ${notary} 您希望用其他方式，例如当面办理。`,
  back: "Stripe 正在查看您出示的内容。请再次打开公证人邮件中的链接查看结果。",
  credential: {
    title: "您的身份证件",
    text: "您在我们的服务商 Stripe 的页面上拍摄驾照、身份证或护照。公证后 30 天内，我们只保存证件的类型、签发方、日期和证件上的姓名，不保存图像和号码。",
    faces: "Stripe 还会将您的面容与证件照片比对。图像由 Stripe 保存，直到我们要求删除；我们不会收到图像。",
    begin: "开始",
    ready: "Stripe 的页面已准备好。",
    goOn: "前往 Stripe",
    looking: "如果您已出示证件，Stripe 正在查看，大约需要一分钟。之后请重新加载本页。",
    again: "没有成功。您可以在光线更好的地方或用另一份证件再试一次。",
    passed: "完成：您的身份证件已被接受。",
  },
  questions: {
    title: "只有您能回答的问题",
    text: (count, seconds) =>
      `服务商会问您 ${count} 个关于您的问题，例如您曾住在哪里。全部回答的时间为 ${seconds} 秒。您在此填写的内容仅用于查找问题，我们不保存，也不保存您的回答。`,
    address: "您的住址",
    birth: "您的出生日期",
    begin: "开始计时",
    running: (seconds) => `您有 ${seconds} 秒。请不要重新加载页面。`,
    send: "提交回答",
    failed: "回答不正确或超时。各州只允许很少的次数。",
    passed: "完成：问题已回答。",
  },
  passed: { title: "谢谢", text: "您已全部完成。公证人可以看到结果。" },
  closed: { title: "此核验已关闭", text: "请询问公证人如何继续。" },
  errors: {
    title: "没有成功",
    input: "请填写每一项，并为每个问题选择一个答案。",
    away: "目前无法联系服务商。请几分钟后再试。",
    closed: "目前无法进行：已经完成、在另一个窗口打开，或尝试次数过多。请询问公证人。",
  },
};

const vi: IdentityWords = {
  title: "Chứng minh danh tính",
  lead: (name, notary) =>
    `${name}: công chứng viên ${notary} đề nghị quý vị chứng minh danh tính trước khi công chứng.`,
  test: "Đây là bản thử. Không có tài liệu nào được công chứng.",
  other: (notary) =>
    `Quý vị cũng có thể từ chối. Hãy nói với công chứng viên ${notary} rằng quý vị muốn cách khác, như gặp trực tiếp.`,
  back: "Stripe đang xem những gì quý vị đã đưa ra. Hãy mở lại liên kết trong thư của công chứng viên để xem kết quả.",
  credential: {
    title: "Giấy tờ tùy thân",
    text: "Quý vị chụp bằng lái xe, thẻ căn cước hoặc hộ chiếu trên trang của Stripe, nhà cung cấp của chúng tôi. Chúng tôi giữ loại giấy tờ, nơi cấp, ngày tháng và tên trên giấy tờ trong 30 ngày sau khi công chứng; không giữ hình và số.",
    faces:
      "Stripe cũng so khuôn mặt quý vị với ảnh. Stripe giữ hình cho đến khi chúng tôi yêu cầu xóa, và chúng tôi không bao giờ nhận hình.",
    begin: "Bắt đầu",
    ready: "Trang của Stripe đã sẵn sàng.",
    goOn: "Tiếp tục đến Stripe",
    looking: "Nếu quý vị đã đưa ra giấy tờ, Stripe đang xem. Mất khoảng một phút. Sau đó hãy tải lại trang này.",
    again: "Chưa được. Quý vị có thể thử lại ở nơi sáng hơn hoặc với giấy tờ khác.",
    passed: "Xong: giấy tờ của quý vị đã được chấp nhận.",
  },
  questions: {
    title: "Những câu hỏi chỉ quý vị trả lời được",
    text: (count, seconds) =>
      `Nhà cung cấp hỏi ${count} câu về quý vị, như nơi từng ở. Quý vị có ${seconds} giây cho tất cả. Những gì quý vị nhập ở đây chỉ để tìm câu hỏi, chúng tôi không giữ, và cũng không giữ câu trả lời.`,
    address: "Địa chỉ nhà",
    birth: "Ngày sinh",
    begin: "Bắt đầu tính giờ",
    running: (seconds) => `Quý vị có ${seconds} giây. Đừng tải lại trang.`,
    send: "Gửi câu trả lời",
    failed: "Câu trả lời chưa đúng hoặc quá trễ. Mỗi tiểu bang chỉ cho thử ít lần.",
    passed: "Xong: quý vị đã trả lời các câu hỏi.",
  },
  passed: { title: "Cảm ơn quý vị", text: "Quý vị đã làm xong. Công chứng viên thấy kết quả." },
  closed: { title: "Việc kiểm tra này đã đóng", text: "Hãy hỏi công chứng viên cách tiếp tục." },
  errors: {
    title: "Chưa được",
    input: "Vui lòng điền mọi ô và chọn một câu trả lời cho mỗi câu hỏi.",
    away: "Hiện không liên lạc được nhà cung cấp. Hãy thử lại sau vài phút.",
    closed: "Hiện không thể: đã xong, đang mở ở cửa sổ khác, hoặc đã thử quá nhiều lần. Hãy hỏi công chứng viên.",
  },
};

const ko: IdentityWords = {
  title: "신원 증명",
  lead: (name, notary) => `${name} 님: 공증인 ${notary} 님이 공증 전에 신원을 증명해 달라고 요청합니다.`,
  test: "테스트입니다. 어떤 문서도 공증되지 않습니다.",
  other: (notary) =>
    `거절하셔도 됩니다. 그때는 공증인 ${notary} 님에게 직접 만나는 것과 같은 다른 방법을 원한다고 알려 주세요.`,
  back: "Stripe가 확인하고 있습니다. 결과를 보려면 공증인 메일의 링크를 다시 여세요.",
  credential: {
    title: "신분증",
    text: "저희 제공업체인 Stripe의 페이지에서 운전면허증, 신분증 또는 여권을 촬영합니다. 저희는 종류, 발급 기관, 날짜, 이름을 공증 후 30일 동안 보관하며 사진과 번호는 보관하지 않습니다.",
    faces:
      "Stripe는 얼굴을 사진과 비교하기도 합니다. 이미지는 저희가 삭제를 요청할 때까지 Stripe가 보관하며 저희는 받지 않습니다.",
    begin: "시작",
    ready: "Stripe 페이지가 준비되었습니다.",
    goOn: "Stripe로 이동",
    looking: "신분증을 제시하셨다면 Stripe가 확인하고 있습니다. 1분 정도 걸립니다. 그 뒤 이 페이지를 다시 불러오세요.",
    again: "실패했습니다. 더 밝은 곳에서 또는 다른 신분증으로 다시 시도할 수 있습니다.",
    passed: "완료: 신분증이 확인되었습니다.",
  },
  questions: {
    title: "본인만 답할 수 있는 질문",
    text: (count, seconds) =>
      `제공업체가 살았던 곳 등 본인에 관한 질문 ${count}개를 합니다. 전체 시간은 ${seconds}초입니다. 여기에 입력한 내용은 질문을 찾는 데만 쓰이며 저희는 입력한 내용과 답을 보관하지 않습니다.`,
    address: "집 주소",
    birth: "생년월일",
    begin: "시작: 시간이 흐릅니다",
    running: (seconds) => `${seconds}초가 있습니다. 페이지를 다시 불러오지 마세요.`,
    send: "답 보내기",
    failed: "답이 맞지 않았거나 늦었습니다. 주마다 시도 횟수가 적습니다.",
    passed: "완료: 질문에 답했습니다.",
  },
  passed: { title: "감사합니다", text: "모두 마쳤습니다. 공증인이 결과를 봅니다." },
  closed: { title: "이 확인은 닫혔습니다", text: "계속하는 방법을 공증인에게 물어보세요." },
  errors: {
    title: "실패했습니다",
    input: "모든 칸을 채우고 질문마다 답을 하나 선택하세요.",
    away: "지금 제공업체에 연결할 수 없습니다. 몇 분 뒤 다시 시도하세요.",
    closed: "지금은 할 수 없습니다. 이미 끝났거나 다른 창에 열려 있거나 너무 많이 시도했습니다. 공증인에게 물어보세요.",
  },
};

const tl: IdentityWords = {
  title: "Patunayan ang inyong pagkakakilanlan",
  lead: (name, notary) =>
    `${name}: hinihiling ng notaryong si ${notary} na patunayan ninyo ang inyong pagkakakilanlan bago ang akto.`,
  test: "Ito ay pagsubok. Walang dokumentong nino-notaryo.",
  other: (notary) =>
    `Maaari rin kayong tumanggi. Sabihin sa notaryong si ${notary} na nais ninyo ng ibang paraan, gaya ng pagkikita nang personal.`,
  back: "Tinitingnan ng Stripe ang ipinakita ninyo. Buksan muli ang link sa email ng notaryo para makita ang resulta.",
  credential: {
    title: "Ang inyong ID",
    text: "Kukunan ninyo ng larawan ang lisensya sa pagmamaneho, ID o pasaporte sa pahina ng Stripe, ang aming provider. Itinatago namin ang uri, nag-isyu, mga petsa at pangalan nito nang 30 araw pagkatapos ng akto; walang larawan at walang numero.",
    faces:
      "Inihahambing din ng Stripe ang inyong mukha sa larawan. Nasa Stripe ang mga larawan hanggang ipabura namin, at hindi namin natatanggap ang mga ito.",
    begin: "Simulan",
    ready: "Handa na ang pahina ng Stripe.",
    goOn: "Magpatuloy sa Stripe",
    looking:
      "Kung naipakita na ninyo ang ID, tinitingnan ito ng Stripe. Mga isang minuto ito. Pagkatapos, i-load muli ang pahinang ito.",
    again: "Hindi gumana. Subukan muli nang mas maliwanag o gamit ang ibang ID.",
    passed: "Tapos na: tinanggap ang inyong ID.",
  },
  questions: {
    title: "Mga tanong na kayo lang ang makasasagot",
    text: (count, seconds) =>
      `Magtatanong ang isang provider ng ${count} tungkol sa inyo, gaya ng dati ninyong tirahan. Mayroon kayong ${seconds} segundo para sa lahat. Ang ita-type ninyo ay para mahanap ang mga tanong at hindi namin itinatago, pati ang mga sagot.`,
    address: "Inyong tirahan",
    birth: "Petsa ng kapanganakan",
    begin: "Simulan: tatakbo ang oras",
    running: (seconds) => `Mayroon kayong ${seconds} segundo. Huwag i-load muli ang pahina.`,
    send: "Ipadala ang mga sagot",
    failed: "Hindi tama ang mga sagot, o huli na. Kaunti lang ang pagsubok na pinapayagan ng bawat estado.",
    passed: "Tapos na: nasagot ang mga tanong.",
  },
  passed: { title: "Salamat", text: "Tapos na ninyo ang lahat. Nakikita ng notaryo ang resulta." },
  closed: { title: "Sarado na ang pagsusuring ito", text: "Itanong sa notaryo kung paano magpapatuloy." },
  errors: {
    title: "Hindi gumana",
    input: "Punan ang bawat patlang at pumili ng isang sagot sa bawat tanong.",
    away: "Hindi maabot ang provider ngayon. Subukan muli pagkaraan ng ilang minuto.",
    closed:
      "Hindi ito magagawa ngayon: tapos na, bukas sa ibang window, o masyadong maraming beses nang sinubukan. Itanong sa notaryo.",
  },
};

export const identityWords: Readonly<Record<Language, IdentityWords>> = { en, es, fr, pt, zh, vi, ko, tl };
