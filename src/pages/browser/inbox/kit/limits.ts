/** Numbers of the inbox. */
export const inboxLimits = {
  /** Chats and messages of a page. */
  pageSize: 50,
  /** Longest name of a knowledge item, in UTF-16 units: never more code points than the server takes. */
  knowledgeName: 200,
  /** Longest question for a rating, likewise. */
  ratingQuestion: 200,
  /** Pause between two pings of the socket, and the longest wait for an answer, in milliseconds. */
  keepAliveMs: 10_000,
  /** The longest pause between two attempts to connect, in milliseconds. */
  longestPauseMs: 10_000,
  /** The pause before the first attempt to connect again, in milliseconds; it doubles with each. */
  firstPauseMs: 250,
  /** A subscription that the server ended is started again after this time, in milliseconds. */
  subscribeAgainMs: 1_000,
  /** The longest time for which an event waits for the answers to earlier requests, in milliseconds. */
  heldMs: 10_000,
  /** A token that is valid for less than this is refreshed before a request, in milliseconds. */
  refreshBeforeMs: 30_000,
  /** Messages that are shown or left out together … */
  stretch: 50,
  /** … and how far from what is in sight they are still shown, in pixels: about a hundred messages. */
  keptPixels: 10_000,
  /** How long a notice is shown, in milliseconds. */
  noticeMs: 8_000,
  /** How long a button asks whether it is meant, in milliseconds. */
  confirmMs: 5_000,
  /** Pause between two looks whether knowledge is indexed or a voice agent is ready, in milliseconds. */
  pendingPollMs: 2_000,
  /** A search begins this long after the last key, in milliseconds. */
  searchPauseMs: 250,
  /** The next page is read when fewer pixels than this are left. */
  ahead: 600,
  /** Characters of a comment and of a label, by the schema. */
  commentMax: 2_000,
  labelMax: 64,
  /** Silence that ends a call and length of a call, in seconds: the longest, and what the server would choose. */
  voiceSilence: { max: 600, usual: 30 },
  voiceDuration: { max: 14_400, usual: 600 },
  /** Characters of a chat's ID by which a customer without a name is told from others. */
  shortId: 4,
  /** A text of a foreign server that has more characters or lines than this is folded. */
  unfolded: { characters: 300, lines: 6 },
  /** Height of a chat in the list, as in `style/list.css`, in pixels. */
  itemHeight: 76,
  /** A report that takes longer than this says why, in milliseconds. */
  slowReportMs: 2_000,
  /** Periods of more days than this are shown by weeks at first. */
  daysOfDayChart: 45,
  /** Height of the chart, in pixels. */
  chartHeight: 260,
  /** How many causes of a fall are listed at most, and the least part of the change that one has: half a percentage point. */
  changesShown: 6,
  leastChange: 0.005,
  /** Conversations that people answered in a part of the breakdowns, from which it counts as a cause. */
  leastConversations: 2,
  /** Share of a time from which its change is called better or worse. */
  leastTimeChange: 0.2,
  /** Unanswered questions that the overview of outcomes counts, and how many of them it shows. */
  questionsCounted: 100,
  questionsShown: 5,
}
