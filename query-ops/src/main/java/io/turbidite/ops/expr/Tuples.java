package io.turbidite.ops.expr;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.RecordStream;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Predicate;

/**
 * The tuples that queries make of records: nothing, a row, a row behind its order key, a group key.
 */
public final class Tuples {
    private static final Slice NO_ROW = Slice.of(new byte[0]);

    private Tuples() {}

    /** Tuples without fields, to be counted: nobody looks into the record. */
    public static TupleMaker none() {
        return Nothing.UNREAD;
    }

    /** Tuples without fields, for a reader who looks at the record where it lies. */
    public static TupleMaker inPlace() {
        return Nothing.READ;
    }

    /** Makes the tuple without fields, which is the same for all. */
    private static final class Nothing implements TupleMaker {
        static final Nothing UNREAD = new Nothing(false);
        static final Nothing READ = new Nothing(true);

        private final Slice[] tuple = new Slice[0];
        private final boolean readsRecord;

        Nothing(boolean readsRecord) {
            this.readsRecord = readsRecord;
        }

        @Override
        public boolean readsRecord() {
            return readsRecord;
        }

        @Override
        public boolean readsStream() {
            return false;
        }

        @Override
        public int fieldCount() {
            return 0;
        }

        @Override
        public Slice[] make(RecordStream at, RecordView view) {
            return tuple;
        }
    }

    /** The record as it is. */
    public static TupleMaker wholeRecord() {
        Slice[] tuple = new Slice[1];
        Slice bytes = new Slice();
        return new TupleMaker() {
            @Override
            public boolean readsStream() {
                return false;
            }

            @Override
            public int fieldCount() {
                return 1;
            }

            @Override
            public Slice[] make(RecordStream at, RecordView view) {
                tuple[0] = view.record(bytes);
                return tuple;
            }
        };
    }

    /**
     * Two fields: the encoded order fields with what tells equal ones apart behind them, and the
     * row.
     *
     * @param last what tells them apart; null: no two are equal
     */
    public static TupleMaker ordered(
            List<? extends OrderKey> order, @Nullable OrderKey last, TupleMaker row) {
        return new Ordered(order, last, -1, row);
    }

    /** Bytes behind the row that {@link #orderedOfEach} makes: how long the group's key is. */
    public static final int GROUP_TRAILER_BYTES = Integer.BYTES;

    /**
     * As {@link #ordered}, for who wants some rows of each group.
     *
     * @param groupKeys how many of the first keys make a group; behind each row are {@value
     *     #GROUP_TRAILER_BYTES} bytes with their length
     */
    public static TupleMaker orderedOfEach(
            List<? extends OrderKey> order,
            @Nullable OrderKey last,
            int groupKeys,
            TupleMaker row) {
        return new Ordered(order, last, groupKeys, row);
    }

    /**
     * One field: some keys, one behind the other.
     *
     * @param each the elements of an array that one of them is of, or -1
     */
    public static TupleMaker groupKey(List<? extends OrderKey> keys, int each) {
        return each < 0 ? new GroupKey(keys) : new EachGroupKey(keys, each);
    }

    /** One field: the cell that a point lies in. */
    public static TupleMaker cell(int field, CellGrid grid) {
        ByteSink sink = new ByteSink(CellGrid.KEY_BYTES, CellGrid.KEY_BYTES);
        Slice[] tuple = {new Slice()};
        return new TupleMaker() {
            @Override
            public boolean readsStream() {
                return false;
            }

            @Override
            public int fieldCount() {
                return 1;
            }

            @Override
            public Slice[] make(RecordStream at, RecordView view) {
                sink.clear();
                if (!view.isAbsent(field)) {
                    grid.append(view.getCoordinate(field, 0), view.getCoordinate(field, 1), sink);
                }
                sink.asSlice(tuple[0]);
                return tuple;
            }
        };
    }

    private static final class Ordered implements TupleMaker {
        private final OrderKey[] order;

        /** Null where no two records are equal in the order. */
        private final @Nullable OrderKey last;

        /** How many of the first keys make a group; -1: none. */
        private final int groupKeys;

        private final TupleMaker row;
        private final ByteSink sink = new ByteSink(256, Integer.MAX_VALUE - 8);
        private final ByteSink rowSink = new ByteSink(256, Integer.MAX_VALUE - 8);
        private final Slice rowOfGroup = new Slice();
        private final Slice[] tuple = {new Slice(), new Slice()};
        private Predicate<Slice> dropped = first -> false;

