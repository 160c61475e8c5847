package io.turbidite.feeds;

import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery;

import java.util.Map;
import java.util.function.BooleanSupplier;

/**
 * The rows of the source's partitions, as a run lets the source change them. <em>Confined to the
 * thread that asks the source for its partitions.</em>
 *
 * @param isDelivered whether no batch that the source was told to be durable waits for the store
 */
record RunRows(Delivery delivery, FeedMeters meters, BooleanSupplier isDelivered)
        implements SourceHost.Rows {
    @Override
    public boolean areDelivered() {
        return isDelivered.getAsBoolean();
    }

    @Override
    public Map<String, SourcePosition> forget(Map<String, SourcePosition> partitions) {
        Map<String, SourcePosition> kept = delivery.forget(partitions);
        meters.forgot((long) partitions.size() - kept.size());
        return kept;
    }

    @Override
    public void touch(Map<String, SourcePosition> partitions, long wallMicros) {
        delivery.touch(partitions, wallMicros);
    }

    @Override
    public void known(int partitions) {
        meters.knows(partitions);
    }
}
