package io.turbidite.core.record;

import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;

import org.jspecify.annotations.Nullable;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The fields of one record by name: the declared ones in order, then the open ones. It takes the
 * names of declared fields from the type and has a copy of their bytes, of which a value is decoded
 * when it is first asked for: a row of ten fields of which one is read costs a copy and one value,
 * not ten.
 *
 * <p>It owns its values: they are there whatever became of the record. A declared field that it has
 * may get another value: that is kept beside the bytes of the others, so that a record of which one
 * field is changed is written anew from its bytes ({@link #writeTo}). Who changes it otherwise gets
 * what a {@link LinkedHashMap} would be from then on. <em>Thread-safe</em> while nobody changes it;
 * <em>confined to one thread</em> while it changes.
 */
final class RecordMap extends AbstractMap<String, @Nullable Object> {
    private final FieldBytes fields;

    /**
     * Values that were asked for, by index of the declared field; made with the first. Two threads
     * may decode one value both: all but arrays are immutable, so either will do.
     */
    private @Nullable Object @Nullable [] decoded;

    /** Declared fields that have another value than the record: that of {@link #decoded}. */
    private boolean @Nullable [] replaced;

    /** The open fields; after a change all fields. */
    private Map<String, @Nullable Object> others;

    private boolean changed;

    /**
     * Takes over the arguments.
     *
     * @param fields the declared ones
     * @param open by name
     */
    RecordMap(FieldBytes fields, Map<String, @Nullable Object> open) {
        this.fields = fields;
        this.others = open;
    }

    private int indexOf(@Nullable Object name) {
        int index = name instanceof String text ? fields.type().memberOf(RecordType.TOP, text) : -1;
        return index >= 0 && index < fields.fieldCount() && !fields.isMissing(index) ? index : -1;
    }

    private @Nullable Object value(int field) {
        if (fields.kind(field) == TypeKind.BINARY) {
            return arrayValue(field);
        }
        @Nullable Object[] known = decoded;
        return decode(field, known == null ? decodedOnes() : known);
    }

    private @Nullable Object decode(int field, @Nullable Object[] known) {
        Object value = known[field];
        if (value == null) {
            value = fields.get(field);
            known[field] = value;
        }
        return value;
    }

    /** Of an array there is one, and it is handed over with all that is in it. */
    private synchronized @Nullable Object arrayValue(int field) {
        return decode(field, decodedOnes());
    }

    private synchronized @Nullable Object[] decodedOnes() {
        @Nullable Object[] known = decoded;
        if (known == null) {
            known = new @Nullable Object[fields.fieldCount()];
            decoded = known;
        }
        return known;
    }

    @Override
    public int size() {
        if (changed) {
            return others.size();
        }
        return fields.presentCount() + others.size();
    }

    @Override
    public @Nullable Object get(@Nullable Object name) {
        int index = changed ? -1 : indexOf(name);
        return index >= 0 ? value(index) : others.get(name);
    }

    @Override
    public boolean containsKey(@Nullable Object name) {
        return (!changed && indexOf(name) >= 0) || others.containsKey(name);
    }

    @Override
    public @Nullable Object put(String name, @Nullable Object value) {
        // null stands for a value that was not decoded yet
        int index = changed || value == null ? -1 : indexOf(name);
        return index >= 0 ? replace(index, value) : changeable().put(name, value);
    }

    private @Nullable Object replace(int field, @Nullable Object value) {
        Object before = value(field);
        boolean[] known = replaced;
        if (known == null) {
            known = new boolean[fields.fieldCount()];
            replaced = known;
        }
        known[field] = true;
        decodedOnes()[field] = value;
        return before;
    }

    @Override
    public @Nullable Object remove(@Nullable Object name) {
        return changeable().remove(name);
    }

    @Override
    public void clear() {
        changeable().clear();
    }

    private Map<String, @Nullable Object> changeable() {
        if (!changed) {
            others = new LinkedHashMap<>(this);
            changed = true;
        }
        return others;
    }

    /**
     * Sets all fields of the record that {@code writer} has begun. Text that was not replaced is
     * copied, without a string for it.
     *
     * @return false, with nothing set, if that can't be told from the bytes: other fields came or
     *     went, or the writer's records have other ones
     */
    boolean writeTo(RecordWriter writer) {
        RecordType type = fields.type();
        if (changed || !type.equals(writer.type())) {
            return false;
        }
        boolean[] known = replaced;
        for (int i = 0; i < fields.fieldCount(); i = type.behind(i)) {
            if (fields.isMissing(i)) {
                continue;
            }
            boolean isOld = known == null || !known[i];
            if (isOld && fields.isAscii(i)) {
                writer.copyAscii(i, fields);
            } else {
                writer.setObject(i, value(i));
            }
        }
        others.forEach(writer::openField);
        return true;
    }

    @Override
    public Set<Entry<String, @Nullable Object>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return RecordMap.this.size();
            }

            @Override
            public Iterator<Entry<String, @Nullable Object>> iterator() {
                return changed ? others.entrySet().iterator() : new Entries();
            }
        };
    }

    /** Declared fields, then open ones; a change through it makes it go on over the changed map. */
    private final class Entries implements Iterator<Entry<String, @Nullable Object>> {
        private int next;
        private int returnedCount;
        private @Nullable String last;
        private Iterator<Entry<String, @Nullable Object>> rest =
                others.entrySet().iterator();

        @Override
        public boolean hasNext() {
            skipMissing();
            return next < fields.fieldCount() || rest.hasNext();
        }

        private void skipMissing() {
            while (next < fields.fieldCount() && fields.isMissing(next)) {
                next = fields.type().behind(next);
            }
        }

        @Override
        public Entry<String, @Nullable Object> next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more fields");
            }
            returnedCount++;
            Entry<String, @Nullable Object> entry;
            if (next >= fields.fieldCount()) {
                Entry<String, @Nullable Object> open = rest.next();
                entry = new Field(open.getKey(), open.getValue());
            } else {
                entry = new Field(fields.type().field(next).name(), value(next));
                next = fields.type().behind(next);
            }
            last = entry.getKey();
            return entry;
        }

        @Override
        public void remove() {
            String name = last;
            if (name == null) {
                throw new IllegalStateException("next() has not been called");
            }
            last = null;
            RecordMap.this.remove(name);
            // the changed map has the same order: go on where we were
            next = fields.fieldCount();
            returnedCount--;
            rest = others.entrySet().iterator();
            for (int i = 0; i < returnedCount; i++) {
                rest.next();
            }
        }
    }

    /** Writes through. */
    private final class Field extends SimpleEntry<String, @Nullable Object> {
        private static final long serialVersionUID = 1L;

        Field(String name, @Nullable Object value) {
            super(name, value);
        }

        @Override
        public @Nullable Object setValue(@Nullable Object value) {
            put(getKey(), value);
            return super.setValue(value);
        }
    }
}
