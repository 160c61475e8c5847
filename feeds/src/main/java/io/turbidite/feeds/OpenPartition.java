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

    /** Whether nothing of the partition counts yet. */
    boolean startsAnew;

    /** Whether the reader has said that there is nothing more. */
    boolean hasEnded;

    /** Set while the run reads from a record that was taken in part. */
    @Nullable
    Continuation continuation;

    OpenPartition(String name, PartitionReader reader, @Nullable PartitionState taken) {
        this.name = name;
        this.reader = reader;
        this.published = taken == null ? null : taken.position();
        this.startsAnew = reader.startsAnew();
    }

    @Override
    public void close() {
        reader.close();
    }
}
