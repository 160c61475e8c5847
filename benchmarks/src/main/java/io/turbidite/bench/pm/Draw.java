package io.turbidite.bench.pm;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Draws numbers below a bound: evenly, or by Zipf's law with an exponent of 0.99, the frequent ones
 * scattered. <em>Immutable.</em>
 */
final class Draw {
    private static final double EXPONENT = 0.99;

    private final int bound;
    private final double[] sums;
    private final int[] numbers;

    private Draw(int bound, double[] sums, int[] numbers) {
        this.bound = bound;
        this.sums = sums;
        this.numbers = numbers;
    }

    static Draw even(int bound) {
        return new Draw(bound, new double[0], new int[0]);
    }

    static Draw zipf(int bound, SplittableRandom random) {
        double[] sums = new double[bound];
        double sum = 0;
        for (int i = 0; i < bound; i++) {
            sum += Math.pow(i + 1.0, -EXPONENT);
            sums[i] = sum;
        }
        return new Draw(bound, sums, shuffled(bound, random));
    }

    /** One of these, as often as they are there. */
    static Draw of(int[] numbers, int count) {
        return new Draw(count, new double[0], numbers);
    }

    /** The numbers below a bound in any order. */
    static int[] shuffled(int bound, SplittableRandom random) {
        int[] numbers = new int[bound];
        for (int i = 0; i < bound; i++) {
            numbers[i] = i;
        }
        shuffle(numbers, random);
        return numbers;
    }

    static void shuffle(int[] numbers, SplittableRandom random) {
        for (int i = numbers.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int moved = numbers[i];
            numbers[i] = numbers[other];
            numbers[other] = moved;
        }
    }

    int next(SplittableRandom random) {
        if (sums.length == 0) {
            int drawn = random.nextInt(bound);
            return numbers.length == 0 ? drawn : numbers[drawn];
        }
        int found = Arrays.binarySearch(sums, random.nextDouble() * sums[bound - 1]);
        return numbers[Math.min(bound - 1, found < 0 ? -found - 1 : found + 1)];
    }
}
