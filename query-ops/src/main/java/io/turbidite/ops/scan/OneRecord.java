package io.turbidite.ops.scan;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.bytes.SpareSinks;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

/**
 * The one record that a whole primary key names, if it is there. <em>Confined to one thread.</em>
 */
public final class OneRecord implements RecordStream {
    private final ReadView view;
    private final Slice key;

    /** Taken for the length of the query; null once that is over. */
    private @Nullable ByteSink bytes;

    private final Slice record = new Slice();
    private boolean asked;
    private int found;

    /**
     * @param key encoded
     */
    public OneRecord(ReadView view, Slice key) {
        assert key.length() > 0;
        this.view = view;
        this.key = key;
    }

    @Override
    public boolean next() {
        if (asked) {
            return false;
        }
        asked = true;
        ByteSink target = SpareSinks.take();
        bytes = target;
        if (!view.get(key, target)) {
            return false;
        }
        found = 1;
        target.asSlice(record);
        return true;
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public long timestamp() {
        throw new UnsupportedOperationException("a get tells no timestamp");
    }

    @Override
    public Slice record() {
        return record;
    }

    @Override
    public long visitedCount() {
        return found;
    }

    @Override
    public void close() {
        ByteSink used = bytes;
        if (used != null) {
            bytes = null;
            record.clear();
            SpareSinks.give(used);
        }
    }
}
