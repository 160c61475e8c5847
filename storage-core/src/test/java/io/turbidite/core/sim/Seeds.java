package io.turbidite.core.sim;

/**
 * Where seeds come from, and how a failure is replayed.
 *
 * <p>A test's seed is a function of its name and of {@code -Dturbidite.rotation} (0 by default), so
 * that an ordinary build is the same every time and the long runs try others.
 * {@code -Dturbidite.seed} sets the seed of every test that runs, for replay.
 */
public final class Seeds {
    private static final String SEED = "turbidite.seed";
    private static final String ROTATION = "turbidite.rotation";

    private Seeds() {}

    /** The seed for {@code test}, a class name or {@code Class#method}. */
    public static long of(String test) {
        Long given = Long.getLong(SEED);
        return given != null ? given : mix(hash(test), Long.getLong(ROTATION, 0));
    }

    /** Whether the seed was given on the command line: run that one, and it alone. */
    public static boolean isReplay() {
        return Long.getLong(SEED) != null;
    }

    /** The one line that replays {@code test} with {@code seed}. */
    public static String replay(String test, long seed) {
        // counts shape what a seed draws
        String tier = Tier.current() == Tier.DEFAULT ? "" : " " + Tier.flag();
        return "replay: mvn -B -ntp verify -Dtest='%s' -D%s=%d%s".formatted(test, SEED, seed, tier);
    }

    /** A number that looks unrelated to both (the finaliser of SplitMix64). */
    public static long mix(long seed, long number) {
        long z = seed + (number + 1) * 0x9e37_79b9_7f4a_7c15L;
        z = (z ^ (z >>> 30)) * 0xbf58_476d_1ce4_e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d0_49bb_1331_11ebL;
        return z ^ (z >>> 31);
    }

    /** FNV-1a of 64 bits. */
    static long hash(String text) {
        long hash = 0xcbf2_9ce4_8422_2325L;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * 0x100_0000_01b3L;
        }
        return hash;
    }
}
