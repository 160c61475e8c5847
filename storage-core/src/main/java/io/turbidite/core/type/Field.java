package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;

/**
 * A declared field.
 *
 * @param name 1 to 255 characters
 * @param kind what its values are
 * @param optional whether it may be null or missing
 */
public record Field(String name, TypeKind kind, boolean optional) {
    public Field {
        if (name.isEmpty() || name.length() > 255) {
            throw new InvalidRequestException("a field name must have 1 to 255 characters");
        }
    }

    /** Reads {@code string?} as an optional string. */
    public static Field parse(String name, String label) {
        boolean optional = label.endsWith("?");
        return new Field(
                name,
                TypeKind.ofLabel(optional ? label.substring(0, label.length() - 1) : label),
                optional);
    }

    /** The label with its {@code ?}. */
    public String typeLabel() {
        return optional ? kind.label() + "?" : kind.label();
    }
}
