import type { Words } from "../en/en.ts";

export const components: Words["components"] = {
  steps: { done: "已完成", current: "进行中", attention: "需要处理", stopped: "已停止", upcoming: "稍后" },
  money: { item: "项目", amount: "金额", subtotal: "小计", discount: "公司折扣", total: "合计" },
  copy: { go: "复制", done: "已复制", what: (what) => `复制${what}` },
  paper: {
    page: "本页及所有可查验的内容",
    qr: "本页网址的二维码",
    printed: "打印时间：",
  },
};
