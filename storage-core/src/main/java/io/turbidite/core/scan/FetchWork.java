package io.turbidite.core.scan;

/**
 * The work of a fetch so far, to explain its cost. <em>Immutable.</em>
 *
 * @param keyCount keys looked up
 * @param layerVisitCount layers on disk entered, each once a batch
 * @param statefulVisitCount layers of these that a cursor searched which remembers its place
 * @param bloomTestCount Bloom filters asked, for each key and layer
 * @param searchCount keys searched in a layer on disk
 * @param pageCount leaf pages pinned for these searches
 * @param missCount those of them that the cache lacked
 */
public record FetchWork(
        long keyCount,
        long layerVisitCount,
        long statefulVisitCount,
        long bloomTestCount,
        long searchCount,
        long pageCount,
        long missCount) {
    /** No work. */
    public static final FetchWork NONE = new FetchWork(0, 0, 0, 0, 0, 0, 0);

    /** The sum of both, count by count. */
    public FetchWork plus(FetchWork more) {
        return new FetchWork(
                keyCount + more.keyCount,
                layerVisitCount + more.layerVisitCount,
                statefulVisitCount + more.statefulVisitCount,
                bloomTestCount + more.bloomTestCount,
                searchCount + more.searchCount,
                pageCount + more.pageCount,
                missCount + more.missCount);
    }
}
