package io.turbidite.core;

/**
 * What was asked needs a file that was found damaged and is set aside: it is neither read nor
 * merged nor deleted until it is restored, or what it belongs to is built anew. What does not need
 * it goes on.
 */
public final class QuarantinedException extends CorruptionException {
    private static final long serialVersionUID = 1L;

    private final String cause;

    /**
     * @param file the file's name in its store
     * @param whose what it is a part of, for example {@code "index by_tail of Trips, partition 0"}
     * @param cause what was found wrong with it, or with a file that it can't be read without
     * @param remedy what makes it good again
     */
    public QuarantinedException(String file, String whose, String cause, String remedy) {
        super(file, "%s (%s) is in quarantine: %s; %s".formatted(file, whose, cause, remedy));
        this.cause = cause;
    }

    /** What was found wrong, when it was set aside. */
    public String damage() {
        return cause;
    }
}
