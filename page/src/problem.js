/** A mistake in a table or an answer, said in words that name the place and the remedy. */
export class Problem extends Error {}
