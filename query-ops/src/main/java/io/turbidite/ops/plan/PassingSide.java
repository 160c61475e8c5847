package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.join.JoinSide;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Objects;

/**
 * The side of a join that is not held: once the keys of the held one are known, it may be read by
 * an index of them. <em>Confined to one thread.</em>
 */
final class PassingSide {
    private final ResultPlan all;
    private @Nullable Plan narrowed;

    PassingSide(ResultPlan all) {
        this.all = all;
    }

    /** As it is read. */
    ResultPlan plan() {
        Plan fewer = narrowed;
        return fewer != null ? fewer : all;
    }

    /**
     * Its rows.
     *
     * @param keys the fields that must be equal
     */
    JoinSide side(List<Integer> keys) {
        return new JoinSide(all.rows(), all.rowType(), keys, new OperatorMeter(), narrowing(keys));
    }

    /** The query, where others may read some of its partitions each; null: one reads it. */
    @Nullable
    Plan dividable() {
        return all instanceof Plan plan && plan.isDividable() ? plan : null;
    }

    /**
     * The rows of some partitions of {@link #dividable}.
     *
     * @param keys the fields that must be equal
     * @param readers how many read some each
     */
    JoinSide side(List<Integer> keys, List<Integer> partitions, int readers) {
        Plan divided = Objects.requireNonNull(dividable(), "one reads it");
        return new JoinSide(
                divided.rows(partitions, readers), all.rowType(), keys, new OperatorMeter());
    }

    private JoinSide.@Nullable Narrowing narrowing(List<Integer> keys) {
        if (!(all instanceof Plan plan) || keys.size() != 1) {
            return null;
        }
        String name = all.rowType().field(keys.getFirst()).name();
        return values -> {
            Plan fewer = plan.narrowedTo(name, values);
            narrowed = fewer;
            return fewer == null ? null : fewer.rows();
        };
    }
}
