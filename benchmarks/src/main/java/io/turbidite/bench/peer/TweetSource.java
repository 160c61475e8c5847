package io.turbidite.bench.peer;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;

/**
 * The synthetic tweets of LUO19 §6.1: about 500 bytes, random 64-bit id, four attributes in
 * 0..99,999, increasing creation time; with a given probability a tweet is an update of a past one,
 * chosen uniformly. The same seed gives the same tweets.
 */
public final class TweetSource {
    /** Attributes are below it. */
    public static final int ATTRIBUTE_LIMIT = 100_000;

    /** When the first tweet was made, in microseconds; each next one a microsecond later. */
    public static final long CREATED_FIRST = 1_700_000_000_000_000L;

    private static final int TEXT_BYTES = 1 << 16;

    private final SplittableRandom random;
    private final double updateRatio;
    private final RecordSize size;
    private final long[] ids;
    private final MemorySegment text;
    private int idCount;
    private long created = CREATED_FIRST;

    /**
     * @param count most tweets that will be asked for
     */
    public TweetSource(long seed, int count, double updateRatio) {
        this(seed, count, updateRatio, RecordSize.TWEETS);
    }

    /**
     * @param count most that will be asked for
     * @param size small ones are as tweets but for a shorter text
     */
    public TweetSource(long seed, int count, double updateRatio, RecordSize size) {
        this.size = size;
        this.random = new SplittableRandom(seed);
        this.updateRatio = updateRatio;
        this.ids = new long[count];
        this.text = Arena.ofAuto().allocate(TEXT_BYTES);
        for (int i = 0; i < TEXT_BYTES; i++) {
            text.set(ValueLayout.JAVA_BYTE, i, (byte) ('a' + random.nextInt(26)));
        }
    }

    /** Makes the next tweet. */
    public void next(Tweet tweet) {
        if (idCount > 0 && random.nextDouble() < updateRatio) {
            tweet.id = ids[random.nextInt(idCount)];
        } else {
            tweet.id = random.nextLong();
            ids[idCount++] = tweet.id;
        }
        for (int i = 0; i < Tweet.ATTRIBUTE_COUNT; i++) {
            tweet.attributes[i] = random.nextInt(ATTRIBUTE_LIMIT);
        }
        tweet.created = created++;
        int bytes = size.textBytesMin() + random.nextInt(size.textLengths());
        tweet.message.set(text, random.nextInt(TEXT_BYTES - bytes), bytes);
    }

    /** How many different tweets were made. */
    public int distinctCount() {
        return idCount;
    }

    /** The id of a tweet that was made. */
    public long pastId(SplittableRandom chooser) {
        return ids[chooser.nextInt(idCount)];
    }
}
