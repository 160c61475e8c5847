package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.tree.LeafRoutes;
import io.turbidite.pm.validate.Validation;

import java.lang.foreign.MemorySegment;

/**
 * The composite index of the paper's Figure 8: each entry is a key of the leaves, secondary key,
 * then timestamp with the newest first, then primary key. So a query is a short scan. Secondary
 * keys are of eight bytes here; they are the first word of a key, the timestamp is the second.
 */
final class CompositeIndex implements Rival {
    private static final int HEAD_BYTES = 2 * Long.BYTES;

    private final Baseline base;
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[HEAD_BYTES + Long.BYTES]);
    private final Slice key = new Slice();

    CompositeIndex(Baseline base) {
        this.base = base;
    }

    @Override
    public String name() {
        return "composite";
    }

    @Override
    public Region region() {
        return base.region;
    }

    @Override
    public Validation validation() {
        return base.validation;
    }

    private Slice key(Slice secondaryKey, Slice primaryKey, long timestamp) {
        bytes.set(Bytes.I64_BE, 0, EightBytes.number(secondaryKey));
        bytes.set(Bytes.I64_BE, Long.BYTES, Long.MAX_VALUE - timestamp);
        bytes.set(Bytes.I64_BE, HEAD_BYTES, EightBytes.number(primaryKey));
        return key.set(bytes, 0, HEAD_BYTES + Long.BYTES);
    }

    @Override
    public void begin(long horizon) {
        base.begin(horizon);
    }

    @Override
    public void version(Slice primaryKey, long timestamp) {
        base.version(primaryKey, timestamp);
    }

    /** Of one secondary key the newest entry comes first: that is the order of the leaves. */
    @Override
    public void entry(Slice secondaryKey, Slice primaryKey, long timestamp) {
        Slice composite = key(secondaryKey, primaryKey, timestamp);
        base.beforeEntry(composite);
        base.leaves.put(composite, 0);
    }

    @Override
    public boolean takesNewestFirst() {
        return true;
    }

    @Override
    public void commit(long timestamp) {
        base.commit(timestamp);
    }

    @Override
    public void insert(Slice secondaryKey, Slice primaryKey, long timestamp) {
        base.beforeInsert(primaryKey, timestamp);
        base.leaves.put(key(secondaryKey, primaryKey, timestamp), 0);
        base.afterInsert();
    }

    @Override
    public long entryCount() {
        return base.entryCount();
    }

    @Override
    public void collect(Slice secondaryKey) {
        // it never does
    }

    @Override
    public Search search() {
        return new CompositeSearch();
    }

    @Override
    public void close() {
        base.close();
    }

    private final class CompositeSearch implements Search {
        private final RegionMemory memory = base.region.memory();
        private final NodeImage image = new NodeImage();
        private final MemorySegment start = MemorySegment.ofArray(new byte[Long.BYTES]);
        private final Slice startKey = new Slice().set(start, 0, Long.BYTES);
        private final Slice entry = new Slice();
        private final Slice primary = new Slice();

        // ---- the entries of this leaf that are asked for, in order: words of their keys
        private final int[] slots = new int[Node.SLOT_COUNT];
        private final long[] seconds = new long[Node.SLOT_COUNT];
        private final long[] times = new long[Node.SLOT_COUNT];
        private int count;
        private int index;

        private LeafRoutes routes = base.leaves.routes();
        private long place;
        private long from;
        private long to;
        private long snapshot;
        private long entriesRead;

        @Override
        public void open(Slice secondaryKey, long newSnapshot) {
            long number = EightBytes.number(secondaryKey);
            open(number, number, newSnapshot);
        }

        private void open(long newFrom, long newTo, long newSnapshot) {
            from = newFrom;
            to = newTo;
            snapshot = newSnapshot;
            start.set(Bytes.I64_BE, 0, from);
            routes = base.leaves.routes();
            place = routes.find(startKey);
            load();
        }

        private void load() {
            image.load(memory, routes.leaf(place));
            count = 0;
            index = -1;
            for (long left = image.valid(); left != 0; left &= left - 1) {
                int slot = Long.numberOfTrailingZeros(left);
                image.key(slot, entry);
                long second = entry.segment().get(Bytes.I64_BE, entry.offset());
                if (second >= from && second <= to) {
                    insert(
                            slot,
                            second,
                            entry.segment().get(Bytes.I64_BE, entry.offset() + Long.BYTES));
                }
            }
        }

        private void insert(int slot, long second, long time) {
            int at = count++;
            while (at > 0
                    && (seconds[at - 1] > second
                            || (seconds[at - 1] == second && times[at - 1] > time))) {
                slots[at] = slots[at - 1];
                seconds[at] = seconds[at - 1];
                times[at] = times[at - 1];
                at--;
            }
            slots[at] = slot;
            seconds[at] = second;
            times[at] = time;
        }

        /** Goes to the next entry, stale ones too. */
        private boolean step() {
            while (++index >= count) {
                long next = routes.next(place);
                if (next < 0 || routes.bound(next).get(Bytes.I64_BE, 0) > to) {
                    return false;
                }
                place = next;
                load();
            }
            entriesRead++;
            return true;
        }

        private boolean isValid() {
            return base.isValid(primaryKey(), Long.MAX_VALUE - times[index], snapshot);
        }

        @Override
        public boolean next() {
            while (step()) {
                if (isValid()) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public Slice primaryKey() {
            image.key(slots[index], entry);
            return primary.set(
                    entry.segment(), entry.offset() + HEAD_BYTES, entry.length() - HEAD_BYTES);
        }

        @Override
        public long entriesRead() {
            return entriesRead;
        }

        /** Walks over what is behind the limit of a key, as a scan does. */
        @Override
        public long range(Slice first, Slice end, int limitEach, long newSnapshot) {
            open(EightBytes.number(first), EightBytes.number(end) - 1, newSnapshot);
            long sum = 0;
            long last = -1;
            int found = 0;
            while (step()) {
                if (seconds[index] != last) {
                    last = seconds[index];
                    found = 0;
                }
                if (found < limitEach && isValid()) {
                    sum = Operations.mixed(sum, EightBytes.number(primaryKey()));
                    found++;
                }
            }
            return sum;
        }
    }
}
