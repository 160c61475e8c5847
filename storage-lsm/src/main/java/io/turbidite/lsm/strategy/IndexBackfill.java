package io.turbidite.lsm.strategy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

/**
 * What eager maintenance would have put into a secondary index had it been there all along: from
 * the versions of each record, newest first, the entries of each of them.
 *
 * <p>A version gives its entries, and anti-matter for those of the version that it replaced which
 * are not among its own; an entry that both have is left out if no filter field has changed and the
 * old one stays (it may not, under retention, nor where entries are validated by their timestamps:
 * those of each version are put). So an index starts without an obsolete entry, whatever its
 * strategy. Entries belong where their version is: with its timestamp, in the component that covers
 * it.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class IndexBackfill {
    private static final EntryKeyList NONE = new EntryKeyList();

    private final DatasetSchema schema;
    private final IndexSchema index;
    private final RecordView record;
    private final boolean keepsUnchanged;
    private final LongBinaryPredicate isShown;
    private final Writers writers;
    private final Slice entry = new Slice();
    private final Slice other = new Slice();
    private Version newer = new Version();
    private Version older = new Version();
    private boolean hasNewer;

    /** Gets the entries. */
    @FunctionalInterface
    public interface Sink {
        /** An entry; the key is valid during the call. */
        void entry(Slice key, long timestamp, boolean antimatter);

        /** A version of a record was put over an older one. */
        default void writtenOver(Slice primaryKey, long timestamp) {}
    }

    /** What counts of a version of a record. */
    private static final class Version {
        final ByteSink primaryKey = new ByteSink(64, Limits.KEY_BYTES_MAX);

        /** Its entry keys; none if the version is a delete. */
        final EntryKeyList entryKeys = new EntryKeyList();

        /** The filter fields, each encoded. */
        final ByteSink filters = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);

        final Slice slice = new Slice();
        final Slice other = new Slice();
        long timestamp;

        /** From when on a newer version hides it; {@link Long#MAX_VALUE} if there is none. */
        long supersededAt;

        /** Why the record has no entries; null if it has them. */
        @Nullable
        String refusal;

        boolean sameRecord(Version version) {
            return same(primaryKey, version.primaryKey);
        }

        boolean same(ByteSink mine, ByteSink its) {
            return mine.asSlice(slice).contentEquals(its.asSlice(other));
        }
    }

    /** Knows the versions that writers have put in since, which don't come here. */
    @FunctionalInterface
    public interface Writers {
        /**
         * From when on a newer version hides one, of those that readers see by now;
         * {@link Long#MAX_VALUE} if it is the record's current one.
         */
        long supersededAt(Slice primaryKey, long timestamp);
    }

    /** A question about two timestamps. */
    @FunctionalInterface
    public interface LongBinaryPredicate {
        boolean test(long from, long to);
    }

    /**
     * @param isShown whether a snapshot from one timestamp on and below another is registered whose
     *     views may search the index
     */
    public IndexBackfill(
            DatasetSchema schema, IndexSchema index, LongBinaryPredicate isShown, Writers writers) {
        this.isShown = isShown;
        this.writers = writers;
        this.schema = schema;
        this.index = index;
        this.record = new RecordView(schema.type());
        this.keepsUnchanged =
                index.maintenance() == Maintenance.EAGER && Maintainer.keepsUnchanged(schema);
    }

    /**
     * Takes a version of a record: records by ascending primary key, the versions of each newest
     * first.
     *
     * @param value the record; empty for a delete
     * @throws InvalidRequestException naming the record, if the index refuses it
     */
    public void add(Slice primaryKey, long timestamp, Slice value, Sink sink) {
        older.primaryKey.clear().putBytes(primaryKey);
        older.timestamp = timestamp;
        older.entryKeys.clear();
        older.filters.clear();
        older.refusal = null;
        boolean superseded = hasNewer && newer.sameRecord(older);
        older.supersededAt = superseded ? newer.timestamp : Long.MAX_VALUE;
        if (value.length() > 0) {
            encode(primaryKey, value);
        }
        if (older.refusal != null) {
            long hiddenAt = superseded
                    ? older.supersededAt
                    : writers.supersededAt(older.primaryKey.asSlice(older.slice), timestamp);
            if (hiddenAt == Long.MAX_VALUE || isShown.test(timestamp, hiddenAt)) {
                throw refused(primaryKey, older.refusal);
            }
        }
        if (hasNewer) {
            emit(newer, superseded ? older : null, sink);
        }
        Version swapped = newer;
        newer = older;
        older = swapped;
        hasNewer = true;
    }

    /** No further version comes. */
    public void finish(Sink sink) {
        if (hasNewer) {
            emit(newer, null, sink);
            hasNewer = false;
        }
    }

    private void encode(Slice primaryKey, Slice value) {
        record.wrap(value);
        try {
            index.entryKeys().append(record, primaryKey, older.entryKeys);
        } catch (InvalidRequestException refused) {
            older.entryKeys.clear();
            older.refusal = refused.getMessage();
        }
        for (KeySpec filter : schema.filter()) {
            filter.append(record, older.filters);
        }
    }

    /** What nobody reads any more may be too long; what is read may not. */
    private InvalidRequestException refused(Slice primaryKey, String refusal) {
        return new InvalidRequestException("index %s of %s: the record with primary key %s: %s"
                .formatted(
                        index.name(),
                        schema.name(),
                        schema.primaryKey().decode(primaryKey, 0),
                        refusal));
    }

    /** Both lists are in order. */
    private void emit(Version version, @Nullable Version replaced, Sink sink) {
        if (replaced != null) {
            sink.writtenOver(version.primaryKey.asSlice(entry), version.timestamp);
        }
        EntryKeyList news = version.entryKeys;
        EntryKeyList olds = replaced == null ? NONE : replaced.entryKeys;
        boolean keeps = replaced != null
                && keepsUnchanged
                && version.same(version.filters, replaced.filters);
        int o = 0;
        int n = 0;
        while (o < olds.count() || n < news.count()) {
            int order = o == olds.count()
                    ? 1
                    : n == news.count() ? -1 : olds.key(o, entry).compareBytes(news.key(n, other));
            if (order < 0) {
                // for a delete too: it has none of its own
                sink.entry(olds.key(o++, entry), version.timestamp, true);
                continue;
            }
            if (order > 0 || !keeps) {
                sink.entry(news.key(n, other), version.timestamp, false);
            }
            n++;
            o += order == 0 ? 1 : 0;
        }
    }
}
