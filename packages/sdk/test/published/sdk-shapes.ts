/** Calls each operation through the client. */
export const calls = {
  getMe: "me",
  createOrder: "orders.create",
  listOrders: "orders.list",
  getOrder: "orders.get",
  listOrderDocuments: "orders.documents",
  downloadOrderDocument: "orders.document",
  listSigners: "orders.signers",
  remindSigner: "orders.remindSigner",
  replaceSigner: "orders.replaceSigner",
  unlockSigner: "orders.unlockSigner",
  readInPersonRequest: "orders.inPerson",
  answerInPersonRequest: "orders.answerInPerson",
  verifyEnvelope: "orders.verifyEnvelope",
  mintCheckout: "orders.checkout",
  sandboxCheckout: "sandbox.checkout",
  sandboxAdvance: "sandbox.advance",
  getTestClock: "sandbox.clock.get",
  advanceTestClock: "sandbox.clock.advance",
  resetTestClock: "sandbox.clock.reset",
  createRoom: "rooms.create",
  listRooms: "rooms.list",
  viewRoom: "rooms.view",
  attachOrder: "rooms.attach",
  detachOrder: "rooms.detach",
  rotateRoom: "rooms.rotate",
  closeRoom: "rooms.close",
  reopenRoom: "rooms.reopen",
  listParticipants: "rooms.participants",
  addParticipant: "rooms.addParticipant",
  removeParticipant: "rooms.removeParticipant",
  sealRoom: "rooms.seal",
  verifyRoomPassport: "rooms.verify",
  downloadClosingCertificate: "rooms.certificate",
  sealPassport: "passports.seal",
  getPassport: "passports.get",
  verifyPassport: "passports.verify",
  downloadSealedPdf: "passports.document",
  downloadEvidence: "passports.evidence",
  downloadProofCertificate: "passports.certificate",
  downloadOwnProofCertificate: "passports.ownCertificate",
  createPassportWebhook: "passports.subscribe",
  deletePassportWebhook: "passports.unsubscribe",
  listWebhooks: "webhooks.list",
  createWebhook: "webhooks.create",
  deleteWebhook: "webhooks.remove",
  rotateWebhookSecret: "webhooks.rotate",
  listWebhookDeliveries: "webhooks.feed",
  listDeliveries: "webhooks.deliveries",
  getDelivery: "webhooks.delivery",
  replayDelivery: "webhooks.replay",
  getDeliveryExchange: "webhooks.exchange",
  replayFailedDeliveries: "webhooks.replayFailed",
  getWebhookPublicKey: "webhooks.publicKey",
  makeWebhookPublicKey: "webhooks.makePublicKey",
  listEvents: "events.list",
  testWebhook: "webhooks.test",
  getWebhookSignatureExample: "webhooks.signatureExample",
  getAnalytics: "analytics",
  getLaunchpad: "launchpad",
  requestAccess: "requestAccess",
  listPlaybooks: "playbooks.list",
  runPlaybook: "playbooks.run",
} as const;

/** Operations for people and for the dashboard, which the client omits. */
export const notInClient = ["linkPartner"];

/** Client calls that are not operations: lists over all pages, and a client with other options. */
export const ownCalls = [
  "orders.all",
  "rooms.all",
  "webhooks.allDeliveries",
  "webhooks.replayAllFailed",
  "events.follow",
  "with",
  "withResponse",
];

