package io.turbidite.ops.scan;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;

/** The one record that a whole primary key names, if it is there. <em>Confined to one thread.</em> */
public final class OneRecord implements RecordStream {
    private final ReadView view;
    private final Slice key;
    private final ByteSink bytes = new ByteSink(1 << 10, Limits.RECORD_BYTES_MAX);
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
        if (asked || !view.get(key, bytes)) {
            asked = true;
            return false;
        }
        asked = true;
        found = 1;
        bytes.asSlice(record);
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
        // nothing is open between calls
    }
}
