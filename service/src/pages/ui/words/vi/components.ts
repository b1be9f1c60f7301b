import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: {
    done: "Xong",
    current: "Đang tiến hành",
    attention: "Cần xử lý",
    stopped: "Đã dừng",
    upcoming: "Sau này",
  },
  money: {
    item: "Khoản mục",
    amount: "Số tiền",
    subtotal: "Tạm tính",
    discount: "Giảm giá của công ty",
    total: "Tổng cộng",
  },
  copy: { go: "Sao chép", done: "Đã sao chép", what: (what) => `Sao chép ${what}` },
  paper: {
    page: "Trang này, với mọi thứ có thể kiểm tra",
    qr: "Mã QR của địa chỉ trang này",
    printed: "In lúc",
  },
};
