package io.turbidite.core.scan;

import io.turbidite.core.InvalidRequestException;

/**
 * How {@link ReadView#fetch} goes from keys to records (LUO19 §3.2). Each part can be changed alone; all
 * but {@code pruning} and {@code orderBytes} change the cost and never the answer. <em>Immutable.</em>
 *
 * @param batchBytes encoded keys that are taken through the layers together, one layer after the other;
 *     0: key by key through all layers
 * @param cursor how a key is searched in a layer on disk
 * @param bloom whether Bloom filters are asked before a layer on disk is searched
 * @param pruning which layers are left out by the timestamps of the candidates
 * @param orderBytes 0: records come as they are found, which is in no order; else in key order, with this
 *     much memory for the records of a batch (a batch that needs more is cut)
 */
public record FetchOptions(
        int batchBytes, Cursor cursor, boolean bloom, Pruning pruning, int orderBytes) {
    /**
     * Keys that are taken through the layers together where nothing else is asked for. With all pages in the
     * cache 4 KiB do as well; where pages are read, the more keys the more of their pages lie side by side and
     * come with one read, and a key costs 12 bytes beside its own.
     */
    public static final int BATCH_BYTES_DEFAULT = 1 << 20;

    private static final FetchOptions DEFAULTS =
            new FetchOptions(BATCH_BYTES_DEFAULT, Cursor.AUTO, true, Pruning.NONE, 0);

    /** Where a search in a layer begins. */
    public enum Cursor {
        /** As the number of keys for each page of the layer suggests. */
        AUTO,
        /** At the place of the search before, in doubling steps. */
        STATEFUL,
        /** At the root. */
        STATELESS
    }

    /**
     * Which layers can't matter, given that each key was added with the timestamp of the index entry that
     * named it.
     */
    public enum Pruning {
        /** Timestamps are not looked at, and need not be there. */
        NONE,
        /** Layers that hold only what is older than the candidate: right under every strategy. */
        OLDER,
        /**
         * As {@link #OLDER}, and of the newer layers those that hold nothing above what the candidate was checked
         * for ({@link IndexCursor#checkedUntil}): no successor of its is there. Its own layer's Bloom filter need
         * not be asked. Right for candidates of an index that has an entry for each version; valid or not, they
         * give the newest version, to be checked again.
         */
        CHECKED,
        /**
         * All layers but the one that covers the candidate's timestamp: gives the version with exactly
         * this timestamp. Right for candidates that are known to be valid, of an index that has an entry
         * for each version; whoever can't vouch for that must not ask for it.
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

    /** Batches, as they are found, cursors as they pay, Bloom filters, no pruning. */
    public static FetchOptions defaults() {
        return DEFAULTS;
    }

    /** One key after the other from the root of every layer; what the experiments start from. */
    public static FetchOptions naive() {
        return new FetchOptions(0, Cursor.STATELESS, true, Pruning.NONE, 0);
    }

    public FetchOptions withBatchBytes(int bytes) {
        return new FetchOptions(bytes, cursor, bloom, pruning, orderBytes);
    }

    public FetchOptions withCursor(Cursor newCursor) {
        return new FetchOptions(batchBytes, newCursor, bloom, pruning, orderBytes);
    }

    public FetchOptions withBloom(boolean asked) {
        return new FetchOptions(batchBytes, cursor, asked, pruning, orderBytes);
    }

    public FetchOptions withPruning(Pruning newPruning) {
        return new FetchOptions(batchBytes, cursor, bloom, newPruning, orderBytes);
    }

    public FetchOptions withOrderBytes(int bytes) {
        return new FetchOptions(batchBytes, cursor, bloom, pruning, bytes);
    }

    /** Whether records come in the order of their keys. */
    public boolean isOrdered() {
        return orderBytes > 0 || batchBytes == 0;
    }
}
