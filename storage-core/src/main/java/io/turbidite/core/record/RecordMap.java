package io.turbidite.core.record;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The fields of one record by name: the declared ones in order, then the open ones. It takes the names of
 * declared fields from the type, so a row of ten fields costs an array of ten references beside its values, not
 * ten entries of a hash table (620 bytes a row and a third of the time of making one).
 *
 * <p>It owns its values. Who changes it gets what a {@link LinkedHashMap} would be from then on.
 * <em>Confined to one thread</em> while it changes.
 */
final class RecordMap extends AbstractMap<String, @Nullable Object> {
    /** In the place of a declared field that is not there. */
    static final Object MISSING = new Object();

    private final RecordType type;

    /** By index of the declared field; may end before the last. */
    private final @Nullable Object[] declared;

    private final int declaredCount;

    /** The open fields; after a change all fields. */
    private Map<String, @Nullable Object> others;

    private boolean changed;

    /**
     * Takes over the arguments.
     *
     * @param declared value, null or {@link #MISSING} for each
     * @param open by name
     */
    RecordMap(RecordType type, @Nullable Object[] declared, Map<String, @Nullable Object> open) {
        this.type = type;
        this.declared = declared;
        this.others = open;
        int present = 0;
        for (Object value : declared) {
            present += isMissing(value) ? 0 : 1;
        }
        this.declaredCount = present;
    }

    @SuppressWarnings("ReferenceEquality") // a mark
    private static boolean isMissing(@Nullable Object value) {
        return value == MISSING;
    }

    private int indexOf(@Nullable Object name) {
        int index = name instanceof String text ? type.indexOf(text) : -1;
        return index >= 0 && index < declared.length && !isMissing(declared[index]) ? index : -1;
    }

    @Override
    public int size() {
        return changed ? others.size() : declaredCount + others.size();
    }

    @Override
    public @Nullable Object get(@Nullable Object name) {
        int index = changed ? -1 : indexOf(name);
        return index >= 0 ? declared[index] : others.get(name);
    }

    @Override
    public boolean containsKey(@Nullable Object name) {
        return (!changed && indexOf(name) >= 0) || others.containsKey(name);
    }

    @Override
    public @Nullable Object put(String name, @Nullable Object value) {
        return changeable().put(name, value);
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
            return next < declared.length || rest.hasNext();
        }

        private void skipMissing() {
            while (next < declared.length && isMissing(declared[next])) {
                next++;
            }
        }

        @Override
        public Entry<String, @Nullable Object> next() {
            if (!hasNext()) {
                throw new NoSuchElementException("no more fields");
            }
            returnedCount++;
            Entry<String, @Nullable Object> entry;
            if (next >= declared.length) {
                Entry<String, @Nullable Object> open = rest.next();
                entry = new Field(open.getKey(), open.getValue());
            } else {
                entry = new Field(type.field(next).name(), declared[next]);
                next++;
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
            next = declared.length;
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
