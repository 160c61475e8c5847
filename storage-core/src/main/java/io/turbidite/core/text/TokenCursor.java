package io.turbidite.core.text;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;

/**
 * Goes through the tokens of a text, in its order; one that the text has twice comes twice.
 * <em>Confined to one thread.</em>
 */
public interface TokenCursor {
    /** Stands before the first token of a text, which is read where it lies. */
    TokenCursor wrap(Slice text);

    /** Moves to the next token; false if there is none. */
    boolean next();

    /** Bytes of the token, in UTF-8. */
    int byteCount();

    /** Appends the token in UTF-8, or so many of its first bytes. */
    void append(ByteSink sink, int byteCountMax);
}
