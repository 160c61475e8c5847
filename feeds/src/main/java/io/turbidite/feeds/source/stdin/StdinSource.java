package io.turbidite.feeds.source.stdin;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;

import org.jspecify.annotations.Nullable;

import java.io.InputStream;
import java.util.List;

/**
 * A stream as one partition. Its positions count records, on from those of earlier runs, whose
 * input is gone. <em>Confined to one thread at a time.</em>
 */
final class StdinSource implements FeedSource {
    private static final String PARTITION = "stdin";

    private final InputStream in;
    private @Nullable Piped piped;
    private boolean hasEnded;

    StdinSource(InputStream in) {
        this.in = in;
    }

    @Override
    public List<String> partitions() {
        return hasEnded ? List.of() : List.of(PARTITION);
    }

    @Override
    public boolean canGoBack() {
        return false;
    }

    @Override
    public boolean isOnePartition() {
        return true;
    }

    @Override
    public boolean isEndless() {
        return true;
    }

    @Override
    public boolean hasEnded() {
        return hasEnded;
    }

    @Override
    public boolean hasNews() {
        Piped begun = piped;
        return begun == null || begun.hasMore() || begun.hasEnded();
    }

    @Override
    public PartitionReader open(String partition, @Nullable PartitionState taken, SourceHost host) {
        if (piped != null) {
            throw new InvalidRequestException(
                    "feed %s has read its standard input, which cannot be read again"
                            .formatted(host.feed()));
        }
        if (taken != null && !taken.position().isNumber()) {
            throw new InvalidRequestException(
                    "feed %s has read %s from another kind of source; give it another name"
                            .formatted(host.feed(), partition));
        }
        Piped begun = Piped.start(in, host.tasks()::signal);
        piped = begun;
        return new StdinReader(
                begun, host, taken == null ? 0 : taken.position().number(), () -> hasEnded = true);
    }

    @Override
    public void close() {
        Piped begun = piped;
        if (begun != null) {
            begun.close();
        }
    }
}
