import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: { done: "완료", current: "진행 중", attention: "확인 필요", stopped: "중단됨", upcoming: "예정" },
  money: { item: "항목", amount: "금액", subtotal: "소계", discount: "회사 할인", total: "합계" },
  copy: { go: "복사", done: "복사됨", what: (what) => `${what} 복사` },
  paper: {
    page: "확인할 수 있는 모든 내용이 담긴 이 페이지",
    qr: "이 페이지 주소의 QR 코드",
    printed: "인쇄 시각:",
  },
};
