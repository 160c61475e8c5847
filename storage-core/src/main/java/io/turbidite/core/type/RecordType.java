package io.turbidite.core.type;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The declared fields of an open record type, in order. <em>Immutable.</em>
 *
 * <p>A field's index here is its index in the record codec.
 */
public final class RecordType {
    private final List<Field> fields;
    private final Map<String, Integer> indexByName;

    /** What {@link #derived} has worked out; null before. */
    private volatile @Nullable Object derived;

    private RecordType(List<Field> fields) {
        this.fields = List.copyOf(fields);
        this.indexByName = new HashMap<>();
        if (fields.size() > Limits.DECLARED_FIELD_COUNT_MAX) {
            throw new InvalidRequestException("%d declared fields are more than the limit of %d"
                    .formatted(fields.size(), Limits.DECLARED_FIELD_COUNT_MAX));
        }
        for (int i = 0; i < fields.size(); i++) {
            if (indexByName.putIfAbsent(fields.get(i).name(), i) != null) {
                throw new InvalidRequestException(
                        "field '%s' is declared twice".formatted(fields.get(i).name()));
            }
        }
    }

    public static RecordType of(List<Field> fields) {
        return new RecordType(fields);
    }

    public static Builder builder() {
        return new Builder();
    }

    public List<Field> fields() {
        return fields;
    }

    public Field field(int index) {
        return fields.get(index);
    }

    /** The index of a declared field, or -1. */
    public int indexOf(String name) {
        Integer index = indexByName.get(name);
        return index == null ? -1 : index;
    }

    /**
     * The index of a declared field.
     *
     * @throws InvalidRequestException naming {@code use} if it is not declared
     */
    public int require(String name, String use) {
        int index = indexOf(name);
        if (index < 0) {
            throw new InvalidRequestException(
                    "%s names field '%s', which is not declared; declared are %s"
                            .formatted(
                                    use,
                                    name,
                                    fields.stream()
                                            .map(Field::name)
                                            .collect(Collectors.joining(", "))));
        }
        return index;
    }

    /**
     * What is worked out of this type and kept with it, so that it is made once and not for each
     * reader of a record. There is one thing of this kind: how its records are laid out.
     *
     * @param kind of the thing
     * @param maker makes it of this type; what it makes is immutable
     */
    public <T> T derived(Class<T> kind, Function<RecordType, T> maker) {
        Object known = derived;
        if (known == null) {
            known = maker.apply(this);
            derived = known; // of two threads that make one each either is kept
        }
        return kind.cast(known);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RecordType type && fields.equals(type.fields);
    }

    @Override
    public int hashCode() {
        return fields.hashCode();
    }

    @Override
    public String toString() {
        return fields.stream()
                .map(f -> f.name() + ": " + f.typeLabel())
                .collect(Collectors.joining(", ", "{", "}"));
    }

    /** Collects fields in order. */
    public static final class Builder {
        private final List<Field> fields = new ArrayList<>();

        /** Adds a field by its label, for example {@code field("tailnum", "string?")}. */
        public Builder field(String name, String label) {
            fields.add(Field.parse(name, label));
            return this;
        }

        public RecordType build() {
            return of(fields);
        }
    }
}
