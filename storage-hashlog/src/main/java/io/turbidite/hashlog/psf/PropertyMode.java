package io.turbidite.hashlog.psf;

/** Where the value of a property lies. */
public enum PropertyMode {
    /** A 64-bit integer in the key pointer itself. */
    INLINE,
    /** Bytes of the record, referenced where they lie. */
    PAYLOAD,
    /** Bytes that are not in the record as they are: they lie in the region of evaluated values. */
    REGION
}
