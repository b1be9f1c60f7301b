import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const ko: Words = {
  language: "ko",
  nav: { label: "주 메뉴", verify: "확인", language: "언어" },
  preparedBy: "준비한 곳:",
  aboutUs: (firm) => `${firm}에서는 SignSealShip을 통해 문서의 서명, 공증, 배송을 진행합니다.`,
  updates: "이 페이지는 15초마다 갱신됩니다.",
  reload: "최신 내용을 보려면 이 페이지를 다시 불러오십시오.",
  components: {
    steps: { done: "완료", current: "진행 중", attention: "확인 필요", stopped: "중단됨", upcoming: "예정" },
    money: { item: "항목", amount: "금액", subtotal: "소계", discount: "회사 할인", total: "합계" },
    copy: { go: "복사", done: "복사됨", what: (what) => `${what} 복사` },
    paper: {
      page: "확인할 수 있는 모든 내용이 담긴 이 페이지",
      qr: "이 페이지 주소의 QR 코드",
      printed: "인쇄 시각:",
    },
  },
  retention: {
    orderDeleted: (at) => html`이 주문의 문서는 보관 계획에 따라 ${at}에 삭제되었습니다. 해시는 기록에 남아 있습니다.`,
    ofTestOrder: (days) => `테스트 문서는 마지막 변경 후 ${days}일이 지나면 삭제됩니다. 해시는 기록에 남습니다.`,
    ofTestRoom: (days) =>
      `테스트 문서와 테스트 클로징 증명서는 마지막 변경 후 ${days}일이 지나면 삭제됩니다. 해시는 기록에 남습니다.`,
  },
  orders,
  test: {
    title: "테스트입니다",
    text: "실제 내용이 아닙니다. 돈이 오가지 않고, 우편이나 팩스로 보내는 것도 없으며, 서명과 공증은 누구에게도 구속력이 없습니다.",
    pay: "테스트 주문은 여기서 결제할 수 없습니다. 주문한 회사가 샌드박스에서 결제를 시뮬레이션합니다.",
  },
  orderPage: {
    next: "다음 단계",
    begin: "주문 시작: 결제할 금액이 없습니다",
    pay: (amount) => `${amount} 결제`,
    payAll: (count, amount) => `문서 ${count}건 함께 결제: ${amount}`,
    payThis: (amount) => `이 문서만 결제: ${amount}`,
    payWithheld: (count) =>
      `이 거래의 다른 문서 ${count}건은 지금 결제할 수 없어 제외됩니다. 담당 회사에서 확인하고 있습니다.`,
    firmsTurn: "주문이 접수되었습니다",
    nothingToPay: "결제하실 금액이 없습니다. 주문한 회사가 결제하면 작업이 시작됩니다.",
    firmPays: "작업이 시작되면 이 페이지가 바뀝니다.",
    bankPayment: [
      "은행 결제를 처리하고 있습니다. 더 하실 일은 없습니다.",
      "은행에 따라 영업일 기준 최대 4일이 걸립니다. 은행이 응답하면 이 페이지가 바뀝니다.",
    ],
    payAgain: (amount) =>
      `은행이 이 주문의 결제 금액을 회수했습니다. 아직 ${amount}을(를) 내야 하며, 여기에서 다시 결제할 수 있습니다.`,
    supplement: (amount) =>
      `소포가 수정된 주소로 발송되며 우편 요금이 더 높습니다. ${amount}을(를) 추가로 결제하면 발송됩니다.`,
    payHint: "결제 대행사의 보안 페이지에서 결제합니다. 그곳에서 확인하기 전에는 청구되지 않습니다.",
    toQuote: "금액 내역 보기",
    progress: "진행 상황",
    signers: "서명자",
    signingLink: "서명자이시면 이메일로 받은 서명 링크를 여십시오. 그 링크는 본인만 사용할 수 있습니다.",
    retention: "문서 보관 기간",
    quote: "견적",
    quoteCaption: "모든 금액은 미국 달러입니다",
    unpriced: "현재까지의 견적",
    unpricedCaption: "지금까지 정해진 금액 (미국 달러)",
    totalSoFar: "현재까지 합계",
    details: "상세 정보",
    receipts: "영수증",
    receiptsAltered: "결제 기록이 변경되어 일부 영수증을 표시할 수 없습니다. 이 서비스의 운영자가 확인해야 합니다.",
    receipt: "영수증",
    creditNote: "환불 확인서",
    creditReversal: "환불 확인서 취소",
    loss: "은행이 되돌린 결제",
    lossReversal: "은행의 결제 반환 취소",
    documents: "문서",
    paper: "이 주문의 페이지",
    facts: {
      document: "문서 이름",
      reference: "참조 번호",
      firm: "주문한 회사",
      questions: "문의",
      placed: "주문 시각",
      client: "고객",
      code: "주문 코드",
      copyCode: "주문 코드",
      carrier: "운송사",
      tracking: "추적 번호",
    },
    share: "이 링크가 있으면 누구나 볼 수 있으니 주의해서 공유하십시오.",
    shareDocuments: "이 링크가 있으면 누구나 문서를 내려받을 수 있으니 주의해서 공유하십시오.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "페이지를 찾을 수 없습니다",
      text: "이 주소에는 아무것도 없습니다. 메시지의 링크를 따라오셨다면 끝의 긴 코드까지 전체를 빠짐없이, 다른 것 없이 복사했는지 확인하십시오.",
    },
    wrongMethod: {
      title: "이 주소는 그런 요청을 받지 않습니다",
      text: "양식을 받지 않는 주소로 양식을 보냈거나, 페이지가 아닌 것을 열었습니다. 뒤로 돌아가 다시 시도하십시오.",
    },
    unavailable: {
      title: "지금은 사용할 수 없습니다",
      text: "이 서비스의 일부를 지금 사용할 수 없습니다. 잃어버린 것은 없으니 몇 분 뒤에 다시 시도하십시오.",
    },
    altered: {
      title: "저장된 문서가 변경되었습니다",
      text: "기록된 해시와 더 이상 일치하지 않으므로 제공하지 않습니다. 이 서비스의 운영자가 확인해야 합니다.",
    },
    unreadable: { title: "처리하지 못했습니다", text: "양식을 읽을 수 없었습니다." },
    broken: {
      title: "문제가 발생했습니다",
      text: "저희 쪽 오류이며 귀하의 잘못이 아닙니다. 잠시 후 페이지를 다시 불러오십시오.",
    },
    busy: {
      title: "잠시만 기다려 주십시오",
      text: (minutes) =>
        `짧은 시간에 요청이 너무 많았습니다. ${minutes > 1 ? minutes : 1}분 기다렸다가 다시 시도하십시오.`,
    },
    home: "첫 페이지로 이동",
  },
  unknownCode: {
    page: "알 수 없는 코드",
    verdict: {
      title: "이 코드를 알 수 없습니다",
      text: "끝의 긴 코드까지 링크 전체를 복사했는지 확인하십시오.",
    },
    have: { document: "문서를 가지고 계십니까?", certificate: "증명서를 가지고 계십니까?" },
    noCode: "그렇다면 코드가 필요 없습니다:",
    check: "파일 자체를 확인하십시오",
  },
  documentsMail: {
    button: "문서 받기",
    hint: (email) => `주문에 등록된 주소 ${email}(으)로 문서 링크를 보냅니다.`,
    sent: {
      title: "이메일을 보내고 있습니다",
      text: "고객의 주소로 문서 링크를 보내고 있습니다. 몇 분 안에 오지 않으면 스팸 폴더를 확인하십시오.",
    },
    test: {
      title: "테스트에서는 이메일을 보내지 않습니다",
      text: "이 주문은 테스트이므로 링크가 있는 이메일은 이 서비스에 저장만 되고 아무에게도 보내지 않습니다.",
    },
    unsent: {
      title: "이메일을 보내지 않았습니다",
      text: "지난 24시간 동안 링크를 이미 여러 번 보냈거나 보낼 문서가 없습니다. 스팸 폴더를 포함해 이전 이메일을 찾아보거나, 주문한 회사에 문의하십시오.",
    },
  },
  delivery: {
    title: "받으신 문서",
    lead: (firm) => `${firm}에서 문서를 보냈습니다.`,
    all: "모두 내려받기(zip)",
    documents: "문서",
    download: "내려받기",
    about: "이 전달에 대하여",
    closing: "거래",
    reference: "파일 번호",
    recipient: "받는 사람",
    until: "링크 사용 기한",
    check:
      "각 파일은 저희 없이도 확인할 수 있습니다. zip에는 네트워크가 필요 없는 확인 페이지가 있으며 이 사이트에도 있습니다:",
    listed: "내려받을 때마다 보낸 사람에게 표시됩니다.",
    code: {
      title: "코드를 입력하세요",
      intro: (email) => `다른 사람이 문서를 열지 못하도록 ${email}(으)로 코드를 보냅니다.`,
      send: "코드 보내기",
      again: "다른 코드 보내기",
      label: "코드",
      hint: "숫자 여섯 자리. 10분 동안 유효합니다.",
      enter: "문서 열기",
      wrong: "코드가 틀렸거나 만료되었습니다.",
      ended: "현재 유효한 코드가 없습니다. 새 코드를 요청하세요.",
      sent: "코드를 보내고 있습니다. 스팸 폴더도 확인하세요.",
      wait: "방금 코드를 보냈거나 너무 많이 보냈습니다. 스팸 폴더를 포함하여 가장 최근 코드를 찾으세요.",
      locked: "틀린 코드가 다섯 번 입력되어 링크가 잠겼습니다. 보낸 사람에게 새 링크를 요청하세요.",
    },
  },
  payment: {
    leaving: {
      title: "결제 페이지를 여는 중입니다",
      text: "결제 대행사로 이동합니다. 아무 일도 일어나지 않으면 아래 링크를 사용하십시오.",
      link: "결제 페이지로 이동",
    },
    returned: {
      title: "감사합니다",
      text: "결제를 확인하고 있습니다. 결제 대행사에서 입금을 알려 주면 주문이 진행되며, 보통 1분이 걸리지 않습니다. 이 페이지를 닫으셔도 됩니다.",
    },
    cancelled: {
      title: "결제되지 않았습니다",
      text: "결제 페이지에서 나오셨습니다. 주문은 그대로이며 나중에 결제할 수 있습니다.",
    },
    unavailable: {
      title: "지금은 결제할 수 없습니다",
      text: "결제 페이지를 열 수 없었으며 결제된 것은 없습니다. 몇 분 뒤에 다시 시도하십시오.",
    },
    back: "주문 보기",
  },
};
