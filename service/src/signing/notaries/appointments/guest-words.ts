/** The words for an appointment's guests: witnesses, interpreters and observers. */
import type { Language } from "../../../kernel/platform/languages.ts";
import type { ThirdRole } from "../schedule/third-roles.ts";

const en = {
  title: "Your part",
  /** The sentence about the role in which the person is invited. */
  roles: {
    credible_witness: "You are invited as a credible witness: you tell the notary under oath who the signer is.",
    witness: "You are invited as a witness: you are present when the document is signed.",
    interpreter: "You are invited as an interpreter between the notary and the signer.",
    observer: "You are invited as an observer: you see and hear the meeting, and nobody sees or hears you.",
  } satisfies Record<ThirdRole, string>,
  none: "No time was chosen yet. You get an email when there is one.",
  change: "The signers choose the time. If you can’t come, tell them or the notary.",
};

type GuestWords = { title: string; roles: Record<ThirdRole, string>; none: string; change: string };

const es: GuestWords = {
  title: "Su papel",
  roles: {
    credible_witness:
      "Se le invita como testigo creíble: usted declara al notario, bajo juramento, quién es el firmante.",
    witness: "Se le invita como testigo: está presente cuando se firma el documento.",
    interpreter: "Se le invita como intérprete entre el notario y el firmante.",
    observer: "Se le invita como observador: ve y oye la reunión, y nadie le ve ni le oye.",
  },
  none: "Todavía no se ha elegido ninguna hora. Recibirá un correo cuando la haya.",
  change: "Los firmantes eligen la hora. Si no puede asistir, avíseles a ellos o al notario.",
};

const fr: GuestWords = {
  title: "Votre rôle",
  roles: {
    credible_witness:
      "Vous êtes invité comme témoin digne de foi : vous déclarez au notaire, sous serment, qui est le signataire.",
    witness: "Vous êtes invité comme témoin : vous êtes présent lors de la signature du document.",
    interpreter: "Vous êtes invité comme interprète entre le notaire et le signataire.",
    observer: "Vous êtes invité comme observateur : vous voyez et entendez la rencontre, sans être vu ni entendu.",
  },
  none: "Aucune heure n’a encore été choisie. Vous recevrez un courriel dès qu’il y en aura une.",
  change: "Les signataires choisissent l’heure. Si vous ne pouvez pas venir, prévenez-les ou prévenez le notaire.",
};

const pt: GuestWords = {
  title: "Seu papel",
  roles: {
    credible_witness:
      "Você foi convidado como testemunha idônea: declara ao tabelião, sob juramento, quem é o signatário.",
    witness: "Você foi convidado como testemunha: está presente quando o documento é assinado.",
    interpreter: "Você foi convidado como intérprete entre o tabelião e o signatário.",
    observer: "Você foi convidado como observador: vê e ouve o encontro, e ninguém vê nem ouve você.",
  },
  none: "Ainda não foi escolhido nenhum horário. Você receberá um e-mail quando houver um.",
  change: "Os signatários escolhem o horário. Se não puder comparecer, avise-os ou avise o tabelião.",
};

const zh: GuestWords = {
  title: "您的角色",
  roles: {
    credible_witness: "您被邀请作为可信证人：您在宣誓后向公证人说明签署人是谁。",
    witness: "您被邀请作为见证人：签署文件时您在场。",
    interpreter: "您被邀请在公证人与签署人之间担任口译。",
    observer: "您被邀请作为旁听人：您能看到和听到会面，别人看不到也听不到您。",
  },
  none: "尚未选定时间。选定后您会收到电子邮件。",
  change: "时间由签署人选择。如果您不能参加，请告诉签署人或公证人。",
};

const vi: GuestWords = {
  title: "Vai trò của quý vị",
  roles: {
    credible_witness:
      "Quý vị được mời làm nhân chứng đáng tin cậy: quý vị tuyên thệ và cho công chứng viên biết người ký là ai.",
    witness: "Quý vị được mời làm nhân chứng: quý vị có mặt khi tài liệu được ký.",
    interpreter: "Quý vị được mời làm thông dịch viên giữa công chứng viên và người ký.",
    observer: "Quý vị được mời làm người quan sát: quý vị thấy và nghe buổi gặp, còn không ai thấy hay nghe quý vị.",
  },
  none: "Chưa có giờ nào được chọn. Quý vị sẽ nhận được email khi có giờ.",
  change: "Người ký chọn giờ. Nếu không thể đến, hãy báo cho họ hoặc công chứng viên.",
};

const ko: GuestWords = {
  title: "귀하의 역할",
  roles: {
    credible_witness: "신뢰할 수 있는 증인으로 초대되었습니다. 서명자가 누구인지 선서하고 공증인에게 말합니다.",
    witness: "증인으로 초대되었습니다. 문서에 서명할 때 함께 있습니다.",
    interpreter: "공증인과 서명자 사이의 통역사로 초대되었습니다.",
    observer: "참관인으로 초대되었습니다. 만남을 보고 들을 수 있으며, 다른 사람은 귀하를 보거나 들을 수 없습니다.",
  },
  none: "아직 시간이 정해지지 않았습니다. 정해지면 이메일로 알려 드립니다.",
  change: "시간은 서명자가 정합니다. 참석할 수 없으면 서명자나 공증인에게 알려 주세요.",
};

const tl: GuestWords = {
  title: "Ang inyong tungkulin",
  roles: {
    credible_witness:
      "Inaanyayahan kayo bilang mapagkakatiwalaang saksi: sasabihin ninyo sa notaryo, sa ilalim ng panunumpa, kung sino ang pumipirma.",
    witness: "Inaanyayahan kayo bilang saksi: naroon kayo kapag pinipirmahan ang dokumento.",
    interpreter: "Inaanyayahan kayo bilang interpreter sa pagitan ng notaryo at ng pumipirma.",
    observer:
      "Inaanyayahan kayo bilang tagamasid: nakikita at naririnig ninyo ang pagkikita, at walang nakakakita o nakaririnig sa inyo.",
  },
  none: "Wala pang napiling oras. Makakatanggap kayo ng email kapag mayroon na.",
  change: "Ang mga pumipirma ang pumipili ng oras. Kung hindi kayo makakadalo, sabihin sa kanila o sa notaryo.",
};

export const guestWords: Readonly<Record<Language, GuestWords>> = { en, es, fr, pt, zh, vi, ko, tl };
