package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.TimedRows;

import java.util.List;

/** Rows that are there already. <em>Confined to one thread;</em> gives them once. */
public final class ValuesPlan implements ResultPlan {
    /** Rows between two looks whether the query was stopped. */
    private static final int STOP_INTERVAL = 1_024;

    private final RecordType type;
    private final List<Slice> encoded;
    private final RunOptions options;
    private final OperatorMeter meter = new OperatorMeter();

    /** Gives these encoded rows. */
    public ValuesPlan(RecordType type, List<Slice> encoded, RunOptions options) {
        this.type = type;
        this.encoded = List.copyOf(encoded);
        this.options = options;
    }

    @Override
    public RecordType rowType() {
        return type;
    }

    @Override
    public boolean isCount() {
        return false;
    }

    @Override
    public String access() {
        return "values";
    }

    @Override
    public List<Plan.Choice> choices() {
        return List.of();
    }

    @Override
    public List<PlanStep> steps() {
        return List.of(new PlanStep("values", type.names(), encoded.size(), meter));
    }

    @Override
    public Rows rows() {
        return TimedRows.of(untimed(), options, meter);
    }

    private Rows untimed() {
        RecordView row = new RecordView(type);
        return new Rows() {
            private int next;

            @Override
            public boolean next() {
                if (next == encoded.size()) {
                    return false;
                }
                if (next % STOP_INTERVAL == 0) {
                    options.checkNotStopped();
                }
                row.wrap(encoded.get(next++));
                meter.add(1);
                return true;
            }

            @Override
            public RecordView row() {
                return row;
            }

            @Override
            public void close() {
                next = encoded.size();
            }
        };
    }
}
