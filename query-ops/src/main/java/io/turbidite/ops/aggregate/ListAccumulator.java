package io.turbidite.ops.aggregate;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.NullsAbove;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * An aggregate that keeps all values of a group: arrays, joined texts, percentiles. Its state is
 * that of {@link BytesAccumulator}, whose bytes are entries one behind the other, each with what it
 * is ordered by.
 *
 * <pre>
 * offset  bytes  field
 *      0      4  length   n of the order key
 *      4      4  length   m of the value's key
 *      8      n  what the entry is ordered by
 *  8 + n      m  the value
 * </pre>
 *
 * <p>States grow in pieces of up to {@value #PIECE_BYTES_MAX} bytes, which spill as others do; they
 * are one again when the group is put together, and ordered then. So the values of one group at a
 * time are in memory, {@link Aggregate.Listing#BYTES_MAX} bytes of them at most; beside them, and
 * counted by nobody, three objects for each value, ten times its bytes where values are short.
 * <em>Confined to one thread.</em>
 */
final class ListAccumulator implements VariableAccumulator {
    private static final int PIECE_BYTES_MAX = 32 << 10;
    private static final int HEAD_BYTES = 8;

    private final int offset;
    private final int argument;
    private final TypeKind kind;
    private final Aggregate aggregate;
    private final BoundAggregates.BoundListing listing;
    private final ByteSink entry = new ByteSink(64, Integer.MAX_VALUE - 8);
    private final Slice scratch = new Slice();
    private final Slice bytes = new Slice();

    /** A value where its group is put together. */
    private record Listed(Slice order, Slice value) implements Comparable<Listed> {
        @Override
        public int compareTo(Listed other) {
            return order.compareBytes(other.order);
        }
    }

    ListAccumulator(int offset, BoundAggregates.Bound bound) {
        this.offset = offset;
        this.argument = bound.argument();
        this.kind = bound.kind();
        this.aggregate = bound.aggregate();
        this.listing = Objects.requireNonNull(bound.listing());
    }

    @Override
    public void place(Slice states, int place, int capacity) {
        setInt(states, BytesAccumulator.PLACE_OFFSET, place);
        setInt(states, BytesAccumulator.CAPACITY_OFFSET, capacity);
    }

    @Override
    public int capacity(Slice states) {
        return getInt(states, BytesAccumulator.CAPACITY_OFFSET);
    }

    /** A small group is small; of a large one there are few pieces. */
    @Override
    public long capacityFor(int had, int length) {
        return Math.max(length, Math.min(had == 0 ? 4L * length : 2L * had, PIECE_BYTES_MAX));
    }

    @Override
    public int lengthWith(@Nullable Slice states, Slice arguments) {
        int known = states == null ? 0 : getInt(states, BytesAccumulator.LENGTH_OFFSET);
        return takes(arguments) ? checked((long) known + entryOf(arguments)) : known;
    }

    @Override
    public int lengthWithAll(Slice states, Slice others) {
        return checked((long) getInt(states, BytesAccumulator.LENGTH_OFFSET)
                + getInt(others, BytesAccumulator.LENGTH_OFFSET));
    }

    private int checked(long length) {
        if (length > Aggregate.Listing.BYTES_MAX) {
            throw new InvalidRequestException(String.format(
                    Locale.ROOT,
                    "%s of '%s' needs more than %,d bytes for the values of one group: narrow the query or group by more",
                    aggregate.function().label(),
                    aggregate.field(),
                    Aggregate.Listing.BYTES_MAX));
        }
        return (int) length;
    }

    /** Arrays have no nulls. */
    private boolean takes(Slice arguments) {
        return (listing.condition() < 0 || ArgumentFormat.isPresent(arguments, listing.condition()))
                && ArgumentFormat.isPresent(arguments, argument);
    }

    /** Makes the entry of a row; its length. */
    private int entryOf(Slice arguments) {
        entry.clear().reserve(HEAD_BYTES);
        for (BoundAggregates.BoundListing.Key key : listing.keys()) {
            int start = entry.length();
            if (key.nullsAbove()) {
                NullsAbove.begin(!ArgumentFormat.isPresent(arguments, key.argument()), entry);
            }
            ArgumentFormat.appendKey(arguments, key.argument(), key.kind(), scratch, entry);
            if (key.isDescending()) {
                FieldKey.invert(entry, start);
            }
        }
        int value = entry.length();
        ArgumentFormat.appendKey(arguments, argument, kind, scratch, entry);
        entry.segment().set(Bytes.I32, 0, value - HEAD_BYTES);
        entry.segment().set(Bytes.I32, Integer.BYTES, entry.length() - value);
        return entry.length();
    }

    @Override
    public void add(Slice states, Slice arguments) {
        if (takes(arguments)) {
            entryOf(arguments);
            append(states, 1, entry.asSlice(bytes));
        }
    }

    @Override
    public void merge(Slice states, Slice others) {
        append(states, count(others), kept(others, bytes));
    }

    @Override
    public void copy(Slice states, Slice from) {
        append(states, count(from), kept(from, bytes));
    }

    private void append(Slice states, long count, Slice more) {
        int length = getInt(states, BytesAccumulator.LENGTH_OFFSET);
        assert length + more.length() <= capacity(states) : more.length();
        long at = states.offset() + getInt(states, BytesAccumulator.PLACE_OFFSET) + length;
        MemorySegment.copy(more.segment(), more.offset(), states.segment(), at, more.length());
        setInt(states, BytesAccumulator.LENGTH_OFFSET, length + more.length());
        states.segment()
                .set(
                        Bytes.I64,
                        states.offset() + offset + BytesAccumulator.COUNT_OFFSET,
                        count(states) + count);
    }

    @Override
    public void finish(Slice states, AggregateValue result) {
        List<Slice> values = values(states);
        if (values.isEmpty()) {
            result.setNull();
            return;
        }
        switch (aggregate.function()) {
            case ARRAY_AGG -> {
                List<Object> array = new ArrayList<>(values.size());
                values.forEach(value -> array.add(object(value)));
                result.setObject(array);
            }
            case STRING_AGG -> result.setObject(joined(values));
            case PERCENTILE_CONT -> result.setFraction(continuous(values));
            default -> result.setObject(object(values.get(discrete(values.size()))));
        }
    }

    /** The keys of the values, in their order. */
    private List<Slice> values(Slice states) {
        Listed[] listed = new Listed[Math.toIntExact(count(states))];
        kept(states, bytes);
        MemorySegment segment = bytes.segment();
        long at = bytes.offset();
        for (int i = 0; i < listed.length; i++) {
            int order = segment.get(Bytes.I32, at);
            int value = segment.get(Bytes.I32, at + Integer.BYTES);
            listed[i] = new Listed(
                    new Slice().set(segment, at + HEAD_BYTES, order),
                    new Slice().set(segment, at + HEAD_BYTES + order, value));
            at += HEAD_BYTES + order + value;
        }
        boolean isDistinct = aggregate.listing().isDistinct();
        if (!listing.keys().isEmpty()) {
            Arrays.sort(listed);
        } else if (isDistinct || isPercentile()) {
            Arrays.sort(listed, (a, b) -> a.value.compareBytes(b.value));
        }
        List<Slice> values = new ArrayList<>(listed.length);
        Set<ByteBuffer> seen = new HashSet<>();
        for (Listed one : listed) {
            if (!isDistinct || seen.add(ByteBuffer.wrap(one.value.toByteArray()))) {
                values.add(one.value);
            }
        }
        return values;
    }

    private boolean isPercentile() {
        return aggregate.function() == Aggregate.Function.PERCENTILE_CONT
                || aggregate.function() == Aggregate.Function.PERCENTILE_DISC;
    }

    private Object object(Slice value) {
        Object object = Objects.requireNonNull(KeyCodec.decode(kind, value, 0));
        return object instanceof BigDecimal decimal ? AggregateValue.plain(decimal) : object;
    }

    private String joined(List<Slice> values) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            text.append(i == 0 ? "" : aggregate.listing().separator())
                    .append(object(values.get(i)));
            checked(text.length());
        }
        return text.toString();
    }

    private double continuous(List<Slice> values) {
        BigDecimal place =
                aggregate.listing().fraction().multiply(BigDecimal.valueOf(values.size() - 1L));
        int below = place.intValue();
        double part = place.subtract(BigDecimal.valueOf(below)).doubleValue();
        double low = number(values.get(below));
        // of an infinite number there is no part
        return part == 0 ? low : between(low, number(values.get(below + 1)), part);
    }

    private static double between(double low, double high, double part) {
        return low == high ? low : low * (1 - part) + high * part;
    }

    private double number(Slice value) {
        return ((Number) object(value)).doubleValue();
    }

    private int discrete(int count) {
        BigDecimal place = aggregate.listing().fraction().multiply(BigDecimal.valueOf(count));
        return Math.max(0, place.setScale(0, RoundingMode.CEILING).intValue() - 1);
    }

    private long count(Slice states) {
        return states.segment()
                .get(Bytes.I64, states.offset() + offset + BytesAccumulator.COUNT_OFFSET);
    }

    private Slice kept(Slice states, Slice to) {
        return to.set(
                states.segment(),
                states.offset() + getInt(states, BytesAccumulator.PLACE_OFFSET),
                getInt(states, BytesAccumulator.LENGTH_OFFSET));
    }

    private int getInt(Slice states, int at) {
        return states.segment().get(Bytes.I32, states.offset() + offset + at);
    }

    private void setInt(Slice states, int at, int value) {
        states.segment().set(Bytes.I32, states.offset() + offset + at, value);
    }
}
