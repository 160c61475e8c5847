package io.turbidite.ops.aggregate;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.batch.KeyWords;
import io.turbidite.ops.expr.FieldKey;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Tuples of pairs whose two rows lie apart: a group key, and behind it what aggregates need, as of
 * the row that has the fields of both. <em>Confined to one thread.</em>
 */
public final class PairTuples {
    private static final Slice NOTHING = Slice.of(new byte[0]);

    private final RecordType left;
    private final RecordType right;
    private final List<Origin> keyOrigins;
    private final List<BoundAggregates.Argument> needed;
    private final FieldKey[] keys;
    private final boolean[] isKeyOfLeft;

    /** Null where groups are only counted. */
    private final @Nullable ArgumentWriter arguments;

    private final boolean[] isArgumentOfLeft;
    private final ByteSink keyBytes = new ByteSink(256, Integer.MAX_VALUE - 8);
    private final Slice key = new Slice();

    /** Two rows; whoever shows them may wait with reading a row until it is asked for. */
    public interface Pair {
        /** The left row, where it lies. */
        RecordView left();

        /** The right row. */
        RecordView right();
    }

    /** A field of one of the two rows. */
    public record Origin(boolean isOfLeft, int field) {}

    private PairTuples(
            RecordType left,
            RecordType right,
            List<Origin> keys,
            List<Origin> of,
            List<BoundAggregates.Argument> needed,
            @Nullable ArgumentWriter arguments) {
        this.left = left;
        this.right = right;
        this.keyOrigins = List.copyOf(keys);
        this.needed = List.copyOf(needed);
        this.keys = new FieldKey[keys.size()];
        this.isKeyOfLeft = areOfLeft(keys);
        for (int i = 0; i < this.keys.length; i++) {
            this.keys[i] =
                    new FieldKey(isKeyOfLeft[i] ? left : right, keys.get(i).field(), false);
        }
        this.arguments = arguments;
        this.isArgumentOfLeft = areOfLeft(of);
    }

    private static boolean[] areOfLeft(List<Origin> origins) {
        boolean[] all = new boolean[origins.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = origins.get(i).isOfLeft();
        }
        return all;
    }

    /** For groups that are counted, by these fields. */
    public static PairTuples ofKeys(RecordType left, RecordType right, List<Origin> keys) {
        return new PairTuples(left, right, keys, List.of(), List.of(), null);
    }

    /**
     * For groups with aggregates.
     *
     * @param of where the arguments of the aggregates come from, which are all fields
     */
    public static PairTuples of(
            RecordType left,
            RecordType right,
            List<Origin> keys,
            BoundAggregates aggregates,
            List<Origin> of) {
        List<BoundAggregates.Argument> arguments = new ArrayList<>();
        for (Origin origin : of) {
            arguments.add(BoundAggregates.Argument.ofField(
                    origin.isOfLeft() ? left : right, origin.field()));
        }
        assert arguments.size() == aggregates.arguments().size() : aggregates;
        return new PairTuples(
                left,
                right,
                keys,
                of,
                arguments,
                new ArgumentWriter(
                        arguments, argument -> of.get(argument).isOfLeft() ? left : right));
    }

    /** Whether the keys are all fields of one of the two rows. */
    public boolean areKeysOf(boolean ofLeft) {
        for (boolean isOfLeft : isKeyOfLeft) {
            if (isOfLeft != ofLeft) {
                return false;
            }
        }
        return true;
    }

    /** Whether keys and arguments of many rows may be read by columns: the keys have words. */
    public boolean hasColumns() {
        return KeyWords.fit(left, keyFields(true)) && KeyWords.fit(right, keyFields(false));
    }

    /**
     * Arguments of the aggregates, of which those are read that are fields of one side; for one
     * thread. Null where groups are counted.
     */
    public @Nullable ArgumentColumns argumentColumns(boolean ofLeft) {
        return arguments == null
                ? null
                : new ArgumentColumns(needed, argument -> isArgumentOfLeft[argument] == ofLeft);
    }

    /** The keys that are fields of one side, in their order. */
    public int[] keyFields(boolean ofLeft) {
        return keyOrigins.stream()
                .filter(origin -> origin.isOfLeft() == ofLeft)
                .mapToInt(Origin::field)
                .toArray();
    }

    /** Whether nothing is grouped by. */
    public boolean isWhole() {
        return keys.length == 0;
    }

    /** The group key of a pair; valid until the next. */
    public Slice key(Pair pair) {
        keyBytes.clear();
        for (int i = 0; i < keys.length; i++) {
            keys[i].append(isKeyOfLeft[i] ? pair.left() : pair.right(), keyBytes);
        }
        return keyBytes.asSlice(key);
    }

    /** What aggregates need of a pair; valid until the next. Nothing where groups are counted. */
    public Slice arguments(Pair pair) {
        ArgumentWriter writer = arguments;
        if (writer == null) {
            return NOTHING;
        }
        writer.begin();
        for (int i = 0; i < isArgumentOfLeft.length; i++) {
            writer.put(i, isArgumentOfLeft[i] ? pair.left() : pair.right());
        }
        return writer.end();
    }
}
