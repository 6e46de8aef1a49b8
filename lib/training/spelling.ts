/** How the replies of a model become tokens. */
export interface Spelling {
  /**
   * Token ids of a reply, end token included; null where the vocabulary cannot spell it, `later` where the engine does
   * that itself, elsewhere, when it learns from the reply.
   */
  encodeReply(text: string): readonly number[] | 'later' | null;
  /** True where the ids are one whole reply in this model's vocabulary. */
  isReply(ids: readonly number[]): boolean;
}
