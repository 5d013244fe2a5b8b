/** Limits that ports/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const portLimits = {
  /** Most characters that are kept of a page or a file; ours, about 1,500 printed pages. */
  knowledgeDocumentText: 4_000_000,
  /** Most bytes that are read of a crawled page, compressed and uncompressed; ours. */
  crawlBytes: 10 * 1024 * 1024,
  /** Timeout of a crawled page with all its redirects, in milliseconds; ours. */
  crawlMs: 30_000,
  /** Maximum number of redirects of a page; ours (browsers allow 20). */
  crawlRedirects: 5,
  /** Timeout to extract one document, in milliseconds; ours. */
  extractionMs: 60_000,
  /** Most extractor processes at once; ours. */
  extractionProcesses: 2,
  /** Heap of an extractor process, in megabytes; ours. */
  extractionHeapMb: 512,
  /** How long an idle extractor process is kept, in milliseconds; ours. */
  extractionIdleMs: 60_000,
  /** Documents that an extractor process reads before it is replaced; ours. */
  extractionUses: 100,
  /** Largest uncompressed size of a zipped document, in bytes; ours. */
  unpackedBytes: 256 * 1024 * 1024,
  /** Most elements of a document's markup; ours, each takes about a hundred bytes of memory. */
  documentElements: 500_000,
  /** Most cells of a workbook; ours. */
  workbookCells: 500_000,
  /** Timeout of a request for embeddings, in milliseconds; ours. */
  embeddingCallMs: 30_000,
  /** Most texts of one request for embeddings; ours, within every vendor's limit. */
  embeddingBatchTexts: 96,
  /** Most characters of one request for embeddings, unless one text alone has more; ours. */
  embeddingBatchCharacters: 100_000,
  /** Cosine similarity from which a text says something about a question, of OpenAI's `text-embedding-3-small`; ours. */
  embeddingFoundFrom: 0.35,
  /** Cosine similarity from which two questions ask for the same, of the same model; ours. */
  embeddingSameFrom: 0.65,
  /** The same of the built-in embedding, whose similarity to a text falls with the length of the text; ours. */
  offlineFoundFrom: 0.3,
  /** The same of the built-in embedding; ours. */
  offlineSameFrom: 0.55,
  /** Features of words that the built-in embedding caches: at most about 16 MB; ours. */
  offlineFeatures: 160_000,
  /** Attempts of one request to a remote storage; ours. */
  storageTries: 3,
  /** Timeout of a remote storage to connect, and to respond, in milliseconds; ours. */
  storageTimeoutMs: 30_000,
  /** Characters of a text that are examined to tell markup from text; ours. */
  markupCharacters: 64 * 1024,
  /** Timeout of a model call, in milliseconds. */
  modelCallMs: 60_000,
  /** Largest file of the widget and the playground, in bytes: that of an upload. */
  eventFileBytes: 25 * 1024 * 1024,
  /** Timeout of a request to a messenger's vendor, in milliseconds. */
  vendorCallMs: 30_000,
  /** The same for an upload. */
  vendorUploadMs: 120_000,
  /** Most characters that are kept of what a messenger's vendor says about a failure; ours. */
  failureCharacters: 300,
  /** Longest text and caption of a WhatsApp message. */
  whatsappText: 4_096,
  whatsappCaption: 1_024,
  /** Largest files of WhatsApp, in bytes. */
  whatsappImageBytes: 5 * 1024 * 1024,
  whatsappVideoBytes: 16 * 1024 * 1024,
  whatsappDocumentBytes: 100 * 1024 * 1024,
  /** Requests a second that one WhatsApp number may send. */
  whatsappPerSecond: 80,
  /** Wait after too many messages to one person on WhatsApp, which takes one in this time, in milliseconds. */
  whatsappPairMs: 6_000,
  /** Longest text of a Messenger message. */
  messengerText: 2_000,
  /** Longest text of an Instagram message, in bytes. */
  instagramText: 1_000,
  /** Largest picture, and largest other file, of Messenger and Instagram, in bytes. */
  metaImageBytes: 8 * 1024 * 1024,
  metaFileBytes: 25 * 1024 * 1024,
  /** Requests a second that one page may send. */
  metaPerSecond: 300,
  /** Hours after the customer's last message in which the company may write on Meta's messengers, and in which a person of it may. */
  metaWindowHours: 24,
  metaPersonWindowHours: 7 * 24,
  /** Largest file that a Telegram bot may send, and largest picture that it may send as a photo, in bytes. */
  telegramFileBytes: 50 * 1024 * 1024,
  telegramPhotoBytes: 10 * 1024 * 1024,
  /** Longest text and caption on Telegram, in UTF-16 units. */
  telegramText: 4096,
  telegramCaption: 1024,
  /** Messages a second that a Telegram bot may send. */
  telegramPerSecond: 30,
  /** How long a poll waits for Telegram's updates, in seconds; ours, below the idle timeout of common proxies. */
  telegramPollSeconds: 25,
  /** Timeout of a request to a bridge's connector, in milliseconds. */
  bridgeCallMs: 10_000,
  /** Most bytes that are read of a connector's response; ours. */
  bridgeResponseBytes: 64 * 1024,
  /** How many characters of a connector's refusal are shown; ours. */
  bridgeWords: 200,
  /** Longest text over the bridge, and most files of a message, as of every message. */
  bridgeText: 16_000,
  bridgeFiles: 10,
  /** Longest ID or name that a connector may send, as of every chat, and longest URL; ours. */
  bridgeString: 500,
  bridgeUrl: 2048,
  /** Longest text of a mail, as of every message. */
  mailText: 16_000,
  /** Longest mail address (RFC 5321: 64 characters, @ and 255). */
  mailAddress: 320,
  /** Characters of a mail's subject that are read: the longest line of a mail. */
  mailSubject: 998,
  /** Bytes that are read of a mail that cannot be read whole; ours. */
  mailHeadBytes: 64 * 1024,
  /** Bytes that are read of each part of a report on a delivery; ours. */
  mailReportBytes: 64 * 1024,
  /** Characters of a mail server's reason that are stored; ours. */
  mailDiagnostic: 500,
  /** Files of one mail that are received; ours. */
  mailFiles: 20,
  /** Inline images of a mail that are smaller are signs and logos, in bytes. */
  mailInlineImageBytes: 10 * 1024,
  /** Characters of a mail in which replies are told from quotes; ours, at most 100,000: it takes milliseconds, and texts of messages are shorter. */
  mailReplyText: 20_000,
  /** Characters of a mail's text that are read, or of its HTML; ours. */
  mailCharacters: 1_000_000,
  /** Time to tell what the writer of a mail wrote, in milliseconds; ours, for usual mails a hundred times enough. */
  mailTextMs: 300,
  /** Time to read one mail, or to start a process for it, in milliseconds; ours, for the largest mail thirty times enough. */
  mailReadMs: 30_000,
  /** Most mail processes at once; ours. */
  mailProcesses: 2,
  /** Heap of a mail process, in megabytes; ours. */
  mailHeapMb: 256,
  /** How long an idle mail process is kept, in milliseconds; ours. */
  mailIdleMs: 60_000,
  /** Mails that a mail process reads before it is replaced; ours. */
  mailUses: 100,
  /** Recipients of a mail among which the connected address is looked for; ours. */
  mailRecipients: 1_000,
  /** Mails of a thread that `References` names; ours. */
  mailReferences: 20,
  /** Longest Message-ID that is stored, in characters; ours, as of every ID. */
  mailIdCharacters: 500,
  /** Largest files of a mail over Resend, in bytes: its 40 MB are counted in Base64, with the text. */
  resendFileBytes: 29 * 1024 * 1024,
  /** Requests a second that Resend takes from a team. */
  resendPerSecond: 5,
  /** Largest files of a mail over Gmail, in bytes. */
  gmailFileBytes: 25 * 1024 * 1024,
  /** Mails a second over Gmail; ours, within its quota of a user. */
  gmailPerSecond: 2,
  /** Size of a mail from which on Gmail takes it as an upload, in bytes. */
  gmailUploadBytes: 5 * 1024 * 1024,
  /** Pause between polls of Gmail, in milliseconds. */
  gmailPollMs: 10_000,
  /** Mails that one poll reads; ours: the others follow with the next. */
  gmailPollMails: 20,
  /** How much earlier than the last poll mails are looked for when Gmail has forgotten what came since, in seconds; ours. */
  gmailOverlapSeconds: 60,
  /** Sent mails among which one is looked for; ours. */
  gmailSentMails: 50,
  /** How long before it expires an access token is renewed, in milliseconds; ours. */
  gmailTokenEarlyMs: 60_000,
  /** Access tokens that are kept; ours. */
  gmailTokens: 10_000,
  /** Timeout to connect to a customer's address, in milliseconds; ours. */
  guardedConnectMs: 10_000,
  /** Levels of nesting in a document's markup; ours. */
  documentDepth: 256,
  /** Longest wait before the second attempt of a request to a remote storage, in milliseconds; it doubles with each; ours. */
  storageRetryMs: 200,
  /** How long a simulated telephone rings, in milliseconds. */
  simulatedRingMs: 500,
  /** How long a simulated conversation takes without the time of the model, in milliseconds. */
  simulatedTalkMs: 2_500,
  /** Words a second on a simulated call. */
  simulatedWordsPerSecond: 2.5,
  /** Samples a second of a simulated recording. */
  simulatedSampleRate: 8_000,
  /** Longest simulated recording. */
  simulatedRecordingSeconds: 30,
  /** Timeout of a request to a voice provider. */
  voiceRequestMs: 30_000,
  /** Oldest signature of a voice provider's webhook that is accepted. */
  voiceWebhookSeconds: 30 * 60,
  /** Longest ID of a voice provider or of the telephone network; ours. */
  voiceIdCharacters: 255,
  /** Longest part of a voice provider's words that is shown; ours. */
  voiceWordsCharacters: 200,
  /** Time to read the tools of an MCP server, in milliseconds. */
  mcpListMs: 10_000,
  /** Most bytes that are read of such a server for its tools. */
  mcpListBytes: 1024 * 1024,
  /** Most pages of such a list; ours, one tool each is enough. */
  mcpListPages: 128,
  /** Most bytes that are read for the result of an MCP tool, pictures included; ours. */
  mcpResultBytes: 4 * 1024 * 1024,
  /** Most pictures of a result that are kept; ours, as many as a message may have files. */
  mcpPictures: 10,
  /** Longest description of a server's protocol that is kept between calls, in characters of JSON; ours. */
  mcpProtocolCharacters: 16 * 1024,
  /** Tokens of the client credentials grant that a process keeps; ours. */
  mcpTokens: 1_000,
  /** Life of a token whose authorization server does not say it, and how long before its end it is replaced, in seconds; ours. */
  mcpTokenDefaultSeconds: 300,
  mcpTokenMarginSeconds: 30,
} as const
