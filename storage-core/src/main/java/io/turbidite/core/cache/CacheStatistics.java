package io.turbidite.core.cache;

/**
 * What a cache did and holds. Immutable; the numbers are read one after the other while others
 * count on.
 *
 * @param hitCount pins that found their page
 * @param loadCount pages loaded
 * @param failedLoadCount loads that threw
 * @param evictionCount frames given up for others, by a closed file or by a failed load
 * @param frameCount pages in memory
 * @param pinnedFrameCount of these, pinned
 * @param bytesHeld memory held, at most what the cache was created with
 */
public record CacheStatistics(
        long hitCount,
        long loadCount,
        long failedLoadCount,
        long evictionCount,
        int frameCount,
        int pinnedFrameCount,
        long bytesHeld) {
    /** Hits per pin, 0 if there was none. */
    public double hitRate() {
        long pins = hitCount + loadCount + failedLoadCount;
        return pins == 0 ? 0 : (double) hitCount / pins;
    }
}
