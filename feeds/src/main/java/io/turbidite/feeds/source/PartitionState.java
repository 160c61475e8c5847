package io.turbidite.feeds.source;

/**
 * What a feed has taken of one partition of its source, as its row in {@code _feeds} says.
 * <em>Immutable.</em>
 *
 * @param position behind everything that was taken
 * @param sequence batches that were applied; 0 if an older release wrote the row
 * @param records how many the store accepted
 * @param rejected how many became dead letters
 */
public record PartitionState(SourcePosition position, long sequence, long records, long rejected) {}
