package io.turbidite.feeds;

import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

/** A partition that is being read. <em>Confined to the thread of its worker.</em> */
final class OpenPartition implements AutoCloseable {
    final String name;
    final PartitionReader reader;

    /** Behind what is published, or taken by earlier runs. */
    @Nullable
    SourcePosition published;

    /** Of what the reader says that it has read, what another one has read. */
    private final long bytesBefore;

    /** Whether nothing of the partition counts yet. */
    boolean startsAnew;

    /** Whether the reader has said that there is nothing more. */
    boolean hasEnded;

    /** Set while the run reads from a record that was taken in part. */
    @Nullable
    Continuation continuation;

    /** @param wasMoved whether another reader of this run has read of it */
    OpenPartition(
            String name, PartitionReader reader, @Nullable PartitionState taken, boolean wasMoved) {
        this.name = name;
        this.bytesBefore = wasMoved ? reader.bytesRead() : 0;
        this.reader = reader;
        this.published = taken == null ? null : taken.position();
        this.startsAnew = reader.startsAnew();
    }

    /** How much was read by this reader, for progress. */
    long bytesRead() {
        return reader.bytesRead() - bytesBefore;
    }

    @Override
    public void close() {
        reader.close();
    }
}
