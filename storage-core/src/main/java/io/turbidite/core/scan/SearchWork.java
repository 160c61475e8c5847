package io.turbidite.core.scan;

/**
 * The work of a search for a window, for terms or for the newest so far, to explain its cost; of
 * terms the components alone are counted, for each term by itself. <em>Immutable.</em>
 *
 * @param componentCount components that were asked
 * @param outsideCount of these, those that lie outside as a whole, or lack the term
 * @param pageCount leaf pages read, or found in the cache
 * @param groupCount groups of entries looked into
 * @param entryCount entries looked at, those in memory too
 * @param staleCount of these, those that a region knew to be obsolete
 * @param blockCount blocks of 256 bytes that were read of a region
 */
public record SearchWork(
        long componentCount,
        long outsideCount,
        long pageCount,
        long groupCount,
        long entryCount,
        long staleCount,
        long blockCount) {
    /** No work. */
    public static final SearchWork NONE = new SearchWork(0, 0, 0, 0, 0, 0, 0);

    /** The sum of both, count by count. */
    public SearchWork plus(SearchWork more) {
        return new SearchWork(
                componentCount + more.componentCount,
                outsideCount + more.outsideCount,
                pageCount + more.pageCount,
                groupCount + more.groupCount,
                entryCount + more.entryCount,
                staleCount + more.staleCount,
                blockCount + more.blockCount);
    }
}
