package io.turbidite.core.record;

/**
 * Stands, where a Java value is handed in, for a field that isn't there, as {@code null} stands for
 * a field that is there and null. What reads records answers {@code null} for both;
 * {@link RecordView#isMissing} tells them apart. In keys both are one and the same (see
 * {@code KeyCodec}).
 */
public enum Missing {
    /** The one value. */
    MISSING
}
