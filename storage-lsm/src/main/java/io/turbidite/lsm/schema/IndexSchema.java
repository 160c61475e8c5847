package io.turbidite.lsm.schema;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.lsm.component.PageOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A secondary index of a dataset, resolved. <em>Immutable.</em>
 *
 * @param id names its trees and files; unique in its dataset, never reused; the primary is 0. An
 *     index that is enabled again gets a new one: it has nothing in common with the old trees
 * @param key the indexed fields; an entry's key is theirs, then the primary key
 * @param maintenance how it follows updates
 * @param unique whether two records may not have the same key; null and missing never collide
 * @param pages how its components keep their pages; null if as the dataset's
 */
public record IndexSchema(
        int id,
        String name,
        IndexDescription.Kind kind,
        KeySpec key,
        Maintenance maintenance,
        boolean unique,
        @Nullable PageOptions pages,
        State state) {
    /** The id of every partition's primary index. */
    public static final int PRIMARY_ID = 0;

    /** What messages and descriptions call it; no secondary may. */
    public static final String PRIMARY_NAME = "primary";

    /** What writers and readers do with an index. */
    public enum State {
        /** Writers maintain it, readers don't see it; no manifest names it. */
        BUILDING,
        /** Maintained and searched. */
        READY,
        /** A definition without trees. */
        DISABLED;

        /** The name for people: {@code ready}. */
        public String label() {
            return name().toLowerCase(java.util.Locale.ROOT);
        }
    }

    /**
     * Whether this index has a companion: the keys that were written over in each of its
     * components.
     */
    public boolean hasCompanion() {
        return maintenance == Maintenance.DELETED_KEY;
    }

    /** Its own tree. */
    public TreeId tree() {
        return TreeId.of(id);
    }

    /** Its trees: its own, then its companion. */
    public List<TreeId> treeIds() {
        return hasCompanion() ? List.of(tree(), tree().companion()) : List.of(tree());
    }

    /** The same in another state. */
    public IndexSchema withState(State newState) {
        return new IndexSchema(id, name, kind, key, maintenance, unique, pages, newState);
    }

    /** The same with other trees, to be built: their keys have today's form. */
    public IndexSchema withId(int newId) {
        KeySpec current = key.withForm(KeyForm.CURRENT);
        return new IndexSchema(newId, name, kind, current, maintenance, unique, pages, state);
    }

    public boolean isReady() {
        return state == State.READY;
    }

    /**
     * Whether a key of this index, which may have the primary key behind it, has a null or missing
     * field.
     */
    public boolean hasNull(Slice entryKey) {
        return key.decode(entryKey, 0).contains(null);
    }

    /**
     * Appends the key that a record gives.
     *
     * @return false, and the sink is as it was, if it is too long: then the record is older than
     *     the index, which has no entry for it
     */
    public boolean appendIfFits(RecordView record, ByteSink sink) {
        try {
            key.append(record, sink);
            return true;
        } catch (InvalidRequestException tooLong) {
            return false;
        }
    }

    /**
     * Moves {@code primaryKey} to the primary key in an entry's key.
     *
     * @param entryKey of a B+-tree index
     */
    public void primaryKey(Slice entryKey, Slice primaryKey) {
        int secondaryBytes = key.length(entryKey, 0);
        primaryKey.set(
                entryKey.segment(),
                entryKey.offset() + secondaryBytes,
                entryKey.length() - secondaryBytes);
    }

    public IndexDescription describe() {
        return new IndexDescription(
                name, kind, key.fields(), maintenance.isValidWhenFound(), key.form());
    }
}
