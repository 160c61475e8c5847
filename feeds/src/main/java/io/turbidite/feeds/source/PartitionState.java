package io.turbidite.feeds.source;

/**
 * What a feed has taken of one partition of its source, as its row in {@code _feeds} says.
 * <em>Immutable.</em>
 *
 * @param position behind everything that was taken
 * @param sequence batches that were applied; 0 if an older release wrote the row
 * @param records how many the store accepted
 * @param rejected how many became dead letters
 * @param writtenMicros when the row was written, by the wall clock; 0 if it does not say
 */
public record PartitionState(
        SourcePosition position, long sequence, long records, long rejected, long writtenMicros) {
    /** What no row says when it was written. */
    public PartitionState(SourcePosition position, long sequence, long records, long rejected) {
        this(position, sequence, records, rejected, 0);
    }

    /** The same, in a row that is written at that time. */
    public PartitionState writtenAt(long wallMicros) {
        return new PartitionState(position, sequence, records, rejected, wallMicros);
    }
}
