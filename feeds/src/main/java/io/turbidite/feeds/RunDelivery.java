package io.turbidite.feeds;

import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.Batch.Leftover;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.Rejection;
import io.turbidite.feeds.source.SourceHost.Gaps;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicLong;

/**
 * What the pipeline's thread does with a batch: delivers it, counts, and has the source told what
 * is durable. <em>Confined to that thread</em>, but for {@link #dropped}.
 *
 * <p>Of what an earlier run has left in a spill:
 *
 * <ul>
 *   <li>nothing is told, for no sender of this run has sent it,
 *   <li>what was delivered before the end of that run is passed over, as everywhere,
 *   <li>what was acknowledged is delivered although what lies before it is lost, which a durability
 *       weaker than {@code sync} allows: the gap is told,
 *   <li>what was not, and lies behind a gap, was promised to nobody and is passed over.
 * </ul>
 */
final class RunDelivery {
    private final Delivery delivery;
    private final FeedSource source;
    private final FeedMeters meters;
    private final Gaps gaps;

    /** Of what an earlier run has left: then there is one lane. */
    private volatile boolean isQuiet;

    private final AtomicLong dropped = new AtomicLong();

    RunDelivery(Delivery delivery, FeedSource source, FeedMeters meters, Gaps gaps) {
        this.delivery = delivery;
        this.source = source;
        this.meters = meters;
        this.gaps = gaps;
        delivery.whenDurable(new Delivery.DurableListener() {
            @Override
            public void rejected(String partition, Rejection rejection) {
                if (!isQuiet) {
                    source.rejected(partition, rejection);
                }
            }

            @Override
            public void dropped(String partition, long place) {
                if (!isQuiet) {
                    source.dropped(partition, place);
                }
            }

            @Override
            public void durable(String partition, SourcePosition position) {
                if (!isQuiet) {
                    source.durable(partition, position);
                }
            }
        });
    }

    /**
     * Delivers by a lane; by its thread.
     *
     * @return false if the batch is to come again
     */
    boolean deliver(Delivery.Lane lane, Batch batch) {
        Delivery.Delivered delivered;
        try {
            isQuiet = batch.leftover() != Leftover.NONE;
            if (isQuiet && !mayFollow(batch)) {
                return true;
            }
            delivered = lane.deliver(batch);
        } catch (RuntimeException | Error e) {
            source.failed();
            throw e;
        }
        if (delivered == null) {
            return false;
        }
        dropped.addAndGet(batch.droppedCount());
        meters.stored(delivered.accepted(), delivered.refused());
        return true;
    }

    private boolean mayFollow(Batch batch) {
        PartitionState taken = delivery.taken(batch.partition());
        SourcePosition position = taken == null ? null : taken.position();
        SourcePosition follows = batch.follows();
        boolean isGap = follows != null && (position == null || follows.compareTo(position) > 0);
        if (!isGap) {
            return true;
        }
        if (batch.leftover() != Leftover.ACKNOWLEDGED) {
            return false;
        }
        gaps.missed(batch.partition(), number(position), number(follows));
        batch.followInstead(position);
        return true;
    }

    /** The place of a source that counts; 0 of another one. */
    private static long number(@Nullable SourcePosition position) {
        return position != null && position.isNumber() ? position.number() : 0;
    }

    /** The number of records that were left out, because the definition says so. */
    long dropped() {
        return dropped.get();
    }
}
