/** An error that an operator can correct; it is printed without a stack. */
export const operatorError = (message: string, cause?: unknown): Error => Object.assign(new Error(message, { cause }), { stack: undefined })