/** Pairs each type that the SDK exports with its published type. */
export const types = {
  AccessRequest: "Schemas['PartnerRequest']",
  AccessAnswer: "Schemas['PartnerRequestAnswer']",
  Analytics: "Schemas['Analytics']",
  Launchpad: "Schemas['Launchpad']",
  Playbook: "Schemas['PlaybookList']['playbooks'][number]",
  DeliveryExchange: "Answers['getDeliveryExchange']",
  ReplayedFailures: "Answers['replayFailedDeliveries']",
  WebhookPublicKey: "Schemas['WebhookPublicKey']",
  DeliveryList: "Schemas['WebhookDeliveryList']",
  RoomList: "Schemas['RoomList']",
  ClosingManifest: "Schemas['ClosingManifest']",
  ClosingPassport: "Schemas['ClosingPassport']",
  ClosingVerification: "Schemas['ClosingVerification']",
  CreatedOrder: "Schemas['CreatedOrder']",
  CreatedRoom: "Schemas['CreatedRoom']",
  CreatedWebhook: "Schemas['CreatedWebhook']",
  Delivery: "Schemas['WebhookDelivery']",
  EnvelopeVerification: "Schemas['EnvelopeVerification']",
  Me: "Schemas['Me']",
  OrderCard: "Schemas['OrderCard']",
  OrderDetail: "Schemas['OrderDetail']",
  OrderDocument: "Schemas['OrderDocument']",
  OrderDocuments: "Schemas['OrderDocuments']",
  OrderEventData: "Extract<Webhooks, { type: 'order.created' }>['data']",
  OrderLine: "Schemas['OrderLine']",
  DocumentNotice: "Schemas['DocumentNotice']",
  OrderList: "Schemas['OrderList']",
  OrderSignerState: "Schemas['OrderSignerState']",
  OrderSigners: "Schemas['OrderSigners']",
  OrderInPerson: "Schemas['OrderInPerson']",
  InPersonAnswer: "Schemas['InPersonAnswer']",
  OrderSummary: "Schemas['OrderSummary']",
  Participant: "Schemas['ParticipantList']['participants'][number]",
  Passport: "Schemas['Passport']",
  PassportVerification: "Schemas['PassportVerification']",
  PassportWebhook: "Schemas['PassportWebhook']",
  SignerEventData: "Extract<Webhooks, { type: 'signature.signed' }>['data']",
  RoomSummary: "Schemas['RoomSummary']",
  RoomView: "Schemas['RoomView']",
  RotatedSecret: "Schemas['RotatedSecret']",
  SandboxOutcome: "Schemas['SandboxCheckout']['outcome']",
  SandboxStep: "Schemas['SandboxAdvance']",
  SealedPassport: "Schemas['SealedPassport']",
  SignerAuth: "NonNullable<Forms['createOrder']['signer_auth']>",
  SignatureExample: "Schemas['WebhookSignatureExample']",
  StatusGroup: "Schemas['OrderCard']['statusGroup']",
  TestClock: "Schemas['TestClock']",
  Topic: "Schemas['NewWebhook']['topics'][number]",
  Webhook: "Schemas['Webhook']",
  WebhookEvent: "Webhooks",
};

/**
 * Answers that the SDK types more precisely than the description: the payload of an event is one of the webhook bodies.
 */
export const narrowerAnswers: ReadonlySet<string> = new Set(["listEvents"]);
export const narrowerTypes = { EventFeed: "Schemas['WebhookEventFeed']", FeedEvent: "Schemas['WebhookEvent']" };

/** Input types, with the SDK's member names. */
export const givenTypes = {
  FieldOption: "NonNullable<NonNullable<Forms['createOrder']['fields']>[number]['options']>[number]",
  NumberFormat: "Exclude<NonNullable<NonNullable<Forms['createOrder']['fields']>[number]['format']>, string>",
  SignatureField: "NonNullable<Forms['createOrder']['fields']>[number]",
  Signer: "NonNullable<Forms['createOrder']['signers']>[number]",
  SignerReplacement: "Schemas['SignerReplacement']",
};

/** Types of form and query fields. Their values are text on the wire, so only the names are compared. */
export const fieldTypes = {
  OrderFields: "Exclude<keyof Forms['createOrder'], 'document'>",
  DeliveryQuery: "Queries['listDeliveries']",
  OrderQuery: "Queries['listOrders']",
};

/** Types outside the published interface. */
export const ownTypes = [
  "ChainFault",
  "ChainedEvent",
  "Client",
  "ClientOptions",
  "ConnectionError",
  "NamedPdf",
  "EventQuery",
  "Pdf",
  "Place",
  "SentRequest",
  "SentResponse",
  "ServiceRefusal",
  "WebhookReason",
  "WebhookRefusal",
  "WriteOptions",
];

/** The argument type from which the client builds the JSON body of an operation. */
export const bodies = {
  sandboxCheckout: "{ outcome: NonNullable<Parameters<Client['sandbox']['checkout']>[1]> }",
  sandboxAdvance: "{ event: NonNullable<Parameters<Client['sandbox']['advance']>[1]> | null }",
  advanceTestClock: "Parameters<Client['sandbox']['clock']['advance']>[0]",
  requestAccess: "Parameters<Client['requestAccess']>[0]",
  createRoom: "Parameters<Client['rooms']['create']>[0]",
  attachOrder: "Parameters<Client['rooms']['attach']>[1]",
  addParticipant: "Parameters<Client['rooms']['addParticipant']>[1]",
  createPassportWebhook: "{ url: Parameters<Client['passports']['subscribe']>[0] }",
  createWebhook: "Parameters<Client['webhooks']['create']>[0]",
};

/** The argument type from which the client builds the query of an operation. */
export const queries = {
  listOrders: "NonNullable<Parameters<Client['orders']['list']>[0]>",
  listRooms: "NonNullable<Parameters<Client['rooms']['list']>[0]>",
  listDeliveries: "NonNullable<Parameters<Client['webhooks']['deliveries']>[0]>",
};
