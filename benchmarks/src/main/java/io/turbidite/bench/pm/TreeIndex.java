package io.turbidite.bench.pm;

import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.index.PmIndex;
import io.turbidite.pm.index.PmSearch;
import io.turbidite.pm.postings.PostingCursor;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.tree.TreeCursor;
import io.turbidite.pm.validate.Validation;

import java.util.function.LongConsumer;

/** The index of {@code pm.index}: the one that is measured. */
final class TreeIndex implements Rival {
    static final String NAME = "PS-Tree";

    private final PmIndex index;

    TreeIndex(PmIndex index) {
        this.index = index;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public Region region() {
        return index.region();
    }

    @Override
    public Validation validation() {
        return index.validation();
    }

    @Override
    public void begin(long horizon) {
        index.begin(horizon, horizon);
    }

    @Override
    public void version(Slice primaryKey, long timestamp) {
        index.addVersion(primaryKey, timestamp, true, 1);
    }

    @Override
    public void entry(Slice secondaryKey, Slice primaryKey, long timestamp) {
        index.addEntry(secondaryKey, primaryKey, timestamp);
    }

    @Override
    public void commit(long timestamp) {
        index.commit(timestamp);
    }

    @Override
    public void insert(Slice secondaryKey, Slice primaryKey, long timestamp) {
        index.insert(secondaryKey, primaryKey, timestamp);
    }

    @Override
    public long entryCount() {
        return index.tree().entryCount();
    }

    @Override
    public void collect(Slice secondaryKey) {
        index.tree().collect(secondaryKey);
    }

    /** The timestamps of entries of a key that are there, newest first, stale ones too. */
    void entries(Slice secondaryKey, int countMax, LongConsumer into) {
        PostingCursor postings = index.tree().postings();
        postings.open(index.tree().find(secondaryKey));
        for (int i = 0; i < countMax && postings.next(); i++) {
            if (!postings.isMarked()) {
                into.accept(postings.timestamp());
            }
        }
    }

    @Override
    public Search search() {
        return new TreeSearch();
    }

    @Override
    public void close() {
        index.close();
    }

    private final class TreeSearch implements Search {
        private final PmSearch search = index.search();
        private final TreeCursor keys = index.keys();

        @Override
        public void open(Slice secondaryKey, long snapshot) {
            search.open(secondaryKey, snapshot, snapshot);
        }

        @Override
        public boolean next() {
            return search.next();
        }

        @Override
        public Slice primaryKey() {
            return search.primaryKey();
        }

        @Override
        public long entriesRead() {
            return search.entriesRead();
        }

        @Override
        public long range(Slice from, Slice to, int limitEach, long snapshot) {
            keys.open(from, to, false);
            long sum = 0;
            while (keys.next()) {
                search.open(keys.key(), snapshot, snapshot);
                for (int found = 0; found < limitEach && search.next(); found++) {
                    sum = Operations.mixed(sum, EightBytes.number(search.primaryKey()));
                }
            }
            return sum;
        }
    }
}
