package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.postings.EntryBuffer;
import io.turbidite.pm.postings.Judge;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.postings.PostingWriter;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.tree.LeafRoutes;
import io.turbidite.pm.validate.Validation;

/**
 * The log-structured index of the paper's Figure 8: entries go to the end of one log, each leads to
 * the one before it of its secondary key, and nothing is ever collected. An entry is a group of
 * one, with the same checks as the groups of the tree.
 */
final class LogIndex implements Rival {
    private final Baseline base;
    private final PostingWriter log;
    private final EntryBuffer entry = new EntryBuffer();
    private long page;

    LogIndex(Baseline base) {
        this.base = base;
        this.log = new PostingWriter(base.region, Judge.KEEPS_ALL);
    }

    @Override
    public String name() {
        return "log";
    }

    @Override
    public Region region() {
        return base.region;
    }

    @Override
    public Validation validation() {
        return base.validation;
    }

    @Override
    public void begin(long horizon) {
        base.begin(horizon);
    }

    @Override
    public void version(Slice primaryKey, long timestamp) {
        base.version(primaryKey, timestamp);
    }

    @Override
    public void entry(Slice secondaryKey, Slice primaryKey, long timestamp) {
        base.beforeEntry(secondaryKey);
        append(secondaryKey, primaryKey, timestamp);
    }

    private void append(Slice secondaryKey, Slice primaryKey, long timestamp) {
        long older = base.leaves.staged(secondaryKey);
        entry.clear();
        entry.add(timestamp, primaryKey);
        if (page == 0 || !log.hasRoom(page, entry)) {
            page = log.newPage(false);
        }
        long added = log.append(page, older < 0 ? 0 : older * Bytes.I64.byteSize(), entry);
        base.leaves.put(secondaryKey, added / Bytes.I64.byteSize());
    }

    @Override
    public void commit(long timestamp) {
        base.commit(timestamp);
    }

    @Override
    public void insert(Slice secondaryKey, Slice primaryKey, long timestamp) {
        base.beforeInsert(primaryKey, timestamp);
        append(secondaryKey, primaryKey, timestamp);
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
        return new LogSearch();
    }

    @Override
    public void close() {
        base.close();
    }

    private final class LogSearch implements Search {
        private final RegionMemory memory = base.region.memory();
        private final PostingCursor entries =
                new PostingCursor(memory, base.region.spec().pageBytes());
        private final NodeImage image = new NodeImage();
        private final int[] sorted = new int[Node.SLOT_COUNT];
        private long snapshot;
        private long entriesRead;

        @Override
        public void open(Slice secondaryKey, long newSnapshot) {
            snapshot = newSnapshot;
            long found = base.leaves.find(secondaryKey);
            entries.open(found < 0 ? 0 : found * Bytes.I64.byteSize());
        }

        @Override
        public boolean next() {
            while (entries.next()) {
                entriesRead++;
                if (base.isValid(entries.primaryKey(), entries.timestamp(), snapshot)) {
                    return true;
                }
            }
            return false;
        }

        @Override
        public Slice primaryKey() {
            return entries.primaryKey();
        }

        @Override
        public long entriesRead() {
            return entriesRead;
        }

        @Override
        public long range(Slice from, Slice to, int limitEach, long newSnapshot) {
            snapshot = newSnapshot;
            LeafRoutes routes = base.leaves.routes();
            long sum = 0;
            boolean isIn = true;
            for (long place = routes.find(from); place >= 0 && isIn; place = routes.next(place)) {
                image.load(memory, routes.leaf(place));
                int count = image.sorted(sorted);
                for (int i = 0; i < count && isIn; i++) {
                    int slot = sorted[i];
                    isIn = image.compare(slot, to) < 0;
                    if (isIn && image.compare(slot, from) >= 0) {
                        entries.open(KeyLeaves.payload(memory, image.cell(slot), image.word(slot))
                                * Bytes.I64.byteSize());
                        for (int found = 0; found < limitEach && next(); found++) {
                            sum = Operations.mixed(sum, EightBytes.number(primaryKey()));
                        }
                    }
                }
            }
            return sum;
        }
    }
}
