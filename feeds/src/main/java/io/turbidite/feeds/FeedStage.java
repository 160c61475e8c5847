package io.turbidite.feeds;

/**
 * What one stage of a feed came to since the store was opened, and how it is now. Who asks twice
 * has rates. What a stage has not is 0. <em>Immutable.</em>
 *
 * @param stage {@code source}, {@code parse}, {@code route} or {@code store}: the third hands
 *     batches of parsed records to the fourth
 * @param records that came through it
 * @param rejected that became dead letters in it
 * @param bytes that came through it: as the source has them, or encoded
 * @param busyNanos at work, of all its workers together
 * @param waitNanos for what others waited because of it: the parser for the source or for room in
 *     a queue, the store for batches
 * @param workers of it that there are now; 0 of a feed that does not run
 * @param queuePercent how full the fullest queue in front of it is, 0 to 100
 */
public record FeedStage(
        String stage,
        long records,
        long rejected,
        long bytes,
        long busyNanos,
        long waitNanos,
        int workers,
        int queuePercent) {}
