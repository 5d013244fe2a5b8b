/** Limits that events/ enforces, from the specification and the contract; "ours" marks a value that neither of them gives. Times end in their unit, sizes in `Bytes` or `Characters`; plain text lengths are Unicode code points after trimming. */
export const eventLimits = {
  /** How long the sequencer waits for further commits before a batch when traffic is low. */
  eventBatchMs: 5,
  /** The longest such wait: one batch of many events costs the database a third of single ones. */
  eventBatchMaxMs: 50,
  /** Most events that get positions in one transaction, and that one read returns. */
  eventBatch: 500,
  /** How often the log is polled for events of crashed instances. */
  eventSweepMs: 1_000,
  /** Live events that may wait for a slow subscriber before it is closed with 1013. */
  subscriberBacklog: 1_000,
  /** Largest progress message as JSON; ours, since a PostgreSQL notification holds 8,000 bytes. */
  progressBytes: 7_500,
  /** How often an instance announces which chats have subscribers to progress; ours. */
  watchAnnouncementMs: 5_000,
  /** Most chats with subscribers to progress that an instance remembers; ours. */
  watchedChats: 10_000,
  /** Open sockets of a revoked credential are closed within this time; they are checked this often without a wake-up. */
  revokedSocketMs: 1_000,
  /** Interval of the pings that find sockets whose client is gone; ours, graphql-ws's default. */
  socketPingMs: 12_000,
  /** Unsent bytes of a socket beyond which it is not read until its client has read; ours. */
  socketReadAheadBytes: 64 * 1024,
  /** Executions for events that run at once for all subscriptions of a company, or of a signed-in user, in an instance; ours. */
  eventExecutions: 4,
  /** Messages of a socket that are handled before other connections are; those that were read with them are still handled; ours. */
  socketMessagesAtOnce: 10,
  /** Unsent bytes of a socket beyond which it is closed with 1013. */
  socketUnsentBytes: 4 * 1024 * 1024,
  /** Unsent bytes of a socket beyond which it is closed at once, without time to read; ours. */
  socketBurstBytes: 16 * 1024 * 1024,
  /** How long a client has to read what is beyond that, since one large result may be; ours. */
  socketUnsentMs: 1_000,
  /** Queries and mutations that run at once on a socket. */
  socketOperations: 50,
  /** Subscriptions of a socket. */
  socketSubscriptions: 100,
  /** Subscriptions of a visitor's socket. */
  visitorSubscriptions: 10,
  /** Subscriptions of a credential in a process. */
  credentialSubscriptions: 5_000,
  /** Largest message of a Socket.IO client. */
  socketIoMessageBytes: 64 * 1024,
  /** How long a connection of Socket.IO may be without a namespace after its handshake. */
  socketIoConnectMs: 10_000,
  /** Interval of Socket.IO's pings. */
  socketIoPingMs: 25_000,
  /** How long a client of Socket.IO has to answer a ping. */
  socketIoPingAnswerMs: 20_000,
  /** Messages that a Socket.IO client may send in a second before its connection is cut; ours, since it has few to send. */
  socketIoMessagesPerSecond: 100,
  /** Connections of Socket.IO without a namespace that a client address has at once; ours. */
  socketIoUnopened: 1_000,
  /** Packets that wait for a client that catches up before no further events are read for it; ours: with polling, one response has as many. */
  socketIoAheadPackets: 100,
  /** Their size; ours. */
  socketIoAheadBytes: 256 * 1024,
  /** Over this time sockets are closed at a stop, so that their clients do not return all at once. */
  stopSpreadMs: 5_000,
  /** Interval at which some of them are closed; ours. */
  stopStepMs: 25,
} as const
