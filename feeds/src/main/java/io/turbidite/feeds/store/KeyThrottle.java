package io.turbidite.feeds.store;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.Xxh3;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.ThrottlePolicy;
import io.turbidite.lsm.Dataset;

/**
 * The policy {@code throttle} over the primary keys of a dataset. Each parse worker has one; they
 * share the decision, and its lock. <em>Confined to the thread of its worker.</em>
 */
public final class KeyThrottle implements RecordPolicy {
    private final KeySpec keySpec;
    private final ThrottlePolicy policy;
    private final Clock clock;
    private final RecordView view;
    private final ByteSink key = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);

    /** Of the records of {@code dataset}, by the monotonic clock. */
    public KeyThrottle(Dataset dataset, ThrottlePolicy policy, Clock clock) {
        // equal values have one hash, in a dataset of an older key form too
        this.keySpec =
                KeySpec.of(dataset.type(), dataset.primaryKey(), "primary key", KeyForm.CURRENT);
        this.policy = policy;
        this.clock = clock;
        this.view = new RecordView(dataset.type());
    }

    @Override
    public boolean takes(Slice record) {
        view.wrap(record);
        if (keySpec.hasNullOrMissing(view)) {
            return true; // the dataset refuses it, so it takes no part of the rate
        }
        key.clear();
        try {
            keySpec.append(view, key);
        } catch (InvalidRequestException tooLong) {
            return true; // as above
        }
        long hash = Xxh3.hash(key.segment(), 0, key.length());
        synchronized (policy) { // of all parse workers; time is taken within, so it never goes back
            return policy.takes(hash, clock.monotonicNanos());
        }
    }
}
