import type { Words } from "../en/en.ts";

export const fill: Words["fill"] = {
  test: {
    title: "Um formulário de teste",
    text: "Nada nele é real: o que você digita serve para experimentar.",
  },
  lead: (firm: string) =>
    `${firm} pede que você preencha este formulário. Suas respostas passam a fazer parte de um documento.`,
  until: (at: string) =>
    `Suas respostas são salvas enquanto você digita. Você pode parar e continuar pelo mesmo link até ${at}.`,
  step: (at: number, of: number) => `Etapa ${at} de ${of}`,
  next: "Salvar e continuar",
  back: "Voltar",
  review: "Salvar e conferir suas respostas",
  reviewTitle: "Confira suas respostas",
  reviewLead: "Elas serão impressas no documento. Nada é enviado antes de você concluir.",
  preview: "Ver o documento com suas respostas",
  finish: "Concluir e usar este documento",
  change: "Alterar",
  none: "Sem resposta",
  yes: "Sim",
  choose: "Escolha",
  optional: "opcional",
  forget: "Apagar minhas respostas",
  forgetHint: "O formulário fica vazio de novo.",
  check: "Confira o formulário",
  stale: "Estas respostas foram alteradas em outra janela. Confira o que você digitou aqui e salve de novo.",
  atMost: (most: number) => `No máximo ${most} caracteres.`,
  faults: {
    long: (most: number) => `deve ter no máximo ${most} caracteres`,
    room: "é longo demais para o seu lugar no documento",
    characters: "tem caracteres que não podem ser impressos",
    option: "deve ser uma das opções",
    missing: "é necessário",
  },
  done: {
    title: "Obrigado",
    text: "Suas respostas estão no documento, e a empresa pode continuar. Você pode fechar esta página.",
  },
  download: "Baixar o documento",
  goOn: "Continuar",
  over: {
    title: "Este formulário está fechado",
    text: "Ele foi cancelado, ou ninguém o concluiu a tempo. Peça um novo link à empresa.",
  },
  saving: "Salvando…",
  saved: "Salvo.",
  unsaved: "Não foi salvo. Verifique sua conexão; suas respostas continuam aqui.",
};
