package io.turbidite.hashlog.psf;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.hashlog.parse.FieldPath;

/**
 * What a PSF computes, without its id: a value with a text form that reads back to an equal definition.
 * <em>Immutable.</em>
 */
public sealed interface PsfDefinition {

    /** The value of a field: {@code field(actor.id)}. */
    record Field(FieldPath path) implements PsfDefinition {
        @Override
        public String text() {
            return "field(" + path.text() + ")";
        }
    }

    /** The text form: what the durable registry keeps, and what {@link #parse} reads. */
    String text();

    /**
     * Reads a text form.
     *
     * @throws InvalidRequestException with the position of what is wrong
     */
    static PsfDefinition parse(String text) {
        if (!text.startsWith("field(") || !text.endsWith(")")) {
            throw new InvalidRequestException(
                    "position 0 of '%s': expected field(…)".formatted(text));
        }
        return new Field(FieldPath.parse(text.substring(6, text.length() - 1)));
    }
}
