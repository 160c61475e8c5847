package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A declared field.
 *
 * @param name 1 to 255 characters; of what lies within a nested record, in {@link
 *     RecordType#fields()}, its path: {@code user.lang}
 * @param kind what its values are
 * @param optional whether it may be null or missing
 * @param element the kind of an array's elements; null of what is no array
 * @param members the declared fields of a nested record; empty of what is none
 */
public record Field(
        String name,
        TypeKind kind,
        boolean optional,
        @Nullable TypeKind element,
        List<Field> members) {
    private static final int NAME_CHARS_MAX = 255;

    public Field {
        if (name.isEmpty() || name.length() > NAME_CHARS_MAX) {
            throw new InvalidRequestException(
                    "a field name must have 1 to %d characters".formatted(NAME_CHARS_MAX));
        }
        if ((kind == TypeKind.ARRAY) != (element != null)
                || (element != null && !element.isScalar())) {
            throw new InvalidRequestException(
                    "field '%s': an array, and nothing else, has elements of a simple type"
                            .formatted(name));
        }
        members = List.copyOf(members);
        if (kind != TypeKind.RECORD && !members.isEmpty()) {
            throw new InvalidRequestException(
                    "field '%s': only a nested record has fields".formatted(name));
        }
    }

    /** A field of one value. */
    public Field(String name, TypeKind kind, boolean optional) {
        this(name, kind, optional, null, List.of());
    }

    /** An array of values of a kind. */
    public static Field array(String name, TypeKind element, boolean optional) {
        return new Field(name, TypeKind.ARRAY, optional, element, List.of());
    }

    /** A record within the record: it is open too. */
    public static Field nested(String name, List<Field> members, boolean optional) {
        return new Field(name, TypeKind.RECORD, optional, null, members);
    }

    /**
     * Reads a label: {@code string}; {@code string?} is an optional string, {@code [string]} an
     * array, <code>{lang: string, name: string?}</code> a nested record.
     *
     * @throws InvalidRequestException saying what is wrong and where
     */
    public static Field parse(String name, String label) {
        return new LabelReader(name, label).read();
    }

    /** The label with its {@code ?}. */
    public String typeLabel() {
        StringBuilder label = new StringBuilder();
        switch (kind) {
            case ARRAY -> label.append('[').append(elementKind().label()).append(']');
            case RECORD -> label.append(RecordType.toString(members));
            default -> label.append(kind.label());
        }
        return optional ? label.append('?').toString() : label.toString();
    }

    /** The kind of an array's elements. */
    public TypeKind elementKind() {
        if (element == null) {
            throw new IllegalStateException("field '%s' is no array".formatted(name));
        }
        return element;
    }

    /** The same by another name, and maybe optional. */
    public Field as(String newName, boolean isOptional) {
        return newName.equals(name) && isOptional == optional
                ? this
                : new Field(newName, kind, isOptional, element, members);
    }
}
