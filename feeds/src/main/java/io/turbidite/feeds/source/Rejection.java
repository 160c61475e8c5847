package io.turbidite.feeds.source;

/**
 * A record that became a dead letter. <em>Immutable.</em>
 *
 * @param offset where the record stood in its partition, as its frame said
 * @param line likewise
 * @param reason a sentence
 */
public record Rejection(long offset, long line, String reason) {}
