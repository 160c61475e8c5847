package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.type.RecordType;

import java.lang.invoke.MethodHandles;

/**
 * Carries Java records to and from encoded ones: each component is the declared field of its name.
 * <em>Immutable.</em>
 *
 * <pre>{@code
 * record Person(long id, String name, @Nullable LocalDate born, List<String> tags) {}
 *
 * RecordBinding<Person> people =
 *         RecordBinding.of(MethodHandles.lookup(), Person.class, dataset.type());
 * }</pre>
 *
 * <p>A component has the class that {@link io.turbidite.core.type.TypeKind} names for its field, or
 * a number's class that is wider; a list for an array, and for a nested record a Java record or a
 * map. A field that may be missing needs a component that may be null. A component that is null is
 * written as null; fields that no component names are not written, and not read.
 *
 * <p>The handles are made once, with the rights of the caller's lookup: it works for records in
 * named modules that open nothing, and reflects no more when records are written and read.
 */
public final class RecordBinding<R extends Record> {
    private final RecordType type;
    private final RecordShape shape;
    private final Class<R> javaType;

    private RecordBinding(RecordType type, RecordShape shape, Class<R> javaType) {
        this.type = type;
        this.shape = shape;
        this.javaType = javaType;
    }

    /**
     * Binds a Java record to a type.
     *
     * @param lookup of a class that may call the record's constructor and accessors, usually {@code
     *     MethodHandles.lookup()} beside it
     * @throws InvalidRequestException listing all components and fields that do not fit, or if the
     *     lookup has no access
     */
    public static <R extends Record> RecordBinding<R> of(
            MethodHandles.Lookup lookup, Class<R> javaType, RecordType type) {
        return new RecordBinding<>(
                type, RecordShape.of(lookup, javaType, type.declared()), javaType);
    }

    /** The type of the encoded records. */
    public RecordType type() {
        return type;
    }

    /**
     * Encodes a record.
     *
     * @param writer of the binding's type
     * @return valid until the writer's next use
     * @throws InvalidRequestException naming the field whose value does not fit
     */
    public Slice write(RecordWriter writer, R record) {
        if (!writer.type().equals(type)) {
            throw new InvalidRequestException("the writer is for records of another type");
        }
        writer.begin();
        for (RecordShape.Component component : shape.components()) {
            int field = type.indexOf(component.name());
            writer.setObject(field, component.get(record));
        }
        return writer.finish();
    }

    /**
     * The record that a view shows.
     *
     * @param view of the binding's type
     */
    public R read(RecordView view) {
        return javaType.cast(shape.make(view::get));
    }

    /** The name of the Java record. */
    @Override
    public String toString() {
        return javaType.getName();
    }
}
