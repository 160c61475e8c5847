package io.turbidite.bench.recency;

import java.util.SplittableRandom;

/**
 * The tweets that are loaded, known by heart, so that answers can be checked: the id is the send
 * time, users and places are random, texts fill a record up to about a kilobyte.
 */
final class RecentTweets {
    static final double SIDE = 1_000;

    private static final int TEXT_BYTES = 950;
    private static final int LETTERS = 1 << 16;

    private final int users;
    private final int[] user;
    private final double[] x;
    private final double[] y;
    private final String letters;

    RecentTweets(int count, int users, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        this.users = users;
        user = new int[count];
        x = new double[count];
        y = new double[count];
        for (int i = 0; i < count; i++) {
            user[i] = random.nextInt(users);
            x[i] = random.nextDouble() * SIDE;
            y[i] = random.nextDouble() * SIDE;
        }
        StringBuilder text = new StringBuilder(LETTERS);
        for (int i = 0; i < LETTERS; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        letters = text.toString();
    }

    int count() {
        return user.length;
    }

    int users() {
        return users;
    }

    int user(int tweet) {
        return user[tweet];
    }

    double x(int tweet) {
        return x[tweet];
    }

    double y(int tweet) {
        return y[tweet];
    }

    String text(int tweet) {
        int from = (int) (tweet * 7_919L % (LETTERS - TEXT_BYTES));
        return letters.substring(from, from + TEXT_BYTES);
    }

    /** By a loop. */
    long ofUser(int wanted, long after) {
        long found = 0;
        for (int i = (int) Math.max(0, after + 1); i < user.length; i++) {
            found += user[i] == wanted ? 1 : 0;
        }
        return found;
    }

    /** By a loop. */
    long inWindow(double minX, double minY, double side, long after) {
        long found = 0;
        for (int i = (int) Math.max(0, after + 1); i < user.length; i++) {
            boolean isInside =
                    x[i] >= minX && x[i] <= minX + side && y[i] >= minY && y[i] <= minY + side;
            found += isInside ? 1 : 0;
        }
        return found;
    }
}
