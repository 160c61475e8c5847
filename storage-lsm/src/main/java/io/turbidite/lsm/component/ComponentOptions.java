package io.turbidite.lsm.component;

import io.turbidite.core.InvalidRequestException;

/**
 * How a component is laid out. Components of one index may differ: each file knows its own.
 * <em>Immutable.</em>
 *
 * @param pageBytes most bytes of a leaf page, 4 KiB to 128 KiB; only a page of one entry may be longer
 * @param compression of leaf pages
 * @param bloom whether there is a Bloom filter over the keys
 * @param bloomFalsePositiveRate what the Bloom filter is sized for, 0.0001 to 0.5
 * @param keyTree whether there is a second tree of keys alone with the same ordinals, which answers
 *     "which version is the newest" without touching a record; for primary indexes
 */
public record ComponentOptions(
        int pageBytes,
        Compression compression,
        boolean bloom,
        double bloomFalsePositiveRate,
        boolean keyTree) {
    public static final int PAGE_BYTES_MIN = 4 << 10;
    public static final int PAGE_BYTES_MAX = 128 << 10;

    /** 32 KiB holds about 64 records of 500 bytes and divides the interior by 700. */
    public static final int PAGE_BYTES_DEFAULT = 32 << 10;

    public static final double BLOOM_RATE_MIN = 0.0001;
    public static final double BLOOM_RATE_MAX = 0.5;

    public ComponentOptions {
        if (pageBytes < PAGE_BYTES_MIN || pageBytes > PAGE_BYTES_MAX) {
            throw new InvalidRequestException("page of %d bytes; %d to %d are possible"
                    .formatted(pageBytes, PAGE_BYTES_MIN, PAGE_BYTES_MAX));
        }
        // written so that NaN is refused as well
        if (!(bloomFalsePositiveRate >= BLOOM_RATE_MIN
                && bloomFalsePositiveRate <= BLOOM_RATE_MAX)) {
            throw new InvalidRequestException("Bloom false positive rate %s; %s to %s are possible"
                    .formatted(bloomFalsePositiveRate, BLOOM_RATE_MIN, BLOOM_RATE_MAX));
        }
    }

    /** For a primary index: key tree and Bloom filter at 1 %. */
    public static ComponentOptions primary() {
        return new ComponentOptions(PAGE_BYTES_DEFAULT, Compression.NONE, true, 0.01, true);
    }

    /** For a secondary index, which is searched by range: neither key tree nor Bloom filter. */
    public static ComponentOptions secondary() {
        return new ComponentOptions(PAGE_BYTES_DEFAULT, Compression.NONE, false, 0.01, false);
    }

    public ComponentOptions withPageBytes(int value) {
        return new ComponentOptions(value, compression, bloom, bloomFalsePositiveRate, keyTree);
    }

    public ComponentOptions withCompression(Compression value) {
        return new ComponentOptions(pageBytes, value, bloom, bloomFalsePositiveRate, keyTree);
    }

    public ComponentOptions withBloom(boolean value) {
        return new ComponentOptions(pageBytes, compression, value, bloomFalsePositiveRate, keyTree);
    }

    public ComponentOptions withBloomFalsePositiveRate(double value) {
        return new ComponentOptions(pageBytes, compression, bloom, value, keyTree);
    }

    public ComponentOptions withKeyTree(boolean value) {
        return new ComponentOptions(pageBytes, compression, bloom, bloomFalsePositiveRate, value);
    }
}
