package io.turbidite.ops;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.plan.ResultPlan;
import io.turbidite.ops.plan.ValuesPlan;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Rows that the caller gives: to be joined with records, or to stand for a table.
 *
 * <pre>{@code
 * RecordType type = RecordType.builder().field("code", "string").field("rank", "int32").build();
 * Values ranks = Values.of(type, List.of(Map.of("code", "JFK", "rank", 1)));
 * }</pre>
 *
 * <p>They are encoded at once, and lie on the heap. <em>Confined to one thread.</em>
 */
public final class Values extends Relation {
    private final RecordType type;
    private final List<Slice> encoded;

    private Values(RecordType type, List<Slice> encoded) {
        this.type = type;
        this.encoded = List.copyOf(encoded);
    }

    /**
     * Rows of a type, in this order.
     *
     * @param rows their fields by name; a field that is not optional must be there
     * @throws InvalidRequestException if a value does not fit its field
     */
    public static Values of(
            RecordType type, List<? extends Map<String, ? extends @Nullable Object>> rows) {
        RecordWriter writer = new RecordWriter(Given.notNull(type, "the type of values"));
        List<Slice> encoded = new ArrayList<>();
        for (Map<String, ? extends @Nullable Object> row : Given.notNull(rows, "the rows")) {
            encoded.add(Slice.of(writer.write(row).toByteArray()));
        }
        return new Values(type, encoded);
    }

    @Override
    public RecordType type() {
        return type;
    }

    @Override
    public Values with(RunOptions newOptions) {
        set(Given.notNull(newOptions, "the options of values"));
        return this;
    }

    @Override
    ResultPlan plan(Moments moments, RunOptions given) {
        return new ValuesPlan(type, encoded, given);
    }

    @Override
    List<Relation> inputs() {
        return List.of();
    }

    @Override
    boolean keepsRows() {
        return false;
    }
}
