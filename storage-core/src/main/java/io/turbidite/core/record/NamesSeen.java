package io.turbidite.core.record;

import org.jspecify.annotations.Nullable;

/**
 * The names of the members of each object of a record, to find those that may be there twice. Makes
 * no garbage once it has grown. <em>Confined to one thread.</em>
 *
 * <p>Names with one hash, which anybody can make, would take a search each: after {@value
 * #PROBES_MAX} steps it gives up, and whoever asks finds out in another way.
 *
 * <p>A hash table with linear probing, at most half full; an entry counts if it was made since
 * {@link #begin}. Memory: what the names of one record need; a table that has grown beyond {@value
 * #KEPT_MAX} entries is not kept.
 */
final class NamesSeen {
    private static final int INITIAL = 64;
    private static final int KEPT_MAX = 1 << 14;
    private static final int PROBES_MAX = 64;

    private @Nullable String[] names = new String[INITIAL];
    private long[] objects = new long[INITIAL];
    private int count;

    /** Numbers of objects only grow: those below this one are of records before. */
    private long firstObject = 1;

    private long nextObject = 1;

    /** Begins another record. */
    void begin() {
        firstObject = nextObject;
        count = 0;
        if (names.length > KEPT_MAX) {
            names = new String[INITIAL];
            objects = new long[INITIAL];
        }
    }

    /** Begins an object; returns its number, by which its names are told from those of others. */
    long object() {
        return nextObject++;
    }

    /**
     * Remembers a name.
     *
     * @return false if the object may have it already
     */
    boolean add(long object, String name) {
        if (2 * (count + 1) > names.length) {
            grow();
        }
        int slot = slot(object, name, PROBES_MAX);
        if (objects[slot] >= firstObject) {
            return false;
        }
        put(slot, object, name);
        count++;
        return true;
    }

    private void put(int slot, long object, String name) {
        objects[slot] = object;
        names[slot] = name;
    }

    /** Where the name is, or where it belongs, or where {@code probesMax} steps have led. */
    private int slot(long object, String name, int probesMax) {
        int mask = names.length - 1;
        int hash = (name.hashCode() + (int) object * 31) * 0x9E3779B9;
        int slot = (hash >>> 16 ^ hash) & mask;
        for (int probe = 0;
                probe < probesMax
                        && objects[slot] >= firstObject
                        && !(objects[slot] == object && name.equals(names[slot]));
                probe++) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }

    private void grow() {
        @Nullable String[] oldNames = names;
        long[] oldObjects = objects;
        names = new String[2 * oldNames.length];
        objects = new long[2 * oldObjects.length];
        for (int i = 0; i < oldNames.length; i++) {
            String name = oldNames[i];
            if (name != null && oldObjects[i] >= firstObject) {
                put(slot(oldObjects[i], name, Integer.MAX_VALUE), oldObjects[i], name);
            }
        }
    }
}
