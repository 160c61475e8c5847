package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;

/** What is wrong with one field; names it once, however deep the cause. */
final class FieldException extends InvalidRequestException {
    private static final long serialVersionUID = 1L;

    FieldException(String name, String reason) {
        super("field %s: %s".formatted(Text.quoted(name), reason));
    }

    FieldException(String name, InvalidRequestException cause) {
        super("field %s: %s".formatted(Text.quoted(name), cause.getMessage()), cause);
    }
}