        Ordered(
                List<? extends OrderKey> order,
                @Nullable OrderKey last,
                int groupKeys,
                TupleMaker row) {
            this.order = order.toArray(OrderKey[]::new);
            this.last = last;
            this.groupKeys = groupKeys;
            this.row = row;
        }

        @Override
        public boolean readsStream() {
            boolean isAsked = row.readsStream() || (last != null && last.readsStream());
            for (OrderKey key : order) {
                isAsked |= key.readsStream();
            }
            return isAsked;
        }

        @Override
        public int fieldCount() {
            return 2;
        }

        @Override
        public Slice[] make(RecordStream at, RecordView view) {
            sink.clear();
            int groupBytes = 0;
            for (int i = 0; i < order.length; i++) {
                order[i].append(at, view, sink);
                groupBytes = i + 1 == groupKeys ? sink.length() : groupBytes;
            }
            if (isDropped(at, view)) {
                tuple[1] = NO_ROW;
                return tuple;
            }
            Slice made = row.make(at, view)[0];
            tuple[1] = groupKeys < 0 ? made : ofGroup(made, groupBytes);
            return tuple;
        }

        /** Makes the first field, as far as it takes to tell. */
        private boolean isDropped(RecordStream at, RecordView view) {
            // most rows of a query for the first few are not among them; a key with more behind it
            // lies above what it begins with
            if (dropped.test(sink.asSlice(tuple[0]))) {
                return true;
            }
            if (last == null) {
                return false;
            }
            last.append(at, view, sink);
            return dropped.test(sink.asSlice(tuple[0]));
        }

        @Override
        public @Nullable RecordPredicate notAbove(Slice first) {
            return order[0].notAbove(first);
        }

        private Slice ofGroup(Slice made, int groupBytes) {
            return rowSink.clear().putBytes(made).putInt(groupBytes).asSlice(rowOfGroup);
        }

        @Override
        public void spare(Predicate<Slice> droppedOnes) {
            dropped = droppedOnes;
        }

        @Override
        public void release() {
            row.release();
        }
    }

    private static final class GroupKey implements TupleMaker {
        private final OrderKey[] keys;
        private final ByteSink sink = new ByteSink(256, Integer.MAX_VALUE - 8);
        private final Slice[] tuple = {new Slice()};

        GroupKey(List<? extends OrderKey> keys) {
            this.keys = keys.toArray(OrderKey[]::new);
        }

        @Override
        public int @Nullable [] keyFields() {
            int[] fields = new int[keys.length];
            for (int i = 0; i < fields.length; i++) {
                if (!(keys[i] instanceof FieldKey key) || key.isDescending()) {
                    return null;
                }
                fields[i] = key.field();
            }
            return fields;
        }

        @Override
        public boolean readsRecord() {
            return keys.length > 0;
        }

        @Override
        public boolean readsStream() {
            return false;
        }

        @Override
        public int fieldCount() {
            return 1;
        }

        @Override
        public Slice[] make(RecordStream at, RecordView view) {
            sink.clear();
            for (OrderKey key : keys) {
                key.append(view, sink);
            }
            sink.asSlice(tuple[0]);
            return tuple;
        }
    }

    /** A tuple for each distinct key that the elements of an array give, none without any. */
    private static final class EachGroupKey implements TupleMaker {
        private final OrderKey[] keys;
        private final int each;
        private final EntryKeyList distinct = new EntryKeyList();
        private final Slice[] tuple = {new Slice()};
        private int next;

        EachGroupKey(List<? extends OrderKey> keys, int each) {
            this.keys = keys.toArray(OrderKey[]::new);
            this.each = each;
        }

        @Override
        public boolean readsStream() {
            return false;
        }

        @Override
        public int fieldCount() {
            return 1;
        }

        @Override
        public boolean isMultiple() {
            return true;
        }

        @Override
        public Slice[] make(RecordStream at, RecordView view) {
            ByteSink sink = distinct.clear().sink();
            for (boolean is = view.firstElement(each); is; is = view.nextElement(each)) {
                int start = sink.length();
                for (OrderKey key : keys) {
                    key.append(view, sink);
                }
                distinct.addDistinct(start);
            }
            next = 0;
            return tuple;
        }

        @Override
        public Slice @Nullable [] next() {
            if (next == distinct.count()) {
                return null;
            }
            distinct.key(next++, tuple[0]);
            return tuple;
        }
    }
}
