/** A fault of the surroundings, which a person has to repair: it is told as a sentence, without a place in the code. */
export const sentence = (message: string, cause?: unknown): Error => Object.assign(new Error(message, { cause }), { stack: undefined })
