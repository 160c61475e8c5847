package io.turbidite.core.scan;

import io.turbidite.core.InvalidRequestException;

/**
 * How {@link ReadView#fetch} goes from keys to records (LUO19 §3.2). Each part can be changed
 * alone. All parts except {@code pruning}, {@code orderBytes} and {@code filter} change the cost
 * and never the answer. <em>Immutable.</em>
 *
 * @param batchBytes bytes of encoded keys that go through the layers together, one layer after the
 *     other; 0: key by key through all layers
 * @param cursor how to search a key in a layer on disk
 * @param bloom whether to ask Bloom filters before a search in a layer on disk
 * @param pruning which layers to leave out by the timestamps of the candidates
 * @param orderBytes 0: records come in no order; else in key order, with this much memory for the
 *     records of a batch (a batch that needs more is cut)
 * @param filter lets the fetch pass over layers that hold no record inside. A record inside comes
 *     out as it is. Of a key whose record is outside nothing comes out, or a version that is
 *     outside too, perhaps an older one: so check what comes out by the predicates that the filter
 *     was made of
 */
public record FetchOptions(
        int batchBytes,
        Cursor cursor,
        boolean bloom,
        Pruning pruning,
        int orderBytes,
        FilterPredicate filter) {
    /**
     * The default bytes of keys that go through the layers together. With all pages in the cache 4
     * KiB do as well. When pages are read, more keys mean more neighbouring pages in one read. A
     * key costs 12 bytes beside its own.
     */
    public static final int BATCH_BYTES_DEFAULT = 1 << 20;

    private static final FetchOptions DEFAULTS = new FetchOptions(
            BATCH_BYTES_DEFAULT, Cursor.AUTO, true, Pruning.NONE, 0, FilterPredicate.none());

    /** The place where a search in a layer begins. */
    public enum Cursor {
        /** At whichever place suits the number of keys for each page of the layer. */
        AUTO,
        /** At the place of the last search, in doubling steps. */
        STATEFUL,
        /** At the root. */
        STATELESS
    }

    /**
     * The layers that can't matter. Each key was added with the timestamp of the index entry that
     * named it.
     */
    public enum Pruning {
        /** None: timestamps play no part, and may be missing. */
        NONE,
        /** Layers that hold only older versions than the candidate: right under every strategy. */
        OLDER,
        /**
         * As {@link #OLDER}, and of the newer layers those that hold nothing above what the
         * candidate was checked for ({@link IndexCursor#checkedUntil}): no successor of its is
         * there. Its own layer's Bloom filter need not be asked. Right for candidates of an index
         * that has an entry for each version; valid or not, they give the newest version, to be
         * checked again.
         */
        CHECKED,
        /**
         * All layers except the one that covers the candidate's timestamp: gives the version with
         * exactly this timestamp. Right for candidates that are certainly valid, of an index with
         * an entry for each version. Don't use it for others.
         */
        EXACT
    }

    public FetchOptions {
        if (batchBytes < 0 || orderBytes < 0) {
            throw new InvalidRequestException(
                    "a fetch in batches of %d bytes, %d bytes to order them: neither may be below 0"
                            .formatted(batchBytes, orderBytes));
        }
    }

    /**
     * The defaults: batches, records in no order, cursors as they pay, Bloom filters, no pruning.
     */
    public static FetchOptions defaults() {
        return DEFAULTS;
    }

    /** One key after the other from the root of every layer: the start of the experiments. */
    public static FetchOptions naive() {
        return new FetchOptions(0, Cursor.STATELESS, true, Pruning.NONE, 0, FilterPredicate.none());
    }

    /** The same with another {@link #batchBytes}. */
    public FetchOptions withBatchBytes(int bytes) {
        return new FetchOptions(bytes, cursor, bloom, pruning, orderBytes, filter);
    }

    /** The same with another {@link #cursor}. */
    public FetchOptions withCursor(Cursor newCursor) {
        return new FetchOptions(batchBytes, newCursor, bloom, pruning, orderBytes, filter);
    }

    /** The same with another {@link #bloom}. */
    public FetchOptions withBloom(boolean asked) {
        return new FetchOptions(batchBytes, cursor, asked, pruning, orderBytes, filter);
    }

    /** The same with another {@link #pruning}. */
    public FetchOptions withPruning(Pruning newPruning) {
        return new FetchOptions(batchBytes, cursor, bloom, newPruning, orderBytes, filter);
    }

    /** The same with another {@link #orderBytes}. */
    public FetchOptions withOrderBytes(int bytes) {
        return new FetchOptions(batchBytes, cursor, bloom, pruning, bytes, filter);
    }

    /** The same with another {@link #filter}. */
    public FetchOptions withFilter(FilterPredicate newFilter) {
        return new FetchOptions(batchBytes, cursor, bloom, pruning, orderBytes, newFilter);
    }

    /** Whether records come in the order of their keys. */
    public boolean isOrdered() {
        return orderBytes > 0 || batchBytes == 0;
    }
}
