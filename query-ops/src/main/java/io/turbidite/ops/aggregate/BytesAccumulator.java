package io.turbidite.ops.aggregate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Objects;

/**
 * An aggregate whose state is a value of any length: the least or greatest text or key, and sums of
 * decimals, which make garbage for each row. The value lies behind the numbers of all states, where
 * it has room up to a capacity.
 *
 * <pre>
 * offset  bytes  field
 *      0      8  count     values taken; 0: no value
 *      8      4  place     of the bytes, from the start of the states
 *     12      4  capacity  bytes that have room there
 *     16      4  length    bytes of the value
 *     20      4  0
 * </pre>
 *
 * <p><em>Confined to one thread.</em>
 */
final class BytesAccumulator implements VariableAccumulator {
    static final int COUNT_OFFSET = 0;
    static final int PLACE_OFFSET = COUNT_OFFSET + 8;
    static final int CAPACITY_OFFSET = PLACE_OFFSET + 4;
    static final int LENGTH_OFFSET = CAPACITY_OFFSET + 4;
    static final int STATE_BYTES = LENGTH_OFFSET + 8;

    /** What two values come to. */
    enum Fold {
        MIN,
        MAX,
        SUM,
        /** A sum that is divided in the end. */
        MEAN
    }

    private final int offset;
    private final int argument;
    private final Fold fold;
    private final String field;
    private final Slice value = new Slice();
    private final Slice known = new Slice();
    private final Slice sum = new Slice();
    private final ByteSink sumBytes = new ByteSink(32, 1 << 20);

    BytesAccumulator(int offset, int argument, Fold fold, String field) {
        this.offset = offset;
        this.argument = argument;
        this.fold = fold;
        this.field = field;
    }

    static BigDecimal decimal(Slice key) {
        // null is no argument
        return (BigDecimal) Objects.requireNonNull(KeyCodec.decode(TypeKind.DECIMAL, key, 0));
    }

    @Override
    public void place(Slice states, int place, int capacity) {
        MemorySegment segment = states.segment();
        segment.set(Bytes.I32, states.offset() + offset + PLACE_OFFSET, place);
        segment.set(Bytes.I32, states.offset() + offset + CAPACITY_OFFSET, capacity);
    }

    @Override
    public int capacity(Slice states) {
        return states.segment().get(Bytes.I32, states.offset() + offset + CAPACITY_OFFSET);
    }

    /** Values grow seldom, but one that does may do so again. */
    @Override
    public long capacityFor(int had, int length) {
        return length <= had ? had : had == 0 ? length : length * 2L;
    }

    @Override
    public int lengthWith(@Nullable Slice states, Slice arguments) {
        return ArgumentFormat.isPresent(arguments, argument)
                ? folded(states, ArgumentFormat.bytes(arguments, argument, value))
                        .length()
                : 0;
    }

    @Override
    public int lengthWithAll(Slice states, Slice others) {
        return count(others) == 0 ? 0 : folded(states, bytes(others, value)).length();
    }

    @Override
    public void copy(Slice states, Slice from) {
        long count = count(from);
        if (count > 0) {
            put(states, count, bytes(from, value));
        }
    }

    @Override
    public void add(Slice states, Slice arguments) {
        if (ArgumentFormat.isPresent(arguments, argument)) {
            take(states, 1, ArgumentFormat.bytes(arguments, argument, value));
        }
    }

    @Override
    public void merge(Slice states, Slice others) {
        if (count(others) > 0) {
            take(states, count(others), bytes(others, value));
        }
    }

    private void take(Slice states, long count, Slice next) {
        put(states, count(states) + count, folded(states, next));
    }

    private void put(Slice states, long count, Slice bytes) {
        MemorySegment segment = states.segment();
        long at = states.offset() + offset;
        assert bytes.length() <= capacity(states) : bytes.length();
        segment.set(Bytes.I64, at + COUNT_OFFSET, count);
        segment.set(Bytes.I32, at + LENGTH_OFFSET, bytes.length());
        long place = states.offset() + segment.get(Bytes.I32, at + PLACE_OFFSET);
        MemorySegment.copy(bytes.segment(), bytes.offset(), segment, place, bytes.length());
    }

    /** What the known value and the next one come to: one of them, or their sum. */
    private Slice folded(@Nullable Slice states, Slice next) {
        if (states == null || count(states) == 0) {
            return next;
        }
        bytes(states, known);
        return switch (fold) {
            case MIN -> next.compareBytes(known) < 0 ? next : known;
            case MAX -> next.compareBytes(known) > 0 ? next : known;
            case SUM, MEAN -> added(decimal(known), decimal(next));
        };
    }

    private Slice added(BigDecimal a, BigDecimal b) {
        try {
            KeyCodec.append(sumBytes.clear(), TypeKind.DECIMAL, a.add(b));
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException(
                    "the sum of '%s' is out of range: %s".formatted(field, e.getMessage()), e);
        }
        return sumBytes.asSlice(sum);
    }

    @Override
    public void finish(Slice states, AggregateValue result) {
        if (count(states) == 0) {
            result.setNull();
        } else if (fold == Fold.MEAN) {
            BigDecimal count = BigDecimal.valueOf(count(states));
            result.setFraction(decimal(bytes(states, known))
                    .divide(count, MathContext.DECIMAL128)
                    .doubleValue());
        } else {
            result.setBytes(bytes(states, known));
        }
    }

    private long count(Slice states) {
        return states.segment().get(Bytes.I64, states.offset() + offset + COUNT_OFFSET);
    }

    private Slice bytes(Slice states, Slice to) {
        long at = states.offset() + offset;
        int place = states.segment().get(Bytes.I32, at + PLACE_OFFSET);
        int length = states.segment().get(Bytes.I32, at + LENGTH_OFFSET);
        return to.set(states.segment(), states.offset() + place, length);
    }
}
