/** The job that answers a chat. */
export const replyJob = "reply"

/** The job that sends the queued messages of a chat. */
export const deliverJob = "deliver"
