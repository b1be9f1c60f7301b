import { html } from "../../render.ts";
import type { Words } from "../en/en.ts";
import { fill, orders } from "./orders.ts";
import { room } from "./room.ts";

export const vi: Words = {
  language: "vi",
  nav: { label: "Chính", verify: "Kiểm tra", language: "Ngôn ngữ" },
  preparedBy: "Do công ty soạn:",
  aboutUs: (firm) => `${firm} dùng SignSealShip để ký, công chứng và giao tài liệu.`,
  updates: "Trang này cập nhật mỗi 15 giây.",
  reload: "Hãy tải lại trang này để xem thông tin mới nhất.",
  components: {
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
  },
  retention: {
    orderDeleted: (at) =>
      html`Tài liệu của đơn này đã bị xóa vào ${at}, theo kế hoạch lưu giữ. Mã băm (hash) của tài liệu vẫn được lưu.`,
    ofTestOrder: (days) =>
      `Tài liệu thử nghiệm bị xóa ${days} ngày sau lần thay đổi cuối. Mã băm (hash) của chúng vẫn được lưu.`,
    ofTestRoom: (days) =>
      `Tài liệu thử nghiệm và chứng nhận kết thúc giao dịch thử nghiệm bị xóa ${days} ngày sau lần thay đổi cuối. Mã băm (hash) của chúng vẫn được lưu.`,
  },
  orders,
  test: {
    title: "Đây là bản thử nghiệm",
    text: "Không có gì ở đây là thật: không có tiền luân chuyển, không có gì được gửi đi hay fax, và không chữ ký hay công chứng nào ràng buộc ai.",
    pay: "Đơn thử nghiệm không thể thanh toán tại đây: công ty đã đặt đơn mô phỏng việc thanh toán trong môi trường thử nghiệm của họ.",
  },
  orderPage: {
    next: "Việc tiếp theo",
    begin: "Bắt đầu đơn: không phải trả tiền",
    pay: (amount) => `Thanh toán ${amount}`,
    payAll: (count, amount) => `Thanh toán cùng lúc ${count} tài liệu: ${amount}`,
    payThis: (amount) => `Chỉ thanh toán tài liệu này: ${amount}`,
    payWithheld: (count) =>
      `Còn ${count} tài liệu khác của hồ sơ này hiện chưa thể thanh toán nên không được tính vào. Công ty của quý vị đang xem xét.`,
    firmsTurn: "Đơn của quý vị đã được đặt",
    nothingToPay: "Quý vị không phải trả gì. Công việc bắt đầu khi công ty đặt đơn đã thanh toán.",
    firmPays: "Trang này thay đổi ngay khi công việc bắt đầu.",
    bankPayment: [
      "Khoản thanh toán qua ngân hàng của quý vị đang được xử lý. Quý vị không cần làm gì thêm.",
      "Một số ngân hàng cần tới bốn ngày làm việc. Trang này thay đổi khi ngân hàng trả lời.",
    ],
    payAgain: (amount) =>
      `Ngân hàng của quý vị đã thu hồi khoản thanh toán cho đơn này. Vẫn còn phải trả ${amount}, và quý vị có thể trả lại tại đây.`,
    supplement: (amount) =>
      `Bưu kiện được gửi đến địa chỉ đã sửa và cước phí cao hơn. Bưu kiện chờ đến khi trả thêm ${amount}.`,
    payHint:
      "Quý vị thanh toán trên trang bảo mật của đơn vị xử lý thanh toán. Không có khoản nào bị trừ trước khi quý vị xác nhận tại đó.",
    toQuote: "Xem số tiền này dùng cho việc gì",
    progress: "Tiến độ",
    signers: "Những người ký",
    signingLink: "Nếu quý vị là một trong số họ, hãy mở liên kết ký đã gửi qua email. Liên kết đó chỉ dành cho quý vị.",
    retention: "Tài liệu được lưu giữ bao lâu",
    quote: "Báo giá",
    quoteCaption: "Mọi số tiền tính bằng đô la Mỹ",
    unpriced: "Báo giá đến lúc này",
    unpricedCaption: "Những gì đã có giá, tính bằng đô la Mỹ",
    totalSoFar: "Tổng đến lúc này",
    details: "Chi tiết",
    receipts: "Biên nhận",
    receiptsAltered:
      "Không thể hiển thị một số biên nhận: hồ sơ của một khoản thanh toán đã bị thay đổi. Bên vận hành dịch vụ này phải kiểm tra.",
    receipt: "Biên nhận",
    creditNote: "Giấy báo hoàn tiền",
    creditReversal: "Hủy giấy báo hoàn tiền",
    loss: "Khoản thanh toán do ngân hàng trả lại",
    lossReversal: "Hủy việc ngân hàng trả lại",
    documents: "Tài liệu",
    paper: "Trang của đơn này",
    facts: {
      document: "Tên tài liệu",
      reference: "Số tham chiếu",
      firm: "Công ty đặt đơn",
      questions: "Thắc mắc",
      placed: "Ngày đặt",
      client: "Khách hàng",
      code: "Mã đơn",
      copyCode: "mã đơn",
      carrier: "Hãng vận chuyển",
      tracking: "Số theo dõi",
    },
    share: "Bất kỳ ai có liên kết này đều xem được trang, vì vậy hãy chia sẻ cẩn thận.",
    shareDocuments: "Bất kỳ ai có liên kết này đều tải được tài liệu, vì vậy hãy chia sẻ cẩn thận.",
  },
  fill,
  room,
  refusals: {
    notFound: {
      title: "Không tìm thấy trang",
      text: "Không có gì tại địa chỉ này. Nếu quý vị mở liên kết từ một tin nhắn, hãy kiểm tra xem đã sao chép toàn bộ, kể cả mã dài ở cuối, và không có gì thừa.",
    },
    wrongMethod: {
      title: "Địa chỉ này không nhận yêu cầu đó",
      text: "Một biểu mẫu đã được gửi đến địa chỉ không nhận biểu mẫu, hoặc mở một trang không phải là trang. Hãy quay lại và thử lại.",
    },
    unavailable: {
      title: "Hiện không sử dụng được",
      text: "Một phần của dịch vụ này hiện không sử dụng được. Không có gì bị mất: hãy thử lại sau vài phút.",
    },
    altered: {
      title: "Tài liệu đã lưu bị thay đổi",
      text: "Tài liệu không còn khớp với mã băm đã ghi, nên không được gửi cho quý vị. Bên vận hành dịch vụ này phải kiểm tra.",
    },
    unreadable: { title: "Không thành công", text: "Không đọc được biểu mẫu." },
    broken: {
      title: "Đã xảy ra lỗi",
      text: "Đây là lỗi của chúng tôi, không phải của quý vị. Hãy tải lại trang sau giây lát.",
    },
    busy: {
      title: "Xin chờ một lát",
      text: (minutes) =>
        `Có quá nhiều yêu cầu trong thời gian ngắn. Hãy đợi ${minutes > 1 ? minutes : "một"} phút rồi thử lại.`,
    },
    home: "Đến trang chủ",
  },
  unknownCode: {
    page: "Mã không xác định",
    verdict: {
      title: "Chúng tôi không biết mã này",
      text: "Hãy kiểm tra xem quý vị đã sao chép toàn bộ liên kết, kể cả mã dài ở cuối.",
    },
    have: { document: "Quý vị có tài liệu không?", certificate: "Quý vị có chứng nhận không?" },
    noCode: "Vậy quý vị không cần mã:",
    check: "hãy kiểm tra chính tệp đó",
  },
  documentsMail: {
    button: "Nhận tài liệu của quý vị",
    hint: (email) => `Chúng tôi gửi liên kết đến ${email}, địa chỉ ghi trong đơn.`,
    sent: {
      title: "Email đang được gửi",
      text: "Chúng tôi đang gửi liên kết tài liệu đến địa chỉ của khách hàng. Nếu sau vài phút chưa thấy, hãy xem thư mục thư rác.",
    },
    test: {
      title: "Không có email nào được gửi trong bản thử nghiệm",
      text: "Đơn này là bản thử nghiệm, nên email có liên kết chỉ được lưu trong dịch vụ này và không được gửi cho ai.",
    },
    unsent: {
      title: "Không có email nào được gửi",
      text: "Liên kết đã được gửi nhiều lần trong 24 giờ qua, hoặc không có tài liệu để gửi. Hãy tìm email trước đó, kể cả trong thư mục thư rác, hoặc hỏi công ty đã đặt đơn.",
    },
  },
  delivery: {
    title: "Tài liệu cho quý vị",
    lead: (firm) => `${firm} gửi quý vị các tài liệu.`,
    all: "Tải tất cả (zip)",
    documents: "Tài liệu",
    download: "Tải xuống",
    about: "Về lần gửi này",
    closing: "Hồ sơ",
    reference: "Số hồ sơ",
    recipient: "Gửi đến",
    until: "Liên kết dùng được đến",
    check:
      "Mỗi tệp có thể được kiểm tra mà không cần chúng tôi. Tệp zip có một trang để kiểm tra không cần mạng, và trang này cũng có:",
    listed: "Mỗi lần tải xuống được hiển thị cho người gửi.",
    code: {
      title: "Nhập mã của quý vị",
      intro: (email) => `Chúng tôi gửi một mã đến ${email} để không ai khác mở được tài liệu.`,
      send: "Gửi mã",
      again: "Gửi mã khác",
      label: "Mã",
      hint: "Sáu chữ số. Mã có hiệu lực trong 10 phút.",
      enter: "Mở tài liệu",
      wrong: "Mã này sai hoặc đã hết hạn.",
      ended: "Hiện không có mã nào hợp lệ. Hãy yêu cầu mã mới.",
      sent: "Mã đang được gửi. Hãy tìm cả trong thư mục thư rác.",
      wait: "Một mã vừa được gửi, hoặc đã gửi quá nhiều. Hãy tìm mã mới nhất, cả trong thư mục thư rác.",
      locked: "Mã sai đã được nhập năm lần, nên liên kết bị khóa. Hãy xin người gửi một liên kết khác.",
    },
  },
  payment: {
    leaving: {
      title: "Đang mở trang thanh toán",
      text: "Quý vị đang được chuyển đến đơn vị xử lý thanh toán. Nếu không có gì xảy ra, hãy dùng liên kết bên dưới.",
      link: "Đến trang thanh toán",
    },
    returned: {
      title: "Cảm ơn quý vị",
      text: "Khoản thanh toán đang được xác nhận. Đơn sẽ tiếp tục khi đơn vị xử lý thanh toán báo cho chúng tôi rằng tiền đã đến, thường chưa đến một phút. Quý vị có thể đóng trang này.",
    },
    cancelled: {
      title: "Chưa thanh toán gì",
      text: "Quý vị đã rời trang thanh toán. Đơn không thay đổi, và quý vị có thể thanh toán sau.",
    },
    unavailable: {
      title: "Hiện không thể thanh toán",
      text: "Không mở được trang thanh toán, và chưa thanh toán gì. Hãy thử lại sau vài phút.",
    },
    back: "Xem đơn",
  },
};
