/** An error of the environment that an operator must mend: it is printed as a sentence, without a stack. */
export const sentence = (message: string, cause?: unknown): Error => Object.assign(new Error(message, { cause }), { stack: undefined })
