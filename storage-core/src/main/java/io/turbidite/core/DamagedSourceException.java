package io.turbidite.core;

/** What is damaged is a file that data comes from: the store is as good as it was. */
public final class DamagedSourceException extends CorruptionException {
    private static final long serialVersionUID = 1L;

    /** Names the source, the place in it, and what was wrong there. */
    public DamagedSourceException(
            String file, long offset, String what, String expected, String found) {
        super(file, offset, what, expected, found);
    }
}
