import type { Words } from "../en/en.ts";

export const room: Words["room"] = {
  test: {
    title: "Một phòng thử nghiệm",
    text: "Không có gì trong phòng này là thật: không có tiền luân chuyển, và không có gì được ký, công chứng hay gửi đi.",
  },
  reference: (reference) => `Số tham chiếu ${reference}`,
  closingRoom: "Phòng kết thúc giao dịch",
  open: "Đang mở",
  closed: "Đã đóng",
  glance: "Tổng quan",
  inThisRoom: (orders, ended) =>
    `${orders} đơn trong phòng này${ended > 0 ? `, ${ended} đơn đã hủy hoặc hoàn tiền` : ""}`,
  meters: {
    signed: "Đã ký",
    sealed: "Đã niêm phong",
    delivered: "Đã giao hoặc hoàn tất",
    none: "Không cần",
    of: (count, total) => `${count} trên ${total}`,
  },
  orders: "Các đơn",
  noOrders: {
    title: "Chưa có đơn",
    text: "Các đơn hiện ở đây khi được thêm vào.",
    closed: "Phòng đã đóng mà không có đơn.",
  },
  services: { sign: "Ký", notarize: "Công chứng", ship: "Gửi", fax: "Gửi fax", none: "Xử lý tài liệu" },
  signers: "Những người ký",
  hasSigned: "đã ký",
  hasNotSigned: "chưa ký",
  evidence: {
    sealed: "Đã niêm phong: mọi thay đổi sẽ lộ ra",
    recorded: "Đã ghi nhận, chưa niêm phong",
    none: "Chưa có bằng chứng",
  },
  tracking: "Theo dõi",
  added: "Đã thêm",
  passport: {
    title: "Chứng nhận kết thúc giao dịch",
    sealed: (version) => `Phiên bản ${version} được niêm phong vào`,
    lists: "Nó chứa dấu vân tay (mã băm) của các tài liệu lúc đó, nên ai cũng kiểm tra được rằng chúng không thay đổi.",
    none: "Chưa niêm phong. Khi niêm phong, nó chứa dấu vân tay (mã băm) của các tài liệu, nên ai cũng kiểm tra được rằng chúng không thay đổi.",
    verify: "Kiểm tra chứng nhận kết thúc giao dịch",
  },
  people: "Những người tham gia",
  paper: "Trang của phòng này",
  activity: {
    title: "Hoạt động",
    none: { title: "Chưa có hoạt động", text: "Các thay đổi của đơn được liệt kê tại đây." },
    actions: {
      "order.created": "Đã đặt đơn",
      "order.claimed": "Khách hàng đã nhận",
      "order.cancelled": "Đơn đã hủy",
      "signing_link.issued": "Đã tạo liên kết ký",
      "room.order_attached": "Đã thêm vào phòng này",
    },
    changed: "Trạng thái đã thay đổi",
    earlier: (steps) => `và ${steps} bước trước đó`,
    every: "Hiện mọi bước",
    latest: "Hiện bước mới nhất mỗi ngày",
  },
  share: "Bất kỳ ai có liên kết này đều xem được toàn bộ phòng, vì vậy hãy chia sẻ cẩn thận.",
};
