package io.turbidite.ops.job;

import io.turbidite.core.Cleanup;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.run.Rows;

import java.util.ArrayList;
import java.util.List;

/** The rows of several inputs, of whichever has some. <em>Confined to one thread at a time.</em> */
final class UnitedRows implements Rows {
    private final List<Rows> all;
    private final List<Rows> open;
    private final RecordView row;
    private final Slice bytes = new Slice();
    private int current;
    private boolean paused;

    UnitedRows(RecordType type, List<Rows> inputs) {
        this.row = new RecordView(type);
        this.all = List.copyOf(inputs);
        this.open = new ArrayList<>(inputs);
    }

    @Override
    public boolean next() {
        for (int tries = open.size(); tries > 0; tries--) {
            current = current >= open.size() ? 0 : current;
            Rows rows = open.get(current);
            if (rows.next()) {
                paused = false;
                row.wrap(rows.row().record(bytes));
                return true;
            }
            if (rows.isPaused()) {
                current++;
            } else {
                open.remove(current);
                rows.close();
            }
        }
        paused = !open.isEmpty();
        return false;
    }

    @Override
    public boolean isPaused() {
        return paused;
    }

    @Override
    public RecordView row() {
        return row;
    }

    @Override
    public void close() {
        new Cleanup().addAll(all, Rows::close).run();
    }
}
