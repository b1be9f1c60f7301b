import type { Words } from "../en/en.ts";

const askFirm = "Có thắc mắc? Hãy hỏi công ty đã đặt đơn. Họ thấy mọi thứ trên trang này.";
const allPaused = "Không có gì bị mất: tài liệu và công việc đã làm đều được giữ lại.";

export const statuses: Words["orders"]["statuses"] = {
  Created: {
    headline: "Chúng tôi đã nhận đơn của quý vị",
    summary: "Chúng tôi đã có tài liệu và đang tính giá.",
    next: ["Báo giá sẽ hiện trên trang này, thường trong giây lát."],
  },
  QuoteReady: {
    headline: "Báo giá đã sẵn sàng",
    summary: "Chúng tôi đã có tài liệu, và mọi thứ đã có giá. Công việc bắt đầu khi thanh toán được xác nhận.",
    next: [
      "Hãy kiểm tra trong báo giá những gì đã đặt, và thanh toán tổng số tiền.",
      "Chúng tôi bắt đầu ngay khi thanh toán được xác nhận.",
    ],
  },
  AwaitingPayment: {
    headline: "Đang chờ thanh toán",
    summary: "Thanh toán chưa được xác nhận. Một số ngân hàng cần vài ngày làm việc.",
    next: [
      "Nếu đã thanh toán, quý vị không cần làm gì thêm. Trang này thay đổi khi tiền đến.",
      "Nếu quý vị đã đóng trang thanh toán hoặc trang đã hết hạn, chưa có khoản nào bị trừ. Quý vị có thể mở lại.",
    ],
  },
  Paid: {
    headline: "Đã thanh toán đủ, cảm ơn quý vị",
    summary: "Thanh toán đã được xác nhận, và chúng tôi bắt đầu xử lý tài liệu.",
    next: ["Bước đầu tiên dưới đây tự động bắt đầu."],
  },
  EsignPending: {
    headline: "Tài liệu đang chờ ký",
    summary: "Mỗi người được mời ký trực tuyến khi đến lượt.",
    next: ["Mỗi người đọc và ký tài liệu.", "Bước tiếp theo bắt đầu khi mọi người đã ký."],
  },
  EsignComplete: {
    headline: "Tài liệu đã ký được niêm phong",
    summary: "Việc ký đã xong. Tài liệu đã được niêm phong, nên mọi thay đổi sẽ lộ ra.",
    next: ["Bước tiếp theo tự động bắt đầu."],
  },
  NotarizationPending: {
    headline: "Tài liệu đang ở công chứng viên",
    summary: "Công chứng viên kiểm tra danh tính người ký và công chứng tài liệu.",
    next: [
      "Người ký: nếu có lịch hẹn, hãy đến đúng hẹn và chuẩn bị giấy tờ tùy thân có ảnh do chính quyền cấp.",
      "Bước tiếp theo bắt đầu khi chúng tôi có tài liệu đã công chứng.",
    ],
  },
  NotarizationComplete: {
    headline: "Tài liệu đã được công chứng",
    summary: "Công chứng viên đã đóng dấu tài liệu, và chúng tôi đã lưu lại.",
    next: ["Bước tiếp theo tự động bắt đầu."],
  },
  ShippingPending: {
    headline: "Đang chuẩn bị gửi",
    summary: "Chúng tôi đang chuyển tài liệu hoàn chỉnh cho hãng vận chuyển.",
    next: ["Trang này thay đổi khi hãng vận chuyển nhận được."],
  },
  Shipped: {
    headline: "Tài liệu đang trên đường",
    summary: "Hãng vận chuyển đang giữ tài liệu.",
    next: ["Trang này thay đổi khi việc giao hàng được ghi nhận."],
  },
  Delivered: {
    headline: "Đã ghi nhận là đã giao",
    summary: "Việc giao hàng đã được ghi nhận.",
    next: ["Các bước còn lại được liệt kê dưới đây. Quý vị không cần làm gì."],
  },
  FaxPending: {
    headline: "Đang gửi fax",
    summary: "Tài liệu hoàn chỉnh đang chờ đường fax.",
    next: ["Trang này thay đổi khi kết quả gửi fax được ghi nhận."],
  },
  FaxSent: {
    headline: "Fax đã được gửi",
    summary: "Kết quả chưa được ghi nhận.",
    next: ["Trang này thay đổi khi kết quả gửi fax được ghi nhận."],
  },
  FaxDelivered: {
    headline: "Đã ghi nhận là fax đã gửi đến",
    summary: "Việc gửi fax đến nơi đã được ghi nhận.",
    next: ["Các bước còn lại được liệt kê dưới đây. Quý vị không cần làm gì."],
  },
  Completed: {
    headline: "Đã xong mọi việc",
    summary: "Mọi thứ đã đặt đều hoàn tất.",
    next: [
      "Không còn gì phải làm.",
      "Chúng tôi gửi liên kết tài liệu qua email. Quý vị có thể quay lại trang này bất cứ lúc nào.",
    ],
  },
  PaymentFailed: {
    headline: "Thanh toán không thành công",
    summary: "Đơn chưa được thanh toán. Việc này đôi khi xảy ra và dễ khắc phục.",
    next: ["Hãy thử thanh toán lại, hoặc dùng thẻ hay tài khoản khác.", askFirm],
  },
  EsignDeclined: {
    headline: "Việc ký đã dừng",
    summary:
      "Một người không ký trực tuyến, nên việc ký đã dừng với tất cả mọi người. Hiện chúng tôi không làm gì khác với tài liệu.",
    next: [
      "Hãy trao đổi với người đó về những gì họ cần.",
      "Khi đã thống nhất, công ty đặt đơn có thể yêu cầu chúng tôi gửi lại tài liệu để ký, hoặc cho ký trên giấy.",
    ],
  },
  EsignExpired: {
    headline: "Đã hết hạn ký",
    summary: "Không phải ai cũng ký kịp, nên việc ký đã đóng.",
    next: ["Hãy yêu cầu công ty đặt đơn gửi lại tài liệu để ký.", allPaused],
  },
  NotarizationFailed: {
    headline: "Không thể hoàn tất công chứng",
    summary:
      "Công chứng viên không thể kết thúc phiên. Lý do thường gặp là kết nối kém, vấn đề về giấy tờ, hoặc có người vắng mặt.",
    next: ["Công ty đặt đơn có thể yêu cầu một phiên mới.", allPaused],
  },
  IdentityLocked: {
    headline: "Không thể xác nhận danh tính người ký",
    summary:
      "Việc kiểm tra danh tính đã được thử đủ số lần mà quy định cho phép. Việc này bảo vệ người ký khỏi kẻ mạo danh.",
    next: [
      "Chúng tôi đang xem xét. Công ty đặt đơn có thể yêu cầu chúng tôi mở lại việc kiểm tra.",
      "Hãy chuẩn bị giấy tờ tùy thân có ảnh còn hiệu lực do chính quyền cấp cho lần thử sau.",
    ],
  },
  ManualQuoteRequired: {
    headline: "Chúng tôi đang tính giá đơn này",
    summary: "Một phần, thường là cước gửi, không thể tự động tính giá. Báo giá cho thấy những gì đã biết đến lúc này.",
    next: [
      "Nhân viên của chúng tôi hoàn tất báo giá, và báo giá hiện trên trang này.",
      "Cho đến lúc đó không có gì phải thanh toán.",
    ],
  },
  OnHold: {
    headline: "Đơn này đang tạm dừng",
    summary: "Chúng tôi đang xem xét một vấn đề về đơn, và công việc tạm dừng cho đến khi có câu trả lời.",
    next: ["Quý vị không cần làm gì trừ khi chúng tôi yêu cầu. Công việc sẽ tiếp tục từ chỗ đã dừng.", askFirm],
  },
  ShippingFailed: {
    headline: "Hàng gửi không đến nơi",
    summary: "Hãng vận chuyển không thể nhận hoặc giao. Tài liệu hoàn chỉnh vẫn an toàn.",
    next: ["Chúng tôi sẽ kiểm tra địa chỉ với công ty đặt đơn và thử lại.", askFirm],
  },
  RefundPending: {
    headline: "Khoản thanh toán đang được hoàn lại",
    summary: "Chúng tôi đang hoàn lại qua đơn vị xử lý thanh toán. Công việc của đơn này đã dừng.",
    next: ["Ngân hàng thường cần 5 đến 10 ngày làm việc để hiện khoản này."],
  },
  Refunded: {
    headline: "Đơn này đã được hoàn tiền",
    summary: "Tiền đã trở về nơi gửi, và đơn đã đóng.",
    next: ["Không còn gì phải làm. Để bắt đầu lại, có thể đặt đơn mới."],
  },
  Cancelled: {
    headline: "Đơn này đã bị hủy",
    summary: "Đơn đã bị hủy, và không có gì phải thanh toán.",
    next: [
      "Nếu một khoản thanh toán đã được gửi đi, khoản đó sẽ được hoàn lại.",
      "Không còn gì phải làm. Để bắt đầu lại, có thể đặt đơn mới.",
    ],
  },
  FaxFailed: {
    headline: "Gửi fax không thành công",
    summary: "Đường nhận không chấp nhận: có thể đang bận, hết giấy, hoặc không phải đường fax. Tài liệu vẫn an toàn.",
    next: ["Công ty đặt đơn có thể sửa số và yêu cầu gửi lại.", askFirm],
  },
};

export const otherStatus: Words["orders"]["otherStatus"] = (status) => ({
  headline: "Đơn này đang được tiến hành",
  summary: `Trạng thái của đơn là ${status}.`,
  next: ["Quý vị không cần làm gì trừ khi chúng tôi yêu cầu.", askFirm],
});
