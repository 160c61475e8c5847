package io.turbidite.core.record;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.Map;

/**
 * The nested records of a record that is written: whether they are there, and their undeclared
 * fields. Declared fields in them are set as all others are. Owned by one {@link RecordWriter},
 * <em>confined to one thread</em> with it.
 */
final class NestedFields {
    private final RecordWriter writer;
    private final RecordBuffer fields;
    private final RecordType type;

    /** Undeclared fields of each nested record that has had some, by index. */
    private final @Nullable OpenWriter[] open;

    NestedFields(RecordWriter writer, RecordBuffer fields, RecordType type) {
        this.writer = writer;
        this.fields = fields;
        this.type = type;
        this.open = new @Nullable OpenWriter[type.fields().size()];
    }

    /** Forgets the undeclared fields of some nested records. */
    void clear(int from, int to) {
        for (int field = from; field < to; field++) {
            OpenWriter others = open[field];
            if (others != null) {
                others.clear();
            }
        }
    }

    /** Where the values of undeclared fields of a nested record go. */
    OpenWriter open(int field) {
        OpenWriter others = open[field];
        if (others == null) {
            others = new OpenWriter(Limits.RECORD_BYTES_MAX);
            open[field] = others;
        }
        return others;
    }

    /** Sets all of a nested record, or nothing if something is wrong. */
    void set(int field, Map<?, ?> values) {
        RecordBuffer.Place before = fields.place();
        writer.setNested(field);
        boolean whole = false;
        try {
            for (Map.Entry<?, ?> entry : values.entrySet()) {
                if (!(entry.getKey() instanceof String name)) {
                    throw fields.invalid(
                            field, "field names must be strings, not " + entry.getKey());
                }
                set(field, name, entry.getValue());
            }
            whole = true;
        } finally {
            if (!whole) {
                fields.backTo(before, field, type.behind(field));
                clear(field, type.behind(field));
            }
        }
    }

    private void set(int field, String name, @Nullable Object value) {
        int member = type.memberOf(field, name);
        if (member >= 0) {
            writer.setObject(member, value);
        } else if (value != Missing.MISSING) {
            OpenWriter others = open(field);
            try {
                others.name(name);
                others.value(value, 1);
            } catch (InvalidRequestException e) {
                throw new FieldException(type.field(field).name() + '.' + name, e);
            }
        }
    }

    /** Sets the declared fields of a nested record to those of another one. */
    void copy(int field, RecordView from, int source) {
        writer.setNested(field);
        RecordType sources = from.type();
        for (int at = source + 1; at < sources.behind(source); at = sources.behind(at)) {
            writer.copy(type.memberOf(field, sources.memberName(at)), from, at);
        }
    }

    /**
     * Nested records of which something was set are there; what they must have is checked, and
     * their undeclared fields are put among the variable-width ones.
     */
    void finish() {
        for (int field = open.length - 1; field >= 0; field--) {
            int parent = type.parent(field);
            if (parent >= 0 && fields.state(field) != RecordFormat.STATE_MISSING) {
                if (fields.state(parent) == RecordFormat.STATE_NULL) {
                    throw fields.invalid(
                            parent,
                            "is null, and %s is there"
                                    .formatted(Text.quoted(type.field(field).name())));
                }
                if (fields.state(parent) == RecordFormat.STATE_MISSING) {
                    fields.mark(parent, RecordFormat.STATE_PRESENT);
                }
            }
        }
        for (int field = 0; field < open.length; field++) {
            if (type.field(field).kind() == TypeKind.RECORD
                    && fields.state(field) == RecordFormat.STATE_PRESENT) {
                finish(field, open[field]);
            }
        }
    }

    private void finish(int field, @Nullable OpenWriter others) {
        for (int member = field + 1; member < type.behind(field); member = type.behind(member)) {
            if (fields.state(member) != RecordFormat.STATE_PRESENT
                    && !type.isOptionalMember(member)) {
                throw fields.invalid(member, "a required field is missing");
            }
        }
        if (others != null && others.length() > 0) {
            fields.addVariable(field, others.sink());
        }
    }
}
