package io.turbidite.hashlog.psf;

import io.turbidite.hashlog.parse.Rejection;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * The compiled plan of one session over a {@link PsfSet}: parses a record as far as the set needs
 * and evaluates every PSF. <em>Confined to one thread.</em> No garbage per record.
 */
public interface PropertyExtractor {
    /**
     * Fills {@code into} with the properties of the record of {@code length} bytes at
     * {@code offset}.
     *
     * @return false if the record was refused: {@link #functionFailure()} or else
     *     {@link #rejection()} says why, {@code into} is empty
     */
    boolean extract(MemorySegment segment, long offset, int length, Properties into);

    /** Whether it calls functions of users, which may call the log. */
    boolean callsFunctions();

    /**
     * The function of a user's that failed on the last record, which was refused for it; or null.
     */
    @Nullable
    FunctionFailure functionFailure();

    /**
     * Why the parser refused the last record.
     *
     * @throws IllegalStateException if it was not
     */
    Rejection rejection();
}
