package io.turbidite.bench.text;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Texts of eight words; the n-th word comes in proportion to 1/n. */
final class ZipfTexts {
    static final int WORD_COUNT = 8;

    private static final int VOCABULARY = 100_000;

    private final double[] shares = new double[VOCABULARY];
    private final SplittableRandom random = new SplittableRandom(1);

    ZipfTexts() {
        double sum = 0;
        for (int rank = 0; rank < VOCABULARY; rank++) {
            sum += 1.0 / (rank + 1);
            shares[rank] = sum;
        }
        for (int rank = 0; rank < VOCABULARY; rank++) {
            shares[rank] /= sum;
        }
    }

    /** The word of a rank, from 0; rare ones are longer. */
    static String word(int rank) {
        return "w" + Integer.toString(rank, 36);
    }

    String next() {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORD_COUNT; i++) {
            int at = Arrays.binarySearch(shares, random.nextDouble());
            int rank = Math.min(VOCABULARY - 1, at < 0 ? -at - 1 : at);
            text.append(i == 0 ? "" : " ").append(word(rank));
        }
        return text.toString();
    }
}
