package io.turbidite.core.sim;

import org.junit.jupiter.api.Assumptions;

import java.util.Locale;

/**
 * How much of a test is run: {@code -Dtier=quick|default|long}.
 *
 * <p>The tiers run the same tests with the same checks, and differ in their counts alone.
 * <em>Quick</em> is for the minute before a commit (about four minutes of CPU for everything),
 * <em>default</em> is what {@code mvn verify} runs, <em>long</em> is for the night. A seeded suite
 * states its three counts where it uses them, so that the table in {@code docs/testing.md} can be
 * read off the code.
 */
public enum Tier {
    QUICK,
    DEFAULT,
    LONG;

    private static final String PROPERTY = "tier";
    private static final Tier CURRENT = of(System.getProperty(PROPERTY, "default"));

    /** The tier of this JVM. */
    public static Tier current() {
        return CURRENT;
    }

    public static boolean isLong() {
        return CURRENT == LONG;
    }

    /** The count of this JVM's tier. */
    public static int count(int quick, int normal, int many) {
        return CURRENT.pick(quick, normal, many);
    }

    /**
     * Ends the test as skipped in the quick tier: {@code what} has no small size that is worth its
     * cost.
     */
    public static void notQuick(String what) {
        Assumptions.assumeTrue(CURRENT != QUICK, what + " is for the other tiers");
    }

    int pick(int quick, int normal, int many) {
        return switch (this) {
            case QUICK -> quick;
            case DEFAULT -> normal;
            case LONG -> many;
        };
    }

    /** The flag that starts another JVM in this tier, or replays a failure of it. */
    public static String flag() {
        return "-D" + PROPERTY + "=" + CURRENT.name().toLowerCase(Locale.ROOT);
    }

    static Tier of(String name) {
        for (Tier tier : values()) {
            if (tier.name().equals(name.toUpperCase(Locale.ROOT))) {
                return tier;
            }
        }
        throw new IllegalArgumentException(
                "-D%s=%s: there is quick, default and long".formatted(PROPERTY, name));
    }
}
